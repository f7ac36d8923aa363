// Products of small k. C is written as fast as memory allows, row by row. A and B are read meanwhile.
#include "ops/gemm/fours.hpp"
#include "ops/gemm/kernels/product.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using products::operand_layout;

// A row of the table. Warp i has the rows i, i + kWarps and so on of a tile. The addresses of these rows have the same
// remainder modulo kWarps floats. The warp's columns begin that remainder further left. So a lane's kAcross neighbours
// are always aligned, wherever C begins, and the lane stores them at once.
template <int kRow>
struct outer_shape {
    static constexpr products::gemm_kernel kOf = products::kGemmKernels[kRow];
    static constexpr int kRows = kOf.rows, kCols = kOf.cols, kDepth = kOf.depth(), kAcross = kOf.across;
    static constexpr int kWarps = kOf.warps_down, kThreads = kOf.threads(), kResident = kOf.resident;
    static_assert(kAcross * 32 == kCols && kWarps % kAcross == 0 && kDepth % 4 == 0 && kOf.down * kWarps == kRows);
    // Layout of A and B in shared memory. B has kWarps columns more than the tile. A lane's neighbours are kApart
    // floats apart, next to those of the next lane, so there are no bank conflicts.
    static constexpr int kPitchOfA = kDepth + 4, kWide = kCols + kWarps;
    static constexpr int kApart = kWide / kAcross + 1, kPitchOfB = kAcross * kApart;
    __device__ __forceinline__ static int in_a(int row, int k) { return row * kPitchOfA + k; }
    __device__ __forceinline__ static int in_b(int col, int k) {
        return k * kPitchOfB + col % kAcross * kApart + col / kAcross;
    }
};

// The elements of an operand that a thread loads: its share of kExtent rows of C (for A) or columns of C (for B), with
// all of their k. Elements outside are zeros.
template <int kExtent, int kDepth, int kThreads, bool kAlongK>
class outer_operand {
public:
    __device__ __forceinline__ outer_operand(const gemm_operand& operand, int product, std::int64_t first,
                                             std::int64_t extent, std::int64_t depth) {
        const float* const from = operand.data + product * operand.stride + first * (kAlongK ? operand.ld : 1);
        for_each([&](int i, int at, int k) {
            const bool there = k < depth && first + at >= 0 && first + at < extent;
            elements_[i] = there ? from[kAlongK ? at * operand.ld + k : k * operand.ld + at] : 0;
        });
    }
    // Calls f(at, k, element) for each.
    template <class F>
    __device__ __forceinline__ void put(F f) const {
        for_each([&](int i, int at, int k) { f(at, k, elements_[i]); });
    }

private:
    static constexpr int kAll = kExtent * kDepth, kEach = (kAll + kThreads - 1) / kThreads;

    template <class F>
    __device__ __forceinline__ static void for_each(F f) {
        CORNERTURN_UNROLL
        for (int i = 0; i < kEach; ++i) {
            const int unit = i * kThreads + static_cast<int>(threadIdx.x);
            if (kAll % kThreads == 0 || unit < kAll)
                f(i, kAlongK ? unit / kDepth : unit % kExtent, kAlongK ? unit % kDepth : unit / kExtent);
        }
    }

    float elements_[kEach];
};

template <int kAcross>
__device__ __forceinline__ void store_neighbours(float* to, const float* sums, float alpha, float beta) {
    if constexpr (kAcross == 4) {
        store_four(to, sums, 4, alpha, beta, true);
    } else {
        float2 result = make_float2(alpha * sums[0], alpha * sums[1]);
        float2* const two = reinterpret_cast<float2*>(to);
        if (beta != 0) result.x += beta * two->x, result.y += beta * two->y;
        *two = result;
    }
}

