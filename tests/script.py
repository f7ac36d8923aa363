"""How scripts of unittest's tests begin and end."""

import os
import random
import re
import subprocess
import sys
import unittest


def seed():
    """Of what a test draws: CORNERTURN_SEED, or a new one. It is printed, so that a failure can be drawn again."""
    found = os.environ.get("CORNERTURN_SEED") or str(random.SystemRandom().randrange(1 << 32))
    print(f"CORNERTURN_SEED={found}", flush=True)
    return found


def need_a_gpu():
    """Ends the script as skipped where the program finds no GPU."""
    tried = subprocess.run([os.environ["CORNERTURN"], "profile", "copy/global@32x8", "--on", "cuda", "--rows", "8"],
                           capture_output=True, text=True, timeout=300)
    if "no GPU to run on" in tried.stderr:
        print(f"skipped: {tried.stderr.strip()}")
        sys.exit(77)


def names(text, *values):
    """Whether each value, as str() writes it, is in the text as a whole word or number, in this order. This is how tests check
    messages: the wording is checked by the documents' examples alone (docs_test, emulate_docs_test)."""
    at = 0
    for value in map(str, values):
        begins = r"(?<!\w)" if re.match(r"\w", value) else ""
        ends = r"(?!\w)" if re.search(r"\w\Z", value) else ""
        found = re.compile(begins + re.escape(value) + ends).search(text, at) if value else None
        if found is None:
            return False
        at = found.end()
    return True


class NamesValues:
    """For a unittest.TestCase: assert_names()."""

    def assert_names(self, text, *values):
        self.assertTrue(names(text, *values), f"not all of {values}, in this order, are in:\n{text}")


def main():
    """Runs the tests of the script. A test that is skipped is no passed one: its reason is printed, and the script ends with
    77, which ctest counts as skipped, unless another test failed."""
    result = unittest.main(module="__main__", exit=False, verbosity=2).result
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}")
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
