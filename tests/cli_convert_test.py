"""The cornerturn program on conversions."""

import json
import tempfile
import unittest
from pathlib import Path

import script
from cli_test import METRICS, REQUESTS_LD, REQUESTS_ST, SECTORS_LD, SECTORS_ST, Case, unwrapped

RUNGS = ["convert/naive", "convert/tiled", "convert/composite", "convert/words", "convert/production"]


class Convert(Case):
    def ladder(self, *arguments):
        return json.loads(self.succeed("ladder", "convert", "--on", "emulator", "--format", "json", *arguments))["results"]

    def test_every_rung_is_verified(self):
        for factors in (("--factors", "none"), ("--factors", "one"), ("--factors", "each", "--axis", 2)):
            results = self.ladder("--shape", "4,8,12,16", "--axes", "0,3,1,2", "--dtype", "u8", "--to", "f16", *factors)
            self.assertEqual([result["kernel"] for result in results], RUNGS)
            for result in results:
                self.assertEqual((result["shape"], result["axes"], result["dtype"]), ([4, 8, 12, 16], [0, 3, 1, 2], "u8"))
                self.assertIs(result["verified"], True)
                self.assertEqual(result["checked"], {"elements": 6144, "of": 6144})
                self.assertEqual(set(result["metrics"]), set(METRICS))

    def test_exact_counters(self):
        naive, tiled, words = self.ladder("--shape", "64,128", "--axes", "1,0", "--rungs", "naive,tiled,words")
        counted = lambda result: [result["metrics"][m] for m in (REQUESTS_LD, REQUESTS_ST, SECTORS_LD, SECTORS_ST)]
        self.assertEqual(counted(naive), [256, 256, 256 * 32, 256 * 2])  # 256 warps; the lanes' loads are a row apart
        self.assertEqual(counted(tiled), [256, 256, 256 * 4, 256 * 2])
        self.assertEqual(counted(words), [64, 32, 64 * 16, 32 * 16])  # 512 bytes a request on both sides

    def test_a_rung_that_cannot_do_the_work_is_skipped(self):
        tiled, words = self.ladder("--shape", "3,5,7", "--axes", "1,0,2", "--rungs", "tiled,words")
        self.assertEqual((tiled["status"], words["status"]), ("skipped", "skipped"))
        self.assert_names(words["reason"], 16, "convert/composite")
        (naive,) = self.ladder("--shape", "30,5", "--dtype", "i64", "--to", "e5m2", "--rungs", "naive")
        self.assert_names(naive["reason"], "u8", "bf16", "convert/production")
        (production,) = self.ladder("--shape", "30,5", "--dtype", "i64", "--to", "e5m2", "--rungs", "production")
        self.assertIs(production["verified"], True)

    def test_large_tensors_are_sampled(self):
        (result,) = self.ladder("--shape", "16,1024,512,3", "--axes", "0,3,1,2", "--dtype", "u8", "--to", "f32", "--rungs", "composite")
        self.assertEqual(result["verified"], "sampled")
        self.assertLess(result["checked"]["elements"], result["checked"]["of"])
        self.assertEqual(result["metrics"][SECTORS_ST], 16 * 3 * 1024 * 512 // 8)

    def test_the_other_commands(self):
        self.assertIn("4 x 56 x 56 x 64, axes 0,3,1,2, to bf16 f32", self.succeed("profile", "convert/tiled", "--on", "emulator"))
        self.assertIn("7 x 5, axes 1,0, to f16 u8",
                      self.succeed("diff", "convert/naive", "convert/composite", "--on", "emulator", "--shape", "7,5", "--dtype", "u8", "--to", "f16"))
        self.assertRegex(self.succeed("explain", "convert/tiled", "--shape", "40,50"), r"(?m)^610_tiled\.cu:\d+  .*\bdestination\b")
        said = unwrapped(self.succeed("explain", "convert", "--shape", "64,224,224,3", "--axes", "0,3,1,2", "--dtype", "u8", "--to", "f32"))
        self.assertRegex(said, r"\Aconvert/production: [\w ]+: [^\n]*\n")

    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            results, page = Path(folder, "ladder.json"), Path(folder, "report.html")
            self.succeed("ladder", "convert", "--on", "emulator", "--shape", "4,8,12,16", "--format", "json", "--output", results)
            self.succeed("report", results, "--output", page)
            self.assertIn("4 x 8 x 12 x 16, axes 3,2,1,0, to bf16 f32", page.read_text(encoding="utf-8"))
            self.succeed("ladder", "convert", "--on", "emulator", "--shape", "5,7", "--dtype", "e4m3fn", "--format", "json", "--output", results)
            self.assertIn("5 x 7, axes 1,0, to bf16 e4m3fn", self.succeed("report", results, "--format", "markdown"))

    def test_bench_on_the_host(self):
        cells = [{"source_extents": [300, 200, 3], "axes": [2, 0, 1], "source_type": "u8", "destination_type": "f32", "factors": "each", "axis": 0},
                 {"extents": [70, 90], "source_strides": [1, 75], "destination_strides": [96, 1], "source_type": "bf16",
                  "destination_type": "e4m3fn"}]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "cells.json")
            file.write_text(json.dumps(cells), encoding="utf-8")
            bench = ("bench", "convert", "--on", "host", "--seconds", "1e-6", "--format", "json")
            stored = json.loads(self.succeed(*bench, "--cells", file))
            self.assertEqual([cell["bytes"] for cell in stored["cells"]], [300 * 200 * 3 * 5, 70 * 90 * 3])
            for cell in stored["cells"]:
                self.assertGreater(cell["subject"]["ratio"], 0)
            for change, named in (({"axis": 3}, ["cell 0", 3]), ({"factors": "two"}, ["cell 0", "'two'"]), ({"source_type": "f33"}, ["cell 0", "f33"]),
                                  ({"destination_type": "u8", "factors": "none"}, ["cell 0", "u8"])):
                file.write_text(json.dumps([cells[0] | change]), encoding="utf-8")
                self.refuse(2, ["--cells", *named], *bench, "--cells", file)
        self.refuse(2, ["--sizes"], "bench", "convert", "--on", "host", "--sizes", 4)

    def test_mistakes(self):
        for values, *arguments in (
            (["--dtype", "'f33'"], "--dtype", "f33"),
            (["--to", "'c64'"], "--to", "c64"),
            (["f32"], "--to", "f32"),
            (["--factors", "'two'"], "--factors", "two"),
            (["--axis", "--factors"], "--axis", 1),
            (["--axis", 2, -2, 1], "--shape", "4,5", "--factors", "each", "--axis", 2),
            (["convert", "--rows", "--shape"], "--rows", 5),
        ):
            self.refuse(2, values, "ladder", "convert", *arguments)


if __name__ == "__main__":
    script.main()
