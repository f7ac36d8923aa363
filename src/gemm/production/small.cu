// Tiles of 64 x 64, out of operands that lie in any way.
#include "gemm/production/tiles.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using tile = gemm_tile_shape<64, 64, 8, 4, 1, 2, 8, 8, 6, 32, false>;

template <gemm_path kA, gemm_path kB>
gemm_tiles_kernel kernel_of(int& shared_bytes) {
    shared_bytes = gemm_stages<tile, kA, kB>::kBytes;
    return &gemm_tiles<tile, kA, kB>;
}

template <gemm_path kA>
gemm_tiles_kernel kernel_of(gemm_path b, int& shared_bytes) {
    switch (b) {
        case gemm_path::vectors: return kernel_of<kA, gemm_path::vectors>(shared_bytes);
        case gemm_path::words: return kernel_of<kA, gemm_path::words>(shared_bytes);
        case gemm_path::turned: return kernel_of<kA, gemm_path::turned>(shared_bytes);
    }
    return nullptr;
}

}  // namespace

gemm_tiles_kernel small_tiles(const production::gemm_paths& paths, int& shared_bytes) {
    switch (paths.a) {
        case gemm_path::vectors: return kernel_of<gemm_path::vectors>(paths.b, shared_bytes);
        case gemm_path::words: return kernel_of<gemm_path::words>(paths.b, shared_bytes);
        case gemm_path::turned: return kernel_of<gemm_path::turned>(paths.b, shared_bytes);
    }
    return nullptr;
}

}  // namespace CORNERTURN_KERNELS
