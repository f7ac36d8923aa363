"""The cornerturn program on matrix products: ladder, profile, explain and bench gemm."""

import json
import re
import unittest

import script
from cli_test import (METRICS, REQUESTS_LD, REQUESTS_ST, SECTORS_LD, SECTORS_ST, SHARED_LD, SHARED_ST, WAVEFRONTS_LD, WAVEFRONTS_ST, Case,
                      unwrapped)


class Products(Case):
    RUNGS = ["gemm/tiled", "gemm/strided@padded", "gemm/strided@plain", "gemm/blocked@plain", "gemm/blocked@padded",
             "gemm/quadrants", "gemm/vectorized", "gemm/async", "gemm/registers", "gemm/warps", "gemm/swizzled",
             "gemm/warp-rows", "gemm/split-k", "gemm/production"]
    SKIPPED = {"gemm/bulk", "gemm/cublas"}

    def test_the_ladder(self):
        results = json.loads(self.succeed("ladder", "gemm", "--on", "emulator", "--m", 70, "--n", 45, "--k", 33, "--format", "json"))["results"]
        for skipped in [result for result in results if result["kernel"] in self.SKIPPED]:
            results.remove(skipped)
            self.assertEqual((skipped["status"], "verified" in skipped), ("skipped", False))
            self.assert_names(skipped["reason"], "emulator")
        self.assertEqual([result["kernel"] for result in results], self.RUNGS)
        for result in results:
            self.assertEqual([result[key] for key in ("m", "n", "k", "dtype")], [70, 45, 33, "f32"])
            self.assertNotIn("rows", result)
            self.assertIs(result["verified"], True)
            self.assertEqual(result["trials"], {"right": 4, "declined": 0})
            self.assertEqual(result["checked"], {"elements": 70 * 45, "of": 70 * 45})
            self.assertEqual(set(result["metrics"]), set(METRICS))

    def test_exact_counters(self):
        result = json.loads(self.succeed("profile", "gemm/tiled", "--on", "emulator", "--m", 64, "--n", 96, "--k", 128, "--format", "json"))
        blocks, steps = 2 * 3, 4  # of 32 x 32 threads; a warp loads a row of A's tile and of B's at each step
        self.assertEqual(result["launch"], {"grid": [3, 2, 1], "block": [32, 32, 1]})
        self.assertEqual(result["metrics"], {
            REQUESTS_LD: blocks * steps * 64, REQUESTS_ST: blocks * 32, SECTORS_LD: blocks * steps * 64 * 4, SECTORS_ST: blocks * 32 * 4,
            SHARED_LD: blocks * steps * 32 * 64, SHARED_ST: blocks * steps * 64,
            WAVEFRONTS_LD: blocks * steps * 32 * 64, WAVEFRONTS_ST: blocks * steps * 64})

    def test_one_size_stands_for_all(self):
        result = json.loads(self.succeed("profile", "gemm/blocked@plain", "--on", "emulator", "--k", 20, "--format", "json"))
        self.assertEqual((result["m"], result["n"], result["k"]), (20, 20, 20))

    def test_layouts_factors_and_values(self):
        result = json.loads(self.succeed("profile", "gemm/tiled", "--on", "emulator", "--m", 40, "--n", 50, "--k", 30, "--lda", 33,
                                         "--ldc", 57, "--b-offset", 3, "--alpha", -1.5, "--beta", "0.25", "--values", "normal", "--format", "json"))
        self.assertEqual({key: result[key] for key in ("lda", "ldc", "b_offset", "alpha", "beta", "values")},
                         {"lda": 33, "ldc": 57, "b_offset": 3, "alpha": -1.5, "beta": 0.25, "values": "normal"})
        self.assertNotIn("ldb", result)
        self.assertIs(result["verified"], True)
        self.assert_names(self.succeed("profile", "gemm/tiled", "--on", "emulator", "--m", 40, "--n", 50, "--k", 30, "--lda", 33, "--beta", 2),
                          "40 x 50 x 30", "lda 33", "beta 2.0", "f32")
        for values, *options in ((["A", 29, 30], "--lda", 29), (["--alpha", "'two'"], "--alpha", "two"), (["--beta", "'1e99'"], "--beta", "1e99"),
                                 (["--values", "'odd'", "integers", "symmetric"], "--values", "odd"), ([2**62, 64], "--a-offset", 2**62),
                                 (["--c-offset", -1], "--c-offset=-1")):
            self.refuse(2, values, "profile", "gemm/tiled", "--on", "emulator", "--m", 40, "--n", 50, "--k", 30, *options)

    def test_large_products_are_sampled(self):
        result = json.loads(self.succeed("profile", "gemm/vectorized", "--on", "emulator", "--m", 700, "--n", 300, "--k", 200, "--format", "json"))
        self.assertEqual(result["verified"], "sampled")
        self.assertLess(result["checked"]["elements"], result["checked"]["of"])

    def test_explain(self):
        said = unwrapped(self.succeed("explain", "gemm", "--m", 4095, "--n", 4097, "--k", 4099))
        self.assertRegex(said, r"\A[^\n]+\n\Z")
        workspace = 4 * 4099 * (4096 + 4100)  # for A's transpose and B's copy, in aligned rows
        self.assert_names(said, "gemm/production: large: ", "128 x 128", workspace)
        workspace = 4 * 132 * 64 * 64  # 132 parts along k, of one tile each
        self.assert_names(unwrapped(self.succeed("explain", "gemm", "--m", 64, "--k", 65536)), 132, workspace)
        self.assertFalse(script.names(self.succeed("explain", "gemm", "--compute-capability", 75), "large"))
        document = json.loads(self.succeed("explain", "gemm", "--m", 64, "--k", 65536, "--a-transposed", "--format", "json"))
        self.assertEqual([document[key] for key in ("m", "n", "k", "lda", "ldb", "a_transposed")], [64, 64, 65536, 64, 64, True])
        self.refuse(2, ["--rows", "--m"], "explain", "gemm", "--rows", 5)
        self.refuse(2, ["--m", "--rows"], "explain", "transpose", "--m", 5)
        self.refuse(2, ["--on", "'host'"], "explain", "gemm", "--on", "host")
        self.refuse(2, ["A", 3], "explain", "gemm", "--lda", 3)
        self.refuse(2, ["--offset", 2**63 - 1, 4, 64], "explain", "gemm", "--offset", 2**63 - 1)
        self.refuse(2, ["--multiprocessors", 4294967297, 1, 65536], "explain", "gemm", "--multiprocessors", 4294967297)
        # The verifier's limit is lower than the library's.
        self.assert_names(self.succeed("explain", "gemm", "--m", 1, "--k", 5000000), "gemm/production")
        self.refuse(1, ["k", 9000000000, "2^33"], "explain", "gemm", "--m", 1, "--k", 9000000000)
        said = unwrapped(self.succeed("explain", "gemm", "--m", 4096))
        self.assert_names(said, "large", "small")
        times = [int(time) for time in re.findall(r"(\d+) us\b", said)]
        self.assertEqual((len(times), times[0]), (3, min(times)), "the chosen kernel and the other candidates")
        self.assert_names(self.succeed("explain", "gemm", "--m", 0), "gemm/production: nothing")
        self.refuse(2, ["--multiprocessors", 0], "explain", "gemm", "--multiprocessors", 0)

    def test_bench_mistakes(self):
        self.refuse(2, ["'sort'", "transpose", "gemm", "permute"], "bench", "sort")
        self.refuse(2, ["--sizes", "gemm"], "bench", "gemm", "--sizes", 4)
        self.refuse(2, ["--peers", "gemm", "gemm/cublas"], "bench", "gemm", "--peers", "geam")
        self.refuse(2, ["--shapes", "'round'", "ragged"], "bench", "gemm", "--shapes", "round")
        self.refuse(2, ["--subject", "'transpose/production'", "gemm"], "bench", "gemm", "--subject", "transpose/production")
        self.refuse(2, ["--on", "'host'", "cuda", "gemm"], "bench", "gemm", "--on", "host")

    def test_mistakes(self):
        self.refuse(2, ["--rows", "--m"], "ladder", "gemm", "--on", "emulator", "--rows", 5)
        self.refuse(2, ["--k", "--rows"], "ladder", "transpose", "--on", "emulator", "--k", 5)
        self.refuse(2, ["--cols", "--m"], "profile", "gemm/tiled", "--on", "emulator", "--cols", 5)
        for command in (["profile", "gemm/tiled"], ["ladder", "gemm"]):
            self.refuse(2, ["--dtype", "i32", "f32"], *command, "--on", "emulator", "--dtype", "i32")
        self.refuse(2, [2**62, 4, 64], "profile", "gemm/tiled", "--on", "emulator", "--m", 2**62, "--n", 4, "--k", 1)
        self.refuse(1, [2**21, "17592.2 GB"], "profile", "gemm/tiled", "--on", "emulator", "--m", 2**21, "--n", 1, "--k", 2**21)
        self.refuse(2, ["--n", -1], "profile", "gemm/tiled", "--on", "emulator", "--n=-1")


if __name__ == "__main__":
    script.main()
