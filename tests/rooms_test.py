"""Which part of the source tree may include which: each room of the house, and what its row allows."""

import os
import re
import tempfile
import unittest
from pathlib import Path

SOURCE_DIR = Path(os.environ["CORNERTURN_SOURCE_DIR"])
SUFFIXES = {".hpp", ".h", ".cuh", ".inl", ".cpp", ".c", ".cu"}

PUBLIC, PUBLIC_CUDA = "include/cornerturn", "include/cornerturn/cuda"

# room: (what it may include beside itself, the rule in words). The longest name that a path begins with is its room.
# Whoever may include core may include the public API, on which core stands. tests/, bench/, docs/ and scripts/ may
# include everything.
ROOMS = {
    PUBLIC: ([], "the public API includes the standard library only; CUDA types only in cornerturn/cuda/"),
    PUBLIC_CUDA: ([PUBLIC], "the public API includes the standard library, and here CUDA's types"),
    "src/core": ([PUBLIC], "core may include the public API"),
    "src/device": ([PUBLIC, "src/core", "src/emulator"], "device may include public, core and emulator"),
    "src/transpose/ladder": ([PUBLIC, "src/device"], "a rung may include device and the public API, never a sibling rung"),
    "src/transpose/production": ([PUBLIC, "src/device", "src/core"], "production may include device and core"),
    "src/gemm/ladder": ([PUBLIC, "src/device"], "a rung may include device and the public API, never a sibling rung"),
    "src/gemm/production": ([PUBLIC, "src/device", "src/core"], "production may include device and core"),
    "src/emulator": ([PUBLIC, "src/core"], "emulator may include core"),
    "src/host": ([PUBLIC, "src/core"], "host may include core"),
    "src/files": ([PUBLIC, "src/core"], "files may include public and core"),
    "src/baseline": ([PUBLIC, "src/device", "src/host", "src/core"], "baseline may include device, host and core"),
    "src/lab": ([PUBLIC, "src/core", "src/device/registry.hpp"], "lab may include the registry and core"),
    "src/report": ([PUBLIC, "src/core", "src/lab"], "report may include lab and core"),
    "src/cli": ([PUBLIC, "src/lab", "src/report", "src/emulator", "src/files"],
                "cli may include public, lab, report, emulator and files"),
    "python": ([PUBLIC], "python may include the public API only"),
}
LADDERS = ("src/transpose/ladder", "src/gemm/ladder")

# What the table does not grant and is wanted all the same: (room, what it includes), with the reason. One that is no
# longer used must go.
GRANTED = {
    ("src/lab", "src/emulator/session.hpp"): "the lab runs kernels in the emulator",
    ("src/lab", "src/emulator/counters.hpp"): "and reports its counters",
    ("src/lab", "src/device/cuda_check.hpp"): "the lab's CUDA half times kernels with events",
    ("src/lab", "src/device/cuda_problem.hpp"): "and verifies on the GPU",
    ("src/lab", "src/device/cuda_gemm.hpp"): "products too",
    ("src/gemm/production", "src/transpose/production/kernels.hpp"): "products transpose A with the production transpose",
    ("src/files", "src/device/cuda_check.hpp"): "a GPU turns tiles of files",
    ("src/transpose/ladder", "src/host/paths.hpp"): "host/production says how it would do the work",
    ("src/cli", "src/core/problem.hpp"): "explain describes a matrix as the verifier does",
    ("src/cli", "src/core/gemm_problem.hpp"): "and a product",
    ("src/cli", "src/core/dtype.hpp"): "the program reads dtypes and sizes from its command line",
    ("src/cli", "src/core/sizes.hpp"): "and refuses those whose product overflows",
}

STANDARD = set("""
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits clocale cmath
codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring
ctime cuchar cwchar cwctype deque exception execution filesystem format forward_list fstream functional future
initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new
numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex
source_location span sstream stack stdexcept stop_token streambuf string string_view strstream syncstream system_error
thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version
assert.h ctype.h errno.h float.h inttypes.h limits.h math.h stdarg.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h
""".split())
CUDA_TYPES = {"cuda_runtime.h", "cuda_runtime_api.h", "driver_types.h", "vector_types.h"}


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.S)


def room_of(path):
    """The room that a path from the top of the tree lies in, or None."""
    inside = [room for room in ROOMS if path == room or path.startswith(room + "/")]
    return max(inside, key=len, default=None)


def includes_of(file):
    for number, line in enumerate(without_comments(file.read_text(encoding="utf-8")).splitlines(), 1):
        if match := re.match(r'\s*#\s*include(?:_next)?\s*(?:<([^>]+)>|"([^"]+)"|(\S.*))', line):
            yield number, match[1], match[2], match[3]


