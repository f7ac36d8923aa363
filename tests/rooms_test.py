"""Which folder of the source tree may include which. A room is a folder that has a rule in the table below."""

import os
import re
import tempfile
import unittest
from pathlib import Path

import script

SOURCE_DIR = Path(os.environ["CORNERTURN_SOURCE_DIR"])
SUFFIXES = {".hpp", ".h", ".cuh", ".inl", ".cpp", ".c", ".cu"}

PUBLIC, PUBLIC_CUDA = "include/cornerturn", "include/cornerturn/cuda"

# Room: (what it may include beside itself, the rule as a sentence). A file belongs to the room with the longest name that
# its path begins with. Each folder of src/ops is a separate room with the rule of src/ops. A room that may include core may
# include the public API too, because core includes it. tests/, bench/, docs/ and scripts/ may include everything.
REGISTRY = ["src/device/registry.hpp", "src/device/operation.hpp", "src/device/explanation.hpp"]
ROOMS = {
    PUBLIC: ([], "the public API includes the standard library only; CUDA types only in cornerturn/cuda/"),
    PUBLIC_CUDA: ([PUBLIC], "the public API includes the standard library, and in this folder CUDA's types"),
    "src/core": ([PUBLIC], "core may include the public API"),
    "src/device": ([PUBLIC, "src/core", "src/emulator"], "device may include public, core and emulator"),
    "src/move": ([PUBLIC, "src/device", "src/core"], "move may include device and core"),
    "src/ops/copy": ([PUBLIC, "src/move", "src/device", "src/core"], "ops/copy may include move, device and core"),
    "src/ops": ([PUBLIC, "src/ops/copy", "src/move", "src/host", "src/device", "src/core"],
                "an operation may include ops/copy, move, host, device and core, never another operation"),
    "src/emulator": ([PUBLIC, "src/core"], "emulator may include core"),
    # Users' CUDA programs in the emulator: the compiler, the runtime that such programs link, and the headers that replace
    # CUDA's.
    "src/emulate": ([PUBLIC, "src/emulator", "src/core"], "emulate may include emulator and core"),
    "src/emulate/runtime": ([PUBLIC, "src/emulate/cuda", "src/emulator", "src/core"],
                            "the runtime may include the headers that replace CUDA's, emulator and core"),
    "src/emulate/cuda": ([PUBLIC], "the headers that replace CUDA's may include one another and the emulator's public headers"),
    "src/host": ([PUBLIC, "src/core"], "host may include core"),
    # Peers: other libraries that do the work of an operation.
    "src/baseline": ([PUBLIC, "src/ops", "src/ops/copy", "src/move", "src/host", "src/device", "src/core"],
                     "baseline may include operations, move, host, device and core"),
    "src/files": ([PUBLIC, "src/host", "src/device", "src/core"], "files may include host, device and core"),
    "src/lab": ([PUBLIC, "src/core", "src/emulator", *REGISTRY], "lab may include emulator, core and the registry of device"),
    "src/report": ([PUBLIC, "src/lab", "src/files", "src/emulator", "src/core", *REGISTRY],
                   "report may include lab, files, emulator, core, the public API and the registry of device"),
    "src/cli": ([PUBLIC, "src/report", "src/lab", "src/files", "src/emulate", "src/emulator", "src/core", *REGISTRY],
                "cli may include report, lab, files, emulate, emulator, core, the public API and the registry of device"),
    "python": ([PUBLIC], "python may include the public API only"),
}

