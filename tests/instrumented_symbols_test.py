"""The emulator's kernel objects are instrumented: they report every memory access. If several object files define a weak
symbol, the linker keeps one copy of it. It must never give an instrumented copy to the rest of the program, or the reverse.
So the weak symbols of kernel objects must be in their own namespaces."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

import script

BUILD_DIR = Path(os.environ["CORNERTURN_BUILD_DIR"])

# The kinds of symbols that the linker may merge with another object's: weak ones, and GNU's unique ones.
MERGED = "WVuw"
# The inline namespaces of instrumented code. In a mangled name they come right after cornerturn.
OWN = re.compile(r"_Z(?:TLS|T[VIST]|TW|TH|GV|GR|Z)*N[rVKRO]*10cornerturn(?:8emulated|\d+(?:emulated|mutant)_)")


def symbols(objects):
    """(object, kind, mangled name) of each symbol, also of undefined ones."""
    listed = subprocess.run(["nm", "-A", *map(str, objects)], check=True, capture_output=True, text=True).stdout
    for line in listed.splitlines():
        if match := re.match(r"(.*?):[0-9a-f ]* ([A-Za-z?]) (\S+)$", line):
            yield match[1], match[2], match[3]


def may_be_merged(kind, name):
    """Whether the linker might replace this definition by another, or another by this one."""
    return kind in MERGED and not OWN.match(name)


@unittest.skipUnless(shutil.which("nm"), "nm is not installed")
class InstrumentedSymbols(unittest.TestCase):
    def test_no_symbol_is_shared_with_uninstrumented_code(self):
        objects = sorted(BUILD_DIR.rglob("*.o"))
        self.assertTrue(objects, f"no object files below {BUILD_DIR}")
        found = list(symbols(objects))
        instrumented = {object for object, kind, name in found if kind == "U" and name == "__tsan_init"}
        rungs = {Path(object).stem for object in instrumented if "cornerturn_ladder_emulated" in object}
        self.assertGreaterEqual(len(rungs), 10, f"the ladder's instrumented objects were not found: {sorted(rungs)}")
        shared = [f"{Path(object).relative_to(BUILD_DIR)} defines {demangled(name)}"
                  for object, kind, name in found
                  if object in instrumented and may_be_merged(kind, name) and not is_weak_reference(kind)]
        self.assertEqual(shared, [], "\n" + "\n".join(shared))

    def test_rungs_do_not_call_memcpy(self):
        """The emulator neither counts nor checks the bytes that such a call moves."""
        objects = sorted(o for o in BUILD_DIR.rglob("*.o") if "cornerturn_ladder_emulated" in str(o))
        calls = [f"{Path(object).name} calls {name}" for object, kind, name in symbols(objects)
                 if kind == "U" and name in ("memcpy", "memmove", "memset")]
        self.assertEqual(calls, [], "\n" + "\n".join(calls))

    def test_may_be_merged(self):
        for kind, name, shared in (
            ("W", "_ZNSt6vectorIiSaIiEE9push_backERKi", True),
            ("W", "_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_", True),
            ("V", "_ZTISt9exception", True),
            ("u", "_ZZNSt8__detail4findEvE5table", True),
            ("W", "_ZN10cornerturn13device_helperEv", True),
            ("W", "_ZN10cornerturn8emulator6helperEv", True),
            ("W", "_ZN10cornerturn8emulated7dialect6unpackEm", False),
            ("u", "_ZZN10cornerturn8emulated7dialect6kernelIjEEvvE4tile", False),
            ("W", "_ZN10cornerturn11mutant_80_37dialect6kernelIjEEvv", False),
            ("W", "_ZN10cornerturn17emulated_ops_80_a7dialect6kernelIjEEvv", False),
            ("T", "_ZNSt6vectorIiSaIiEE9push_backERKi", False),
        ):
            self.assertEqual(may_be_merged(kind, name), shared, name)


def is_weak_reference(kind):
    return kind == "w"


def demangled(name):
    if not shutil.which("c++filt"):
        return name
    return subprocess.run(["c++filt", name], capture_output=True, text=True).stdout.strip() or name


if __name__ == "__main__":
    script.main()
