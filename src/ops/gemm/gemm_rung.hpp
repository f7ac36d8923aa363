// What the file of a multiplication rung needs besides its kernel.
#pragma once

#include <type_traits>

#include "core/matrix_work.hpp"
#include "device/rung.hpp"
#include "device/tiles.hpp"
#include "ops/gemm/fours.hpp"
#include "ops/gemm/gemm_work.hpp"
#include "ops/transpose/operation.hpp"

namespace CORNERTURN_KERNELS {

// Covers C with tiles, one for each block, and launches the kernel for each slab of C that fits in one grid. A slab is
// itself a product. Launches nothing if C is empty; if k is 0, the kernel still has to scale C. kTransposedA: `work.a`
// is A's transpose, k x m. `more` holds the kernel's further arguments.
template <bool kTransposedA = false, class... More>
void launch_gemm(void (*kernel)(gemm_work, More...), const gemm_work& work, tile_extent tile, dim3 block,
                 int shared_bytes, std::type_identity_t<More>... more) {
    if (work.m == 0 || work.n == 0) return;
    const auto least = [](std::int64_t a, std::int64_t b) { return a < b ? a : b; };
    const std::int64_t slab_rows = row_major::kMaxRows * tile.rows, slab_cols = row_major::kMaxCols * tile.cols;
    for (std::int64_t row = 0; row < work.m; row += slab_rows) {
        for (std::int64_t col = 0; col < work.n; col += slab_cols) {
            gemm_work part = work;
            if (work.alpha == 0) part.k = 0;  // A and B may hold anything, as in BLAS
            part.m = least(work.m - row, slab_rows);
            part.n = least(work.n - col, slab_cols);
            part.a += kTransposedA ? row : row * work.lda;
            part.b += col;
            part.c += row * work.ldc + col;
            constexpr std::int64_t kSize = sizeof(float);
            const emulator::tiling tiles{part.m,
                                         part.n,
                                         tile.rows,
                                         tile.cols,
                                         3,
                                         {{part.a, tile.rows * (kTransposedA ? 1 : part.lda) * kSize, 0},
                                          {part.b, 0, tile.cols * kSize},
                                          {part.c, tile.rows * part.ldc * kSize, tile.cols * kSize}},
                                         [](emulator::extent3 b, emulator::extent3 g) {
                                             return row_major::tile_of({b.x, b.y, b.z}, {g.x, g.y, g.z});
                                         },
                                         [](tile_index t, emulator::extent3 g) {
                                             const uint3 b = row_major::block_of(t, {g.x, g.y, g.z});
                                             return emulator::extent3{b.x, b.y, b.z};
                                         }};
            launch({row_major::grid((part.m + tile.rows - 1) / tile.rows, (part.n + tile.cols - 1) / tile.cols), block,
                    static_cast<std::size_t>(shared_bytes), &tiles},
                   kernel, part, more...);
        }
    }
}

template <bool kTransposedA = false>
void launch_gemm(void (*kernel)(gemm_work), const gemm_work& work, tile_extent tile, dim3 block) {
    launch_gemm<kTransposedA>(kernel, work, tile, block, 0);
}

// An element of C becomes alpha * sum + beta * its old value. If beta is 0, the old value is not read.
__device__ __forceinline__ void store_product(const gemm_work& work, std::int64_t row, std::int64_t col, float sum) {
    if (row >= work.m || col >= work.n) return;
    float* const to = work.c + row * work.ldc + col;
    *to = work.beta == 0 ? work.alpha * sum : work.alpha * sum + work.beta * *to;
}

// The leading dimension of A's transpose in the workspace, whose k rows are aligned to 16 bytes.
inline std::int64_t transposed_a_ld(std::int64_t m) { return (m + 3) / 4 * 4; }
inline std::int64_t transposed_a_floats(const gemm_work& work) { return transposed_a_ld(work.m) * work.k; }

// The same work, with A's transpose instead of A. Makes the transpose in the workspace.
inline gemm_work transpose_a(const gemm_work& work) {
    gemm_work transposed = work;
    transposed.a = work.workspace;
    transposed.lda = transposed_a_ld(work.m);
    if (work.n == 0 || work.alpha == 0) return transposed;  // no kernel reads it
    transpose_step(kBuiltFor, {work.a, work.workspace, work.m, work.k, work.lda, transposed.lda, sizeof(float)});
    return transposed;
}

// A variant of a multiplication rung, with the GFLOP/s that note 002 gives.
constexpr variant<gemm_work> multiplying(const char* name, const char* origin, void (*run)(const gemm_work&),
                                         std::int64_t (*workspace)(const gemm_work&) = nullptr,
                                         double published_gflops = 0, hardware_needs needs = {}) {
    return {{name, origin, sizeof(float), needs, false, published_gflops}, run, {workspace}};
}

}  // namespace CORNERTURN_KERNELS
