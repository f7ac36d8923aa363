// What the kernels of strided copies are told, worked out on the host.
//
// `copy_rows` moves runs of bytes that lie behind each other on both sides, each as it lies.
// `copy_tiles` moves what has only short runs in common. A tile is cut out of some axes so that it has long pieces on
// both sides:
//
//  - Spans are its pieces of the source: all bytes from a first to a last, with what gaps there are. A block reads each
//    as it lies, in vectors of 16 bytes, into shared memory.
//  - Lines are its pieces of the destination: units (the widest words that alignment allows) without gaps. A block
//    writes each as it lies, in vectors of 16 bytes, whose units it gathers from the spans. Where gaps leave only short
//    pieces, a line has several of these, and a block writes it unit by unit. Where in shared memory a
//    line's next unit lies is the same for all lines: each block makes a table of it.
//
// Where units are of 1 or 2 bytes and neighbours in a span belong to different lines, a thread takes a vector of them
// at a time (`copy_groups`): a unit each for a group of 16 or 8 lines, and so writes 4 bytes of each of these. That
// pays where single units would come from few banks of shared memory.
//
// So each axis of a tile runs within spans, within lines, or both: an axis that did neither would need a table for each
// line. At most two are cut: `along`, the outermost of the lines' axes, and `across`, the outermost of the spans'.
//
// `copy_units` moves units without a tile, in the destination's order: where a tile takes longer to be described than
// to be moved. Where a run is a multiple of three units, as that of an element of 3, 6, 12 or 24 bytes, it moves three
// at a time.
#pragma once

#include <cstdint>

#include "core/divider.hpp"
#include "core/strided.hpp"

namespace cornerturn::strided {

using cornerturn::divider;

// Threads of a block at most, and those of a multiprocessor that tiles leave registers for.
inline constexpr int kMostThreads = 256, kResidentThreads = 1536;
// The second where more registers are needed: for units of 1 byte, and for groups of lines.
inline constexpr int kResidentBytes = 1280, kResidentThreadsOfGroups = 1024;

// A thread of `copy_units` moves so many pieces, each a unit or three. It moves one where there are few pieces in all,
// which are over sooner, or where a piece has three units.
inline constexpr int kPiecesOfThread = 4;

// One axis of an index that counts several of them.
struct digit {
    divider by;                        // its extent; of no meaning for the last axis
    std::int64_t source, destination;  // bytes a step
};

// Which block, or which run, is where.
struct places {
    static constexpr int kMost = kMostAxes + 3;
    int rank = 0;
    digit axes[kMost];
};

struct units_work {
    const unsigned char* source;
    unsigned char* destination;
    unsigned pieces;
    places of_pieces;
};

struct rows_work {
    const unsigned char *source, *first, *last;  // from first to last: what may be read
    unsigned char* destination;
    std::int64_t run;               // bytes
    bool keeps_result;              // in the L2, where the caller lets lines be kept
    unsigned rows, rows_of_block;   // runs
    unsigned vectors;               // of a run, or of a piece of it: that a block moves
    divider by_vectors, by_pieces;  // pieces of a run
    places runs;
};

// One axis of a tile. Digits of a line's index, of a span's, or of a line's units.
struct tile_digit {
    divider by;
    int in_span, spans;                // a step: so many bytes within a span, or so many spans further on
    std::int64_t source, destination;  // a step, in bytes
};

struct tile_work {
    const unsigned char *source, *first, *last;
    unsigned char* destination;
    places tiles;  // the first two: along and across
    // Of the axes that are cut: a tile moves so many steps, or those that are left. It reads `halo` steps before, so
    // that its lines can end where sectors of memory do.
    int along_steps, across_steps, halo;
    std::int64_t along_extent, across_extent;
    std::int64_t along_source, along_destination, across_source;
    bool along_in_span;
    // By groups: the axis along which their lines follow each other, which is in no other list; whether that is
    // `across`, and else its steps; groups along it in a whole tile.
    bool across_in_group;
    int group_steps;
    std::int64_t group_destination;
    int unit;          // bytes
    bool whole_words;  // every line begins and ends at a word
    int group_table_at;
    divider by_groups;

    // Without the axes that are cut.
    int spans, lines;
    int span_bytes, line_units;
    int origin;  // of the first element in its span, in bytes

    static constexpr int kMost = 16;
    int line_rank, row_rank, span_rank;
    tile_digit line[kMost];  // of a line's units, the fastest first
    tile_digit rows[kMost];  // of lines
    tile_digit span[kMost];  // of spans

    divider by_chunks;              // vectors that a span may touch
    int span_vectors;               // from span to span in shared memory
    int skew;                       // after 2^skew spans comes another vector, so that they lie in different banks
    int table_units, table_stride;  // the second in words, from copy to copy
    unsigned copies;                // of the table: see gather.hpp
    divider by_period;              // units, behind which the table repeats
    int period_bytes;               // from one to the next, within a span; where it does not repeat: 0
    int span_table_at, line_table_at, image_at;  // in shared memory; the first two where there are several axes
    std::int64_t spans_below, spans_above;       // how far spans lie before the first, and behind it
    int line_vectors;                            // that a line may touch
    int vectors_of_cut;                          // the same where it begins and ends at sectors
    bool whole_lines;                            // every line begins and ends at a vector
    unsigned lanes_log;                          // threads along a line, at most
    // From a vector of the spans that a thread reads to its next: so many spans further, and so many bytes within.
    unsigned spans_at_once;
    int bytes_at_once;
    bool fetch_lines;  // whole lines of the L2
};

}  // namespace cornerturn::strided
