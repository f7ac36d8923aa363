"""For tests that build a project: what it is built from, how the build was configured that they belong to, and what failed."""

import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1]
DRIVER_TYPES = "typedef struct CUstream_st* cudaStream_t;\n"  # all that the public headers want of CUDA
COPIED = ["CMakeLists.txt", "cmake", "include", "src", "bench"]

failures = []


def require(holds, what):
    print(("ok: " if holds else "FAILED: ") + what)
    if not holds:
        failures.append(what)


def write_if_changed(path, data):
    if path.exists() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def copy_sources(tree):
    """Makes `tree` hold the sources as they are now, and no other of its kind. The example is not among them."""
    for name in COPIED:
        top = SOURCE / name
        wanted = {p.relative_to(SOURCE) for p in ([top] if top.is_file() else top.rglob("*")) if p.is_file()}
        for path in sorted(wanted):
            write_if_changed(tree / path, (SOURCE / path).read_bytes())
        for path in [p for p in (tree / name).rglob("*") if p.is_file()]:
            if path.relative_to(tree) not in wanted:
                path.unlink()


def must_run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(map(str, command))}\n{done.stdout}")


def setting(name):
    """A value from the cache of the build that the test belongs to; None without one."""
    cache = pathlib.Path(os.environ.get("CORNERTURN_BUILD_DIR", "")) / "CMakeCache.txt"
    found = re.search(rf"^{name}:\w+=(.+)$", cache.read_text(), re.MULTILINE) if cache.exists() else None
    return found.group(1) if found else None


def in_ccache():
    """Whether ccache holds what the original compiled."""
    return "CCACHE_DISABLE" not in os.environ and not (setting("CCACHE") or "NOTFOUND").endswith("NOTFOUND")


def like_the_build(*left_out):
    """Options for another build, so that ccache holds what this one compiled, if the other's folder lies in build/, too: all that
    decides how a file is compiled, but for the names in `left_out`."""
    names = ["CMAKE_BUILD_TYPE", "CMAKE_COMPILE_WARNING_AS_ERROR", "CMAKE_CXX_COMPILER", "CMAKE_CXX_FLAGS", "CMAKE_CUDA_COMPILER",
             "CMAKE_CUDA_HOST_COMPILER", "CMAKE_CUDA_ARCHITECTURES", "CMAKE_CUDA_FLAGS"]
    return [f"-D{name}={setting(name)}" for name in names if setting(name) and name not in left_out]
