"""The cornerturn program on permutations of axes."""

import json
import re
import tempfile
import unittest
from pathlib import Path

import script
from cli_test import METRICS, REQUESTS_LD, REQUESTS_ST, SECTORS_LD, SECTORS_ST, Case, unwrapped

RUNGS = ["permute/naive", "permute/merged", "permute/tiled", "permute/composite", "permute/vectors", "permute/production"]


class Permute(Case):
    def ladder(self, *arguments):
        return json.loads(self.succeed("ladder", "permute", "--on", "emulator", "--format", "json", *arguments))["results"]

    def test_every_rung_is_verified(self):
        results = self.ladder("--shape", "4,8,12,16", "--axes", "0,2,3,1", "--dtype", "f16")
        self.assertEqual([result["kernel"] for result in results], RUNGS)
        for result in results:
            self.assertEqual((result["shape"], result["axes"], result["dtype"]), ([4, 8, 12, 16], [0, 2, 3, 1], "f16"))
            self.assertIs(result["verified"], True)
            self.assertEqual(result["checked"], {"elements": 6144, "of": 6144})
            self.assertEqual(set(result["metrics"]), set(METRICS))
            self.assertNotIn("rows", result)

    def test_exact_counters(self):
        naive, merged, tiled = self.ladder("--shape", "64,96", "--axes", "1,0", "--rungs", "naive,merged,tiled")
        for result in (naive, merged):  # 192 warps; the lanes' loads are a row apart
            self.assertEqual([result["metrics"][m] for m in (REQUESTS_LD, REQUESTS_ST, SECTORS_LD, SECTORS_ST)], [192, 192, 192 * 32, 192 * 4])
        self.assertEqual([tiled["metrics"][m] for m in (REQUESTS_LD, REQUESTS_ST, SECTORS_LD, SECTORS_ST)], [192, 192, 192 * 4, 192 * 4])

    def test_a_rung_that_cannot_do_the_work_is_skipped(self):
        tiled, vectors = self.ladder("--shape", "3,5,7", "--axes", "1,0,2", "--rungs", "tiled,vectors")
        self.assertEqual((tiled["status"], vectors["status"]), ("skipped", "skipped"))
        self.assert_names(tiled["reason"], "permute/merged")
        self.assert_names(vectors["reason"], 16, "permute/composite")

    def test_large_tensors_are_sampled(self):
        (result,) = self.ladder("--shape", "16,3,1024,512", "--axes", "0,2,3,1", "--rungs", "composite")
        self.assertEqual(result["verified"], "sampled")
        self.assertLess(result["checked"]["elements"], result["checked"]["of"])
        self.assertEqual(result["metrics"][SECTORS_LD], 16 * 3 * 1024 * 512 // 8)

    def test_the_other_commands(self):
        self.assertIn("4 x 56 x 56 x 64, axes 0,3,1,2 f32", self.succeed("profile", "permute/tiled", "--on", "emulator"))
        self.assertIn("7 x 5, axes 1,0 f32", self.succeed("diff", "permute/naive", "permute/merged", "--on", "emulator", "--shape", "7,5"))
        self.assertRegex(self.succeed("explain", "permute/tiled", "--shape", "40,50"), r"(?m)^520_tiled\.cu:\d+  .*\bdestination\b")
        self.assertIn("one element, axes  f32", self.succeed("profile", "permute/merged", "--on", "emulator", "--shape", ""))

    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            results, page = Path(folder, "ladder.json"), Path(folder, "report.html")
            self.succeed("ladder", "permute", "--on", "emulator", "--shape", "4,8,12,16", "--format", "json", "--output", results)
            self.succeed("report", results, "--output", page)
            self.assertIn("4 x 8 x 12 x 16, axes 3,2,1,0 f32", page.read_text(encoding="utf-8"))

    def test_explain(self):
        said = unwrapped(self.succeed("explain", "permute", "--shape", "32,25,56,56", "--axes", "3,2,0,1", "--dtype", "f16"))
        chosen, others = ([float(time) for time in re.findall(r"([\d.]+) us\b", part)] for part in said.split("\nother ways"))
        self.assertRegex(said, r"\Apermute/production: [\w ]+: [^\n]*\n")
        self.assertEqual(len(chosen), 3, "the choice and the next two ways")
        self.assertGreater(len(others), 2)
        for times in (chosen, chosen[:1] + others):
            self.assertEqual(times, sorted(times))
        document = json.loads(self.succeed("explain", "permute", "--shape", "8,6,4", "--axes", "2,0,1", "--element-size", 12,
                                           "--multiprocessors", 80, "--compute-capability", 80, "--format", "json"))
        self.assertEqual([document[key] for key in ("shape", "axes", "element_size", "multiprocessors", "compute_capability")],
                         [[8, 6, 4], [2, 0, 1], 12, 80, 80])
        self.assertGreater(document["predicted_us"], 0)
        self.refuse(2, ["--on", "'gpu'", "cuda", "host"], "explain", "permute", "--on", "gpu")
        self.assertIn("host/permute: copy", self.succeed("explain", "permute", "--on", "host", "--shape", "40,50,60"))
        self.refuse(2, ["permute", "--rows", "--shape"], "explain", "permute", "--rows", 5)
        self.refuse(2, ["--multiprocessors", 0], "explain", "permute", "--multiprocessors", 0)

    def test_mistakes(self):
        for values, *arguments in (
            (["--axes", "0,0"], "--shape", "2,3", "--axes", "0,0"),
            (["--axes", "0,2", "axis 2", -2, 1, "--shape", "2,3"], "--shape", "2,3", "--axes", "0,2"),
            (["--axes", 0, "--shape", "2,3", 2], "--shape", "2,3", "--axes", "0"),
            (["--axes", "1,0", "4,56,56,64", 4], "--on", "emulator", "--axes", "1,0"),
            (["--shape", "2,-3"], "--shape", "2,-3"),
            (["--shape", "'2x3'"], "--shape", "2x3"),
            (["--shape", "9999999999,9999999999"], "--shape", "9999999999,9999999999"),
            (["permute", "--rows", "--shape"], "--rows", 5),
        ):
            self.refuse(2, values, "ladder", "permute", *arguments)
        self.refuse(2, ["transpose", "--rows", "--cols", "--shape"], "ladder", "transpose", "--shape", "2,3")


if __name__ == "__main__":
    script.main()
