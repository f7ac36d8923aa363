// Tiles of 128 x 128, out of operands that are aligned or lie along k.
#include "ops/gemm/kernels/tiles.hpp"

namespace CORNERTURN_KERNELS {
namespace {

struct large {
    static constexpr bool takes(gemm_path path) { return path != gemm_path::words; }
    template <gemm_path kA, gemm_path kB>
    using tile =
        gemm_tile_shape<128, 128, 8, 4, 2, 2, 16, 8, 2, 128, 64, kA == gemm_path::vectors || kB == gemm_path::vectors>;
};

}  // namespace

gemm_tiles_kernel large_tiles(const production::gemm_paths& paths) { return gemm_kernels<large>::find(paths); }

}  // namespace CORNERTURN_KERNELS
