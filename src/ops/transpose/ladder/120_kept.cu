#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kKept{
    .id = "transpose/kept",
    .idea = "Loads ask the L2 to evict their lines last, although nothing reads them again.",
    .change =
        "From swizzled: one hint on the loads. Loaded lines stay in the L2, so written lines leave it early, in the "
        "order in which they were written. DRAM then stays longer within a page.",
    .contract =
        "4-byte elements, any rows x cols. Vectors where both pointers are 16-byte aligned and both leading dimensions "
        "are multiples of 4. Scalars elsewhere and at the edge.",
    .bytes = "2 * rows * cols * 4",
    .limit = "DRAM bandwidth. It is as fast as a copy.",
    .source = "Beyond the notes: docs/experiments/transpose.md.",
};

constexpr int kKeptTile = 64, kKeptThreads = 512, kKeptWidth = 4, kKeptPerRow = kKeptTile / kKeptWidth;

// The position of vector v of row `row`. Lanes read rows 4, 8, ... apart: the swizzle puts these in different banks.
__device__ __forceinline__ int kept_slot(int row, int v) { return row * kKeptPerRow + (v ^ (row / kKeptWidth & 7)); }

template <bool kVectors>
__global__ void __launch_bounds__(kKeptThreads)
    transpose_kept(matrix_view<const element4> source, matrix_view<element4> destination) {
    __shared__ uint4 tile[kKeptTile * kKeptPerRow];
    element4* const elements = reinterpret_cast<element4*>(tile);
    const tile_index at = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row0 = at.row * kKeptTile, col0 = at.col * kKeptTile;
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;

    constexpr int kEach = kKeptTile * kKeptPerRow / kKeptThreads;  // vectors that each thread loads
    const auto line_of = [=](int i) { return (thread + i * kKeptThreads) / kKeptPerRow; };
    const int v = thread % kKeptPerRow;
    const element4* const first = source.data + row0 * source.ld + col0 + kKeptWidth * v;
    if (kVectors && row0 + kKeptTile <= source.rows && col0 + kKeptTile <= source.cols) {
        // Issue all loads before waiting for the first.
        uint4 vectors[kEach];
        CORNERTURN_UNROLL
        for (int i = 0; i < kEach; ++i)
            vectors[i] = load_kept(reinterpret_cast<const uint4*>(first + line_of(i) * source.ld));
        CORNERTURN_UNROLL
        for (int i = 0; i < kEach; ++i) tile[kept_slot(line_of(i), v)] = vectors[i];
    } else {
        CORNERTURN_UNROLL
        for (int i = 0; i < kEach; ++i) {
            const std::int64_t row = row0 + line_of(i), col = col0 + kKeptWidth * v;
            if (row >= source.rows) continue;
            const element4* const from = first + line_of(i) * source.ld;
            element4* const four = elements + kKeptWidth * kept_slot(line_of(i), v);
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
    for (int i = warp; i < kKeptPerRow / 8 * (kKeptTile / 4); i += kKeptThreads / 32) {
        const int line = kKeptWidth * (i % (kKeptPerRow / 8) * 8 + lane % 8);
        const int column = i / (kKeptPerRow / 8) * 4 + lane / 8;
        const std::int64_t row = col0 + column, col = row0 + line;  // in the destination
        if (row >= destination.rows) continue;
        const auto element = [&](int k) {
            return elements[kKeptWidth * kept_slot(line + k, column / kKeptWidth) + column % kKeptWidth];
        };
        element4* const to = destination.data + row * destination.ld + col;
        if (kVectors && col + kKeptWidth <= destination.cols) {
            __stwb(reinterpret_cast<uint4*>(to), make_uint4(element(0), element(1), element(2), element(3)));
        } else {
            if (col + 0 < destination.cols) to[0] = element(0);
            if (col + 1 < destination.cols) to[1] = element(1);
            if (col + 2 < destination.cols) to[2] = element(2);
            if (col + 3 < destination.cols) to[3] = element(3);
        }
    }
}

struct kept {
    template <class T>
    static void run(const matrix_work& work) {
        const auto all = reinterpret_cast<std::uintptr_t>(work.source) |
                         reinterpret_cast<std::uintptr_t>(work.destination) |
                         static_cast<std::uintptr_t>((work.source_ld | work.destination_ld) * 4);
        const matrix_kernel<T> kernel = all % sizeof(uint4) == 0 ? transpose_kept<true> : transpose_kept<false>;
        launch_transpose<column_major>(kernel, work, {kKeptTile, kKeptTile}, dim3(kKeptThreads));
    }
};

CORNERTURN_RUNG(kKept, transpose_operation(), only<kept, element4>("64x64", "-"))

}  // namespace CORNERTURN_KERNELS
