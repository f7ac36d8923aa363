#include "move/cuts.hpp"
#include "move/unit_cut.hpp"

namespace cornerturn::moves {
namespace {

struct unit_cutter {
    const matrix_work& work;
    const gpu& on;
    const bool whole_sectors;  // every row of the destination begins at a sector
    const unit_shape of;
    const int unit = of.unit, period = of.period(), element = work.element_size, units = element / of.unit;
    // Measured on an H200: a tile's most columns, if there are many rows; its bytes, approximately; and its most
    // threads. If a multiprocessor has less shared memory, tiles are smaller, so that it still holds as many blocks as
    // its registers allow.
    const int most_cols = !of.transposed() ? 400 / element : element == 3 && whole_sectors ? 128 : 64;
    const int most_threads = unit < 4 && !of.transposed() ? 384 : 256;
    const int measured_bytes = (of.transposed() ? 24 : unit < 4 ? 20 : 13) << 10;
    const int fitting_bytes = on.shared_bytes / (of.resident() / most_threads);
    const int tile_bytes = measured_bytes < fitting_bytes ? measured_bytes : fitting_bytes;
    // Rows of the matrix, but no more than a tile could have.
    const int rows = static_cast<int>(work.rows < tile_bytes ? work.rows : tile_bytes);

    int lanes_of(int cols) const { return divided_up(cols * element, of.width()); }

    unit_cut cut() const {
        const int step = of.transposed() ? 1 : period;  // rows, or groups, that are read at once
        unit_cut any{};
        any.element = element;
        any.per_element = reciprocal(static_cast<unsigned>(units));
        // Columns: a power of two, as large as the matrix and the threads allow, up to most_cols. If there are few
        // rows, a tile may have more columns.
        any.cols = period;
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
            const std::int64_t loads = next.iterations * of.rows() * of.width();
            const std::int64_t stores =
                divided_up(next.cols, 32 >> next.lanes_log << next.warps_log) *
                divided_up(divided_up(moved * element, kVectorBytes << next.lanes_log), next.phases) * kVectorBytes;
            const int enough = unit < 4 ? 256 : 192, busy = next.threads < enough ? next.threads : enough;
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
        const int at_once = next.at_once * of.rows(),
                  whole = whole_sectors ? divided_up(kSector, element & -element) : 1;
        // As near to tile_bytes as whole iterations allow.
        const int wanted = (tile_bytes / (next.cols * element) + at_once / 2) / at_once * at_once;
        // Rows before the first one that is moved: the first word of a sector may need them.
        const int back = whole_sectors ? 0 : round_up(divided_up(kSector - unit, element), period);
        const int staged_most = round_up(wanted > back + whole ? wanted : back + whole, at_once);
        next.back = rows <= staged_most ? 0 : back;  // 0: one tile has all rows
        // Tiles of about the same size. If rows begin at sectors, tiles do too.
        const int tiles = divided_up(rows, staged_most - next.back);
        const int moved = tiles == 1 ? rows : round_up(divided_up(rows, tiles), whole);
        next.iterations = divided_up(moved + next.back, at_once);
        const int staged = next.iterations * at_once;
        next.moved = staged - next.back;
        if (next.moved < rows) next.moved -= next.moved % whole;
        of.lay_out(next, staged);
        const int vectors = divided_up(next.moved * element + (whole_sectors ? 0 : kSector), kVectorBytes);
        next.lanes_log = 0;
        while (next.lanes_log < 3 && 1 << next.lanes_log < vectors) ++next.lanes_log;
        const int warps = next.threads / 32, cols_at_once = 32 >> next.lanes_log;
        next.warps_log = 0;
        while (cols_at_once << next.warps_log < next.cols && warps % (2 << next.warps_log) == 0) ++next.warps_log;
        next.phases = warps >> next.warps_log;
        // A thread writes columns that several lanes staged: the same one of each lane.
        const int lanes = (cols_at_once << next.warps_log) / of.rows();
        next.near_log = 0;
        while (next.near_log < 2 && 2 << next.near_log <= lanes && 2 << next.near_log <= next.cols / of.rows())
            ++next.near_log;
    }
};

}  // namespace

unit_cut cut_into_tiles(const matrix_work& work, const gpu& on, bool whole_sectors, const unit_shape& shape) {
    return unit_cutter{work, on, whole_sectors, shape}.cut();
}

}  // namespace cornerturn::moves
