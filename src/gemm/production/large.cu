// Tiles of 128 x 128, out of aligned operands.
#include "gemm/production/tiles.hpp"

namespace CORNERTURN_KERNELS {

gemm_tiles_kernel large_tiles(const production::gemm_paths& paths, int& shared_bytes) {
    using tile = gemm_tile_shape<128, 128, 8, 4, 2, 2, 16, 8, 2>;
    constexpr auto kVectors = gemm_path::vectors;
    shared_bytes = gemm_stages<tile, kVectors, kVectors>::kAll * static_cast<int>(sizeof(float));
    return paths == production::gemm_paths{kVectors, kVectors} ? &gemm_tiles<tile, kVectors, kVectors> : nullptr;
}

}  // namespace CORNERTURN_KERNELS
