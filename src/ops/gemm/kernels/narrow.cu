// Products whose C has a few columns, which take as long as A takes to come from memory: A goes straight into
// registers, once. (A C of a few rows is another one's transpose.)
#include <utility>

#include "ops/gemm/fours.hpp"
#include "ops/gemm/kernels/product.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using production::gemm_path;

// A row of the table. Sums of more than kChunk of a lane's products are added up chunk by chunk: a sum's rounding error
// grows with its length.
template <int kRow>
struct narrow_shape {
    static constexpr production::gemm_kernel kOf = production::kGemmKernels[kRow];
    static constexpr int kRows = kOf.rows, kCols = kOf.cols, kSlices = kOf.slices, kDepth = kOf.depth();
    static constexpr int kDown = kOf.down, kThreads = kOf.threads(), kWarps = kThreads / 32, kResident = kOf.resident;
    static constexpr int kChunk = kOf.chunk;
    static_assert(kOf.across == kCols);
};

// Sums of a few rows and columns.
template <int kDown, int kCols>
struct narrow_sums {
    float at[kDown][kCols] = {};

    __device__ __forceinline__ void add(const float* of_a, const float* of_b) {
        CORNERTURN_UNROLL
        for (int i = 0; i < kDown; ++i) {
            CORNERTURN_UNROLL
            for (int j = 0; j < kCols; ++j) at[i][j] += of_a[i] * of_b[j];
        }
    }
    __device__ __forceinline__ void add(const narrow_sums& other) {
        CORNERTURN_UNROLL
        for (int i = 0; i < kDown; ++i) {
            CORNERTURN_UNROLL
            for (int j = 0; j < kCols; ++j) at[i][j] += other.at[i][j];
        }
    }
};

__device__ __forceinline__ std::int64_t at_most(std::int64_t value, std::int64_t most) {
    return value < most ? value : most;
}

// Adds up over a warp's lanes kCount values of each: lane l gets the sum of value l * kCount / 32. Each step halves the
// values that a lane still has, as long as there are two.
template <int kCount>
__device__ __forceinline__ float sum_over_lanes(float* values, int lane) {
    constexpr unsigned kAll = 0xffffffffu;
    int left = kCount;
    CORNERTURN_UNROLL
    for (int apart = 16; apart > 0; apart /= 2) {
        const bool upper = (lane & apart) != 0;
        if (left > 1) {
            left /= 2;
            CORNERTURN_UNROLL
            for (int i = 0; i < kCount / 2; ++i) {
                if (i >= left) break;
                const float sent = upper ? values[i] : values[i + left], kept = upper ? values[i + left] : values[i];
                values[i] = kept + __shfl_xor_sync(kAll, sent, apart);
            }
        } else {
            values[0] += __shfl_xor_sync(kAll, values[0], apart);
        }
    }
    return values[0];
}

