#!/usr/bin/env python3
"""Which tests need not run again: those that have passed, where nothing that they see has changed since. For ./test.sh.

    passed.py unchanged BUILD      prints them, but for the long tests, which are for a whole run; to be called before the tests run
    passed.py keep BUILD OUTPUT    keeps which tests have passed since then, by what ctest printed into this file

A test sees its command and environment, the object files of its program, the packages and GPUs of this machine, and the project's
files but for other tests. A script sees the program. A C++ test sees no sources: its object files are of them. KERNELS says which
tests run only some of the kernels that they link.
"""

import hashlib
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1]
A_KERNEL = r"ops/\w+/(ladder|kernels)/|/baseline/"
# (tests, those kernels that they run) by their paths, as regular expressions. All other tests run all that they link.
KERNELS = [
    (r"emulate_\w+|random_kernels_test|compile_test|files_test", "none"),
    (r"gemm_\w+", "ops/gemm/|ops/(copy|transpose)/kernels/"),
    (r"strided_test|production_\w*test|permute_test", r"ops/(copy|permute|transpose)/kernels/"),
]
COMPILED = (".cpp", ".cu", ".hpp", ".cuh", ".h", ".c", ".txt", ".cmake")


def output_of(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


@cache
def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def project_files():
    names = output_of("git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return sorted(name for name in names if name and (SOURCE / name).is_file())


@cache
def objects_of(build, target):
    inputs = output_of("ninja", "-C", build, "-t", "inputs", target).split("\n")
    return [build / name for name in inputs if name.endswith(".o")]


def is_seen(test, path):
    """Whether this file can make a difference to the test, by its kernels."""
    if not re.search(A_KERNEL, path):
        return True
    return next((re.search(kernels, path) is not None for tests, kernels in KERNELS if re.fullmatch(tests, test)), True)


def seen_by(build, test, machine):
    """Of a test as ctest tells it: what decides how it ends."""
    command = test["command"]
    scripts = [word for word in command if word.endswith(".py")]
    programs = [Path(word).relative_to(build) for word in command if Path(word).is_relative_to(build)]
    files = []
    for program in [*programs, *([Path("bin/cornerturn"), Path("bin/cornerturn-cc")] if scripts else [])]:
        files += objects_of(build, str(program))
    for name in project_files():
        own = str(SOURCE / name) in command or name in ("tests/script.py", "tests/project.py")
        if not own and (re.fullmatch(r"tests/.*_test\.\w+", name) or (not scripts and name.endswith((*COMPILED, ".py")))):
            continue
        files.append(SOURCE / name)
    parts = [json.dumps([command, test["properties"], machine], sort_keys=True)]
    parts += [f"{path} {digest_of(path)}" for path in files if is_seen(test["name"], str(path))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def of_machine():
    """Changes where a package is installed or removed, or the GPUs or their driver are others."""
    packages = Path("/var/lib/dpkg/status")
    try:
        gpus = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv")
    except (OSError, subprocess.CalledProcessError):
        gpus = "none"
    return [gpus, digest_of(packages) if packages.exists() else ""]


def main():
    action, build, *output = sys.argv[1:]
    build = Path(build).resolve()
    passed, seen = build / "passed.json", build / "seen.json"
    kept = json.loads(passed.read_text()) if passed.exists() else {}
    if action == "unchanged":
        tests = json.loads(output_of("ctest", "--test-dir", build, "--show-only=json-v1"))["tests"]
        machine = of_machine()
        now = {test["name"]: seen_by(build, test, machine) for test in tests if "command" in test}
        seen.write_text(json.dumps(now, indent=0))
        long = {test["name"] for test in tests for of in test["properties"] if of["name"] == "LABELS" and "long" in of["value"]}
        print("\n".join(name for name in now if kept.get(name) == now[name] and name not in long))
        return
    now = json.loads(seen.read_text())
    for name, how in re.findall(r"^ *\d+/\d+ Test +#\d+: (\S+) \.*(\W*\w+)", Path(output[0]).read_text(), re.M):
        kept.pop(name, None)
        if how.strip(" *.") == "Passed":
            kept[name] = now[name]
    passed.write_text(json.dumps(kept, indent=0))


if __name__ == "__main__":
    main()
