// Tiles of 64 x 64.
#include "ops/gemm/kernels/tiles.hpp"

namespace CORNERTURN_KERNELS {

template gemm_tiles_kernel tiles_kernel_of<2>(const products::operand_layouts&, bool);
template gemm_tiles_kernel tiles_kernel_of<3>(const products::operand_layouts&, bool);

}  // namespace CORNERTURN_KERNELS
