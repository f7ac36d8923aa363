// What the file of a rung that transposes needs besides its kernel.
#pragma once

#include "ops/copy/rung.hpp"
#include "ops/transpose/operation.hpp"

namespace CORNERTURN_KERNELS {

template <class Order = row_major, class T>
void launch_transpose(matrix_kernel<T> kernel, const matrix_work& work, tile_extent tile, dim3 block) {
    for_each_slab<Order, slab_order::transposed>(
        work, tile, block, [&](const launch_shape& shape, const matrix_work& part) {
            launch(shape, kernel,
                   matrix_view<const T>{static_cast<const T*>(part.source), part.rows, part.cols, part.source_ld},
                   matrix_view<T>{static_cast<T*>(part.destination), part.cols, part.rows, part.destination_ld});
        });
}

}  // namespace CORNERTURN_KERNELS
