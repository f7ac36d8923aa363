"""The tests of planted_test on a GPU. A bench catches these kernels, too."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import planted_test
import script
from cli_test import run_program


class PlantedOnAGpu(planted_test.Planted):
    ON = "cuda"

    def test_a_bench_catches_them_too(self):
        for operation, family, faults in (("transpose", "fault/transpose", planted_test.TRANSPOSES), ("gemm", "fault/product", planted_test.PRODUCTS)):
            for fault, values in faults.items():
                sizes = ("--sizes", 4) if operation == "transpose" else ()
                ran = run_program(planted_test.PLANTED, "bench", operation, *sizes, "--shapes", "small" if operation == "gemm" else "squares",
                                  "--subject", f"{family}@{fault}", "--seconds", 0.001)
                with self.subTest(fault=fault, message=ran.stderr):
                    self.assert_caught(ran, f"{family}@{fault}", values)


if __name__ == "__main__":
    script.need_a_gpu()
    script.main()
