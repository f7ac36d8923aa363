// Runs a kernel on the emulator as a test wants it: any leading dimensions, offsets and options.
#pragma once

#include <string>

#include "lab/run.hpp"
#include "work.hpp"

namespace cornerturn::tests {

struct outcome {
    std::string fault;  // empty: every element right
    emulator::report report;
    bool finished;
    std::optional<emulator::hazard_kind> hazard;
};

inline outcome run_every_block(const kernel& k, const problem_shape& shape, const emulator::options& options = {}) {
    const lab::emulated run = lab::emulate(k, tests::moves(k, shape), options);
    return {run.found.fault, run.report, run.finished, run.hazard};
}

// One block of each class.
inline outcome run_classes(const kernel& k, const problem_shape& shape, emulator::options options = {}) {
    options.every_block = false;
    return run_every_block(k, shape, options);
}

// The rungs of the ladder: not the host's, not those that tests plant, and not the library's kernels, whose tests are
// production_test.cpp and cuda/cuda_transpose_test.cpp.
inline bool in_ladder(const kernel& k) {
    return (k.id.starts_with("copy/") || k.id.starts_with("transpose/")) && k.id != "transpose/production";
}

}  // namespace cornerturn::tests
