// Elements of any size, moved in units. A unit is the largest power of two that divides their size and both addresses.
//
// transpose_units stages tiles in shared memory. They are cut at the launch, for the element and the matrix. The copy
// of an element of 128 bytes or more is coalesced, so transpose_blocks copies such elements directly.
#include "ops/transpose/kernels/kernels.hpp"
#include "ops/transpose/kernels/unit_tile.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kThreads = transposes::kBlockThreads, kMostThreads = 512;

template <int kUnit, int kUnits, bool kShifted>
__global__ void CORNERTURN_RESIDENT(kMostThreads, (unit_tile<kUnit, kUnits, kShifted>::kResident))
    transpose_units(unit_work work, unit_cut cut) {
    using tiles = unit_tile<kUnit, kUnits, kShifted>;
    CORNERTURN_DYNAMIC_SHARED(byte, tile);
    const tile_index index = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = index.row * cut.moved, col = index.col * cut.cols, matrix = blockIdx.z;
    tiles::load(work, cut, work.source + matrix * work.from_stride, row - cut.back, static_cast<int>(col) * cut.element,
                tile, threadIdx.x);
    __syncthreads();
    tiles::store(work, cut, work.destination + matrix * work.to_stride + col * work.to_pitch + row * cut.element, row,
                 work.cols - col, tile);
}

// Cuts a matrix into tiles.
template <class Tiles, int kUnit>
struct unit_cutter {
    static constexpr int kPeriod = Tiles::kPeriod;
    const matrix_work& work;
    const gpu& on;
    const bool whole_sectors;  // every row of the destination begins at a sector
    const int element = work.element_size, units = element / kUnit;
    // Measured on an H200: a tile's most columns, if there are many rows; its bytes, approximately; and its most
    // threads. If a multiprocessor has less shared memory, tiles are smaller, so that it still holds as many blocks as
    // its registers allow.
    const int most_cols = !Tiles::kTransposed ? 400 / element : element == 3 && whole_sectors ? 128 : 64;
    const int most_threads = kUnit < 4 && !Tiles::kTransposed ? 384 : 256;
    const int measured_bytes = (Tiles::kTransposed ? 24 : kUnit < 4 ? 20 : 13) << 10;
    const int fitting_bytes = on.shared_bytes / (Tiles::kResident / most_threads);
    const int tile_bytes = measured_bytes < fitting_bytes ? measured_bytes : fitting_bytes;
    // Rows of the matrix, but no more than a tile could have.
    const int rows = static_cast<int>(work.rows < tile_bytes ? work.rows : tile_bytes);

    int lanes_of(int cols) const { return divided_up(cols * element, Tiles::kWidth); }

    unit_cut cut() const {
        const int step = Tiles::kTransposed ? 1 : kPeriod;  // rows, or groups, that are read at once
        unit_cut any{};
        any.element = element;
        any.per_element = reciprocal(static_cast<unsigned>(units));
        // Columns: a power of two, as large as the matrix and the threads allow, up to most_cols. If there are few
        // rows, a tile may have more columns.
        any.cols = kPeriod;
        while (any.cols < work.cols && lanes_of(2 * any.cols) * step <= most_threads &&
               (2 * any.cols <= most_cols || 2 * any.cols * rows * element <= tile_bytes))
            any.cols *= 2;
        any.across = lanes_of(any.cols);
        any.per_across = reciprocal(static_cast<unsigned>(any.across));
        // Threads: tries all numbers, and takes the one with the most useful bytes for each load and store. Tiles that
        // are too large count less, and so do threads beyond `enough`.
        unit_cut best{};
        std::int64_t most = -1;
        for (int at_once = step; at_once == step || at_once * any.across <= most_threads; at_once += step) {
            unit_cut next = any;
            next.at_once = at_once;
            next.threads = round_up(at_once * any.across, 32);
            finish(next);
            const int moved = next.moved < rows ? next.moved : rows;
            const std::int64_t loads = next.iterations * Tiles::kRows * Tiles::kWidth;
            const std::int64_t stores =
                divided_up(next.cols, 32 >> next.lanes_log << next.warps_log) *
                divided_up(divided_up(moved * element, kVectorBytes << next.lanes_log), next.phases) * kVectorBytes;
            const int enough = kUnit < 4 ? 256 : 192, busy = next.threads < enough ? next.threads : enough;
            const int fitting = next.bytes < tile_bytes * 5 / 4 ? next.bytes : tile_bytes * 5 / 4;
            const std::int64_t use = std::int64_t{moved} * any.cols * element * busy * fitting /
                                     (next.threads * (loads + stores)) * 1000 / next.bytes;
            if (use > most) most = use, best = next;
            if (next.iterations == 1 && next.moved >= rows) break;  // more threads would have nothing to read
        }
        return best;
    }