def broken_rules(top, granted):
    """Sentences, one for each include that no row allows. What was granted and used is added to `granted`."""
    broken = []
    files = sorted(file for folder in ("include", "src", "python") for file in (top / folder).rglob("*") if file.suffix in SUFFIXES)
    for file in files:
        path = file.relative_to(top).as_posix()
        room = room_of(path)
        if room is None:
            broken.append(f"{path}: lies in no room of the house")
            continue
        allowed, rule = ROOMS[room]
        for line, system, quoted, other in includes_of(file):
            name = system or quoted or other
            complain = lambda why: broken.append(f"{path}:{line} includes {name}: {why}; the rule: {rule}")
            found = [f"{root}/{name}" for root in ("src", "include") if (top / root / name).is_file()]
            if other:
                complain("it must be written out, in <> or quotes")
            elif not found:
                if quoted:
                    complain("no such file in src/ or include/ (quotes are for the project's own, by their whole path)")
                elif room == PUBLIC and name not in STANDARD:
                    complain("it is not in the standard library")
                elif room == PUBLIC_CUDA and name not in STANDARD | CUDA_TYPES:
                    complain("it is neither in the standard library nor one of CUDA's types")
            else:
                target = found[0]
                home = room_of(target)
                public = home in (PUBLIC, PUBLIC_CUDA)
                if home == room and room not in LADDERS:
                    continue
                if home in allowed or target in allowed or (public and PUBLIC in allowed):
                    continue
                if (room, target) in GRANTED:
                    granted.add((room, target))
                    continue
                complain("a rung stands alone" if home == room else f"it belongs to {home}")
    return broken


class Rooms(unittest.TestCase):
    def test_every_include_is_allowed(self):
        granted = set()
        broken = broken_rules(SOURCE_DIR, granted)
        self.assertEqual(broken, [], "\n" + "\n".join(broken))
        self.assertEqual(set(GRANTED) - granted, set(), "granted, but no longer used")

    def test_the_lab_knows_no_kernel_by_name(self):
        families = set()
        for ladder in LADDERS:
            for file in (SOURCE_DIR / ladder).glob("*.c*"):
                families |= set(re.findall(r'\.id = "([^"]+)"', file.read_text(encoding="utf-8")))
        self.assertGreater(len(families), 5)
        for file in sorted((SOURCE_DIR / "src/lab").rglob("*")):
            if file.suffix in SUFFIXES:
                text = without_comments(file.read_text(encoding="utf-8"))
                named = sorted(id for id in families if re.search(rf"\b{re.escape(id)}\b", text))
                self.assertEqual(named, [], f"{file}; the rule: the lab knows no kernel by name")


class TheCheckItself(unittest.TestCase):
    """A tree with one wrong include of each kind, and all of the right ones."""

    WRONG = {
        "include/cornerturn/a.hpp": ["<fmt/format.h>", "<cuda_runtime.h>", '"core/core.hpp"', '"cornerturn/cuda/c.hpp"'],
        "include/cornerturn/cuda/b.hpp": ["<cublas_v2.h>", '"device/device.hpp"'],
        "src/core/a.cpp": ['"emulator/emulator.hpp"', '"core.hpp"', '"core/absent.hpp"', "KERNEL_HEADER"],
        "src/device/a.cpp": ['"lab/lab.hpp"', '"transpose/ladder/10_a.cu"'],
        "src/transpose/ladder/20_b.cu": ['"transpose/ladder/10_a.cu"', '"10_a.cu"', '"core/core.hpp"', '"emulator/emulator.hpp"'],
        "src/transpose/production/a.cu": ['"transpose/ladder/10_a.cu"', '"lab/lab.hpp"'],
        "src/emulator/a.cpp": ['"device/device.hpp"'],
        "src/host/a.cpp": ['"device/device.hpp"'],
        "src/lab/a.cpp": ['"device/device.hpp"', '"cli/cli.hpp"', "<transpose/ladder/10_a.cu>"],
        "src/cli/a.cpp": ['"device/device.hpp"', '"transpose/ladder/10_a.cu"'],
        "src/stray/a.cpp": [],
        "python/a.cpp": ['"core/core.hpp"'],
    }
    RIGHT = {
        "include/cornerturn/public.hpp": ["<vector>", "<cstdint>"],
        "include/cornerturn/cuda/c.hpp": ["<cuda_runtime.h>", '"cornerturn/public.hpp"'],
        "src/core/core.hpp": ['"cornerturn/public.hpp"', "<fmt/format.h>"],
        "src/device/device.hpp": ['"core/core.hpp"', '"emulator/emulator.hpp"', "<cuda_runtime.h>"],
        "src/device/registry.hpp": [],
        "src/transpose/ladder/10_a.cu": ['"device/device.hpp"', '"cornerturn/public.hpp"'],
        "src/emulator/emulator.hpp": ['"core/core.hpp"', "<boost/context/fiber.hpp>"],
        "src/lab/lab.hpp": ['"core/core.hpp"', '"device/registry.hpp"'],
        "src/cli/cli.hpp": ['"lab/lab.hpp"', '"emulator/emulator.hpp"'],
        "python/b.cpp": ["<nanobind/nanobind.h>", '"cornerturn/cuda/c.hpp"', '"cornerturn/public.hpp"'],
    }

    def test_it_finds_each(self):
        with tempfile.TemporaryDirectory() as directory:
            for path, includes in (self.WRONG | self.RIGHT).items():
                file = Path(directory, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text('// #include "cli/cli.hpp"\n/*\n#include "cli/cli.hpp"\n*/\n' + "".join(f"#include {name}\n" for name in includes))
            broken = broken_rules(Path(directory), set())
        places = {sentence.split(" ")[0] for sentence in broken}
        wanted = {f"{path}:{line}" for path, includes in self.WRONG.items() for line, _ in enumerate(includes, 5)}
        self.assertEqual(places, wanted | {"src/stray/a.cpp:"}, "\n".join(broken))


if __name__ == "__main__":
    unittest.main()
