#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kPacked{
    .id = "transpose/packed",
    .idea = "Move bytes in vectors of 16. Byte permutes transpose blocks of 4 x 4 bytes in registers.",
    .change = "From kept: one-byte elements. A thread reads a word from each of 16 rows and writes 4 vectors.",
    .contract =
        "1-byte elements, any rows x cols. Vectors where both pointers and both leading dimensions are multiples of "
        "16. Single bytes elsewhere and at the edge.",
    .bytes = "2 * rows * cols",
    .limit = "DRAM bandwidth. A tile's rows have 128 bytes; 256 would suit DRAM better.",
    .source = "Beyond the notes: docs/experiments/transpose.md.",
};

constexpr int kPackedTile = 128, kPackedThreads = 256, kPack = 16, kPacksPerRow = kPackedTile / kPack;

// The position of byte `col` in the tile's row `row`. The swizzle of the 16-byte vectors changes every 16 rows.
__device__ __forceinline__ int packed_slot(int row, int col) {
    return row * kPackedTile + ((col / kPack ^ (row / kPack & 7)) * kPack) + col % kPack;
}

// Transposes four words of four bytes: row i becomes column i.
__device__ __forceinline__ void transpose_bytes(unsigned (&rows)[4]) {
    const unsigned ab = __byte_perm(rows[0], rows[1], 0x5140), cd = __byte_perm(rows[2], rows[3], 0x5140);
    const unsigned ab_high = __byte_perm(rows[0], rows[1], 0x7362), cd_high = __byte_perm(rows[2], rows[3], 0x7362);
    rows[0] = __byte_perm(ab, cd, 0x5410);
    rows[1] = __byte_perm(ab, cd, 0x7632);
    rows[2] = __byte_perm(ab_high, cd_high, 0x5410);
    rows[3] = __byte_perm(ab_high, cd_high, 0x7632);
}

template <bool kVectors>
__global__ void __launch_bounds__(kPackedThreads)
    transpose_packed(matrix_view<const element1> source, matrix_view<element1> destination) {
    __shared__ uint4 vectors[kPackedTile * kPacksPerRow];
    element1* const bytes = reinterpret_cast<element1*>(vectors);
    const tile_index at = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row0 = at.row * kPackedTile, col0 = at.col * kPackedTile;
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;

    constexpr int kEach = kPackedTile * kPacksPerRow / kPackedThreads;  // vectors that each thread loads
    const auto line_of = [=](int i) { return (thread + i * kPackedThreads) / kPacksPerRow; };
    const int first = thread % kPacksPerRow * kPack;
    const element1* const from = source.data + row0 * source.ld + col0 + first;
    if (kVectors && row0 + kPackedTile <= source.rows && col0 + kPackedTile <= source.cols) {
        // Issue all loads before waiting for the first.
        uint4 loaded[kEach];
        CORNERTURN_UNROLL
        for (int i = 0; i < kEach; ++i)
            loaded[i] = load_kept(reinterpret_cast<const uint4*>(from + line_of(i) * source.ld));
        CORNERTURN_UNROLL
        for (int i = 0; i < kEach; ++i) vectors[packed_slot(line_of(i), first) / kPack] = loaded[i];
    } else {
        CORNERTURN_UNROLL_APART(kEach)
        for (int i = 0; i < kEach; ++i) {
            if (row0 + line_of(i) >= source.rows) continue;
            CORNERTURN_UNROLL_APART(kPack)
            for (int k = 0; k < kPack; ++k) {
                if (col0 + first + k < source.cols)
                    bytes[packed_slot(line_of(i), first) + k] = from[line_of(i) * source.ld + k];
            }
        }
    }
    __syncthreads();  // from here on, a thread reads what others have loaded
    // A warp takes 128 rows and 16 columns: each lane takes 16 rows of 4 columns (one word).
    CORNERTURN_UNROLL
    for (int i = warp; i < kPackedTile / 4 / 4; i += kPackedThreads / 32) {
        const int line = lane % 8 * kPack, column = (i * 4 + lane / 8) * 4;
        const std::int64_t col = row0 + line;  // in the destination
        if (kVectors && col0 + column + 4 <= destination.rows && col + kPack <= destination.cols) {
            unsigned words[4][4];
            CORNERTURN_UNROLL
            for (int k = 0; k < kPack; ++k)
                words[k / 4][k % 4] = *reinterpret_cast<const unsigned*>(bytes + packed_slot(line + k, column));
            CORNERTURN_UNROLL
            for (int k = 0; k < 4; ++k) transpose_bytes(words[k]);
            CORNERTURN_UNROLL
            for (int c = 0; c < 4; ++c) {
                element1* const to = destination.data + (col0 + column + c) * destination.ld + col;
                __stwb(reinterpret_cast<uint4*>(to), make_uint4(words[0][c], words[1][c], words[2][c], words[3][c]));
            }
        } else {
            CORNERTURN_UNROLL_APART(4)
            for (int c = 0; c < 4; ++c) {
                if (col0 + column + c >= destination.rows) continue;
                CORNERTURN_UNROLL_APART(kPack)
                for (int k = 0; k < kPack; ++k) {
                    if (col + k >= destination.cols) continue;
                    destination.data[(col0 + column + c) * destination.ld + col + k] =
                        bytes[packed_slot(line + k, column + c)];
                }
            }
        }
    }
}

struct packed {
    template <class T>
    static void run(const matrix_work& work) {
        const auto all = reinterpret_cast<std::uintptr_t>(work.source) |
                         reinterpret_cast<std::uintptr_t>(work.destination) |
                         static_cast<std::uintptr_t>(work.source_ld | work.destination_ld);
        const matrix_kernel<T> kernel = all % kPack == 0 ? transpose_packed<true> : transpose_packed<false>;
        launch_transpose<column_major>(kernel, work, {kPackedTile, kPackedTile}, dim3(kPackedThreads));
    }
};

CORNERTURN_RUNG(kPacked, transpose_operation(), only<packed, element1>("128x128", "-"))

}  // namespace CORNERTURN_KERNELS
