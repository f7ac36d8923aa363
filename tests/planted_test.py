"""Kernels that are wrong only where work is out of the ordinary are caught from the command line, on the work that
everybody asks for."""

import os
import re
from pathlib import Path

import script
from cli_test import Case, run_program

# The program with the kernels of tests/kernels/ in it.
PLANTED = Path(os.environ["CORNERTURN_BUILD_DIR"], "tests", "cornerturn_with_faults")

TRANSPOSES = {"cols_for_ld": r"destination \(row \d+, column \d+\)|out of bounds", "positive_zero": r"holds 0x00000000; it must hold 0x80000000",
              "cleared_ones": r"holds 0x00000000(, as before the run)?; it must hold 0xffffffff", "no_edges": r"out of bounds|overwritten|holds",
              "rows_for_cols": r"out of bounds|overwritten|holds"}
PRODUCTS = {"bfloat_inputs": r"C \(row \d+, column \d+\) holds", "three_bits": r"C \(row \d+, column \d+\) holds",
            "rounded_sum": r"C \(row \d+, column \d+\) holds|less than single precision", "no_factors": r"C \(row \d+, column \d+\) holds",
            "packed_operands": r"C \(row \d+, column \d+\) holds"}


class Planted(Case):
    ON = "emulator"

    def expect_caught(self, kernel, wanted, *work):
        for seed in (1, 2, 3):
            ran = run_program(PLANTED, "profile", kernel, "--on", self.ON, "--seed", seed, *work)
            with self.subTest(kernel=kernel, seed=seed, said=ran.stderr):
                self.assertEqual(ran.returncode, 1)
                self.assert_one_line(ran.stderr, f"{kernel}: not verified: ")
                self.assertRegex(ran.stderr, wanted)
                self.assertIn("verified: NO", ran.stdout)

    def test_transposes(self):
        for fault, wanted in TRANSPOSES.items():
            for work in ((), ("--rows", 1), ("--rows", 1000, "--cols", 1023)):
                self.expect_caught(f"fault/transpose@{fault}", wanted, *work)

    def test_products(self):
        for fault, wanted in PRODUCTS.items():
            for work in (("--m", 64), ("--m", 100, "--n", 33, "--k", 200)):
                self.expect_caught(f"fault/product@{fault}", wanted, *work)

    def test_of_low_precision_where_a_large_k_hides_it_in_each_element(self):
        ran = run_program(PLANTED, "profile", "fault/product@bfloat_inputs", "--on", self.ON, "--m", 16, "--k", 40000,
                          "--values", "symmetric")
        self.assertEqual(ran.returncode, 1)
        self.assert_one_line(ran.stderr, "less than single precision", "Frobenius")

    def test_a_trial_can_be_run_by_itself(self):
        for kernel in ("fault/transpose@cols_for_ld", *(f"fault/product@{fault}" for fault in PRODUCTS)):
            said = run_program(PLANTED, "profile", kernel, "--on", self.ON).stderr
            trial = re.search(r"in a trial \(([^)]*)\): (.*)", said)
            again = run_program(PLANTED, "profile", kernel, "--on", self.ON, *trial[1].split()).stderr
            # What a kernel reads from where nothing of its work lies may be anything.
            wrong = re.compile(r"holds [^;]*;")
            self.assertEqual(wrong.sub("", again), wrong.sub("", f"cornerturn: {kernel}: not verified: {trial[2]}\n"))

    def test_counters_are_those_of_the_work_alone(self):
        for kernel in ("fault/transpose@cols_for_ld", "fault/transpose@positive_zero"):
            printed = run_program(PLANTED, "profile", kernel, "--on", self.ON, "--rows", 64, "--format", "csv").stdout
            self.assertIn("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,128,", printed)


if __name__ == "__main__":
    script.main()
