// Runs a kernel in the emulator, with any leading dimensions, offsets and options.
#pragma once

#include <string>

#include "lab/run.hpp"
#include "run_kernels.hpp"

namespace cornerturn::tests {

struct outcome {
    std::string fault;  // empty: every element is right
    emulator::report report;
    bool finished;
    bool declined;  // by unsupported
    std::optional<emulator::hazard_kind> hazard;
};

inline outcome run_every_block(const kernel& k, const problem_shape& shape, const emulator::options& options = {}) {
    const lab::emulation_outcome run = lab::emulate(k, tests::moves(k, shape), options);
    return {run.verdict.fault, run.report, run.finished, run.declined, run.hazard};
}

// One block of each class.
inline outcome run_classes(const kernel& k, const problem_shape& shape, emulator::options options = {}) {
    options.every_block = false;
    return run_every_block(k, shape, options);
}

// The rungs of the ladder. Not among them: the host's kernels, planted kernels, and the library's kernels, which
// transposes_test.cpp and cuda/cuda_transpose_test.cpp test.
inline bool in_ladder(const kernel& k) {
    return (k.id.starts_with("copy/") || k.id.starts_with("transpose/")) && k.id != "transpose/production";
}

}  // namespace cornerturn::tests
