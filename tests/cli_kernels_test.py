"""What the cornerturn program prints and refuses of one kernel or two: explain ID, diff, ladder --rungs, --placement, and
counters of hardware where there is none."""

import csv
import io
import json
import os
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

import script
from cli_test import METRICS, SECTORS_LD, SHARED_LD, WAVEFRONTS_LD, Case, unwrapped

SVG = "{http://www.w3.org/2000/svg}"


class Diff(Case):
    PAIR = ("diff", "transpose/shared@32x32", "transpose/padded@32x32", "--on", "emulator", "--rows", 256)

    def test_what_changed_and_which_counter_explains_it(self):
        text = self.succeed(*self.PAIR)
        for part in ("changed  From shared: the tile's rows are one element longer.", "launch   8 x 8 x 1 blocks of 32 x 32 x 1",
                     "The largest change: wavefronts of shared loads: 65,536 -> 2,048 (32 -> 1 a request)."):
            self.assertIn(part, text)
        self.assertNotIn("as fast", text)

    def test_formats(self):
        shown = json.loads(self.succeed(*self.PAIR, "--format", "json"))
        self.assertEqual((shown["from"]["kernel"], shown["to"]["kernel"]), ("transpose/shared@32x32", "transpose/padded@32x32"))
        self.assertEqual(shown["from"]["metrics"][WAVEFRONTS_LD], 32 * shown["to"]["metrics"][WAVEFRONTS_LD])
        self.assertEqual(shown["from"]["metrics"][SHARED_LD], shown["to"]["metrics"][SHARED_LD])
        rows = list(csv.reader(io.StringIO(self.succeed(*self.PAIR, "--format", "csv"))))
        self.assertEqual(rows[0], ["counter", "transpose/shared@32x32", "transpose/padded@32x32", "ratio"])
        self.assertLessEqual(METRICS, {row[0] for row in rows})
        self.assertIn("| transpose/padded@32x32 |", self.succeed(*self.PAIR, "--format", "markdown"))

    def test_of_variants_of_products_and_of_one_kernel(self):
        text = self.succeed("diff", "transpose/padded@32x32", "transpose/padded@32x8", "--on", "emulator", "--rows", 256)
        self.assertIn("Only the variant: 32x32 -> 32x8.", text)
        self.assertIn("16,384 threads do the work of 65,536", text)
        self.assertIn("shared load", self.succeed("diff", "gemm/strided@plain", "gemm/vectorized", "--on", "emulator", "--m", 128))
        same = self.succeed("diff", "transpose/padded@32x8", "transpose/padded@32x8", "--on", "emulator", "--rows", 64)
        self.assertIn("No counter of the emulator changed", same)

    def test_a_kernel_that_is_skipped(self):
        text = self.succeed("diff", "gemm/bulk", "gemm/swizzled", "--on", "emulator", "--m", 64)
        self.assertIn("Nothing can be compared: gemm/bulk was skipped.", text)

    def test_what_cannot_be_compared(self):
        self.refuse(2, ["gemm/tiled", "transpose/padded@32x8", "different work"], "diff", "transpose/padded@32x8", "gemm/tiled")
        self.refuse(2, ["host/reference", "different devices"], "diff", "transpose/padded@32x8", "host/reference", "--on", "emulator")
        self.refuse(2, ["'transpose/paded@32x8'", "transpose/padded@32x8"], "diff", "transpose/paded@32x8", "transpose/padded@32x8")
        self.refuse(2, ["TO"], "diff", "transpose/padded@32x8")


