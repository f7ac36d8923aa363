"""The cornerturn program on one or two kernels: explain ID, diff, ladder --rungs, --placement, and hardware counters without
a GPU."""

import csv
import io
import json
import os
import re
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

import script
from cli_test import METRICS, SECTORS_LD, SHARED_LD, WAVEFRONTS_LD, Case, unwrapped

SVG = "{http://www.w3.org/2000/svg}"


class Kernels(Case):
    def listed(self, id):
        """The kernel's entry in the JSON of cornerturn list."""
        return next(kernel for kernel in json.loads(self.succeed("list", "--format", "json"))["kernels"] if kernel["id"] == id)


class Diff(Kernels):
    PAIR = ("diff", "transpose/shared@32x32", "transpose/padded@32x32", "--on", "emulator", "--rows", 256)

    def test_what_changed_and_which_counter_explains_it(self):
        text = self.succeed(*self.PAIR)
        self.assertIn(self.listed("transpose/padded@32x32")["change"], unwrapped(text))
        self.assert_names(text, "8 x 8 x 1", "32 x 32 x 1")
        self.assert_names(text.splitlines()[-1], "65,536", "2,048", 32, 1)
        self.assertNotRegex(text, r"\bus\b|GB/s", "the emulator measures no time")

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
        self.assertRegex(text, r"\b32x32\W+32x8\b")
        self.assert_names(unwrapped(text.rpartition("conflicts_st")[2]), "65,536", "16,384", "--on cuda")
        product = self.succeed("diff", "gemm/strided@plain", "gemm/vectorized", "--on", "emulator", "--m", 128)
        self.assert_names(product.splitlines()[-1], "32,768", "6,144")
        same = self.succeed("diff", "transpose/padded@32x8", "transpose/padded@32x8", "--on", "emulator", "--rows", 64, "--format", "csv")
        self.assertEqual({row[3] for row in csv.reader(io.StringIO(same))}, {"ratio", "1.000", "-"})

    def test_a_kernel_that_is_skipped(self):
        text = self.succeed("diff", "gemm/bulk", "gemm/swizzled", "--on", "emulator", "--m", 64)
        self.assertRegex(text, r"\n\n[^\n]*\bgemm/bulk\b[^\n]*\n", "the conclusion names it")
        self.assertNotIn(WAVEFRONTS_LD, text)

    def test_what_cannot_be_compared(self):
        self.refuse(2, ["gemm/tiled", "transpose/padded@32x8"], "diff", "transpose/padded@32x8", "gemm/tiled")
        self.refuse(2, ["host/reference", "transpose/padded@32x8"], "diff", "transpose/padded@32x8", "host/reference", "--on", "emulator")
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

    def test_mistakes(self):
        self.refuse(2, ["source", 89, 90], "ladder", "transpose", "--rows", 70, "--cols", 90, "--source-ld", 89)
        self.refuse(2, ["destination", 69, 70], "profile", "transpose/padded@32x8", "--rows", 70, "--cols", 90,
                    "--destination-ld", 69)
        self.refuse(2, ["--source-offset", "'far'"], "profile", "transpose/padded@32x8", "--source-offset", "far")
        self.refuse(2, ["transpose", "--lda", "--source-ld"], "profile", "transpose/padded@32x8", "--lda", 5)


class Rungs(Case):
    def test_some_of_a_ladder_in_its_order(self):
        results = json.loads(self.succeed("ladder", "transpose", "--on", "emulator", "--rows", 64, "--format", "json",
                                          "--rungs", "padded@32x8,copy/global@32x8,transpose/shared@32x32,padded@32x8,global@32x8"))["results"]
        self.assertEqual([r["kernel"] for r in results], ["copy/global@32x8", "transpose/shared@32x32", "transpose/padded@32x8"])

    def test_others_are_refused(self):
        self.refuse(2, ["'transpose/paded@32x8'"], "ladder", "transpose", "--rungs", "paded@32x8")
        self.refuse(2, ["--rungs", "gemm/tiled", "transpose"], "ladder", "transpose", "--rungs", "gemm/tiled")
        self.refuse(2, ["--rungs"], "ladder", "transpose", "--rungs", "")


class Placement(Case):
    def test_it_needs_a_gpu_and_an_operation_that_moves_elements(self):
        for command in (("ladder", "transpose", "--on", "emulator"), ("bench", "transpose", "--on", "host"), ("bench", "gemm")):
            self.refuse(2, ["--placement", "GPU"], *command, "--placement", 1)

    def test_it_is_a_small_number(self):
        self.refuse(2, ["--placement", 65, 0, 64], "bench", "transpose", "--placement", 65)
        self.refuse(2, ["--placement", "'far'"], "bench", "transpose", "--placement", "far")


