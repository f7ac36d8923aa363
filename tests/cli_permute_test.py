"""What the cornerturn program prints and refuses of permutations of axes."""

import json
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
        for result in (naive, merged):  # 192 warps, each a row of the source's columns apart
            self.assertEqual([result["metrics"][m] for m in (REQUESTS_LD, REQUESTS_ST, SECTORS_LD, SECTORS_ST)], [192, 192, 192 * 32, 192 * 4])
        self.assertEqual([tiled["metrics"][m] for m in (REQUESTS_LD, REQUESTS_ST, SECTORS_LD, SECTORS_ST)], [192, 192, 192 * 4, 192 * 4])

    def test_what_cannot_be_done_so_is_declined(self):
        tiled, vectors = self.ladder("--shape", "3,5,7", "--axes", "1,0,2", "--rungs", "tiled,vectors")
        self.assertIn("same fastest axis", tiled["reason"])
        self.assertIn("aligned to 16 bytes", vectors["reason"])

    def test_large_tensors_are_sampled(self):
        (result,) = self.ladder("--shape", "16,3,1024,512", "--axes", "0,2,3,1", "--rungs", "composite")
        self.assertEqual(result["verified"], "sampled")
        self.assertLess(result["checked"]["elements"], result["checked"]["of"])
        self.assertEqual(result["metrics"][SECTORS_LD], 16 * 3 * 1024 * 512 // 8)

    def test_the_other_commands(self):
        self.assertIn("4 x 56 x 56 x 64, axes 0,3,1,2 f32", self.succeed("profile", "permute/tiled", "--on", "emulator"))
        self.assertIn("7 x 5, axes 1,0 f32", self.succeed("diff", "permute/naive", "permute/merged", "--on", "emulator", "--shape", "7,5"))
        self.assertIn("warp 0", self.succeed("explain", "permute/tiled", "--shape", "40,50").lower())
        self.assertIn("one element, axes  f32", self.succeed("profile", "permute/merged", "--on", "emulator", "--shape", ""))

    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            results, page = Path(folder, "ladder.json"), Path(folder, "report.html")
            self.succeed("ladder", "permute", "--on", "emulator", "--shape", "4,8,12,16", "--format", "json", "--output", results)
            self.succeed("report", results, "--output", page)
            self.assertIn("4 x 8 x 12 x 16, axes 3,2,1,0 f32", page.read_text(encoding="utf-8"))

    def test_explain(self):
        said = unwrapped(self.succeed("explain", "permute", "--shape", "32,25,56,56", "--axes", "3,2,0,1", "--dtype", "f16"))
        self.assertRegex(said, r"\Apermute/production: tiles: 2-byte units, .*predicted [\d.]+ us\nother ways, from fast to slow:\n  tiles: ")
        document = json.loads(self.succeed("explain", "permute", "--shape", "8,6,4", "--axes", "2,0,1", "--element-size", 12,
                                           "--multiprocessors", 80, "--compute-capability", 80, "--format", "json"))
        self.assertEqual([document[key] for key in ("shape", "axes", "element_size", "multiprocessors", "compute_capability")],
                         [[8, 6, 4], [2, 0, 1], 12, 80, 80])
        self.assertGreater(document["predicted_us"], 0)
        self.refuse(2, ["--on is 'gpu'"], "explain", "permute", "--on", "gpu")
        self.assertIn("host/permute: copy", self.succeed("explain", "permute", "--on", "host", "--shape", "40,50,60"))
        self.refuse(2, ["permute has no option --rows"], "explain", "permute", "--rows", 5)
        self.refuse(2, ["--multiprocessors is 0"], "explain", "permute", "--multiprocessors", 0)

    def test_what_is_refused(self):
        for said, *arguments in (
            ("--axes is 0,0: axis 0 appears twice", "--shape", "2,3", "--axes", "0,0"),
            ("--axes is 0,2: axis 2 must be from -2 to 1: --shape is 2,3, which has 2 axes", "--shape", "2,3", "--axes", "0,2"),
            ("--axes is 0: it must name each axis once, and --shape is 2,3, which has 2 axes", "--shape", "2,3", "--axes", "0"),
            ("--axes is 1,0: it must name each axis once, and without --shape the tensor is 4,56,56,64, which has 4 axes", "--on", "emulator", "--axes", "1,0"),
            ("--shape is 2,-3: an extent must not be negative", "--shape", "2,-3"),
            ("--shape is '2x3': it must be whole numbers, separated by commas", "--shape", "2x3"),
            ("--shape is 9999999999,9999999999: this is more than the address space of any machine", "--shape", "9999999999,9999999999"),
            ("leave out --rows", "--rows", 5),
        ):
            self.refuse(2, [said], "ladder", "permute", *arguments)
        self.refuse(2, ["the sizes of transpose are --rows and --cols;", "leave out --shape"], "ladder", "transpose", "--shape", "2,3")


if __name__ == "__main__":
    script.main()
