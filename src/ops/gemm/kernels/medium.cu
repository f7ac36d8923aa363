// Tiles of 128 x 64.
#include "ops/gemm/kernels/tiles.hpp"

namespace CORNERTURN_KERNELS {

template gemm_tiles_kernel tiles_kernel_of<1>(const products::operand_layouts&, bool);

}  // namespace CORNERTURN_KERNELS