class Layouts(Case):
    WORK = ("--on", "emulator", "--rows", 70, "--cols", 90, "--source-ld", 101, "--destination-ld", 77, "--source-offset", 3,
            "--destination-offset", 5)

    def test_of_one_kernel_and_of_a_ladder(self):
        result = json.loads(self.succeed("profile", "transpose/padded@32x8", *self.WORK, "--format", "json"))
        self.assertEqual([result[key] for key in ("source_ld", "destination_ld", "source_offset", "destination_offset")], [101, 77, 3, 5])
        self.assertIs(result["verified"], True)
        self.assertNotIn("source_ld", json.loads(self.succeed("profile", "transpose/padded@32x8", "--on", "emulator", "--rows", 70, "--format", "json")))
        for result in json.loads(self.succeed("ladder", "transpose", *self.WORK, "--format", "json"))["results"]:
            self.assertTrue(result.get("verified") or result["status"] == "skipped", result)
        self.assertIn("70 x 90, source-ld 101, destination-ld 77", self.succeed("profile", "transpose/padded@32x8", *self.WORK))
        self.assertIs(json.loads(self.succeed("profile", "permute/naive", "--on", "emulator", "--shape", "5,6,7", "--source-offset", 3,
                                              "--format", "json"))["verified"], True)

    def test_a_row_off_a_sector_costs_another(self):
        def sectors(*more):
            return json.loads(self.succeed("profile", "copy/global@32x8", "--on", "emulator", "--rows", 32, "--format", "json", *more))["metrics"][SECTORS_LD]
        self.assertEqual((sectors(), sectors("--source-offset", 1), sectors("--source-ld", 40)), (32 * 4, 32 * 5, 32 * 4))

    def test_what_cannot_be(self):
        self.refuse(2, ["source's leading dimension is 89: a row has 90"], "ladder", "transpose", "--rows", 70, "--cols", 90, "--source-ld", 89)
        self.refuse(2, ["destination's leading dimension is 69: a row has 70"], "profile", "transpose/padded@32x8", "--rows", 70, "--cols", 90,
                    "--destination-ld", 69)
        self.refuse(2, ["--source-offset", "'far'"], "profile", "transpose/padded@32x8", "--source-offset", "far")
        self.refuse(2, ["leave out --lda"], "profile", "transpose/padded@32x8", "--lda", 5)


class Rungs(Case):
    def test_some_of_a_ladder_in_its_order(self):
        results = json.loads(self.succeed("ladder", "transpose", "--on", "emulator", "--rows", 64, "--format", "json",
                                          "--rungs", "padded@32x8,copy/global@32x8,transpose/shared@32x32,padded@32x8,global@32x8"))["results"]
        self.assertEqual([r["kernel"] for r in results], ["copy/global@32x8", "transpose/shared@32x32", "transpose/padded@32x8"])

    def test_others_are_refused(self):
        self.refuse(2, ["'transpose/paded@32x8'"], "ladder", "transpose", "--rungs", "paded@32x8")
        self.refuse(2, ["gemm/tiled", "not a rung of transpose"], "ladder", "transpose", "--rungs", "gemm/tiled")
        self.refuse(2, ["--rungs is empty"], "ladder", "transpose", "--rungs", "")


class Placement(Case):
    def test_where_no_gpu_moves_matrices_it_is_refused(self):
        for command in (("ladder", "transpose", "--on", "emulator"), ("bench", "transpose", "--on", "host"), ("bench", "gemm")):
            self.refuse(2, ["--placement works only on a GPU"], *command, "--placement", 1)

    def test_it_is_a_small_number(self):
        self.refuse(2, ["--placement is 65", "0 to 64"], "bench", "transpose", "--placement", 65)
        self.refuse(2, ["--placement", "'far'", "whole number"], "bench", "transpose", "--placement", "far")


class WithoutHardware(Case):
    def test_its_counters_are_refused(self):
        for command in (("profile", "transpose/padded@32x8"), ("ladder", "transpose"), ("diff", "transpose/padded@32x8", "transpose/shared@32x8")):
            for option in (("--counters",), ("--metrics", "sm__cycles_active.avg"), ("--ncu", "ncu")):
                self.refuse(2, ["hardware counters need a GPU", "emulator"], *command, "--on", "emulator", *option)
        self.refuse(2, ["hardware counters need a GPU"], "profile", "transpose/padded@32x8", "--on", "emulator", "--compare")
        self.refuse(2, ["hardware counters need a GPU", "runs on the host"], "profile", "host/reference", "--counters")
        self.refuse(2, ["'a b'"], "profile", "transpose/padded@32x8", "--on", "emulator", "--metrics", "a b")


