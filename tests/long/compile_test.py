#!/usr/bin/env python3
"""Valid uses of the public headers compile, and invalid ones do not: with g++ and every installed clang++. The test declares
CUDA's stream type, so it needs no toolkit."""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from project import DRIVER_TYPES, SOURCE, failures, require, setting
from script import names

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wold-style-cast", "-Wno-unused",
          "-Wno-unused-parameter"]
# The beginning of every case.
PRELUDE = """
#include <array>
#include <complex>
#include <span>
#include <string>
#include <vector>
#include "cornerturn/cornerturn.h"
#include "cornerturn/cuda/gemm.hpp"
#include "cornerturn/cuda/transpose.hpp"
#include "cornerturn/transpose.hpp"
using namespace cornerturn;
void work(float* in, const float* constant, float* out, double* doubles, std::string* texts, cudaStream_t stream,
          const cuda::transpose_plan& plan, std::vector<float>& vector, const std::vector<float>& constants,
          std::size_t rows, int cols) {
    const matrix_view<float> source{in, 3, 4}, destination{out, 4, 3};
    const matrix_view<const float> fixed{constant, 3, 4}, fixed_square{constant, 3, 3};
    const batch_view<float> sources{source, 2}, destinations{destination, 2};
    const batch_view<const float> fixed_batch{fixed, 2};
"""

RIGHT = """
    transpose(source, destination);
    transpose(fixed, destination);
    transpose(source, destination, {.threads = 2});
    transpose({in, 3, 4}, matrix_view{out, 4, 3});
    transpose({vector, 3, 4}, matrix_view{out, 4, 3});
    transpose(matrix_view{constants, rows, cols}, matrix_view{vector, cols, rows});
    transpose<float>({constants, rows, cols}, {vector, cols, rows});
    transpose(sources, destinations);
    transpose(fixed_batch, destinations);
    transpose({constants, 3, 4}, matrix_view{vector, 4, 3});
    transpose(matrix_view{std::vector<float>(12), 3, 4}, destination);
    float array[12], arrays[3][4];
    transpose(matrix_view{array, 3, 4}, matrix_view{&arrays[0][0], 4, 3});
    transpose_in_place(matrix_view{vector, 3, 3, 4});
    transpose_in_place(batch_view{vector, 3, 3, 3, 2});
    transpose(matrix_view<std::array<char, 3>>{nullptr, 0, 0}, matrix_view<std::array<char, 3>>{nullptr, 0, 0});
    transpose(matrix_view<std::complex<double>>{nullptr, 0, 0}, matrix_view<std::complex<double>>{nullptr, 0, 0});
    cuda::transpose(source, destination, stream);
    cuda::transpose({constant, rows, cols}, matrix_view{out, cols, rows}, stream);
    cuda::transpose(fixed_batch, destinations, nullptr);
    cuda::transpose_in_place(destination, stream);
    cuda::transpose_in_place(destinations, stream);
    cuda::gemm(1, fixed, destination, 0, {out, 3, 3}, stream);
    cuda::gemm(1, sources, destinations, 0, batch_view{out, 3, 3, 3, 2}, stream);
    plan(constant, out, stream);
    cornerturn_transpose(constant, 3, 4, 4, out, 3, 4, 0);
    cornerturn_cuda_transpose(constant, 3, 4, 4, out, 3, 4, stream);
    matrix_view<const float> read_only = source;
    batch_view<const float> batch_read_only = sources;
    static_assert(CORNERTURN_VERSION_NUMBER >= 200);
"""

