"""How scripts of unittest's tests begin and end."""

import sys
import unittest


def main():
    """Runs the tests of the script. A test that is skipped is no passed one: its reason is printed, and the script ends with
    77, which ctest counts as skipped, unless another test failed."""
    result = unittest.main(module="__main__", exit=False, verbosity=2).result
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}")
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
