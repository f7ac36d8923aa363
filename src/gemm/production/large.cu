// Tiles of 128 x 128, out of operands that are aligned or lie along k.
#include "gemm/production/tiles.hpp"

namespace CORNERTURN_KERNELS {
namespace {

template <gemm_path kA, gemm_path kB>
gemm_tiles_kernel kernel_of(int& shared_bytes) {
    constexpr bool kBFirst = kA == gemm_path::vectors || kB == gemm_path::vectors;
    using tile = gemm_tile_shape<128, 128, 8, 4, 2, 2, 16, 8, 2, 128, kBFirst>;
    shared_bytes = gemm_stages<tile, kA, kB>::kBytes;
    return &gemm_tiles<tile, kA, kB>;
}

template <gemm_path kA>
gemm_tiles_kernel kernel_of(gemm_path b, int& shared_bytes) {
    switch (b) {
        case gemm_path::vectors: return kernel_of<kA, gemm_path::vectors>(shared_bytes);
        case gemm_path::turned: return kernel_of<kA, gemm_path::turned>(shared_bytes);
        case gemm_path::words: break;
    }
    return nullptr;
}

}  // namespace

gemm_tiles_kernel large_tiles(const production::gemm_paths& paths, int& shared_bytes) {
    switch (paths.a) {
        case gemm_path::vectors: return kernel_of<gemm_path::vectors>(paths.b, shared_bytes);
        case gemm_path::turned: return kernel_of<gemm_path::turned>(paths.b, shared_bytes);
        case gemm_path::words: break;
    }
    return nullptr;
}

}  // namespace CORNERTURN_KERNELS
