"""Errors of the cornerturn program: the exit code, the option at fault, its value, and the values that it takes."""

import json
import os
import tempfile
import unittest
from pathlib import Path

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
            self.refuse(2, [option, -1], *self.KERNEL, f"{option}=-1")
            self.refuse(2, [option, -1], *self.KERNEL, option, "-1")
            for size in ("ten", "1e3", "12.5", "7x", "0x10", " 5"):
                self.refuse(2, [option, f"'{size}'"], *self.KERNEL, option, size)
            self.refuse(2, [option, 2**63, "2^63"], *self.KERNEL, option, 2**63)
            self.refuse(2, [option, 10**30, "2^63"], *self.KERNEL, option, 10**30)

    def test_products(self):
        most = 2**63 - 1
        self.refuse(2, [most, 2, 64], *self.KERNEL, "--rows", most, "--cols", 2)
        self.refuse(2, [2**62, 8, 64], *self.KERNEL, "--rows", 2**31, "--cols", 2**31, "--dtype", "f64")
        self.refuse(2, [2**32, 64], "show", f"{2**32}x{2**32}")

    def test_dtypes(self):
        for command in (self.KERNEL, ("show", "4x8"), ("ladder", "transpose")):
            self.refuse(2, ["f33", *DTYPES], *command, "--dtype", "f33")
        self.refuse(2, ["transpose/vectorized@8x32", "f64", 8, 4],
                    "profile", "transpose/vectorized@8x32", "--on", "emulator", "--dtype", "f64")

    def test_format(self):
        for command in (("list",), ("show", "4x8"), ("ladder", "transpose"), self.KERNEL):
            self.refuse(2, ["bogus", *FORMATS], *command, "--format", "bogus")

    def test_seed(self):
        for command in (("show", "4x8"), self.KERNEL):
            self.refuse(2, ["--seed", "'soon'"], *command, "--seed", "soon")
            self.refuse(2, ["--seed", -1], *command, "--seed=-1")

    def test_device(self):
        for command in (("profile", COPIES[0]), ("profile", "host/reference"), ("ladder", "transpose")):
            self.refuse(2, ["bogus", "emulator", "cuda"], *command, "--on", "bogus")

    def test_no_gpu(self):
        with unittest.mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES=""):  # hides a GPU
            for command in (("profile", COPIES[0], "--on", "cuda"), ("ladder", "transpose", "--on", "cuda"),
                            ("bench", "transpose", "--subject", "transpose/padded@32x8")):
                self.refuse(1, ["GPU"], *command)

    def test_shape(self):
        for shape in ("4", "4X8", "4,8", "", "x", "4x", "x4"):
            self.refuse(2, [f"'{shape}'", "ROWSxCOLS"], "show", shape)
        for shape, *values in (("4x8x2", "COLS", "'8x2'"), ("axb", "ROWS", "'a'"), ("4 x 8", "ROWS", "'4 '")):
            self.refuse(2, [shape, *values], "show", shape)
        self.refuse(2, ["ROWS", -4], "show", "-4x8")
        self.refuse(2, [2**63, "2^63"], "show", f"{2**63}x1")
        self.refuse(2, ["5000 x 5000", 1 << 20], "show", "5000x5000")

    def test_family(self):
        self.refuse(2, ["bogus", "transpose"], "ladder", "bogus")
        self.refuse(2, ["bogus", "transpose"], "bench", "bogus")

    def test_bench(self):
        command = ("bench", "transpose", "--subject", "transpose/padded@32x8")
        self.refuse(2, ["OPERATION"], "bench")
        self.refuse(2, ["--bogus", "--help"], *command, "--bogus")
        self.refuse(2, ["bogus", *FORMATS], *command, "--format", "bogus")
        sizes = [1, 2, 4, 8, 16]
        for size in ("3", "f32", ""):
            self.refuse(2, ["--sizes", f"'{size}'", *sizes], *command, "--sizes", f"4,{size},8")
        self.refuse(2, ["--sizes", *sizes], *command, "--sizes", "")
        groups = ["squares", "odd", "skinny", "padded", "offset", "batched"]
        self.refuse(2, ["--shapes", "'square'", *groups], *command, "--shapes", "odd,square")
        self.refuse(2, ["--peers", "'cublas'", "copy", "geam", "memcpy"], *command, "--peers", "cublas")
        self.refuse(2, ["transpose/paded@32x8", "transpose/padded@32x8"], "bench", "transpose", "--subject", "transpose/paded@32x8")
        for seconds in ("0", "-1", "nan", "1s", "1e9"):
            self.refuse(2, ["--seconds", f"'{seconds}'", 0, 3600], *command, f"--seconds={seconds}")
        self.refuse(2, ["--seed", "'soon'"], *command, "--seed", "soon")

    def test_bench_of_cells_of_a_file(self):
        strided = {"element_size": 4, "extents": [8, 8], "source_strides": [8, 1], "destination_strides": [1, 8]}
        permuted = {"element_size": 4, "source_extents": [8, 8]}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "cells.json")
            for cells, named in (([strided | {"source_offset": -8000}], ["cell 0"]), ([strided | {"extents": [8]}], []),
                                 ([strided, permuted | {"axes": [0, 100000]}], ["cell 1", "axes[1]", 100000]),
                                 ([permuted | {"axes": [0]}], ["cell 0", 2]), ([permuted | {"axes": [1, 1]}], ["cell 0", "axes[1]"]),
                                 ([{"element_size": 4}], ["cell 0"]), ([], [str(file)]), ({}, [str(file)])):
                with self.subTest(cells=cells):
                    file.write_text(json.dumps(cells), encoding="utf-8")
                    self.refuse(2, ["--cells", *named], "bench", "permute", "--on", "host", "--cells", file)
            self.refuse(2, ["--cells", "absent.json"], "bench", "permute", "--on", "host", "--cells", Path(folder, "absent.json"))

    def test_bench_of_random_cells(self):
        command = ("bench", "transpose", "--on", "host")
        self.refuse(2, ["--random", 0, 100000], *command, "--random", 0)
        self.refuse(2, ["--random", "'many'"], *command, "--random", "many")
        for option, value in (("--shapes", "odd"), ("--sizes", 4)):
            self.refuse(2, ["--random", option], *command, "--random", 3, option, value)
        for option in ("--regret", "--small"):
            self.refuse(2, [option, "--random"], *command, option)
        self.refuse(2, ["--small", "--on host"], *command, "--random", 3, "--small")
        self.refuse(2, ["--on", "'host'", "cuda", "gemm"], "bench", "gemm", "--on", "host", "--random", 3)
        self.refuse(2, ["--small", "products"], "bench", "gemm", "--random", 3, "--small")


if __name__ == "__main__":
    script.main()
