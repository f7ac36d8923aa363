"""What the cornerturn program refuses, and that it says what would be right."""

import os
import unittest

import script
from cli_test import COPIES, DTYPES, FORMATS, Case


class Refusals(Case):
    KERNEL = ("profile", "copy/global@32x8", "--on", "emulator")

    def test_unknown_id(self):
        self.refuse(2, ["transpose/shard@32x32", "transpose/shared@32x32"], "profile", "transpose/shard@32x32")
        self.refuse(2, ["transpose/paded@32x8", "transpose/padded@32x8"], "profile", "transpose/paded@32x8")

    def test_unknown_command(self):
        self.refuse(2, ["bogus", "--help"], "bogus")
        self.refuse(2, ["--help"])

    def test_unknown_option(self):
        for command in (("list",), ("show", "4x8"), ("ladder", "transpose"), self.KERNEL):
            self.refuse(2, ["--bogus", "--help"], *command, "--bogus")
        self.refuse(2, ["extra", "--help"], "list", "extra")

    def test_missing_arguments(self):
        self.refuse(2, ["ID"], "profile")
        self.refuse(2, ["OPERATION"], "ladder")
        self.refuse(2, ["SHAPE"], "show")
        self.refuse(2, ["--rows"], *self.KERNEL, "--rows")

    def test_sizes(self):
        for option in ("--rows", "--cols"):
            self.refuse(2, [option, "-1", "negative"], *self.KERNEL, f"{option}=-1")
            self.refuse(2, [option, "-1", "negative"], *self.KERNEL, option, "-1")
            for word in ("ten", "1e3", "12.5", "7x", "0x10", " 5"):
                self.refuse(2, [option, word, "whole number"], *self.KERNEL, option, word)
            self.refuse(2, [option, str(2**63), "2^63"], *self.KERNEL, option, 2**63)
            self.refuse(2, [option, str(10**30), "2^63"], *self.KERNEL, option, 10**30)

    def test_products(self):
        most = str(2**63 - 1)
        self.refuse(2, [most, "64 bits"], *self.KERNEL, "--rows", most, "--cols", 2)
        self.refuse(2, [str(2**62), "64 bits"], *self.KERNEL, "--rows", 2**31, "--cols", 2**31, "--dtype", "f64")
        self.refuse(2, [str(2**32), "64 bits"], "show", f"{2**32}x{2**32}")

    def test_dtypes(self):
        for command in (self.KERNEL, ("show", "4x8"), ("ladder", "transpose")):
            self.refuse(2, ["f33", *DTYPES], *command, "--dtype", "f33")
        self.refuse(2, ["transpose/vectorized@8x32", "f64", "4 bytes"],
                    "profile", "transpose/vectorized@8x32", "--on", "emulator", "--dtype", "f64")

    def test_format(self):
        for command in (("list",), ("show", "4x8"), ("ladder", "transpose"), self.KERNEL):
            self.refuse(2, ["bogus", *FORMATS], *command, "--format", "bogus")

    def test_seed(self):
        for command in (("show", "4x8"), self.KERNEL):
            self.refuse(2, ["--seed", "soon", "whole number"], *command, "--seed", "soon")
            self.refuse(2, ["--seed", "-1", "negative"], *command, "--seed=-1")

    def test_device(self):
        for command in (("profile", COPIES[0]), ("profile", "host/reference"), ("ladder", "transpose")):
            self.refuse(2, ["bogus", "emulator", "cuda"], *command, "--on", "bogus")

    def test_no_gpu(self):
        with unittest.mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES=""):  # nor where there is one
            for command in (("profile", COPIES[0], "--on", "cuda"), ("ladder", "transpose", "--on", "cuda"),
                            ("bench", "transpose", "--subject", "transpose/padded@32x8")):
                self.refuse(1, ["no GPU", ":"], *command)

    def test_shape(self):
        for shape in ("4", "4X8", "4,8", "", "x", "4x", "x4"):
            self.refuse(2, [shape, "ROWSxCOLS"], "show", shape)
        for shape, part in (("4x8x2", "8x2"), ("axb", "ROWS of axb is 'a'"), ("4 x 8", "'4 '")):
            self.refuse(2, [part, "whole number"], "show", shape)
        self.refuse(2, ["-4", "negative"], "show", "-4x8")
        self.refuse(2, [str(2**63), "2^63"], "show", f"{2**63}x1")
        self.refuse(2, ["5000 x 5000", "the limit is"], "show", "5000x5000")

    def test_family(self):
        self.refuse(2, ["bogus", "transpose"], "ladder", "bogus")
        self.refuse(2, ["bogus", "transpose"], "bench", "bogus")

    def test_bench(self):
        command = ("bench", "transpose", "--subject", "transpose/padded@32x8")
        self.refuse(2, ["OPERATION"], "bench")
        self.refuse(2, ["--bogus", "--help"], *command, "--bogus")
        self.refuse(2, ["bogus", *FORMATS], *command, "--format", "bogus")
        for word in ("3", "f32", ""):
            self.refuse(2, ["--sizes", f"'{word}'", "1, 2, 4, 8, 16"], *command, "--sizes", f"4,{word},8")
        self.refuse(2, ["--sizes", "is empty"], *command, "--sizes", "")
        self.refuse(2, ["--shapes", "'square'", "squares, odd, skinny, padded, offset, batched"], *command, "--shapes", "odd,square")
        self.refuse(2, ["--peers", "'cublas'", "copy, geam, memcpy"], *command, "--peers", "cublas")
        self.refuse(2, ["transpose/paded@32x8", "transpose/padded@32x8"], "bench", "transpose", "--subject", "transpose/paded@32x8")
        for word in ("0", "-1", "nan", "1s", "1e9"):
            self.refuse(2, ["--seconds", f"'{word}'", "above 0"], *command, f"--seconds={word}")
        self.refuse(2, ["--seed", "soon", "whole number"], *command, "--seed", "soon")

    def test_bench_of_random_cells(self):
        command = ("bench", "transpose", "--on", "host")
        self.refuse(2, ["--random is 0", "1 to"], *command, "--random", 0)
        self.refuse(2, ["--random is 'many'", "whole number"], *command, "--random", "many")
        for option, word in (("--shapes", "odd"), ("--sizes", 4)):
            self.refuse(2, ["--random", f"leave out {option}"], *command, "--random", 3, option, word)
        for option in ("--regret", "--small"):
            self.refuse(2, [option, "--random"], *command, option)
        self.refuse(2, ["--small", "--on host"], *command, "--random", 3, "--small")
        self.refuse(2, ["--on is 'host'", "gemm has no bench there"], "bench", "gemm", "--on", "host", "--random", 3)
        self.refuse(2, ["--small", "random products have every size"], "bench", "gemm", "--random", 3, "--small")


if __name__ == "__main__":
    script.main()
