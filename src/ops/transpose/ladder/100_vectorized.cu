#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kVectorized{
    .id = "transpose/vectorized",
    .idea = "Each thread loads and stores four elements as one 16-byte vector. The padded tile stays scalar.",
    .change = "From padded: a quarter of the global requests, and as many shared-memory instructions.",
    .contract =
        "4-byte elements, any rows x cols. A side is moved in vectors where its pointer is 16-byte aligned and its "
        "leading dimension is a multiple of 4. Otherwise, and at the edge, it is moved in scalars.",
    .bytes = "2 * rows * cols * 4",
    .limit = "DRAM bandwidth, and four scalar shared-memory instructions for each vector.",
    .source = "Note 001 K2.",
};

constexpr int kVectorTile = 32, kVectorWidth = 4;

// 8 x 32 threads, a 32 x 32 tile. kVectorRead: the source's rows are 16-byte aligned; kVectorWrite: the destination's.
template <bool kVectorRead, bool kVectorWrite>
__global__ void transpose_vectorized(matrix_view<const element4> source, matrix_view<element4> destination) {
    __shared__ element4 tile[kVectorTile][kVectorTile + 1];
    const int line = threadIdx.y, first = kVectorWidth * threadIdx.x;
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const std::int64_t row0 = at.row * kVectorTile, col0 = at.col * kVectorTile;

    if (const std::int64_t row = row0 + line, col = col0 + first; row < source.rows) {
        const element4* const from = source.data + row * source.ld + col;
        if (kVectorRead && col + kVectorWidth <= source.cols) {
            const uint4 four = *reinterpret_cast<const uint4*>(from);
            tile[line][first + 0] = four.x;
            tile[line][first + 1] = four.y;
            tile[line][first + 2] = four.z;
            tile[line][first + 3] = four.w;
        } else {
            CORNERTURN_UNROLL
            for (int i = 0; i < kVectorWidth; ++i) {
                if (col + i < source.cols) tile[line][first + i] = from[i];
            }
        }
    }
    __syncthreads();  // from here on, a thread reads what others have loaded
    if (const std::int64_t row = col0 + line, col = row0 + first; row < destination.rows) {
        element4* const to = destination.data + row * destination.ld + col;
        if (kVectorWrite && col + kVectorWidth <= destination.cols) {
            // As an assignment, nvcc 13 would split this store and share its parts with the scalar path below.
            __stwb(reinterpret_cast<uint4*>(to), make_uint4(tile[first + 0][line], tile[first + 1][line],
                                                            tile[first + 2][line], tile[first + 3][line]));
        } else {
            CORNERTURN_UNROLL
            for (int i = 0; i < kVectorWidth; ++i) {
                if (col + i < destination.cols) to[i] = tile[first + i][line];
            }
        }
    }
}

struct vectorized {
    static bool rows_begin_on_vectors(const void* data, std::int64_t ld) {
        return reinterpret_cast<std::uintptr_t>(data) % sizeof(uint4) == 0 && ld % kVectorWidth == 0;
    }

    template <class T>
    static void run(const matrix_work& work) {
        const bool read = rows_begin_on_vectors(work.source, work.source_ld);
        const bool write = rows_begin_on_vectors(work.destination, work.destination_ld);
        const matrix_kernel<T> kernel =
            read ? (write ? transpose_vectorized<true, true> : transpose_vectorized<true, false>)
                 : (write ? transpose_vectorized<false, true> : transpose_vectorized<false, false>);
        launch_transpose(kernel, work, {kVectorTile, kVectorTile}, dim3(kVectorTile / kVectorWidth, kVectorTile));
    }
};

CORNERTURN_RUNG(kVectorized, transpose_operation(), only<vectorized, element4>("8x32", "001 K2"))

}  // namespace CORNERTURN_KERNELS
