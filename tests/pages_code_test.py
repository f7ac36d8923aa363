#!/usr/bin/env python3
"""Each block of C++ and C in these pages compiles. A block of C++ with a main also runs."""

import os
import pathlib
import subprocess
import sys
import tempfile

from docs_test import fenced_blocks
from project import DRIVER_TYPES, SOURCE, failures, require, setting

# Page: how many of its blocks have a main.
PAGES = {"README.md": 1, "README.zh-CN.md": 1, "docs/convert.md": 1}
LIBRARY = pathlib.Path(os.environ["CORNERTURN_BUILD_DIR"], "src/libcornerturn_host.a")


def check(name, language, text, folder):
    """Compiles a block, and runs it if it has a main. Returns whether it ran without an error."""
    source, program = folder / f"block.{language}", folder / "block"
    source.write_text(text)
    standard = ["-std=c++20"] if language == "cpp" else ["-x", "c", "-std=c11"]
    compiler = [setting("CMAKE_CXX_COMPILER"), *standard, "-Wall", "-Wextra", "-Werror", source, f"-I{SOURCE}/include", f"-I{folder}"]
    runs = "int main()" in text
    command = [*compiler, "-o", program, LIBRARY, "-ltbb", "-lhwy"] if runs else [*compiler, "-fsyntax-only"]
    done = subprocess.run(command, capture_output=True, text=True)
    require(done.returncode == 0, f"{name} compiles {done.stderr}")
    if not runs or done.returncode != 0:
        return False
    require(subprocess.run([program]).returncode == 0, f"{name} runs")
    return True


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "driver_types.h").write_text(DRIVER_TYPES)
        for page, with_main in PAGES.items():
            blocks = [(language, "\n".join(lines) + "\n") for language, lines, _ in fenced_blocks((SOURCE / page).read_text(encoding="utf-8"))
                      if language in ("cpp", "c")]
            ran = sum(check(f"{page}: block {number} of C++ or C", *block, folder) for number, block in enumerate(blocks, 1))
            require(ran == with_main, f"{page}: {with_main} block of C++ has a main and runs")
    if failures:
        sys.exit(f"{len(failures)} failed")


if __name__ == "__main__":
    main()
