// Tiles of any alignment, for elements of 4 bytes and more. Each access is one element, and neighbouring threads access
// neighbouring elements.
//
// Writes: whole sectors of memory (32 bytes), because a sector that two blocks write in part costs twice. The rows of
// the destination begin at different positions in a sector, so the columns of a tile end at different rows. A tile
// therefore holds more rows than it moves: as many more as fill one sector. The next tile begins with the rows that
// this one leaves.
//
// What limits it: the number of loads in flight. A thread issues all of its loads before it needs the first.
#include "move/kernels/bytes.hpp"
#include "move/kernels/kernels.hpp"
#include "move/kernels/places.hpp"

namespace CORNERTURN_KERNELS {
namespace {

template <int kElement, int kRows, int kCols, int kThreads>
struct ragged_tile {
    static_assert(kElement >= 4);
    using element = storage_t<kElement>;
    static constexpr int kPerSector = kSectorBytes / kElement, kBack = kPerSector;
    static constexpr int kMoved = kRows - kBack;  // rows from one tile to the next
    static constexpr int kPitch = kCols | 1;      // odd, so each bank has one element of a column
    static constexpr int kBytes = kRows * kPitch * kElement;
    static constexpr int kRowsAtOnce = kThreads / kCols, kLoads = kRows / kRowsAtOnce;
    static constexpr int kColsAtOnce = kThreads / kRows, kStores = kCols / kColsAtOnce;
    static_assert(kRowsAtOnce * kCols == kThreads && kLoads * kRowsAtOnce == kRows);
    static_assert(kColsAtOnce * kRows == kThreads && kStores * kColsAtOnce == kCols);

    // Reads the tile at (`row`, `col`) of a rows x cols matrix. kInside: all of it may be read.
    template <bool kInside>
    static __device__ __forceinline__ void load(const byte* matrix, std::int64_t pitch, std::int64_t row,
                                                std::int64_t col, std::int64_t rows, std::int64_t cols,
                                                read_policy read, element* tile) {
        const int c = static_cast<int>(threadIdx.x) % kCols, r = static_cast<int>(threadIdx.x) / kCols;
        if (!kInside && col + c >= cols) return;
        constexpr int kAtOnce = kLoads < 8 ? kLoads : 8;
        static_assert(kLoads % kAtOnce == 0);
        row += r;
        tile += r * kPitch + c;
        const byte* from = matrix + row * pitch + (col + c) * kElement;
        CORNERTURN_UNROLL_BY(1)
        for (int i = 0; i < kLoads; i += kAtOnce) {
            element elements[kAtOnce];
            CORNERTURN_UNROLL
            for (int k = 0; k < kAtOnce; ++k) {
                const std::int64_t at = row + k * kRowsAtOnce;
                if (kInside || (at >= 0 && at < rows))
                    elements[k] = read.load(reinterpret_cast<const element*>(from + k * (kRowsAtOnce * pitch)));
            }
            CORNERTURN_UNROLL
            for (int k = 0; k < kAtOnce; ++k) tile[k * (kRowsAtOnce * kPitch)] = elements[k];
            row += kAtOnce * kRowsAtOnce;
            from += kAtOnce * kRowsAtOnce * pitch;
            tile += kAtOnce * kRowsAtOnce * kPitch;
        }
    }

