#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kSwizzled{
    .id = "transpose/swizzled",
    .idea = "Vectors on every side. A 64 x 64 tile is swizzled: exclusive-or permutes its vectors, without padding.",
    .change =
        "From vectorized: shared memory is written in vectors too. The tile's rows have 256 bytes. Blocks go down the "
        "columns: those that run together write neighbouring parts of the same rows.",
    .contract =
        "4-byte elements, any rows x cols. Vectors where both pointers are 16-byte aligned and both leading dimensions "
        "are multiples of 4. Scalars elsewhere and at the edge.",
    .bytes = "2 * rows * cols * 4",
    .limit = "The order in which DRAM receives its reads and writes.",
    .source = "Beyond the notes: docs/experiments/transpose.md.",
};

constexpr int kSwizzledTile = 64, kSwizzledThreads = 512, kFour = 4, kFoursPerRow = kSwizzledTile / kFour;

// The position of vector v of row `row`. Lanes read rows 4, 8, ... apart: the swizzle puts these in different banks.
__device__ __forceinline__ int swizzled_slot(int row, int v) { return row * kFoursPerRow + (v ^ (row / kFour & 7)); }

template <bool kVectors>
__global__ void __launch_bounds__(kSwizzledThreads)
    transpose_swizzled(matrix_view<const element4> source, matrix_view<element4> destination) {
    __shared__ uint4 tile[kSwizzledTile * kFoursPerRow];
    element4* const elements = reinterpret_cast<element4*>(tile);
    const tile_index at = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row0 = at.row * kSwizzledTile, col0 = at.col * kSwizzledTile;
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;

    constexpr int kEach = kSwizzledTile * kFoursPerRow / kSwizzledThreads;  // vectors that each thread loads
    const auto line_of = [=](int i) { return (thread + i * kSwizzledThreads) / kFoursPerRow; };
    const int v = thread % kFoursPerRow;
    const element4* const first = source.data + row0 * source.ld + col0 + kFour * v;
    if (kVectors && row0 + kSwizzledTile <= source.rows && col0 + kSwizzledTile <= source.cols) {
        // Issue all loads before waiting for the first.
        uint4 vectors[kEach];
        CORNERTURN_UNROLL
        for (int i = 0; i < kEach; ++i) vectors[i] = *reinterpret_cast<const uint4*>(first + line_of(i) * source.ld);
        CORNERTURN_UNROLL
        for (int i = 0; i < kEach; ++i) tile[swizzled_slot(line_of(i), v)] = vectors[i];
    } else {
        CORNERTURN_UNROLL
        for (int i = 0; i < kEach; ++i) {
            const std::int64_t row = row0 + line_of(i), col = col0 + kFour * v;
            if (row >= source.rows) continue;
            const element4* const from = first + line_of(i) * source.ld;
            element4* const four = elements + kFour * swizzled_slot(line_of(i), v);
            // No loop: in a loop, lanes that skip elements would no longer run together with the others.
            if (col + 0 < source.cols) four[0] = from[0];
            if (col + 1 < source.cols) four[1] = from[1];
            if (col + 2 < source.cols) four[2] = from[2];
            if (col + 3 < source.cols) four[3] = from[3];
        }
    }
    __syncthreads();  // from here on, a thread reads what others have loaded
    // A warp takes 8 groups of 4 rows, and 4 columns. It writes 128 bytes of each of 4 rows of the destination.
    CORNERTURN_UNROLL
    for (int i = warp; i < kFoursPerRow / 8 * (kSwizzledTile / 4); i += kSwizzledThreads / 32) {
        const int line = kFour * (i % (kFoursPerRow / 8) * 8 + lane % 8);
        const int column = i / (kFoursPerRow / 8) * 4 + lane / 8;
        const std::int64_t row = col0 + column, col = row0 + line;  // in the destination
        if (row >= destination.rows) continue;
        const auto element = [&](int k) {
            return elements[kFour * swizzled_slot(line + k, column / kFour) + column % kFour];
        };
        element4* const to = destination.data + row * destination.ld + col;
        if (kVectors && col + kFour <= destination.cols) {
            __stwb(reinterpret_cast<uint4*>(to), make_uint4(element(0), element(1), element(2), element(3)));
        } else {
            if (col + 0 < destination.cols) to[0] = element(0);
            if (col + 1 < destination.cols) to[1] = element(1);
            if (col + 2 < destination.cols) to[2] = element(2);
            if (col + 3 < destination.cols) to[3] = element(3);
        }
    }
}

struct swizzled {
    template <class T>
    static void run(const matrix_work& work) {
        const auto all = reinterpret_cast<std::uintptr_t>(work.source) |
                         reinterpret_cast<std::uintptr_t>(work.destination) |
                         static_cast<std::uintptr_t>((work.source_ld | work.destination_ld) * 4);
        const matrix_kernel<T> kernel = all % sizeof(uint4) == 0 ? transpose_swizzled<true> : transpose_swizzled<false>;
        launch_transpose<column_major>(kernel, work, {kSwizzledTile, kSwizzledTile}, dim3(kSwizzledThreads));
    }
};

CORNERTURN_RUNG(kSwizzled, transpose_operation(), only<swizzled, element4>("64x64", "-"))

}  // namespace CORNERTURN_KERNELS
