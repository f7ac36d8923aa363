#!/usr/bin/env python3
"""Finds the tests that ./test.sh need not run again: they passed, and none of their inputs has changed since.

    passed.py unchanged BUILD      prints these tests, without long tests. Call it before the tests run.
    passed.py keep BUILD OUTPUT    stores which tests passed since then. OUTPUT is a file with the output of ctest.

The inputs of every test are its command, the environment variables for tests, the object files and the link command of its
program, and the packages and GPUs of this machine. For a script they also are the program and all files of the project, except
tests that it does not import. For other tests they also are the data in SEEN. KERNELS lists the tests that run only some of the
kernels that they link.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
SEEN = ("results/", "tests/kernels/", "tests/cuda/with_gpus.sh")
A_KERNEL = r"ops/\w+/(ladder|kernels)/|(^|/)baseline/"
# (tests, paths of the kernels that they run), as regular expressions. All other tests run every kernel that they link.
KERNELS = [
    (r"emulate_\w+|random_kernels_test|files_test", "(?!)"),  # none
    (r"edges_test|misbehaving_test", r"ops/\w+/ladder/"),
    (r"gemm_\w+", "ops/gemm/|ops/(copy|transpose)/kernels/"),
    (r"strided_test|production_\w*test", r"ops/(copy|permute|transpose)/kernels/"),
]


def output_of(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


@cache
def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "absent"


@cache
def project_files():
    names = output_of("git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return sorted(name for name in names if (SOURCE / name).is_file())


@cache
def program_parts(build, target):
    """The object files of a program, and the command that links them."""
    inputs = output_of("ninja", "-C", build, "-t", "inputs", target).split("\n")
    return [name for name in inputs if name.endswith(".o")], output_of("ninja", "-C", build, "-t", "commands", target).rstrip().split("\n")[-1]


@cache
def imported_by(script):
    """The names of the test scripts that the script imports, directly or indirectly."""
    found = set()
    for name in re.findall(r"^(?:from|import) (\w+)", script.read_text(), re.M):
        for other in (SOURCE / "tests" / f"{name}.py", script.parent / f"{name}.py"):
            if other.exists():
                found |= {other.relative_to(SOURCE).as_posix(), *imported_by(other)}
    return found


def is_seen(test, path):
    """Whether the file can affect the test. Only kernels that the test does not run cannot."""
    if not re.search(A_KERNEL, path):
        return True
    return next((re.search(kernels, path) is not None for tests, kernels in KERNELS if re.fullmatch(tests, test)), True)


def seen_by(build, test):
    """The inputs of a test, which is described as in ctest's JSON."""
    words = [Path(word).resolve() if word.startswith("/") else word for word in test["command"]]
    programs = [str(word.relative_to(build)) for word in words if isinstance(word, Path) and word.is_relative_to(build)]
    scripts = [word for word in words if isinstance(word, Path) and word.suffix == ".py"]
    programs += ["bin/cornerturn", "bin/cornerturn-cc"] if scripts else []
    own = {script.relative_to(SOURCE).as_posix() for script in scripts}.union(*map(imported_by, scripts))
    files = []
    for program in programs:
        objects, link = program_parts(build, program)
        if not objects:
            sys.exit(f"passed.py: ninja lists no object files of {program}")
        files += [(name, build / name) for name in objects]
        yield link
    for name in project_files():
        other_test = re.fullmatch(r"tests/.*_test\.\w+", name) and name not in own
        if scripts and not other_test or name.startswith(SEEN):
            files.append((name, SOURCE / name))
    yield json.dumps([test["command"], test["properties"]], sort_keys=True)
    yield from (f"{name} {digest_of(path)}" for name, path in files if is_seen(test["name"], name))


def of_machine():
    """The inputs that belong to the machine: installed packages, GPUs, and environment variables for tests."""
    yield digest_of(Path("/var/lib/dpkg/status"))
    yield repr(sorted(item for item in os.environ.items() if item[0].startswith(("CORNERTURN_", "GTEST_"))))
    try:
        yield output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv")
    except (OSError, subprocess.CalledProcessError):
        yield "no GPU"


def is_long(test):
    return any(of["name"] == "LABELS" and "long" in of["value"] for of in test["properties"])


def write(path, value):
    path.with_suffix(".new").write_text(json.dumps(value, indent=0))
    path.with_suffix(".new").rename(path)


def main():
    action, build, *output = sys.argv[1:]
    build = Path(build).resolve()
    passed, seen = build / "passed.json", build / "seen.json"
    kept = json.loads(passed.read_text()) if passed.exists() else {}
    if action == "unchanged":
        tests = json.loads(output_of("ctest", "--test-dir", build, "--show-only=json-v1"))["tests"]
        machine = list(of_machine())
        now = {test["name"]: hashlib.sha256("\n".join([*machine, *seen_by(build, test)]).encode()).hexdigest()
               for test in tests if "command" in test and not is_long(test)}
        write(seen, now)
        print("\n".join(name for name, digest in now.items() if kept.get(name) == digest))
        return
    now = json.loads(seen.read_text())
    for name, how in re.findall(r"^ *\d+/\d+ Test +#\d+: (\S+) \.*(\W*\w+)", Path(output[0]).read_text(), re.M):
        kept.pop(name, None)
        if how.strip(" *.") == "Passed" and name in now:
            kept[name] = now[name]
    write(passed, kept)


if __name__ == "__main__":
    main()
