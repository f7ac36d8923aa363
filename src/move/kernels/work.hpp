// The arguments of the kernels for strided copies, which the host works out.
//
// `copy_rows` moves or converts runs that are contiguous on both sides.
// `copy_tiles` moves copies whose sides have only short runs in common. A tile is cut out of some axes so that it has
// long pieces on both sides:
//
//  - Spans are its pieces of the source: all bytes from a first to a last one, including gaps. A block reads each span
//    into shared memory as it is, in vectors of 16 bytes.
//  - Lines are its pieces of the destination. A line consists of units, the widest words that alignment allows, without
//    gaps. A block gathers the units of a vector of 16 bytes from the spans, and writes lines in such vectors. If gaps
//    leave only short pieces, a line has several pieces, and a block writes it unit by unit. A table says where in
//    shared memory a line's next unit is. It is the same for all lines, and each block makes one.
//
// `copy_groups` is for units of 1 or 2 bytes whose neighbours in a span belong to different lines. A thread reads a
// vector of them at a time: one unit each for a group of 16 or 8 lines. It writes 4 bytes of each of these lines. This
// pays if single units would come from few banks of shared memory.
//
// So each axis of a tile is in spans, in lines, or in both. An axis in neither would need a table for each line. At
// most two axes are cut: `along`, the outermost axis of the lines, and `across`, the outermost axis of the spans.
//
// `copy_packed` moves short runs that follow each other in the destination. A thread gathers a vector of 16 bytes of
// the destination from them.
//
// Conversions: if elements do not become wider, and all of a span have one scale and bias, spans are converted when
// they are read, and the rest is as above. Otherwise `convert_tiles` is `copy_tiles` with a conversion of each unit
// between the load and the store. `convert_units` is the same of `copy_units`, for all types and any alignment.
//
// `copy_units` moves units without a tile, in the destination's order. It is for copies where describing a tile takes
// longer than moving it. If a run is a multiple of three units, it moves three at a time: elements of 3, 6, 12 or 24
// bytes are such runs.
#pragma once

#include <cstdint>

#include "core/divider.hpp"
#include "core/matrix_work.hpp"
#include "core/strided.hpp"

namespace cornerturn::moves {

using cornerturn::divider;

inline constexpr int kMostThreads = 256;  // of a block

// How many threads of a multiprocessor the tile kernels' registers allow. `along`: scales and biases may differ along a
// line.
constexpr int resident_threads_of_tiles(int unit) { return unit == 1 ? 1280 : 1536; }
constexpr int resident_threads_of_conversions(int unit, bool along) { return unit == 1 || along ? 1024 : 1280; }
inline constexpr int kResidentThreadsOfGroups = 1024;

// The same of `copy_packed`. Runs shorter than a vector, of units of 1 or 2 bytes, are moved by words. They have fewer
// threads, so that what these read stays in the L1.
constexpr int resident_threads_of_packed(bool by_words) { return by_words ? 1024 : 2048; }

// Vectors of 16 bytes of the destination that a thread of `copy_rows` loads before it writes the first, if it converts.
constexpr int rows_vectors_at_once(int unit, int source_unit) {
    const int read = 16 / unit * source_unit;  // bytes
    return read >= 64 || unit == 1 ? 1 : read == 32 ? 2 : read > 4 ? 4 : 8;
}

// Threads of `copy_rows` that a multiprocessor should hold.
constexpr int resident_threads_of_rows(bool converts) { return converts ? 1024 : 2048; }

// Pieces that a thread of `copy_units` moves, each of one unit or three. A thread moves only one if there are few
// pieces in all, because that ends sooner, or if a piece has three units.
inline constexpr int kPiecesOfThread = 4;

// One axis of an index that counts several axes.
struct digit {
    divider by;                        // divides by its extent; not used for the last axis
    std::int64_t source, destination;  // a step, in bytes unless said otherwise
};

// Positions of the blocks, or of the runs.
struct places {
    static constexpr int kMost = kMostAxes + 3;
    int rank = 0;
    digit axes[kMost];
};

// The axes of a batch of matrices, if it has several.
struct batch_axes {
    static constexpr int kMost = 8;
    int rank = 0;        // 0: the batch has one axis or none, so its matrices are a stride apart
    unsigned first = 0;  // the matrix that blockIdx.z counts from
    digit axes[kMost];   // the fastest first; strides count as those of the work
};

// If `batch` has axes, then `count` counts the matrices of all of them, and source_stride and destination_stride are
// powers of two that divide all their strides.
struct matrices_work : matrix_work {
    batch_axes batch;
    int source_size = 0;  // bytes of an element of the source, if elements are converted
};
inline int source_size_of(const matrices_work& work) {
    return work.source_size > 0 ? work.source_size : work.element_size;
}

inline bool is_even(const matrices_work& work) { return work.batch.rank == 0; }
inline void leave_out(matrices_work& work, std::int64_t n) {
    if (is_even(work)) return cornerturn::leave_out(work, n);
    work.batch.first += static_cast<unsigned>(n);
}

// A conversion's scales and biases, for the kernels that convert: see kernels/cast.hpp.
struct factors_work {
    const void* data;  // of index 0 of every axis; null: the number
    double number;
    bool doubles, one;  // those in memory are f64, not f32; there is one for all elements
};
struct cast_work {
    factors_work scales, biases;
    bool scaled;  // whether there are any

