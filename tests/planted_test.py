"""Kernels that are wrong only for unusual work. The program must catch them on usual work, too: it runs trials."""

import json
import os
import re
from pathlib import Path

import script
from cli_test import Case, run_program

# The program with the kernels of tests/kernels/.
PLANTED = Path(os.environ["CORNERTURN_BUILD_DIR"], "tests", "cornerturn_with_faults")

# The values that the message of each fault names: one of these lists. A wrong element has a found and a right value.
EITHER_SIDE = [["destination"], ["source"]]
TRANSPOSES = {"cols_for_ld": EITHER_SIDE, "positive_zero": [["destination", "0x00000000", "0x80000000", "source"]],
              "cleared_ones": [["destination", "0x00000000", "0xffffffff", "source"]], "no_edges": EITHER_SIDE,
              "rows_for_cols": EITHER_SIDE}
PRODUCTS = dict.fromkeys(("bfloat_inputs", "three_bits", "rounded_sum", "no_factors", "packed_operands"), [["C", "seed"]])


class Planted(Case):
    ON = "emulator"

    def assert_caught(self, ran, kernel, lists_of_values):
        """The program failed with one line, which names the kernel and the values of one of the lists."""
        self.assertEqual(ran.returncode, 1)
        self.assert_one_line(ran.stderr)
        found = re.sub(r"\(--[^)]*\)", "", ran.stderr)  # the options of a trial name matrices, too
        self.assertTrue(any(script.names(found, kernel, *values) for values in lists_of_values), ran.stderr)

    def expect_caught(self, kernel, lists_of_values, *work):
        for seed in (1, 2, 3):
            ran = run_program(PLANTED, "profile", kernel, "--on", self.ON, "--seed", seed, "--format", "json", *work)
            with self.subTest(kernel=kernel, seed=seed, message=ran.stderr):
                self.assert_caught(ran, kernel, lists_of_values)
                result = json.loads(ran.stdout)
                self.assertEqual((result["kernel"], result["verified"]), (kernel, False))

    def test_transposes(self):
        for fault, values in TRANSPOSES.items():
            for work in ((), ("--rows", 1), ("--rows", 1000, "--cols", 1023)):
                self.expect_caught(f"fault/transpose@{fault}", values, *work)

    def test_products(self):
        for fault, values in PRODUCTS.items():
            for work in (("--m", 64), ("--m", 100, "--n", 33, "--k", 200)):
                self.expect_caught(f"fault/product@{fault}", values, *work)

    def test_low_precision_that_a_large_k_hides_in_each_element(self):
        ran = run_program(PLANTED, "profile", "fault/product@bfloat_inputs", "--on", self.ON, "--m", 16, "--k", 40000,
                          "--values", "symmetric")
        self.assert_caught(ran, "fault/product@bfloat_inputs", [["C", "|A| |B|", "Frobenius", "seed", 1]])

    def test_a_trial_can_be_run_alone(self):
        for kernel in ("fault/transpose@cols_for_ld", *(f"fault/product@{fault}" for fault in PRODUCTS)):
            message = run_program(PLANTED, "profile", kernel, "--on", self.ON).stderr
            options, fault = re.search(r"\((--[^)]*)\): (.*)", message).groups()
            again = run_program(PLANTED, "profile", kernel, "--on", self.ON, *options.split()).stderr
            # The found value, before the semicolon, is arbitrary if the kernel read memory outside of its work.
            found_value = re.compile(r"[^;)]*;")
            self.assertTrue(script.names(again, kernel), again)
            self.assertTrue(found_value.sub(";", again).endswith(found_value.sub(";", fault) + "\n"), (message, again))

    def test_trials_are_not_counted(self):
        for kernel in ("fault/transpose@cols_for_ld", "fault/transpose@positive_zero"):
            printed = run_program(PLANTED, "profile", kernel, "--on", self.ON, "--rows", 64, "--format", "csv").stdout
            self.assertIn("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,128,", printed)


if __name__ == "__main__":
    script.main()
