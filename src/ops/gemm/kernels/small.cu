// Tiles of 64 x 64.
#include "ops/gemm/kernels/tiles.hpp"

namespace CORNERTURN_KERNELS {

template gemm_tiles_kernel tiles_kernel_of<2>(const production::gemm_paths&, bool);
template gemm_tiles_kernel tiles_kernel_of<3>(const production::gemm_paths&, bool);

}  // namespace CORNERTURN_KERNELS
