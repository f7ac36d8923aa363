// How a matrix of elements of any size is cut into tiles, for the kernel that moves them in units
// (kernels/elements.cu).
#pragma once

#include "core/gpu.hpp"
#include "core/matrix_work.hpp"

namespace cornerturn::moves {

// The cut for one element size, chosen at the launch: tiles in a matrix and in shared memory, and the threads' shares.
struct unit_cut {
    int element;                      // bytes
    int back, moved, cols;            // rows before those that a tile moves; the rows that it moves; its columns
    int across, at_once, iterations;  // lanes side by side in a row; rows or groups they read at once; how often
    int from_col, from_lane;          // bytes in shared memory
    // 2^lanes_log lanes write one column. 2^near_log neighbouring sets of such lanes write columns that neighbouring
    // lanes staged.
    int lanes_log, near_log;
    // 2^warps_log warps write different columns. phases: sets of such warps; each set writes its part of every column.
    int warps_log, phases;
    unsigned per_across, per_element;  // reciprocals
    int threads, bytes;
};

constexpr int round_up(int value, int step) { return (value + step - 1) / step * step; }
constexpr int divided_up(int value, int by) { return (value + by - 1) / by; }

// The kernel divides by a number below 512 through its reciprocal.
inline constexpr unsigned kReciprocal = 1u << 20;
constexpr unsigned reciprocal(unsigned divisor) { return (kReciprocal + divisor - 1) / divisor; }

// What a thread moves. `units` in an element if the kernel knows them at compile time, else 0. shifted: narrow units
// begin within words.
struct unit_shape {
    int unit, units;
    bool shifted;

    constexpr int word() const { return unit < 4 ? 4 : unit; }
    constexpr int period() const { return word() / unit; }  // rows after which a column ends at a word again
    constexpr bool transposed() const { return units > 0; }
    // A group: what a thread transposes. A thread that transposes nothing has a word of one row.
    constexpr int rows() const { return transposed() ? period() : 1; }
    constexpr int words() const { return transposed() ? units : 1; }
    constexpr int width() const { return words() * word(); }
    constexpr int resident() const {
        return rows() * words() > 12 ? 1024 : 1536;
    }  // threads that fit, by their registers

    // Lays out a tile of `staged` rows in shared memory. Columns are an odd number of words apart, so they begin in
    // different banks. If threads transpose nothing, this distance modulo the banks is an element's size in words,
    // rounded up to an odd number.
    constexpr void lay_out(unit_cut& cut, int staged) const {
        if (transposed()) {
            cut.from_lane = (staged * cut.element / 4 | 1) * 4;
            cut.from_col = cut.across * cut.from_lane;
        } else {
            const int banks = 128 / word(), all = divided_up(staged * cut.element, word());
            const int odd = (divided_up(cut.element, word()) | 1) % banks;
            cut.from_lane = (all + (odd - all % banks + banks) % banks) * word();
        }
        cut.bytes = cut.cols * cut.from_lane;
    }
};

// The shape for elements of this size. whole_words: every row of the source begins at a word.
constexpr unit_shape shape_of(int unit, int element, bool whole_words) {
    const int units = element / unit;
    if (unit >= 4) return {unit, 0, false};
    return {unit, units == 3 || units == 5 || units == 7 ? units : 0, units != 3 || !whole_words};
}

// Cuts a matrix into tiles. whole_sectors: every row of the destination begins at a sector.
unit_cut cut_into_tiles(const matrix_work& work, const gpu& on, bool whole_sectors, const unit_shape& shape);

}  // namespace cornerturn::moves