# Exceptions from the table: (room, what it includes), with the reason. The test fails if one is no longer used.
EXCEPTIONS = {
    ("src/lab", "src/device/cuda_check.hpp"): "the lab times kernels with CUDA events",
    ("src/lab", "src/device/cuda_memory.hpp"): "the lab allocates device memory for that",
    ("src/ops/gemm", "src/ops/transpose/operation.hpp"): "rungs of products transpose A first",
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
    """The room of a path from the top of the tree, or None."""
    inside = [room for room in ROOMS if path == room or path.startswith(room + "/")]
    room = max(inside, key=len, default=None)
    if room == "src/ops":
        return "/".join(path.split("/")[:3]) if path.count("/") > 2 else None
    return room


def is_rung(path):
    return re.match(r"src/ops/[^/]+/ladder/", path) is not None


def includes_of(file):
    for number, line in enumerate(without_comments(file.read_text(encoding="utf-8")).splitlines(), 1):
        if match := re.match(r'\s*#\s*include(?:_next)?\s*(?:<([^>]+)>|"([^"]+)"|(\S.*))', line):
            yield number, match[1], match[2], match[3]


def broken_rules(top, used):
    """A sentence for each include that no rule allows. Adds the exceptions that occur to `used`."""
    broken = []
    files = sorted(file for folder in ("include", "src", "python") for file in (top / folder).rglob("*") if file.suffix in SUFFIXES)
    for file in files:
        path = file.relative_to(top).as_posix()
        room = room_of(path)
        if room is None:
            broken.append(f"{path}: no rule for this folder; add one to ROOMS")
            continue
        allowed, rule = ROOMS[room if room in ROOMS else "src/ops"]
        for line, system, quoted, other in includes_of(file):
            name = system or quoted or other
            complain = lambda why: broken.append(f"{path}:{line} includes {name}: {why}; the rule: {rule}")
            roots = ["src", "include"]
            if room == "python":
                roots.append("python/src")
            if room.startswith("src/emulate/"):
                roots.append("src/emulate/cuda")
            if room == "src/emulate/cuda" and quoted:  # CUDA's headers name their neighbours
                roots.append(Path(path).parent.as_posix())
            found = [f"{root}/{name}" for root in roots if (top / root / name).is_file()]
            if other:
                complain("write the name of the file, in <> or quotes")
            elif not found:
                if quoted:
                    complain("no such file in src/ or include/; in quotes, write the whole path of a file of the project")
                elif room == PUBLIC and name not in STANDARD:
                    complain("it is not in the standard library")
                elif room == PUBLIC_CUDA and name not in STANDARD | CUDA_TYPES:
                    complain("it is neither in the standard library nor one of CUDA's types")
            else:
                target = os.path.normpath(found[0])
                home = room_of(target)
                public = home in (PUBLIC, PUBLIC_CUDA)
                if home == room and not is_rung(target):
                    continue
                of_ops = home not in ROOMS and "src/ops" in allowed
                if not is_rung(target) and (home in allowed or of_ops or target in allowed or (public and PUBLIC in allowed)):
                    continue
                if (room, target) in EXCEPTIONS:
                    used.add((room, target))
                    continue
                complain("no file may include a rung" if is_rung(target) else f"it belongs to {home}")
    return broken


class Rooms(unittest.TestCase):
    def test_every_include_is_allowed(self):
        used = set()
        broken = broken_rules(SOURCE_DIR, used)
        self.assertEqual(broken, [], "\n" + "\n".join(broken))
        self.assertEqual(set(EXCEPTIONS) - used, set(), "exceptions that are no longer used")

    def test_the_lab_the_reports_and_the_program_name_no_operation(self):
        """They name no kernel, no operation, and nothing that only one operation does."""
        ids = set()
        for folder in ("src/ops", "src/baseline"):
            for file in (SOURCE_DIR / folder).rglob("*.c*"):
                ids |= set(re.findall(r'\.id = "([^"]+)"', file.read_text(encoding="utf-8")))
        self.assertGreater(len(ids), 25)
        names = {folder.name for folder in (SOURCE_DIR / "src/ops").iterdir()} - {"copy"}
        self.assertGreaterEqual(names, {"transpose", "gemm"})
        named = [rf"\b{re.escape(id)}\b" for id in ids] + [rf"{name}" for name in names] + [r"transpos", r"\bproducts?\b", r"multipl", r"(?i:cublas)", r"\bgeam\b", r"(?<!::)\bmemcpy\b"]
        # Commands about transposes, and the list of their names.
        about_transposes = {"src/cli/transpose.cpp", "src/cli/show.cpp", "src/cli/program.cpp", "src/cli/command.hpp"}
        for room in ("src/lab", "src/report", "src/cli"):
            for file in sorted((SOURCE_DIR / room).rglob("*")):
                path = file.relative_to(SOURCE_DIR).as_posix()
                if file.suffix in SUFFIXES and path not in about_transposes:
                    text = without_comments(file.read_text(encoding="utf-8"))
                    # The names of peers as reports show them.
                    if path == "src/report/charts.cpp":
                        for name in ('"geam", "cuBLAS geam"', '"permute_hptt", "HPTT"'):
                            text = text.replace("{" + name + "}", "")
                    # --help shows example commands.
                    text = re.sub(r"\.examples = \{[^}]*\}", "", text)
                    found = sorted({match[0] for pattern in named for match in re.finditer(pattern, text)})
                    self.assertEqual(found, [], f"{path}; the rule: lab, report and cli use all operations through the registry, and name none")


class TheCheckItself(unittest.TestCase):
    """The check finds every wrong include in a small tree, and accepts every right one."""

    WRONG = {
        "include/cornerturn/a.hpp": ["<fmt/format.h>", "<cuda_runtime.h>", '"core/core.hpp"', '"cornerturn/cuda/c.hpp"'],
        "include/cornerturn/cuda/b.hpp": ["<cublas_v2.h>", '"device/device.hpp"'],
        "src/core/a.cpp": ['"emulator/emulator.hpp"', '"core.hpp"', '"core/absent.hpp"', "KERNEL_HEADER"],
        "src/device/a.cpp": ['"lab/lab.hpp"', '"ops/transpose/ladder/10_a.cu"', '"ops/transpose/transpose.hpp"'],
        "src/ops/transpose/ladder/20_b.cu": ['"ops/transpose/ladder/10_a.cu"', '"10_a.cu"', '"emulator/emulator.hpp"'],
        "src/move/kernels/a.cu": ['"ops/transpose/transpose.hpp"', '"host/host.hpp"', '"lab/lab.hpp"'],
        "src/ops/transpose/kernels/a.cu": ['"ops/transpose/ladder/10_a.cu"', '"lab/lab.hpp"', '"ops/gemm/gemm.hpp"'],
        "src/ops/copy/a.cpp": ['"ops/transpose/transpose.hpp"', '"host/host.hpp"'],
        "src/ops/a.cpp": [],
        "src/emulator/a.cpp": ['"device/device.hpp"'],
        "src/host/a.cpp": ['"device/device.hpp"'],
        "src/lab/a.cpp": ['"device/device.hpp"', '"cli/cli.hpp"', "<ops/transpose/ladder/10_a.cu>", '"ops/gemm/gemm.hpp"'],
        "src/cli/a.cpp": ['"device/device.hpp"', '"ops/transpose/ladder/10_a.cu"'],
        "src/stray/a.cpp": [],
        "python/src/a.cpp": ['"core/core.hpp"', '"absent.hpp"'],
    }
    RIGHT = {
        "include/cornerturn/public.hpp": ["<vector>", "<cstdint>"],
        "include/cornerturn/cuda/c.hpp": ["<cuda_runtime.h>", '"cornerturn/public.hpp"'],
        "src/core/core.hpp": ['"cornerturn/public.hpp"', "<fmt/format.h>"],
        "src/device/device.hpp": ['"core/core.hpp"', '"emulator/emulator.hpp"', "<cuda_runtime.h>"],
        "src/device/registry.hpp": [],
        "src/device/operation.hpp": ['"emulator/emulator.hpp"'],
        "src/host/host.hpp": [],
        "src/move/move.hpp": ['"device/device.hpp"', '"core/core.hpp"'],
        "src/ops/copy/copy.hpp": ['"move/move.hpp"', '"device/device.hpp"', '"core/core.hpp"'],
        "src/ops/gemm/gemm.hpp": ['"device/device.hpp"'],
        "src/ops/transpose/transpose.hpp": ['"ops/copy/copy.hpp"', '"host/host.hpp"'],
        "src/ops/transpose/ladder/10_a.cu": ['"device/device.hpp"', '"ops/transpose/transpose.hpp"', '"cornerturn/public.hpp"'],
        "src/baseline/a.cpp": ['"ops/gemm/gemm.hpp"', '"ops/copy/copy.hpp"'],
        "src/emulator/emulator.hpp": ['"core/core.hpp"', "<boost/context/fiber.hpp>"],
        "src/lab/lab.hpp": ['"core/core.hpp"', '"device/registry.hpp"', '"device/operation.hpp"', '"emulator/emulator.hpp"'],
        "src/cli/cli.hpp": ['"lab/lab.hpp"', '"emulator/emulator.hpp"'],
        "python/src/b.hpp": ["<nanobind/nanobind.h>", '"cornerturn/cuda/c.hpp"', '"cornerturn/public.hpp"'],
        "python/src/b.cpp": ['"b.hpp"'],
    }

    def test_it_finds_each_wrong_include(self):
        with tempfile.TemporaryDirectory() as directory:
            for path, includes in (self.WRONG | self.RIGHT).items():
                file = Path(directory, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text('// #include "cli/cli.hpp"\n/*\n#include "cli/cli.hpp"\n*/\n' + "".join(f"#include {name}\n" for name in includes))
            broken = broken_rules(Path(directory), set())
        places = {sentence.split(" ")[0] for sentence in broken}
        wanted = {f"{path}:{line}" for path, includes in self.WRONG.items() for line, _ in enumerate(includes, 5)}
        self.assertEqual(places, wanted | {"src/stray/a.cpp:", "src/ops/a.cpp:"}, "\n".join(broken))


if __name__ == "__main__":
    script.main()
