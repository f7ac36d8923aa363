// Tiles of 32 x 32.
#include "ops/gemm/kernels/tiles.hpp"

namespace CORNERTURN_KERNELS {

template gemm_tiles_kernel tiles_kernel_of<4>(const products::operand_layouts&, bool);
template gemm_tiles_kernel tiles_kernel_of<5>(const products::operand_layouts&, bool);

}  // namespace CORNERTURN_KERNELS
