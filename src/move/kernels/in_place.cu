// Square matrices in place. A block takes a tile and its mirror image across the diagonal. It reads both and writes
// each to the other's position.
#include "move/kernels/kernels.hpp"
#include "move/kernels/unit_tile.hpp"
#include "move/kernels/vector_tile.hpp"

namespace CORNERTURN_KERNELS {
namespace {

// Pairs of tiles: one below the diagonal or on it, and its mirror image. They are grouped into squares, because
// neighbours share sectors on both sides if rows are not aligned. The squares below the diagonal form columns of
// different lengths. Two columns make a row, so that all rows have the same length.
struct pair_order {
    unsigned tiles, side_log;  // along a side of the matrix; a square has 2^side_log tiles along its side

    __host__ __device__ unsigned squares() const { return (tiles + (1u << side_log) - 1) >> side_log; }
    __host__ __device__ unsigned squares_in_row() const { return squares() | 1; }
    std::int64_t blocks() const { return std::int64_t{squares_in_row()} * ((squares() + 1) / 2) << 2 * side_log; }
    // The tile below the diagonal. has() is false if it is above the diagonal or outside.
    __device__ tile_index tile_of(unsigned block) const {
        const unsigned n = squares(), square = block >> 2 * side_log;
        const unsigned y = square / squares_in_row(), x = square % squares_in_row();
        const bool first = x < n - y;  // of the two columns
        const unsigned col = first ? y : n - y - (n % 2 == 0 ? 1 : 0), row = col + (first ? x : x - (n - y));
        const unsigned mask = (1u << side_log) - 1;
        return {row << side_log | (block >> side_log & mask), col << side_log | (block & mask)};
    }
    __device__ bool has(tile_index tile) const { return tile.row >= tile.col && tile.row < tiles; }
};

template <class Start>
void for_each_pair(const moves::matrices_work& work, int tile, int threads, unsigned side_log, Start start) {
    if (work.rows == 0) return;
    const auto tiles = static_cast<unsigned>((work.rows + tile - 1) / tile);
    const pair_order order{tiles, tiles >= 2u << side_log ? side_log : 0};
    for_each_grid(work, order.blocks(), dim3(static_cast<unsigned>(threads)),
                  [&](const launch_shape& shape, const moves::matrices_work& part) { start(shape, part, order); });
}

// Exchanges a tile below the diagonal with its mirror image. Of the tile, rows x cols elements exist. On the diagonal
// both are the same tile.
template <bool kWhole, class Tile>
__device__ __forceinline__ void exchange(byte* below, byte* above, std::int64_t ld, std::int64_t rows,
                                         std::int64_t cols, uint4* tiles, read_policy read, result_policy result) {
    uint4* const other = tiles + Tile::kVectors;
    const bool mirrored = below != above;
    const typename Tile::moved move{read};
    Tile::template load<kWhole>(below, ld, rows, cols, tiles, move);
    if (mirrored) Tile::template load<kWhole>(above, ld, cols, rows, other, move);
    __syncthreads();
    Tile::template store<kWhole>(above, ld, rows, cols, tiles, result);
    if (mirrored) Tile::template store<kWhole>(below, ld, cols, rows, other, result);
}

template <int kElement, int kTile, int kThreads>
__global__ void __launch_bounds__(kThreads)
    transpose_vector_in_place(moves::matrices_work work, pair_order order, result_policy result) {
    CORNERTURN_DYNAMIC_SHARED(uint4, tiles);
    using tile = vector_tile<kElement, kTile, kTile, kThreads>;
    const tile_index index = order.tile_of(blockIdx.x);
    if (!order.has(index)) return;
    const std::int64_t row = index.row * kTile, col = index.col * kTile, ld = work.destination_ld;
    const std::int64_t rows = work.rows - row, cols = work.cols - col, matrix = blockIdx.z;
    byte* const data = static_cast<byte*>(work.destination) + matrix * work.destination_stride * kElement;
    byte* const below = data + (row * ld + col) * kElement;
    byte* const above = data + (col * ld + row) * kElement;
    const read_policy read(work.keeps_lines);
    if (rows >= kTile && cols >= kTile) {
        exchange<true, tile>(below, above, ld, rows, cols, tiles, read, result);
    } else {
        exchange<false, tile>(below, above, ld, rows, cols, tiles, read, result);
    }
}

template <int kElement, int kTile, int kThreads>
void run_vector(const moves::matrices_work& work, const gpu& on) {
    for_each_pair(
        work, kTile, kThreads, 2, [&](launch_shape shape, const moves::matrices_work& part, pair_order order) {
            shape.dynamic_shared_bytes = 2 * vector_tile<kElement, kTile, kTile, kThreads>::kBytes;
            launch(shape, transpose_vector_in_place<kElement, kTile, kThreads>, part, order, policy_for(part, on));
        });
}

// Elements of any size and alignment. Half of a block's threads have one tile, and half have the other.
//
// Writes: not a byte more than the tile has, because the bytes beside it belong to another block. Threads write aligned
// words, and the rest at both ends unit by unit. The columns of a thread are so far apart that their rows of the
// destination begin at the same position in a word.
template <class Tiles, int kUnit>
__device__ __forceinline__ void store_exactly(const unit_work& work, const unit_cut& cut, byte* to, int rows, int cols,
                                              const byte* tile, int thread) {
    constexpr int kWord = Tiles::kWord, kRows = Tiles::kRows;
    const int bytes = rows * cut.element;
    // Calls store(where, from) for every at_once-th column from `c` on.
    const auto down_columns = [&](int c, int at, int at_once, auto store) {
        byte* line = to + c * work.to_pitch + at;
        const byte* column = tile + Tiles::address(cut, c / kRows, c % kRows) + at;
        const std::int64_t step = at_once * work.to_pitch;
        const int column_step = at_once / kRows * cut.from_lane;
        CORNERTURN_UNROLL_BY(4)
        for (; c < cols; c += at_once) {
            store(line, column);
            line = kept_pointer(line + step);
            column += column_step;
        }
    };
    const auto past_of = [&](int c) { return kUnit < kWord ? past_word(to + c * work.to_pitch) : 0; };
    {
        const int lanes = 1 << cut.lanes_log, at_once = 32 >> cut.lanes_log << cut.warps_log;
        const int c = thread >> cut.lanes_log;
        CORNERTURN_UNROLL_BY(1)
        for (int at = (thread & (lanes - 1)) * kWord - past_of(c); c < at_once && at + kWord <= bytes;
             at += lanes * kWord) {
            if (at < 0) continue;
            const int past = kUnit < kWord ? at % kWord : 0, next = past > 0 ? kWord : 0;
            down_columns(c, at, at_once, [&](byte* line, const byte* column) {
                if constexpr (kUnit < kWord) {
                    const byte* const from = column - past;
                    const unsigned low = value_at<unsigned>(from), high = value_at<unsigned>(from + next);
                    store_word<kUnit>(line, __funnelshift_r(low, high, 8 * past));
                } else {
                    store_word<kUnit>(line, value_at<typename Tiles::word>(column));
                }
            });
        }
    }
    if constexpr (kUnit < kWord) {
        using unit = storage_t<kUnit>;
        // If a column's length is a multiple of a word, its two ends have at most kWord bytes together. Otherwise they
        // have less than two words.
        const int ends = bytes % kWord == 0 ? Tiles::kPerWord : 2 * Tiles::kPerWord, c = thread / ends;
        const int whole_from = -past_of(c) & (kWord - 1), at_end = thread % ends * kUnit;
        const int whole = bytes > whole_from ? (bytes - whole_from) / kWord * kWord : 0;
        const int at = at_end < whole_from ? at_end : at_end + whole, at_once = cut.threads / ends;
        if (at >= bytes) return;
        down_columns(c, at, at_once,
                     [](byte* line, const byte* column) { *reinterpret_cast<unit*>(line) = value_at<unit>(column); });
    }
}

constexpr int kHalf = 256;  // at most this many threads
template <int kUnit, int kUnits>
using tile_of_units = unit_tile<kUnit, kUnits, (kUnit < 4)>;  // narrow units begin anywhere in a word

// The loads in flight of one thread matter more than the number of threads: narrow units leave room for 64 registers.
template <int kUnit>
inline constexpr int kResident = kUnit < 4 ? 1024 : 1536;  // threads
template <int kUnit, int kUnits>
__global__ void CORNERTURN_RESIDENT(2 * kHalf, kResident<kUnit>)
    transpose_units_in_place(unit_work work, unit_cut cut, pair_order order) {
    using tiles = tile_of_units<kUnit, kUnits>;
    CORNERTURN_DYNAMIC_SHARED(byte, shared);
    const tile_index index = order.tile_of(blockIdx.x);
    if (!order.has(index)) return;
    const bool above = static_cast<int>(threadIdx.x) >= cut.threads, idle = above && index.row == index.col;
    const std::int64_t row = (above ? index.col : index.row) * cut.cols;
    const std::int64_t col = (above ? index.row : index.col) * cut.cols;
    const unsigned thread = threadIdx.x - (above ? cut.threads : 0);
    byte* const matrix = work.destination + blockIdx.z * work.to_stride;
    byte* const tile = shared + (above ? cut.bytes : 0);
    if (!idle) tiles::load(work, cut, matrix, row, static_cast<int>(col) * cut.element, tile, thread);
    __syncthreads();
    if (idle) return;
    const auto left = [&](std::int64_t from) {
        return static_cast<int>(work.rows - from < cut.cols ? work.rows - from : cut.cols);
    };
    store_exactly<tiles, kUnit>(work, cut, matrix + col * work.to_pitch + row * cut.element, left(row), left(col), tile,
                                static_cast<int>(thread));
}

// Cuts a matrix into square tiles. Their size was measured on an H200. On GPUs with less shared memory they are
// smaller: registers, not shared memory, should limit the blocks of a multiprocessor. A block has two tiles.
template <class Tiles, int kUnit>
unit_cut square_cut(const moves::matrices_work& work, const gpu& on) {
    constexpr int kMeasured = (kUnit == 2 ? 32 : 16) << 10, kBlocks = kResident<kUnit> / (2 * kHalf);
    constexpr int kThreads = kUnit == 1 && Tiles::kTransposed ? kHalf / 2 : kHalf;
    const int fitting = on.shared_bytes / (2 * kBlocks), tile_bytes = kMeasured < fitting ? kMeasured : fitting;
    const int element = work.element_size, step = Tiles::kTransposed ? 1 : Tiles::kPeriod;
    const auto lanes_of = [&](int cols) { return divided_up(cols * element, Tiles::kWidth); };
    unit_cut cut{};
    cut.element = element;
    cut.per_element = reciprocal(static_cast<unsigned>(element / kUnit));
    cut.cols = Tiles::kPeriod;
    while (lanes_of(2 * cut.cols) * step <= kThreads && 4 * cut.cols * cut.cols * element <= tile_bytes) cut.cols *= 2;
    cut.across = lanes_of(cut.cols);
    cut.per_across = reciprocal(static_cast<unsigned>(cut.across));
    cut.at_once = step;
    while (2 * cut.at_once * cut.across <= kThreads && 2 * cut.at_once * Tiles::kRows <= cut.cols) cut.at_once *= 2;
    cut.iterations = cut.cols / (cut.at_once * Tiles::kRows);
    cut.threads = round_up(cut.at_once * cut.across, 32);
    const int warps = cut.threads / 32;
    while (2 << cut.warps_log <= warps) ++cut.warps_log;
    const auto cols_at_once = [&](int lanes_log) { return 32 >> lanes_log << cut.warps_log; };
    while (cut.lanes_log < 5 && Tiles::kWord << cut.lanes_log < cut.cols * element &&
           cols_at_once(cut.lanes_log + 1) % Tiles::kPeriod == 0)
        ++cut.lanes_log;
    Tiles::kShape.lay_out(cut, cut.cols);
    return cut;
}

template <int kUnit, int kUnits>
void run_tiles(const moves::matrices_work& work, const gpu& on) {
    using tiles = tile_of_units<kUnit, kUnits>;
    const unit_cut cut = square_cut<tiles, kUnit>(work, on);
    for_each_pair(work, cut.cols, 2 * cut.threads, 3,
                  [&](launch_shape shape, const moves::matrices_work& part, pair_order order) {
                      shape.dynamic_shared_bytes = 2 * static_cast<std::size_t>(cut.bytes);
                      launch(shape, transpose_units_in_place<kUnit, kUnits>, tiles::in_bytes(part, cut), cut, order);
                  });
}

template <int kUnit>
void run_units(const moves::matrices_work& work, const gpu& on) {
    if constexpr (kUnit < 4) {
        switch (work.element_size / kUnit) {
            case 1: return run_tiles<kUnit, 1>(work, on);
            case 3: return run_tiles<kUnit, 3>(work, on);
            case 5: return run_tiles<kUnit, 5>(work, on);
            case 7: return run_tiles<kUnit, 7>(work, on);
            default: return run_tiles<kUnit, 0>(work, on);
        }
    } else {
        return run_tiles<kUnit, 0>(work, on);
    }
}

// Elements so large that a copy of one is coalesced. A block exchanges tile_rows elements of a column with those of a
// row.
constexpr int kBlockThreads = moves::kBlockThreads;

template <int kUnit>
__global__ void __launch_bounds__(kBlockThreads)
    transpose_blocks_in_place(moves::matrices_work work, unsigned units, unsigned tile_rows) {
    using unit = storage_t<kUnit>;
    const tile_index index = row_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = index.row * tile_rows, col = index.col, ld = work.destination_ld, n = units;
    if (row + tile_rows <= col) return;
    unit* const matrix =
        static_cast<unit*>(work.destination) + static_cast<std::int64_t>(blockIdx.z) * work.destination_stride * n;
    unit *const below = matrix + (row * ld + col) * n, *const above = matrix + (col * ld + row) * n;
    const std::int64_t rows = work.rows - row < tile_rows ? work.rows - row : tile_rows;
    constexpr unsigned kAtOnce = 4;
    for (unsigned i = threadIdx.x; i < rows * units; i += kAtOnce * kBlockThreads) {
        unit values[kAtOnce], mirrored[kAtOnce];
        const auto each = [&](auto move) {
            CORNERTURN_UNROLL
            for (unsigned k = 0; k < kAtOnce; ++k) {
                const unsigned at = i + k * kBlockThreads, r = at / units;
                if (r < rows && row + r > col) move(above[at], below[(r * ld - r) * n + at], k);
            }
        };
        each([&](unit& a, unit& b, unsigned k) { values[k] = a, mirrored[k] = b; });
        each([&](unit& a, unit& b, unsigned k) { a = mirrored[k], b = values[k]; });
    }
}

template <int kUnit>
void run_blocks(const moves::matrices_work& work, const gpu&) {
    const auto units = static_cast<unsigned>(work.element_size / kUnit);
    const unsigned tile_rows = units < 4 * kBlockThreads ? 4 * kBlockThreads / units : 1;
    // A single slab, for any matrix that fits in memory: a part of the matrix cannot be transposed in place.
    for_each_slab<row_major, slab_order::transposed>(
        work, {tile_rows, 1}, dim3(kBlockThreads), [&](launch_shape shape, const moves::matrices_work& part) {
            shape.tiles = nullptr;
            launch(shape, transpose_blocks_in_place<kUnit>, part, units, tile_rows);
        });
}

struct vector_in_place_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        constexpr moves::tuning kUse = moves::kVectorInPlace[kRow];
        return &run_vector<kUse.unit, kUse.tile_rows, kUse.threads>;
    }
};
struct elements_in_place_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        return &run_units<moves::kElementsInPlace.rows[kRow].unit>;
    }
};
struct blocks_in_place_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        return &run_blocks<moves::kBlocksInPlace.rows[kRow].unit>;
    }
};

}  // namespace

run_work vector_in_place_kernel(int row) { return kernel_of_row<vector_in_place_rows>(row, moves::kVectorInPlace); }
run_work elements_in_place_kernel(int row) {
    return kernel_of_row<elements_in_place_rows>(row, moves::kElementsInPlace.rows);
}
run_work blocks_in_place_kernel(int row) {
    return kernel_of_row<blocks_in_place_rows>(row, moves::kBlocksInPlace.rows);
}

}  // namespace CORNERTURN_KERNELS
