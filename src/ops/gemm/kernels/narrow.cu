// Products whose C has a few columns. They take as long as it takes to read A from memory. A is read once: straight
// into registers, or through shared memory if it is stored along k. A C of a few rows is handled as the transpose of
// such a product.
#include <cstdint>

#include "ops/gemm/fours.hpp"
#include "ops/gemm/kernels/product.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using products::operand_layout;

// A row of the table. Sums are added up chunk by chunk, because a sum's rounding error grows with its length. A chunk
// is kChunk steps of `dots`, or kChunk products of a lane of `columns`.
template <int kRow>
struct narrow_shape {
    static constexpr products::gemm_kernel kOf = products::kGemmKernels[kRow];
    static constexpr int kRows = kOf.rows, kCols = kOf.cols, kSlices = kOf.slices, kDepth = kOf.depth();
    static constexpr int kDown = kOf.down, kThreads = kOf.threads(), kResident = kOf.resident;
    static constexpr int kChunk = kOf.chunk;
    static_assert(kOf.across == kCols);
};

// Sums of a few rows and columns.
template <int kDown, int kCols>
struct narrow_sums {
    float at[kDown][kCols] = {};

    __device__ __forceinline__ void add(const float (&of_a)[kDown], const float (&of_b)[kCols]) {
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

// Adds up kCount values over a warp's lanes. Lane l gets the sum of value l * kCount / 32. Each step halves the values
// that a lane still has, as long as there are two.
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

// A warp copies kLines neighbouring rows of a matrix into shared memory, kSpan elements of each at a time, 16 bytes a
// lane. Rows may begin anywhere. Every aligned 16 bytes that contain some of the elements are copied whole. So in
// shared memory, a row's elements begin up to three floats into its kPitch floats.
template <int kLines, int kSpan>
class lines_along_k {
public:
    static constexpr int kPitch = kSpan + 4, kFloats = kLines * kPitch;
    static_assert(kSpan % 128 == 0 && kLines <= 32);

    // `further` rows follow the first one. Rows beyond these are replaced by the last one.
    __device__ __forceinline__ lines_along_k(const float* first, std::int64_t ld, int further, int lane) : lane_(lane) {
        const auto row = [&](int i) { return first + (i < further ? i : further) * ld; };
        CORNERTURN_UNROLL
        for (int i = 0; i < kLines; ++i) {
            behind_[i] = behind(row(i));
            from_[i] = row(i) - behind_[i] + lane * 4;
        }
        behind_of_lane_ = behind(row(lane % kLines));
        ends_ = row(lane % kLines) - behind_of_lane_ + kSpan;
    }

    // Copies the elements from k on, a multiple of 4. Those from `end` on become zeros.
    __device__ __forceinline__ void copy(float* to, std::int64_t k, std::int64_t end) const {
        const bool of_lane = lane_ < kLines && behind_of_lane_ > 0;  // whether this lane copies the end of a line
        if (k > 0 && k + kPitch <= end) {
            CORNERTURN_UNROLL
            for (int i = 0; i < kLines; ++i) {
                CORNERTURN_UNROLL
                for (int x = 0; x < kSpan; x += 128)
                    copy_vector_async_if(true, to + i * kPitch + x + lane_ * 4, from_[i] + k + x, true);
            }
            copy_vector_async_if(of_lane, to + lane_ * kPitch + kSpan, ends_ + k, true);
            return;
        }
        CORNERTURN_UNROLL
        for (int i = 0; i < kLines; ++i) {
            CORNERTURN_UNROLL
            for (int x = 0; x < kSpan; x += 128)
                copy_some(to + i * kPitch + x + lane_ * 4, from_[i] + k + x, k + x + lane_ * 4 - behind_[i], end);
        }
        if (of_lane) copy_some(to + lane_ * kPitch + kSpan, ends_ + k, k + kSpan - behind_of_lane_, end);
    }
    // Element x of a line, from k on, in what was copied.
    __device__ __forceinline__ float element(const float* copied, int line, int x) const {
        return copied[line * kPitch + behind_[line] + x];
    }

private:
    __device__ __forceinline__ static int behind(const float* row) {
        return static_cast<int>(reinterpret_cast<std::uintptr_t>(row) / sizeof(float) % 4);
    }
    // Copies those of four elements that are in the row, which has `end` elements. The first of the four is number
    // `at`.
    __device__ __forceinline__ static void copy_some(float* to, const float* from, std::int64_t at, std::int64_t end) {
        if (at >= 0 && at + 4 <= end) return copy_vector_async_if(true, to, from, true);
        CORNERTURN_UNROLL_BY(1)
        for (int i = 0; i < 4; ++i) copy_async_or_zero<1>(as_shared(to + i), from + i, at + i >= 0 && at + i < end);
    }

    int lane_, behind_[kLines], behind_of_lane_;
    const float *from_[kLines], *ends_;
};

// For an A that is stored along k. A warp has kDown rows, and its lanes lie along k. With slices, all warps have the
// same rows. Each warp copies its own steps into shared memory while it uses earlier ones, so no warp waits for
// another.
template <class Shape, operand_layout kB>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kResident) gemm_dots(gemm_launch w) {
    constexpr int kDown = Shape::kDown, kCols = Shape::kCols, kCount = kDown * kCols, kDepth = Shape::kDepth;
    constexpr int kSpan = Shape::kOf.deep, kTurns = kSpan / 32, kStages = Shape::kOf.stages;
    using lines = lines_along_k<kDown, kSpan>;
    static_assert(kStages >= 2 && Shape::kRows == Shape::kOf.warps_down * kDown);
    CORNERTURN_DYNAMIC_SHARED(float, shared);
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    const int slice = warp % Shape::kSlices, warp_row = warp / Shape::kSlices * kDown;
    const gemm_share share =
        gemm_share::of(static_cast<int>(blockIdx.x), static_cast<int>((w.k + kDepth - 1) / kDepth), w);
    const std::int64_t row0 = at_most(std::int64_t{share.at.row} * Shape::kRows + warp_row, w.m - 1);
    const std::int64_t col0 = std::int64_t{share.at.col} * kCols;
    const std::int64_t begin = share.first * kDepth + slice * kSpan;
    const std::int64_t end = at_most((share.first + share.count) * kDepth, w.k);
    wait_for_work_ahead();
    if (share.part >= 0) let_work_behind_begin();

    const lines a(w.a.data + share.at.product * w.a.stride + row0 * w.a.ld, w.a.ld,
                  static_cast<int>(at_most(w.m - 1 - row0, kDown - 1)), lane);
    const float* const b = w.b.data + share.at.product * w.b.stride;
    std::int64_t cols[kCols];
    CORNERTURN_UNROLL
    for (int j = 0; j < kCols; ++j) cols[j] = at_most(col0 + j, w.n - 1) * (kB == operand_layout::along_k ? w.b.ld : 1);
    const auto load_b = [&](std::int64_t k, float(&of_b)[kCols]) {
        const bool there = k < end;
        if constexpr (kB == operand_layout::vectors) {
            CORNERTURN_UNROLL
            for (int j = 0; j < kCols; ++j) of_b[j] = 0;
            CORNERTURN_UNROLL
            for (int j = 0; j < kCols; j += 4)
                if (there) load_four(of_b + j, b + k * w.b.ld + at_most(col0 + j, w.b.extent - 4));
        } else {
            const float* const from = b + (kB == operand_layout::along_k ? k : k * w.b.ld);
            CORNERTURN_UNROLL
            for (int j = 0; j < kCols; ++j) of_b[j] = there ? from[cols[j]] : 0.0f;
        }
    };
    float* const mine = shared + warp * kStages * lines::kFloats;
    CORNERTURN_UNROLL_BY(1)
    for (int stage = 0; stage < kStages - 1; ++stage) {
        const std::int64_t k = begin + stage * kDepth;
        if (k < end) a.copy(mine + stage * lines::kFloats, k, end);
        end_of_copies();
    }
    narrow_sums<kDown, kCols> all, chunk;
    int used = 0, free = kStages - 1, steps = 0;
    CORNERTURN_UNROLL_BY(1)
    for (std::int64_t k = begin; k < end; k += kDepth) {
        float of_b[kTurns][kCols];
        CORNERTURN_UNROLL
        for (int i = 0; i < kTurns; ++i) load_b(k + i * 32 + lane, of_b[i]);
        wait_for_copies<kStages - 2>();
        __syncwarp();
        const std::int64_t later = k + (kStages - 1) * kDepth;
        if (later < end) a.copy(mine + free * lines::kFloats, later, end);
        end_of_copies();
        CORNERTURN_UNROLL
        for (int i = 0; i < kTurns; ++i) {
            float of_a[kDown];
            CORNERTURN_UNROLL
            for (int line = 0; line < kDown; ++line)
                of_a[line] = a.element(mine + used * lines::kFloats, line, i * 32 + lane);
            chunk.add(of_a, of_b[i]);
        }
        free = used;
        used = used + 1 == kStages ? 0 : used + 1;
        if (++steps % Shape::kChunk == 0) {
            all.add(chunk);
            chunk = {};
        }
    }
    all.add(chunk);
    wait_for_copies<0>();
    __syncwarp();

    const gemm_target target = gemm_target::of(share, Shape::kRows, kCols, w);
    constexpr int kAtATime = kCount < 32 ? kCount : 32;
    CORNERTURN_UNROLL
    for (int first = 0; first < kCount; first += kAtATime) {
        const float sum = sum_over_lanes<kAtATime>(&all.at[0][0] + first, lane);
        if (lane % (32 / kAtATime) != 0) continue;
        const int value = first + lane * kAtATime / 32;
        if constexpr (Shape::kSlices == 1)
            target.store(warp_row + value / kCols, value % kCols, sum);
        else
            mine[value] = sum;
    }
    if constexpr (Shape::kSlices > 1) {
        static_assert(Shape::kThreads == 32 * Shape::kSlices);
        __syncthreads();
        if (thread >= kCount) return;
        float sum = 0;
        CORNERTURN_UNROLL
        for (int i = 0; i < Shape::kSlices; ++i) sum += shared[i * kStages * lines::kFloats + thread];
        target.store(thread / kCols, thread % kCols, sum);
    }
}

// For an A whose neighbouring rows are neighbours in memory. A lane has kDown rows, 32 apart. The warps of a block
// take turns along k: in each step of kDepth, each warp takes kEach.
template <class Shape, bool kBAlongK>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kResident) gemm_columns(gemm_launch w) {
    constexpr int kDown = Shape::kDown, kCols = Shape::kCols, kDepth = Shape::kDepth, kEach = 16 / kDown;
    static_assert(Shape::kThreads == 32 * Shape::kSlices && kDepth == kEach * Shape::kSlices &&
                  Shape::kRows == 32 * kDown);
    __shared__ float of_warps[Shape::kSlices][kCols][Shape::kRows];
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
    const auto load = [&](std::int64_t at, float(&of_a)[kDown], float(&of_b)[kCols]) {
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
        if (k < stop) {  // the last step, in part
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
        for (int i = 0; i < Shape::kSlices; ++i) sum += of_warps[i][value / Shape::kRows][value % Shape::kRows];
        target.store(value % Shape::kRows, value / Shape::kRows, sum);
    }
}

}  // namespace