// A lies along k. A warp has kDown rows, and its lanes lie along k; where there are slices, all warps have the same
// rows.
template <class Shape, gemm_path kB>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kResident) gemm_dots(gemm_launch w) {
    constexpr int kDown = Shape::kDown, kCols = Shape::kCols, kCount = kDown * kCols, kDepth = Shape::kDepth;
    constexpr int kAtOnce = 16 / kDown;  // steps
    __shared__ float of_warps[Shape::kWarps][kCount];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    const int slice = warp % Shape::kSlices, warp_row = warp / Shape::kSlices * kDown;
    const gemm_share share =
        gemm_share::of(static_cast<int>(blockIdx.x), static_cast<int>((w.k + kDepth - 1) / kDepth), w);
    const std::int64_t row0 = std::int64_t{share.at.row} * Shape::kRows + warp_row;
    const std::int64_t col0 = std::int64_t{share.at.col} * kCols;
    std::int64_t k = share.first * kDepth + slice * 32 + lane;
    const std::int64_t end = at_most((share.first + share.count) * kDepth, w.k);
    wait_for_work_ahead();
    if (share.part >= 0) let_work_behind_begin();

    const float* const a = w.a.data + share.at.product * w.a.stride;
    const float* const b = w.b.data + share.at.product * w.b.stride;
    std::int64_t rows[kDown], cols[kCols];
    CORNERTURN_UNROLL
    for (int i = 0; i < kDown; ++i) rows[i] = at_most(row0 + i, w.m - 1) * w.a.ld;
    CORNERTURN_UNROLL
    for (int j = 0; j < kCols; ++j) cols[j] = at_most(col0 + j, w.n - 1) * (kB == gemm_path::along_k ? w.b.ld : 1);
    const auto load = [&](std::int64_t at, float* of_a, float* of_b) {
        CORNERTURN_UNROLL
        for (int i = 0; i < kDown; ++i) of_a[i] = a[rows[i] + at];
        if constexpr (kB == gemm_path::vectors) {
            CORNERTURN_UNROLL
            for (int j = 0; j < kCols; j += 4) load_four(of_b + j, b + at * w.b.ld + at_most(col0 + j, w.b.extent - 4));
        } else {
            CORNERTURN_UNROLL
            for (int j = 0; j < kCols; ++j) of_b[j] = b[cols[j] + (kB == gemm_path::along_k ? at : at * w.b.ld)];
        }
    };
    static_assert(kCols <= 8);  // there are no registers for two sets of more sums
    narrow_sums<kDown, kCols> all;
    while (k < end) {
        narrow_sums<kDown, kCols> chunk;
        const std::int64_t stop = at_most(k + std::int64_t{Shape::kChunk} * kDepth, end);
        CORNERTURN_UNROLL_BY(1)
        for (; k + (kAtOnce - 1) * kDepth < stop; k += kAtOnce * kDepth) {
            float of_a[kAtOnce][kDown], of_b[kAtOnce][kCols];
            CORNERTURN_UNROLL
            for (int i = 0; i < kAtOnce; ++i) load(k + i * kDepth, of_a[i], of_b[i]);
            CORNERTURN_UNROLL
            for (int i = 0; i < kAtOnce; ++i) chunk.add(of_a[i], of_b[i]);
        }
        CORNERTURN_UNROLL_BY(1)
        for (; k < stop; k += kDepth) {
            float of_a[kDown], of_b[kCols];
            load(k, of_a, of_b);
            chunk.add(of_a, of_b);
        }
        all.add(chunk);
    }

    const gemm_target target = gemm_target::of(share, Shape::kRows, kCols, w);
    constexpr int kAtATime = kCount < 32 ? kCount : 32;
    CORNERTURN_UNROLL
    for (int first = 0; first < kCount; first += kAtATime) {
        const float mine = sum_over_lanes<kAtATime>(&all.at[0][0] + first, lane);
        if (lane % (32 / kAtATime) != 0) continue;
        const int value = first + lane * kAtATime / 32;
        if constexpr (Shape::kSlices == 1)
            target.store(warp_row + value / kCols, value % kCols, mine);
        else
            of_warps[warp][value] = mine;
    }
    if constexpr (Shape::kSlices > 1) {
        __syncthreads();
        if (thread >= kCount) return;
        float sum = 0;
        CORNERTURN_UNROLL
        for (int i = 0; i < Shape::kWarps; ++i) sum += of_warps[i][thread];
        target.store(thread / kCols, thread % kCols, sum);
    }
}

