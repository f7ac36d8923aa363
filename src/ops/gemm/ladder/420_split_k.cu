#include "ops/gemm/gemm_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kSplitK{
    .id = "gemm/split-k",
    .idea =
        "For few tiles of C and a long k: k is split into parts, and each part of a tile has its own block. A second "
        "kernel adds up the parts, always in the same order.",
    .change =
        "From warp-rows: again tiles of 32 x 32 in shared memory, so each row and column is used 32 times. The parts "
        "of k fill the GPU: 16 x 16 x 4096 had 4 blocks and now has 128.",
    .contract =
        "Any m, n, k, leading dimensions, alpha and beta; where beta is 0, C is not read. C is stored in vectors where "
        "it is aligned to 16 bytes and its leading dimension is a multiple of 4. Elsewhere it is stored in scalars.",
    .bytes = "4 * (m * n * k / 16 + m * n + 2 * parts * m * n)",
    .limit =
        "Each part adds a write and a read of m * n floats. A product with 133 tiles or more has only one part and is "
        "slow: each step of k waits for its loads.",
    .source = "docs/why.md.",
};

constexpr int kSplitTile = 32, kSplitDepth = 32, kSplitSide = 8;  // side of C's tile; steps of k; threads on a side
constexpr int kSplitThreads = kSplitSide * kSplitSide;
constexpr int kSplitBlocks = 264;  // the aim: two for each multiprocessor of an H200
constexpr int kSplitGroups = 8;    // groups of parts, summed at the same time

struct split {
    std::int64_t parts, depth;  // how many, and how many steps of k each has: a multiple of kSplitDepth
};

// Depends only on the sizes, not on the GPU: the size of the workspace follows from it.
split split_of(const gemm_work& work) {
    const auto over = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    const std::int64_t tiles = over(work.m, kSplitTile) * over(work.n, kSplitTile), steps = over(work.k, kSplitDepth);
    if (tiles == 0 || tiles > kSplitBlocks / 2 || steps <= 1) return {1, steps * kSplitDepth};
    const std::int64_t steps_each = over(steps, kSplitBlocks / tiles);
    return {over(steps, steps_each), steps_each * kSplitDepth};
}

std::int64_t split_floats(const gemm_work& work) {
    const std::int64_t parts = split_of(work).parts;
    return parts > 1 ? parts * work.m * work.n : 0;
}

// blockIdx.z is the part of k. Each part has a C of its own. `floats` is the distance between two of these.
__global__ void __launch_bounds__(kSplitThreads)
    gemm_split_k(gemm_work work, bool vector_c, std::int64_t depth, std::int64_t floats) {
    // A row of A's tile has 36 floats, so four neighbouring rows lie in different banks.
    __shared__ float4 a[kSplitTile][kSplitDepth / 4 + 1], b[kSplitDepth][kSplitTile / 4];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const std::int64_t row0 = at.row * kSplitTile, col0 = at.col * kSplitTile, part = blockIdx.z;
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y), thread = y * kSplitSide + x;
    const int lane = thread % 32;
    const std::int64_t end = (part + 1) * depth;
    float sums[4][4] = {};  // rows that lie kSplitSide apart, and four neighbouring columns
    for (std::int64_t step = part * depth; step < work.k && step < end; step += kSplitDepth) {
        CORNERTURN_UNROLL
        for (int line = thread / 32; line < 32;
             line += kSplitThreads / 32) {  // of both tiles; a warp loads one line at a time
            const std::int64_t row = row0 + line, col = col0 + lane;
            (&a[line][0].x)[lane] = row < work.m && step + lane < work.k ? work.a[row * work.lda + step + lane] : 0;
            (&b[line][0].x)[lane] = step + line < work.k && col < work.n ? work.b[(step + line) * work.ldb + col] : 0;
        }
        __syncthreads();  // the tiles have arrived
        CORNERTURN_UNROLL
        for (int four = 0; four < kSplitDepth / 4; ++four) {
            float of_a[4][4], of_b[4][4];
            CORNERTURN_UNROLL
            for (int i = 0; i < 4; ++i) {
                load_four(of_a[i], &a[y + i * kSplitSide][four].x);
                load_four(of_b[i], &b[four * 4 + i][x].x);
            }
            CORNERTURN_UNROLL
            for (int i = 0; i < 16; ++i) {
                CORNERTURN_UNROLL
                for (int k = 0; k < 4; ++k) sums[i / 4][i % 4] += of_a[i / 4][k] * of_b[k][i % 4];
            }
        }
        __syncthreads();  // all threads have finished with the tiles
    }
    CORNERTURN_UNROLL
    for (int i = 0; i < 4; ++i) {
        const std::int64_t row = row0 + y + i * kSplitSide, col = col0 + x * 4;
        if (row < work.m)
            store_four(work.c + part * floats + row * work.ldc + col, sums[i], work.n - col, work.alpha, work.beta,
                       vector_c);
    }
}

// A block adds up 32 neighbours of a row of C. `work.a` has work.k parts; their rows lie work.lda floats apart.
__global__ void __launch_bounds__(32 * kSplitGroups) gemm_split_k_sum(gemm_work work) {
    __shared__ float sums[kSplitGroups][32];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const std::int64_t row = at.row, col = at.col * 32 + x;
    float sum = 0;
    for (std::int64_t part = y; part < work.k && col < work.n; part += kSplitGroups)
        sum += work.a[(part * work.m + row) * work.lda + col];
    sums[y][x] = sum;
    __syncthreads();  // every group's sum is written
    if (y > 0) return;
    for (int group = 1; group < kSplitGroups; ++group) sum += sums[group][x];
    store_product(work, row, col, sum);
}

void run_split_k(const gemm_work& work) {
    const auto [parts, depth] = split_of(work);
    if (parts == 1 || work.alpha == 0)
        return launch_gemm(gemm_split_k, work, {kSplitTile, kSplitTile}, dim3(kSplitSide, kSplitSide), 0,
                           rows_of_fours(work.c, work.ldc), depth, 0);
    gemm_work partial = work, sum = work;
    partial.c = work.workspace, partial.ldc = work.n, partial.alpha = 1, partial.beta = 0;
    sum.a = sum.b = work.workspace, sum.lda = work.n, sum.k = parts;
    {
        const preparation_scope before_the_sum;
        dim3 grid = row_major::grid((work.m + kSplitTile - 1) / kSplitTile, (work.n + kSplitTile - 1) / kSplitTile);
        grid.z = static_cast<unsigned>(parts);
        launch({grid, dim3(kSplitSide, kSplitSide)}, gemm_split_k, partial, rows_of_fours(partial.c, partial.ldc),
               depth, work.m * work.n);
    }
    launch_gemm(gemm_split_k_sum, sum, {1, 32}, dim3(32, kSplitGroups));
}

CORNERTURN_RUNG(kSplitK, gemm_operation(), multiplying("", "-", &run_split_k, &split_floats))

}  // namespace CORNERTURN_KERNELS
