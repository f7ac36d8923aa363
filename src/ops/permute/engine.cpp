#include "ops/permute/engine.hpp"

#include <array>

namespace cornerturn {

strided_copy canonical(const strided_work& work) {
    std::array<strided_axis, kMostAxes> axes;
    for (int i = 0; i < work.rank; ++i)
        axes[static_cast<std::size_t>(i)] = {work.extents[i], work.source_strides[i] * work.element_size,
                                             work.destination_strides[i] * work.element_size};
    return canonical(reinterpret_cast<std::uintptr_t>(work.source), reinterpret_cast<std::uintptr_t>(work.destination),
                     work.element_size, axes.data(), work.rank);
}

void run_library(const strided_work& work, const gpu& on, tensor_copies::run_matrices by_matrices,
                 tensor_copies::run_plan by_plan) {
    tensor_copies::run(canonical(work), on, by_matrices, by_plan);
}

}  // namespace cornerturn