// A lane keeps its columns of B in registers. Rows of A come from shared memory and are the same for all lanes.
template <class Shape, bool kAAlongK, bool kBAlongK>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kResident) gemm_outer(gemm_launch w) {
    constexpr int kRows = Shape::kRows, kDepth = Shape::kDepth, kWarps = Shape::kWarps, kAcross = Shape::kAcross;
    __shared__ float4 of_a[kRows * Shape::kPitchOfA / 4];
    __shared__ float of_b[kDepth * Shape::kPitchOfB];
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const gemm_tile_at at = gemm_tile_at::of(static_cast<int>(blockIdx.x), w);
    const std::int64_t row0 = std::int64_t{at.row} * kRows, col0 = std::int64_t{at.col} * Shape::kCols;
    float* const a = reinterpret_cast<float*>(of_a);
    wait_for_work_ahead();
    {
        const outer_operand<kRows, kDepth, Shape::kThreads, kAAlongK> rows(w.a, at.product, row0, w.m, w.k);
        const outer_operand<Shape::kWide, kDepth, Shape::kThreads, kBAlongK> cols(w.b, at.product, col0 - kWarps, w.n,
                                                                                  w.k);
        rows.put([&](int row, int k, float element) { a[Shape::in_a(row, k)] = element; });
        cols.put([&](int col, int k, float element) { of_b[Shape::in_b(col, k)] = element; });
    }
    __syncthreads();
    float* to = w.c + at.product * w.c_stride + (row0 + warp) * w.c_row + col0;
    const int behind = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) / sizeof(float) % kWarps);
    float b[kDepth][kAcross];
    CORNERTURN_UNROLL
    for (int j = 0; j < kAcross; ++j) {
        const int col = kWarps - behind + lane * kAcross + j;
        CORNERTURN_UNROLL
        for (int k = 0; k < kDepth; ++k) b[k][j] = of_b[Shape::in_b(col, k)];
    }
    const std::int64_t col = col0 - behind + lane * kAcross;
    to += lane * kAcross - behind;
    const int rows = w.m - row0 < kRows ? static_cast<int>(w.m - row0) : kRows;
    const bool inside = col >= 0 && col + kAcross <= w.n;
    const float* row_of_a = a + Shape::in_a(warp, 0);
    CORNERTURN_UNROLL_BY(2)
    for (int row = warp; row < rows; row += kWarps) {
        float sums[kAcross] = {};
        CORNERTURN_UNROLL
        for (int k = 0; k < kDepth; k += 4) {
            float four[4];
            load_four(four, row_of_a + k);
            CORNERTURN_UNROLL
            for (int i = 0; i < 4; ++i) {
                CORNERTURN_UNROLL
                for (int j = 0; j < kAcross; ++j) sums[j] += four[i] * b[k + i][j];
            }
        }
        if (inside) {
            store_neighbours<kAcross>(to, sums, w.alpha, w.beta);
        } else {
            CORNERTURN_UNROLL
            for (int j = 0; j < kAcross; ++j) {
                if (col + j < 0 || col + j >= w.n) continue;
                to[j] = w.beta == 0 ? w.alpha * sums[j] : w.alpha * sums[j] + w.beta * to[j];
            }
        }
        row_of_a += kWarps * Shape::kPitchOfA;
        to += kWarps * w.c_row;
    }
}

}  // namespace

template <int kRow>
gemm_tiles_kernel outer_kernel_of(const products::operand_layouts& layouts) {
    using shape = outer_shape<kRow>;
    const bool b = lies_along_k(layouts.b);
    if (lies_along_k(layouts.a)) return {.run = b ? &gemm_outer<shape, true, true> : &gemm_outer<shape, true, false>};
    return {.run = b ? &gemm_outer<shape, false, true> : &gemm_outer<shape, false, false>};
}
template gemm_tiles_kernel outer_kernel_of<16>(const products::operand_layouts&);
template gemm_tiles_kernel outer_kernel_of<17>(const products::operand_layouts&);
template gemm_tiles_kernel outer_kernel_of<18>(const products::operand_layouts&);

}  // namespace CORNERTURN_KERNELS