class WithoutHardware(Case):
    def test_its_counters_are_refused(self):
        for command in (("profile", "transpose/padded@32x8"), ("ladder", "transpose"), ("diff", "transpose/padded@32x8", "transpose/shared@32x8")):
            for option in (("--counters",), ("--metrics", "sm__cycles_active.avg"), ("--ncu", "ncu")):
                self.refuse(2, ["GPU", "--on", "emulator"], *command, "--on", "emulator", *option)
        self.refuse(2, ["GPU", "--on", "emulator"], "profile", "transpose/padded@32x8", "--on", "emulator", "--compare")
        self.refuse(2, ["GPU", "host"], "profile", "host/reference", "--counters")
        self.refuse(2, ["'a b'"], "profile", "transpose/padded@32x8", "--on", "emulator", "--metrics", "a b")


class Explain(Kernels):
    def test_idea_lines_and_a_warp(self):
        text = self.succeed("explain", "transpose/shared@16x16", "--rows", 64)
        kernel = self.listed("transpose/shared@16x16")
        for note in ("idea", "limit", "source"):
            self.assertRegex(" ".join(text.split()), rf"\b{note} {re.escape(kernel[note])}")
        self.assertIn("destination.data[row * destination.ld + col] = tile[threadIdx.x][threadIdx.y + i];", text)
        self.assertRegex(text, r"(?m)^70_shared\.cu:32 .*\btile\b.*\b4\b.*\b8\b.*\b1\b", "8 wavefronts instead of 1")
        self.assertRegex(text, r" 1  0 16  \.", "the lanes of wavefront 1")
        self.assertRegex(text, r"(?m)^  \.\.\. \D*\b2\b\D*$", "two more wavefronts")
        self.assertRegex(text, r"(?m)^  \[\+0: \D*0-7\] \[\+32: \D*8-15\]")
        self.assertNotIn(" \n", text)

    def test_formats(self):
        shown = json.loads(self.succeed("explain", "transpose/shared@32x32", "--rows", 64, "--format", "json"))
        self.assertEqual((shown["id"], shown["result"]["kernel"]), ("transpose/shared@32x32", "transpose/shared@32x32"))
        read = [step for step in shown["warp"] if step["space"] == "shared"][-1]  # the first one writes the tile
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
            self.assertTrue(any(script.names(hint, "+12400", 31) for hint in hints))
            self.assertTrue(any(script.names(hint, 31, 1, 31) for hint in hints), "bank 31, wavefront 1, lane 31")
            self.assertEqual(os.listdir(folder), ["warp.svg"])

    def test_of_every_kernel_that_the_emulator_runs(self):
        for kernel in json.loads(self.succeed("list", "--format", "json"))["kernels"]:
            family, size = kernel["id"].split("/")[0], str(kernel["element_sizes"][-1])
            dtype = {"1": "u8", "2": "u16", "4": "f32", "8": "f64", "16": "c128"}[size]
            permutes = ("--shape", "8,8,8", "--dtype", dtype)
            converts = ("--shape", "8,8,8", "--dtype", "f32", "--to", "bf16")
            work = {"gemm": ("--m", 64), "permute": permutes, "baseline/cutensor": permutes, "convert": converts, "host/convert": converts,
                    **{f"host/{name}": permutes for name in ("permute", "permute_loop", "permute_hptt")}}
            of = work.get(kernel["id"], work.get(family, ("--rows", 64, "--dtype", dtype)))
            text = self.succeed("explain", kernel["id"], *of)
            self.assertIn(kernel["idea"], unwrapped(text))
            if not re.search(r"(?m)^\S+:\d+  ", text):  # no access of warp 0
                self.assert_names(text, "skipped")

    def test_mistakes(self):
        self.refuse(2, ["'transpose/paded@32x8'", "transpose/padded@32x8"], "explain", "transpose/paded@32x8")
        self.refuse(2, ["transpose", "--m", "--rows", "--cols"], "explain", "transpose/padded@32x8", "--m", 5)
        self.refuse(2, ["gemm", "--rows", "--m", "--n", "--k"], "explain", "gemm/tiled", "--rows", 5)
        self.refuse(2, ["--on", "'cuda'", "emulator"], "explain", "transpose/padded@32x8", "--on", "cuda")
        self.refuse(2, ["source", 5, 1024], "explain", "transpose/padded@32x8", "--source-ld", 5)
        self.refuse(2, ["--count", "--rows", "--source-ld", "--svg"], "explain", "transpose/padded@32x8", "--count", 5)
        self.refuse(2, ["--svg", "'transpose'"], "explain", "transpose", "--svg", "file.svg")
        self.refuse(1, ["/no/such/file.svg"], "explain", "transpose/padded@32x8", "--svg", "/no/such/file.svg")
        with tempfile.TemporaryDirectory() as folder:
            self.refuse(1, ["gemm/bulk", "emulator"], "explain", "gemm/bulk", "--m", 64, "--svg", Path(folder, "a.svg"))
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    script.main()