    // Writes the tile. `line` is the address of row kBack of its first column in the destination. kInside: all rows of
    // the tile exist. Otherwise row kBack of the tile is number `row` of `rows` in the destination.
    template <bool kInside>
    static __device__ __forceinline__ void store(byte* line, std::int64_t pitch, std::int64_t row, std::int64_t rows,
                                                 std::int64_t cols, const element* tile, result_policy result) {
        const int r = static_cast<int>(threadIdx.x) % kRows, c = static_cast<int>(threadIdx.x) / kRows;
        if (r < kBack) return;
        line += c * pitch;
        tile += r * kPitch + c;
        row += r - kBack;
        int left = cols < kCols ? static_cast<int>(cols) - c : kCols;
        CORNERTURN_UNROLL_BY(8)
        for (int i = 0; i < kStores; ++i) {
            if (left <= 0) return;
            // Goes back by `back` rows, so that the warp's stores begin at a sector.
            const int back = static_cast<int>(reinterpret_cast<std::uintptr_t>(line) % kSectorBytes / kElement);
            if (kInside || (row - back >= 0 && row - back < rows)) {
                element* const to = reinterpret_cast<element*>(line + (r - kBack - back) * kElement);
                if constexpr (kElement == 4) {
                    *to = tile[-back * kPitch];  // 2 % slower with a policy
                } else {
                    result.store(to, tile[-back * kPitch]);
                }
            }
            line = kept_pointer(line + kColsAtOnce * pitch);  // eight addresses would take too many registers
            tile += kColsAtOnce;
            left -= kColsAtOnce;
        }
    }
};

template <int kElement, int kRows, int kCols, int kThreads, int kResident>
__global__ void CORNERTURN_RESIDENT(kThreads, kResident)
    transpose_ragged(moves::matrices_work work, result_policy result) {
    using tiles = ragged_tile<kElement, kRows, kCols, kThreads>;
    CORNERTURN_DYNAMIC_SHARED(typename tiles::element, tile);
    const tile_index index = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = index.row * tiles::kMoved, col = index.col * kCols;
    const place_of_matrix matrix(work);
    const std::int64_t from_pitch = work.source_ld * kElement, to_pitch = work.destination_ld * kElement;
    const byte* const source = static_cast<const byte*>(work.source) + matrix.source * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + matrix.destination * kElement;

    const std::int64_t first_row = row - tiles::kBack;
    const read_policy read(work.keeps_lines);
    // Bytes after a row's end may be read if they are the next row, without a gap between.
    const bool inside =
        first_row >= 0 && first_row + kRows <= work.rows &&
        (work.source_ld > work.cols ? col + kCols <= work.cols
                                    : (first_row + kRows - 1) * work.cols + col + kCols <= work.rows * work.cols);
    if (inside) {
        tiles::template load<true>(source, from_pitch, first_row, col, work.rows, work.cols, read, tile);
    } else {
        tiles::template load<false>(source, from_pitch, first_row, col, work.rows, work.cols, read, tile);
    }
    __syncthreads();
    byte* const line = destination + col * to_pitch + row * kElement;
    if (first_row >= 0 && row + tiles::kMoved <= work.rows) {
        tiles::template store<true>(line, to_pitch, row, work.rows, work.cols - col, tile, result);
    } else {
        tiles::template store<false>(line, to_pitch, row, work.rows, work.cols - col, tile, result);
    }
}

template <int kElement, int kRows, int kCols, int kThreads, int kResident>
void run(const moves::matrices_work& work, const gpu& on) {
    using tiles = ragged_tile<kElement, kRows, kCols, kThreads>;
    for_each_slab<column_major, slab_order::transposed>(
        work, {tiles::kMoved, kCols, tiles::kBack}, dim3(kThreads),
        [&](launch_shape shape, const moves::matrices_work& part) {
            shape.dynamic_shared_bytes = tiles::kBytes;
            launch(shape, transpose_ragged<kElement, kRows, kCols, kThreads, kResident>, part, policy_for(part, on));
        });
}

struct ragged_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        constexpr moves::tuning kUse = moves::kRagged[kRow];
        if constexpr (kUse.unit < 4) {
            return nullptr;  // it is in ragged_bytes.cu
        } else {
            return &run<kUse.unit, kUse.tile_rows + kSectorBytes / kUse.unit, kUse.tile_cols, kUse.threads,
                        kUse.detail>;
        }
    }
};

}  // namespace

run_work ragged_kernel(int row) { return kernel_of_row<ragged_rows>(row, moves::kRagged); }

}  // namespace CORNERTURN_KERNELS