class Explain(Case):
    def test_idea_lines_and_a_warp(self):
        text = self.succeed("explain", "transpose/shared@16x16", "--rows", 64)
        for part in ("idea      A square tile in shared memory", "limit     Bank conflicts", "70_shared.cu:32 read",
                     "destination.data[row * destination.ld + col] = tile[threadIdx.x][threadIdx.y + i];",
                     "reads tile, 4 bytes a lane: 8 wavefronts, where 1 would do: bank conflicts",
                     "  pass 1  0 16  .", "  ... and 2 more passes", "  [+0: lanes 0-7] [+32: lanes 8-15]"):
            self.assertIn(part, text)
        self.assertNotIn(" \n", text)

    def test_formats(self):
        shown = json.loads(self.succeed("explain", "transpose/shared@32x32", "--rows", 64, "--format", "json"))
        self.assertEqual((shown["id"], shown["result"]["kernel"]), ("transpose/shared@32x32", "transpose/shared@32x32"))
        read = next(step for step in shown["warp"] if step["space"] == "shared" and step["does"].startswith("reads"))
        self.assertEqual((read["wavefronts"], read["least_wavefronts"], len(read["offsets"])), (32, 1, 32))
        self.assertEqual({offset % 128 for offset in read["offsets"]}, {0})
        self.assertIn("tile[threadIdx.x]", " ".join(line["text"] for line in shown["code"]))
        rows = list(csv.reader(io.StringIO(self.succeed("explain", "transpose/shared@32x32", "--rows", 64, "--format", "csv"))))
        self.assertEqual({len(row) for row in rows}, {6})
        self.assertIn("```text\n  bank ", self.succeed("explain", "transpose/shared@32x32", "--rows", 64, "--format", "markdown"))

    def test_lanes_without_an_access(self):
        shown = json.loads(self.succeed("explain", "transpose/padded@32x8", "--rows", 40, "--cols", 3, "--format", "json"))
        self.assertEqual(shown["warp"][0]["offsets"], [0, 4, 8] + [None] * 29)

    def test_draws_it(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder, "warp.svg")
            self.succeed("explain", "transpose/vectorized@8x32", "--svg", picture)
            root = xml.etree.ElementTree.parse(picture).getroot()
            self.assertEqual(root.tag, SVG + "svg")
            hints = [hint.text for hint in root.iter(SVG + "title")]
            self.assertIn("+12400: lane 31", hints)
            self.assertIn("bank 31, pass 1: lane 31", hints)
            self.assertEqual(os.listdir(folder), ["warp.svg"])

    def test_of_every_kernel_that_the_emulator_runs(self):
        for kernel in json.loads(self.succeed("list", "--format", "json"))["kernels"]:
            family, size = kernel["id"].split("/")[0], str(kernel["element_sizes"][-1])
            dtype = {"1": "u8", "2": "u16", "4": "f32", "8": "f64", "16": "c128"}[size]
            permutes = ("--shape", "8,8,8", "--dtype", dtype)
            work = {"gemm": ("--m", 64), "permute": permutes, "baseline/cutensor": permutes,
                    **{f"host/{name}": permutes for name in ("permute", "permute_loop", "permute_hptt")}}
            of = work.get(kernel["id"], work.get(family, ("--rows", 64, "--dtype", dtype)))
            text = self.succeed("explain", kernel["id"], *of)
            self.assertIn(kernel["idea"], unwrapped(text))
            if "Warp 0" not in text:
                self.assertRegex(text, "skipped: ", kernel["id"])

    def test_what_is_wrong(self):
        self.refuse(2, ["'transpose/paded@32x8'", "transpose/padded@32x8"], "explain", "transpose/paded@32x8")
        self.refuse(2, ["--rows and --cols"], "explain", "transpose/padded@32x8", "--m", 5)
        self.refuse(2, ["--m, --n and --k"], "explain", "gemm/tiled", "--rows", 5)
        self.refuse(2, ["--on is 'cuda'", "emulator"], "explain", "transpose/padded@32x8", "--on", "cuda")
        self.refuse(2, ["source's leading dimension is 5: a row has 1024"], "explain", "transpose/padded@32x8", "--source-ld", 5)
        self.refuse(2, ["--count is for explain OPERATION", "--source-ld"], "explain", "transpose/padded@32x8", "--count", 5)
        self.refuse(2, ["--svg"], "explain", "transpose", "--svg", "file.svg")
        self.refuse(1, ["/no/such"], "explain", "transpose/padded@32x8", "--svg", "/no/such/file.svg")
        with tempfile.TemporaryDirectory() as folder:
            self.refuse(1, ["nothing to draw"], "explain", "gemm/bulk", "--m", 64, "--svg", Path(folder, "a.svg"))
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    script.main()