    // Works out all that follows from the number of rows that are read at once.
    void finish(unit_cut& next) const {
        const int at_once = next.at_once * Tiles::kRows,
                  whole = whole_sectors ? divided_up(kSectorBytes, element & -element) : 1;
        // As near to tile_bytes as whole iterations allow.
        const int wanted = (tile_bytes / (next.cols * element) + at_once / 2) / at_once * at_once;
        // Rows before the first one that is moved: the first word of a sector may need them.
        const int back = whole_sectors ? 0 : round_up(divided_up(kSectorBytes - kUnit, element), kPeriod);
        const int staged_most = round_up(wanted > back + whole ? wanted : back + whole, at_once);
        next.back = rows <= staged_most ? 0 : back;  // 0: one tile has all rows
        // Tiles of about the same size. If rows begin at sectors, tiles do too.
        const int tiles = divided_up(rows, staged_most - next.back);
        const int moved = tiles == 1 ? rows : round_up(divided_up(rows, tiles), whole);
        next.iterations = divided_up(moved + next.back, at_once);
        const int staged = next.iterations * at_once;
        next.moved = staged - next.back;
        if (next.moved < rows) next.moved -= next.moved % whole;
        Tiles::lay_out(next, staged);
        const int vectors = divided_up(next.moved * element + (whole_sectors ? 0 : kSectorBytes), kVectorBytes);
        next.lanes_log = 0;
        while (next.lanes_log < 3 && 1 << next.lanes_log < vectors) ++next.lanes_log;
        const int warps = next.threads / 32, cols_at_once = 32 >> next.lanes_log;
        next.warps_log = 0;
        while (cols_at_once << next.warps_log < next.cols && warps % (2 << next.warps_log) == 0) ++next.warps_log;
        next.phases = warps >> next.warps_log;
        // A thread writes columns that several lanes staged: the same one of each lane.
        const int lanes = (cols_at_once << next.warps_log) / Tiles::kRows;
        next.near_log = 0;
        while (next.near_log < 2 && 2 << next.near_log <= lanes && 2 << next.near_log <= next.cols / Tiles::kRows)
            ++next.near_log;
    }
};

// Whether every row of the destination begins at a sector.
bool has_whole_sectors(const matrix_work& work) {
    return aligned_to(kSectorBytes, work.destination, work.destination_ld, work.destination_stride, work);
}
// Whether every row of the source begins at a word.
bool has_whole_words(const matrix_work& work) {
    return aligned_to(4, work.source, work.source_ld, work.source_stride, work);
}

template <int kUnit, int kUnits, bool kShifted>
void run_tiles(const matrix_work& work, const gpu& on) {
    using tiles = unit_tile<kUnit, kUnits, kShifted>;
    const unit_cut cut = unit_cutter<tiles, kUnit>{work, on, has_whole_sectors(work)}.cut();
    for_each_slab<column_major, slab_order::transposed>(
        work, {cut.moved, cut.cols}, dim3(cut.threads), [&](launch_shape shape, const matrix_work& part) {
            shape.dynamic_shared_bytes = static_cast<std::size_t>(cut.bytes);
            shape.tiles = nullptr;  // what a tile reads depends on the memory around it
            launch(shape, transpose_units<kUnit, kUnits, kShifted>, tiles::in_bytes(part, cut), cut);
        });
}

template <int kUnit>
void run_units(const matrix_work& work, const gpu& on) {
    if constexpr (kUnit < 4) {
        switch (work.element_size / kUnit) {
            case 3:
                return has_whole_words(work) ? run_tiles<kUnit, 3, false>(work, on)
                                             : run_tiles<kUnit, 3, true>(work, on);
            case 5: return run_tiles<kUnit, 5, true>(work, on);
            case 7: return run_tiles<kUnit, 7, true>(work, on);
            default: return run_tiles<kUnit, 0, true>(work, on);
        }
    } else {
        return run_tiles<kUnit, 0, false>(work, on);
    }
}

// A block copies tile_rows elements of one column.
template <int kUnit>
__global__ void __launch_bounds__(kThreads) transpose_blocks(matrix_work work, unsigned units, unsigned tile_rows) {
    const tile_index index = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = index.row * tile_rows, col = index.col, matrix = blockIdx.z, n = units;
    using unit = storage_t<kUnit>;
    const unit* const source =
        static_cast<const unit*>(work.source) + (matrix * work.source_stride + row * work.source_ld + col) * n;
    unit* const destination =
        static_cast<unit*>(work.destination) + (matrix * work.destination_stride + col * work.destination_ld + row) * n;
    const std::int64_t rows = work.rows - row < tile_rows ? work.rows - row : tile_rows;
    CORNERTURN_UNROLL_BY(4)
    for (unsigned i = threadIdx.x; i < rows * units; i += kThreads) {
        const unsigned r = i / units;
        destination[i] = source[(r * work.source_ld - r) * n + i];
    }
}

template <int kUnit>
void run_blocks(const matrix_work& work, const gpu&) {
    const auto units = static_cast<unsigned>(work.element_size / kUnit);
    const unsigned tile_rows = units < 4 * kThreads ? 4 * kThreads / units : 1;
    for_each_slab<column_major, slab_order::transposed>(
        work, {tile_rows, 1}, dim3(kThreads), [&](const launch_shape& shape, const matrix_work& part) {
            launch(shape, transpose_blocks<kUnit>, part, units, tile_rows);
        });
}

struct unit_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        return &run_units<transposes::kUnits.rows[kRow].unit>;
    }
};
struct block_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        return &run_blocks<transposes::kBlocks.rows[kRow].unit>;
    }
};

}  // namespace

run_work units_kernel(int row) { return kernel_of_row<unit_rows>(row, transposes::kUnits.rows); }
run_work blocks_kernel(int row) { return kernel_of_row<block_rows>(row, transposes::kBlocks.rows); }

}  // namespace CORNERTURN_KERNELS
