// Tiles of 64 x 64, out of operands that lie in any way.
#include "ops/gemm/kernels/tiles.hpp"

namespace CORNERTURN_KERNELS {
namespace {

struct small {
    static constexpr bool takes(gemm_path) { return true; }
    template <gemm_path, gemm_path>
    using tile = gemm_tile_shape<64, 64, 8, 4, 1, 2, 8, 8, 6, 32, 8, false>;
};

}  // namespace

gemm_tiles_kernel small_tiles(const production::gemm_paths& paths) { return gemm_kernels<small>::find(paths); }

}  // namespace CORNERTURN_KERNELS
