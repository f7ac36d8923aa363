#!/usr/bin/env python3
"""Views of std::mdspan compile with every compiler here whose standard library has it. views_test checks their values, with
a replacement of std::mdspan."""

import pathlib
import subprocess
import sys
import tempfile

from compile_test import compile_case, compilers
from project import DRIVER_TYPES, failures, require

CXX23 = ["-std=c++2b", "-include", "mdspan"]
CALLS = """
    std::mdspan<float, std::dextents<int, 2>> rows_of_matrix(in, 3, 4);
    std::mdspan<const float, std::extents<std::size_t, 2, 3, 4>> matrices(constant);
    transpose(matrix_view{rows_of_matrix}, destination);
    transpose(batch_view{matrices}, destinations);
    matrix_view<const float> read_only{rows_of_matrix};
    batch_view<const float> batch_read_only{matrices};
"""


def has_mdspan(compiler, library):
    return subprocess.run([compiler, *CXX23, *library, "-fsyntax-only", "-x", "c++", "/dev/null"], stderr=subprocess.DEVNULL).returncode == 0


def main():
    found = [(compiler, library) for compiler in compilers() for library in ([], ["-stdlib=libc++"]) if has_mdspan(compiler, library)]
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "driver_types.h").write_text(DRIVER_TYPES)
        for compiler, library in found:
            code, text = compile_case(compiler, folder, CALLS, *CXX23, *library)
            require(code == 0 and not text, f"{' '.join([compiler, *library])}: views of std::mdspan compile {text}")
    if failures:
        sys.exit(f"{len(failures)} failed:\n" + "\n".join(failures))
    if not found:
        print("skipped: no compiler here has std::mdspan (libc++ 17 has it)")
        sys.exit(77)


if __name__ == "__main__":
    main()