# The type traits in cornerturn's static assertions.
CONST, BYTES, ARRAY = "is_const_v", "is_trivially_copyable_v", "is_array_v"
TYPE_ERROR = None
# Each line, and the static assertion that must fail. TYPE_ERROR: the compiler must refuse the line itself.
WRONG = {
    "transpose(destination, fixed);": CONST,
    "transpose(fixed, fixed);": CONST,
    "transpose(destination, fixed, {.threads = 1});": CONST,
    "transpose(destinations, fixed_batch);": CONST,
    "transpose(matrix_view{vector, 4, 3}, matrix_view{constants, 3, 4});": CONST,
    "transpose_in_place(fixed_square);": CONST,
    "transpose_in_place(fixed_batch);": CONST,
    "cuda::transpose(destination, fixed, stream);": CONST,
    "cuda::transpose(destinations, fixed_batch, stream);": CONST,
    "cuda::transpose_in_place(fixed_square, stream);": CONST,
    "cuda::transpose_in_place(fixed_batch, stream);": CONST,
    "transpose(matrix_view{texts, 3, 4}, matrix_view{texts + 12, 4, 3});": BYTES,
    "cuda::transpose(matrix_view{texts, 3, 4}, matrix_view{texts + 12, 4, 3}, stream);": BYTES,
    "transpose(matrix_view{doubles, 3, 4}, destination);": TYPE_ERROR,
    "cuda::transpose(matrix_view{doubles, 3, 4}, destination, stream);": TYPE_ERROR,
    "transpose(source, destinations);": TYPE_ERROR,
    "cuda::gemm(1, source, destination, 0, fixed_square, stream);": CONST,
    "cuda::gemm(1, sources, destinations, 0, fixed_batch, stream);": CONST,
    "float a[3][4]; matrix_view{a, 3, 4};": ARRAY,
    "plan(in, constant, stream);": TYPE_ERROR,
    "cornerturn_transpose(in, 3, 4, 4, constant, 3, 4, 0);": TYPE_ERROR,
    "cornerturn_transpose_in_place(constant, 3, 3, 4, 0);": TYPE_ERROR,
    "cornerturn_cuda_transpose(in, 3, 4, 4, constant, 3, 4, stream);": TYPE_ERROR,
    "cornerturn_cuda_transpose_in_place(constant, 3, 3, 4, stream);": TYPE_ERROR,
    "matrix_view<float> writable = fixed;": TYPE_ERROR,
    "batch_view<float> writable = fixed_batch;": TYPE_ERROR,
    "matrix_view<float> writable{constants, 3, 4};": TYPE_ERROR,
    "matrix_view<float> wrong{doubles, 3, 4};": TYPE_ERROR,
    "matrix_view<float> wrong{in, 3.0, 4};": TYPE_ERROR,
}


def compilers():
    found = {setting("CMAKE_CXX_COMPILER") or "g++"}
    for folder in os.environ["PATH"].split(":"):
        found |= {str(p) for p in pathlib.Path(folder).glob("clang++*") if os.access(p, os.X_OK)}
    # Several names of the same program count once.
    return sorted({os.path.realpath(shutil.which(name)): name for name in sorted(found)}.values())


def static_assertions(trait):
    """The places of the public headers' static assertions of this trait, as FILE:LINE."""
    return [f"{path.name}:{number}" for path in (SOURCE / "include/cornerturn").rglob("*.hpp")
            for number, line in enumerate(path.read_text().splitlines(), 1) if "static_assert(" in line and trait in line]


def is_refused(code, text, trait):
    """Whether the compiler refused the first line after PRELUDE, for the static assertion or, without one, for its types."""
    errors = [line for line in text.splitlines() if "error:" in line]
    if trait is TYPE_ERROR:
        place = f".cpp:{PRELUDE.count(chr(10)) + 1}"
        return code != 0 and bool(errors) and all(names(line, place) for line in errors)
    return code != 0 and any(names(line, place, "cornerturn") for line in errors for place in static_assertions(trait))


def compile_case(compiler, folder, lines, *options):
    source = tempfile.NamedTemporaryFile("w", suffix=".cpp", dir=folder, delete=False)
    source.write(PRELUDE + lines + "\n}\n")
    source.close()
    done = subprocess.run([compiler, "-std=c++20", *options, *STRICT, "-fsyntax-only", "-I", SOURCE / "include",
                           "-I", folder, source.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def main():
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(name)
        (folder / "driver_types.h").write_text(DRIVER_TYPES)
        for compiler in compilers():
            code, text = compile_case(compiler, folder, RIGHT)
            require(code == 0 and not text, f"{compiler}: valid code compiles without a warning {text}")
            results = pool.map(lambda line: compile_case(compiler, folder, "    " + line), WRONG)
            for (line, trait), (code, text) in zip(WRONG.items(), results):
                refused = is_refused(code, text, trait)
                require(refused, f"{compiler}: refused: {line} {'' if refused else text}")
    if failures:
        sys.exit(f"{len(failures)} failed:\n" + "\n".join(failures))


if __name__ == "__main__":
    main()