// Neighbouring rows of A are neighbours in memory. A lane has kDown rows, 32 apart; a block's warps share k's steps,
// kEach of k each.
template <class Shape, bool kBAlongK>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kResident) gemm_columns(gemm_launch w) {
    constexpr int kDown = Shape::kDown, kCols = Shape::kCols, kDepth = Shape::kDepth, kEach = 16 / kDown;
    static_assert(Shape::kWarps == Shape::kSlices && kDepth == kEach * Shape::kSlices && Shape::kRows == 32 * kDown);
    __shared__ float of_warps[Shape::kWarps][kCols][Shape::kRows];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    const gemm_share share =
        gemm_share::of(static_cast<int>(blockIdx.x), static_cast<int>((w.k + kDepth - 1) / kDepth), w);
    const std::int64_t row0 = std::int64_t{share.at.row} * Shape::kRows + lane;
    const std::int64_t col0 = std::int64_t{share.at.col} * kCols;
    std::int64_t k = share.first * kDepth + warp * kEach;
    const std::int64_t end = at_most((share.first + share.count) * kDepth, w.k);
    wait_for_work_ahead();
    if (share.part >= 0) let_work_behind_begin();

    const float* const a = w.a.data + share.at.product * w.a.stride;
    const float* const b = w.b.data + share.at.product * w.b.stride;
    std::int64_t rows[kDown], cols[kCols];
    CORNERTURN_UNROLL
    for (int i = 0; i < kDown; ++i) rows[i] = at_most(row0 + i * 32, w.m - 1);
    CORNERTURN_UNROLL
    for (int j = 0; j < kCols; ++j) cols[j] = at_most(col0 + j, w.n - 1) * (kBAlongK ? w.b.ld : 1);
    const auto load = [&](std::int64_t at, float* of_a, float* of_b) {
        CORNERTURN_UNROLL
        for (int i = 0; i < kDown; ++i) of_a[i] = a[at * w.a.ld + rows[i]];
        CORNERTURN_UNROLL
        for (int j = 0; j < kCols; ++j) of_b[j] = b[cols[j] + (kBAlongK ? at : at * w.b.ld)];
    };
    narrow_sums<kDown, kCols> all;
    while (k < end) {
        narrow_sums<kDown, kCols> chunk;
        const std::int64_t stop = at_most(k + std::int64_t{Shape::kChunk / kEach} * kDepth, end);
        CORNERTURN_UNROLL_BY(1)
        for (; k + kEach <= stop; k += kDepth) {
            float of_a[kEach][kDown], of_b[kEach][kCols];
            CORNERTURN_UNROLL
            for (int i = 0; i < kEach; ++i) load(k + i, of_a[i], of_b[i]);
            CORNERTURN_UNROLL
            for (int i = 0; i < kEach; ++i) chunk.add(of_a[i], of_b[i]);
        }
        if (k < stop) {  // the last of all, in part
            for (std::int64_t i = k; i < stop; ++i) {
                float of_a[kDown], of_b[kCols];
                load(i, of_a, of_b);
                chunk.add(of_a, of_b);
            }
            k = end;
        }
        all.add(chunk);
    }

    CORNERTURN_UNROLL
    for (int j = 0; j < kCols; ++j) {
        CORNERTURN_UNROLL
        for (int i = 0; i < kDown; ++i) of_warps[warp][j][i * 32 + lane] = all.at[i][j];
    }
    __syncthreads();
    const gemm_target target = gemm_target::of(share, Shape::kRows, kCols, w);
    for (int value = thread; value < Shape::kRows * kCols; value += Shape::kThreads) {
        float sum = 0;
        CORNERTURN_UNROLL
        for (int i = 0; i < Shape::kWarps; ++i) sum += of_warps[i][value / Shape::kRows][value % Shape::kRows];
        target.store(value % Shape::kRows, value / Shape::kRows, sum);
    }
}

}  // namespace

template <int kRow>
gemm_tiles_kernel narrow_kernel_of(const production::gemm_paths& paths) {
    using shape = narrow_shape<kRow>;
    const bool along_k = lies_along_k(paths.b);
    if constexpr (shape::kOf.way == production::gemm_way::columns) {
        if (lies_along_k(paths.a)) return {};
        return {.run = along_k ? &gemm_columns<shape, true> : &gemm_columns<shape, false>};
    } else {
        if (!lies_along_k(paths.a)) return {};
        if (along_k) return {.run = &gemm_dots<shape, gemm_path::along_k>};
        if (paths.b == gemm_path::words) return {.run = &gemm_dots<shape, gemm_path::words>};
        if constexpr (shape::kCols % 4 == 0) return {.run = &gemm_dots<shape, gemm_path::vectors>};
        return {};
    }
}
template gemm_tiles_kernel narrow_kernel_of<8>(const production::gemm_paths&);
template gemm_tiles_kernel narrow_kernel_of<9>(const production::gemm_paths&);
template gemm_tiles_kernel narrow_kernel_of<10>(const production::gemm_paths&);
template gemm_tiles_kernel narrow_kernel_of<11>(const production::gemm_paths&);
template gemm_tiles_kernel narrow_kernel_of<12>(const production::gemm_paths&);
template gemm_tiles_kernel narrow_kernel_of<13>(const production::gemm_paths&);
template gemm_tiles_kernel narrow_kernel_of<14>(const production::gemm_paths&);
template gemm_tiles_kernel narrow_kernel_of<15>(const production::gemm_paths&);

}  // namespace CORNERTURN_KERNELS