template <int kRow>
gemm_tiles_kernel narrow_kernel_of(const products::operand_layouts& layouts) {
    using shape = narrow_shape<kRow>;
    const bool along_k = lies_along_k(layouts.b);
    constexpr int kShared = shape::kOf.shared_bytes(false);
    gemm_tiles_kernel found{.shared_bytes = kShared, .with_chunks_bytes = kShared};
    if constexpr (shape::kOf.family == products::gemm_family::columns) {
        if (!lies_along_k(layouts.a)) found.run = along_k ? &gemm_columns<shape, true> : &gemm_columns<shape, false>;
    } else if (lies_along_k(layouts.a)) {
        found.run = along_k ? &gemm_dots<shape, operand_layout::along_k> : &gemm_dots<shape, operand_layout::words>;
        if constexpr (shape::kCols % 4 == 0)
            if (layouts.b == operand_layout::vectors) found.run = &gemm_dots<shape, operand_layout::vectors>;
    }
    return found;
}
template gemm_tiles_kernel narrow_kernel_of<8>(const products::operand_layouts&);
template gemm_tiles_kernel narrow_kernel_of<9>(const products::operand_layouts&);
template gemm_tiles_kernel narrow_kernel_of<10>(const products::operand_layouts&);
template gemm_tiles_kernel narrow_kernel_of<11>(const products::operand_layouts&);
template gemm_tiles_kernel narrow_kernel_of<12>(const products::operand_layouts&);
template gemm_tiles_kernel narrow_kernel_of<13>(const products::operand_layouts&);
template gemm_tiles_kernel narrow_kernel_of<14>(const products::operand_layouts&);
template gemm_tiles_kernel narrow_kernel_of<15>(const products::operand_layouts&);

}  // namespace CORNERTURN_KERNELS
