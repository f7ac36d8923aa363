"""What the cornerturn program prints and refuses of products: ladder, profile, explain and bench gemm."""

import json
import unittest

import script
from cli_test import (METRICS, REQUESTS_LD, REQUESTS_ST, SECTORS_LD, SECTORS_ST, SHARED_LD, SHARED_ST, WAVEFRONTS_LD, WAVEFRONTS_ST, Case,
                      unwrapped)


class Products(Case):
    RUNGS = ["gemm/tiled", "gemm/strided@padded", "gemm/strided@plain", "gemm/blocked@plain", "gemm/blocked@padded",
             "gemm/quadrants", "gemm/vectorized", "gemm/async", "gemm/registers", "gemm/warps", "gemm/swizzled",
             "gemm/warp-rows", "gemm/split-k", "gemm/production"]
    SKIPPED = {"gemm/bulk": "tensor copies", "gemm/cublas": "emulator"}

    def test_the_ladder(self):
        results = json.loads(self.succeed("ladder", "gemm", "--on", "emulator", "--m", 70, "--n", 45, "--k", 33, "--format", "json"))["results"]
        for skipped in [result for result in results if result["kernel"] in self.SKIPPED]:
            results.remove(skipped)
            self.assertEqual((skipped["status"], "verified" in skipped), ("skipped", False))
            self.assertIn(self.SKIPPED[skipped["kernel"]], skipped["reason"])
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
        self.assertIn("40 x 50 x 30 (m x n x k), lda 33, beta 2.0 f32",
                      self.succeed("profile", "gemm/tiled", "--on", "emulator", "--m", 40, "--n", 50, "--k", 30, "--lda", 33, "--beta", 2))
        for parts, *options in ((["A's leading dimension is 29: a row has 30"], "--lda", 29), (["--alpha is 'two'", "number"], "--alpha", "two"),
                                (["--beta is '1e99'"], "--beta", "1e99"), (["--values is 'odd'", "symmetric"], "--values", "odd"),
                                (["64 bits"], "--a-offset", 2**62), (["--c-offset", "-1"], "--c-offset=-1")):
            self.refuse(2, parts, "profile", "gemm/tiled", "--on", "emulator", "--m", 40, "--n", 50, "--k", 30, *options)

    def test_large_products_are_sampled(self):
        result = json.loads(self.succeed("profile", "gemm/vectorized", "--on", "emulator", "--m", 700, "--n", 300, "--k", 200, "--format", "json"))
        self.assertEqual(result["verified"], "sampled")
        self.assertLess(result["checked"]["elements"], result["checked"]["of"])

    def test_explain(self):
        said = unwrapped(self.succeed("explain", "gemm", "--m", 4095, "--n", 4097, "--k", 4099))
        self.assertRegex(said, r"\Agemm/production: large: tiles of 128 x 128 [^\n]*A along k, transposed first; B unaligned, copied first[^\n]*\n\Z")
        self.assertRegex(unwrapped(self.succeed("explain", "gemm", "--m", 64, "--k", 65536)), r"in \d+ parts along k")
        self.assertNotIn("large", self.succeed("explain", "gemm", "--compute-capability", 75))
        document = json.loads(self.succeed("explain", "gemm", "--m", 64, "--k", 65536, "--a-transposed", "--format", "json"))
        self.assertEqual([document[key] for key in ("m", "n", "k", "lda", "ldb", "a_transposed")], [64, 64, 65536, 64, 64, True])
        self.refuse(2, ["--rows", "--m"], "explain", "gemm", "--rows", 5)
        self.refuse(2, ["--m", "--rows"], "explain", "transpose", "--m", 5)
        self.refuse(2, ["--on is 'host'"], "explain", "gemm", "--on", "host")
        self.refuse(2, ["leading dimension is 3"], "explain", "gemm", "--lda", 3)
        self.refuse(2, ["--offset"], "explain", "gemm", "--offset", 9223372036854775807)
        self.refuse(2, ["--multiprocessors is 4294967297: it must be 1 to 65536"],
                    "explain", "gemm", "--multiprocessors", 4294967297)
        # The verifier's limit is not the library's.
        self.assertIn("in one part", unwrapped(self.succeed("explain", "gemm", "--m", 1, "--k", 5000000)))
        self.refuse(1, ["k is 9000000000: it must be at most 2^33"], "explain", "gemm", "--m", 1, "--k", 9000000000)
        said = unwrapped(self.succeed("explain", "gemm", "--m", 4096))
        for why in ("estimated at", ", as small", "with the operands used directly"):
            self.assertIn(why, said)
        self.assertIn("nothing: C is empty", self.succeed("explain", "gemm", "--m", 0))
        self.refuse(2, ["--multiprocessors"], "explain", "gemm", "--multiprocessors", 0)

    def test_bench_mistakes(self):
        self.refuse(2, ["no operation is called 'sort'", "gemm"], "bench", "sort")
        self.refuse(2, ["--sizes"], "bench", "gemm", "--sizes", 4)
        self.refuse(2, ["--peers"], "bench", "gemm", "--peers", "geam")
        self.refuse(2, ["--shapes has 'round'", "ragged"], "bench", "gemm", "--shapes", "round")
        self.refuse(2, ["--subject is 'transpose/production'"], "bench", "gemm", "--subject", "transpose/production")
        self.refuse(2, ["--on is 'host'"], "bench", "gemm", "--on", "host")

    def test_mistakes(self):
        self.refuse(2, ["--rows", "--m"], "ladder", "gemm", "--on", "emulator", "--rows", 5)
        self.refuse(2, ["--k", "--rows"], "ladder", "transpose", "--on", "emulator", "--k", 5)
        self.refuse(2, ["--cols", "--m"], "profile", "gemm/tiled", "--on", "emulator", "--cols", 5)
        for command in (["profile", "gemm/tiled"], ["ladder", "gemm"]):
            self.refuse(2, ["--dtype is i32: products take only f32"], *command, "--on", "emulator", "--dtype", "i32")
        self.refuse(2, ["64 bits"], "profile", "gemm/tiled", "--on", "emulator", "--m", 2**62, "--n", 4, "--k", 1)
        self.refuse(1, ["GB of memory"], "profile", "gemm/tiled", "--on", "emulator", "--m", 2**21, "--n", 1, "--k", 2**21)
        self.refuse(2, ["--n", "-1", "negative"], "profile", "gemm/tiled", "--on", "emulator", "--n=-1")


if __name__ == "__main__":
    script.main()
