#include "ops/copy/strided_work.hpp"

#include <array>

namespace cornerturn {

const char kernel_traits<strided_work>::kType = 0;

strided_copy canonical(const strided_work& work) {
    const std::int64_t source_size = work.cast.converts() ? size_of(work.cast.from) : work.element_size;
    std::array<strided_axis, kMostAxes> axes;
    for (int i = 0; i < work.rank; ++i)
        axes[static_cast<std::size_t>(i)] = {work.extents[i], work.source_strides[i] * source_size,
                                             work.destination_strides[i] * work.element_size,
                                             i == work.factor_axis ? 1 : 0};
    return canonical(reinterpret_cast<std::uintptr_t>(work.source), reinterpret_cast<std::uintptr_t>(work.destination),
                     work.element_size, axes.data(), work.rank, work.cast, work.by);
}

}  // namespace cornerturn