    // Where the axis is along which they change. In a tile: the axis of the tiles and a tile's step; what the halo
    // steps back; the axis of the lines and its step; and for an axis within a line, its step, the units before it (the
    // spans, if these are converted when they are read), and its steps in a line.
    // In a copy unit by unit, and in runs: the axis and its step; and line_step, from unit to unit of a run. In
    // matrices: the axis of the batch, and the steps from row to row and from column to column.
    int tile_axis, row_axis, row_step, line_step, col_step;
    std::int64_t tile_step, halo_step;
    divider by_inner, by_steps;
};

struct units_work {
    const unsigned char* source;
    unsigned char* destination;
    unsigned pieces;
    places of_pieces;
};

struct rows_work {
    const unsigned char *source, *first, *last;  // from `first` to `last` may be read
    unsigned char* destination;
    std::int64_t run;              // bytes of the destination
    unsigned rows, rows_of_block;  // runs
    unsigned vectors;              // in a run, or in the piece of it that a block moves
    divider by_lanes, by_pieces;   // threads along these vectors; pieces in a run
    bool whole_vectors;            // every run begins and ends at a vector
    places runs;
};

// Lines of the destination, each of runs that follow each other there and are a step apart in the source. The bytes of
// a block's runs are less than 2^30 apart.
struct packed_work {
    const unsigned char *source, *first, *last;
    unsigned char* destination;
    std::int64_t runs;          // of a line
    int run, step;              // bytes
    int runs_of_block;          // together they fill whole sectors
    int before;                 // bytes of runs before the block's first one, enough to fill a sector
    int source_before;          // how far before it these begin in the source
    divider by_run, by_pieces;  // pieces of a line; a block moves one
    places lines;
};

// One axis of a tile, as a digit of a line's index, of a span's index, or of the index of a line's units.
struct tile_digit {
    divider by;
    int in_span, spans;                // a step moves by this many bytes within a span, or by this many spans
    std::int64_t source, destination;  // a step, in bytes
};

struct tile_work {
    const unsigned char *source, *first, *last;
    unsigned char* destination;
    places tiles;  // the first two are `along` and `across`
    // For the axes that are cut: a tile moves these steps, or those that are left. It also reads `halo` steps before,
    // so that its lines can end at sectors of memory.
    int along_steps, across_steps, halo;
    std::int64_t along_extent, across_extent;
    std::int64_t along_source, along_destination, across_source;
    bool along_in_span;
    // With groups: the lines of a group follow each other along one axis, which is in no other list.
    bool across_in_group;            // this axis is `across`
    int group_steps;                 // otherwise: its steps in a tile
    std::int64_t group_destination;  // a step along it
    int unit;                        // bytes
    bool whole_words;                // every line begins and ends at a word
    int group_table_at;
    divider by_groups;  // divides by the groups along this axis in a whole tile

    // Without the axes that are cut.
    int spans, lines;
    int span_bytes, line_units;
    int origin;  // of the first element in its span, in bytes

    static constexpr int kMost = 16;
    int line_rank, row_rank, span_rank;
    tile_digit line[kMost];  // of a line's units, the fastest first
    tile_digit rows[kMost];  // of lines
    tile_digit span[kMost];  // of spans

    divider by_chunks;  // divides by the vectors that a span may touch
    int span_vectors;   // from span to span in shared memory
    int skew;           // after every 2^skew spans comes a vector of padding, which moves the next ones to other banks
    int table_units, table_stride;  // table_stride: in words, from copy to copy
    unsigned copies;                // of the table: see gather.hpp
    divider by_period;              // divides by the units after which the table repeats
    int period_bytes;               // bytes from one repetition to the next, within a span; 0 if it does not repeat
    int span_table_at, line_table_at, image_at;  // in shared memory; the first two only if there are several axes
    std::int64_t spans_below, spans_above;       // how far other spans reach before the first one, and after it
    int line_vectors;                            // that a line may touch
    int vectors_of_cut;                          // the same, if the line begins and ends at sectors
    bool whole_lines;                            // every line begins and ends at a vector
    unsigned lanes_log;                          // the most threads along a line
    // From one vector of a thread to its next: this many spans further, and this many bytes within the span.
    unsigned spans_at_once;
    int bytes_at_once;
    bool fetch_lines;  // whole lines of the L2
};

}  // namespace cornerturn::moves
