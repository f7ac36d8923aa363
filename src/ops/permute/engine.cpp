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

void for_each_plan(const strided_work& work, const gpu& on, void (*run)(const strided::plan&)) {
    strided::for_each_plan(canonical(work), on, run);
}

}  // namespace cornerturn
