// What the file of a transpose rung needs besides its kernel.
#pragma once

#include "ops/copy/movement_rung.hpp"
#include "ops/transpose/operation.hpp"

namespace CORNERTURN_KERNELS {

template <class Order = row_major, class T>
void launch_transpose(matrix_kernel<T> kernel, const matrix_work& work, tile_extent tile, dim3 block) {
    launch_tiles<slab_order::transposed, Order>(kernel, work, tile, block);
}

}  // namespace CORNERTURN_KERNELS
