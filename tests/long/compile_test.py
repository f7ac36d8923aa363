#!/usr/bin/env python3
"""What must compile does, and what must not does not, with a message that says why: the public headers, with g++ and with
every clang++ that is here. CUDA's type of streams is declared here, so that no toolkit is needed."""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from project import DRIVER_TYPES, SOURCE, failures, require, setting

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wold-style-cast", "-Wno-unused",
          "-Wno-unused-parameter"]
# What every case has.
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

CONST = "cornerturn cannot write to a view of const elements"
BYTES = "their type must be trivially copyable"
# One line, and what one of the compilers' errors must say: of several texts, any. Those that are not cornerturn's own
# are a type error of the language's.
NO_MATCH = ("no matching function", "no matching member function", "could not convert", "no viable conversion",
            "invalid conversion", "cannot initialize", "cannot convert", "no known conversion", "no matching constructor", "conversion from")
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
    "transpose(matrix_view{doubles, 3, 4}, destination);": NO_MATCH,
    "cuda::transpose(matrix_view{doubles, 3, 4}, destination, stream);": NO_MATCH,
    "transpose(source, destinations);": NO_MATCH,
    "cuda::gemm(1, source, destination, 0, fixed_square, stream);": CONST,
    "cuda::gemm(1, sources, destinations, 0, fixed_batch, stream);": CONST,
    "float a[3][4]; matrix_view{a, 3, 4};": "of an array of arrays, view the first element",
    "plan(in, constant, stream);": NO_MATCH,
    "cornerturn_transpose(in, 3, 4, 4, constant, 3, 4, 0);": NO_MATCH,
    "cornerturn_transpose_in_place(constant, 3, 3, 4, 0);": NO_MATCH,
    "cornerturn_cuda_transpose(in, 3, 4, 4, constant, 3, 4, stream);": NO_MATCH,
    "cornerturn_cuda_transpose_in_place(constant, 3, 3, 4, stream);": NO_MATCH,
    "matrix_view<float> writable = fixed;": NO_MATCH,
    "batch_view<float> writable = fixed_batch;": NO_MATCH,
    "matrix_view<float> writable{constants, 3, 4};": NO_MATCH,
    "matrix_view<float> wrong{doubles, 3, 4};": NO_MATCH,
    "matrix_view<float> wrong{in, 3.0, 4};": NO_MATCH,
}


def compilers():
    found = {setting("CMAKE_CXX_COMPILER") or "g++"}
    for folder in os.environ["PATH"].split(":"):
        found |= {str(p) for p in pathlib.Path(folder).glob("clang++*") if os.access(p, os.X_OK)}
    # Names of one program are one compiler.
    return sorted({os.path.realpath(shutil.which(name)): name for name in sorted(found)}.values())


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
            require(code == 0 and not text, f"{compiler}: what must compile does, without a warning {text}")
            results = pool.map(lambda line: compile_case(compiler, folder, "    " + line), WRONG)
            for (line, wanted), (code, text) in zip(WRONG.items(), results):
                wanted = (wanted,) if isinstance(wanted, str) else wanted
                errors = [each for each in text.splitlines() if "error:" in each or "note:" in each]
                told = any(words in each for each in errors for words in wanted)
                require(code != 0 and told, f"{compiler}: refused: {line} {'' if code and told else text}")
    if failures:
        sys.exit(f"{len(failures)} failed:\n" + "\n".join(failures))


if __name__ == "__main__":
    main()
