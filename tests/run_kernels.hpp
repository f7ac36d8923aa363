// Kernels of the registry, run on work of their operation.
#pragma once

#include <string>
#include <vector>

#include "lab/run.hpp"
#include "ops/copy/movement.hpp"
#include "ops/copy/tensor_movement.hpp"
#include "ops/gemm/operation.hpp"
#include "ops/permute/strided_work.hpp"

namespace cornerturn::tests {

inline bool moves_elements(const kernel& k) { return k.takes_work<matrix_work>(); }
inline bool multiplies(const kernel& k) { return k.takes_work<gemm_work>(); }

// The kernel must be built for it.
inline void run(const kernel& k, backend on, const matrix_work& work) { k.built_for<matrix_work>(on)->run(work); }
inline void run(const kernel& k, backend on, const gemm_work& work) { k.built_for<gemm_work>(on)->run(work); }

// Floats.
inline std::int64_t workspace(const kernel& k, backend on, const gemm_work& work) {
    const auto floats = k.built_for<gemm_work>(on)->traits.workspace;
    return floats == nullptr ? 0 : floats(work);
}

// Work of such a shape, for a kernel that moves elements.
inline movement_work moves(const kernel& k, problem_shape shape) {
    shape.arranged = arranged_by(k);
    return movement_work(dynamic_cast<const movement&>(*k.op), {"", shape.element_size}, shape);
}
inline lab::run_request request_of(const kernel& k, const problem_shape& shape) {
    return {.work = std::make_shared<movement_work>(moves(k, shape))};
}

// What a bench compares random transposes with, where sectors are written in part.
inline std::vector<const kernel*> ordered_copies() {
    std::vector<const kernel*> all;
    for (const std::string& id : find_operation("transpose").contestants(backend::cuda).ordered_copies)
        all.push_back(&find_kernel(id));
    return all;
}

}  // namespace cornerturn::tests
