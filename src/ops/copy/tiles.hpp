// How rungs cut a copy into tiles: host code that kernel files call. A tile takes the fastest axes of the destination,
// so that a warp writes neighbours, and the fastest of the source, so that it reads neighbours.
#pragma once

#include "core/divider.hpp"
#include "core/strided.hpp"
#include "move/kernels/work.hpp"
#include "ops/copy/strided_work.hpp"

namespace cornerturn {

// A copy in words, the widest that alignment and the runs of both sides allow. The words of a conversion are elements,
// which have another size in the source. The axes are sorted by the destination's
// stride, which is positive. The words of a run are an axis too.
struct strided_words {
    const unsigned char* source;
    unsigned char* destination;
    int unit;         // bytes in a word
    int source_unit;  // in the source
    int elements;     // in a word
    int rank;
    strided_axis axes[kMostAxes + 1];
    std::int64_t words;
    std::int64_t first_factor;  // of a conversion

    // The axis with the smallest step in the source, without axes that repeat it. -1 if there is none.
    int fastest_of_source() const;
};
strided_words words_of(const strided_work& work);

// One axis within a tile, as a digit of a word's number. The fastest comes first.
struct inner_digit {
    divider by;
    std::int64_t stride;  // bytes
    int cut;              // 0, 1: along the tiling's rows or columns, so the last tiles are not whole; -1: neither
    int place;            // words further in the tile, as it is read
    std::int64_t factor;  // scales of a conversion
};

struct tile_layout {
    const unsigned char* source;
    unsigned char* destination;
    int unit, source_unit, elements;
    unsigned tiles;  // 0: there is nothing to do

    // The axes from which tiles are cut: steps in a tile, number of tiles, and bytes in a step. Tiles count columns
    // first, then rows, then the axes that are in no tile.
    struct cut_axis {
        std::int64_t extent;
        int steps;
        divider tiles;
        std::int64_t source, destination;
        std::int64_t factor;  // scales of a conversion in a step
    } rows, cols;
    int outer_rank;
    moves::digit outer[kMostAxes + 1];
    std::int64_t outer_extents[kMostAxes + 1], outer_factors[kMostAxes + 1];
    std::int64_t first_factor;  // of index 0 of every axis

    static constexpr int kMostInner = 16;
    int words, rank;
    inner_digit read[kMostInner], write[kMostInner];  // by the source's strides, and by the destination's
    // Whether words come in aligned, contiguous vectors of 16 bytes in the source, and in the destination.
    bool read_vectors, write_vectors;
};

// One axis of each side, with `steps` steps. If this is impossible, `why` says why; otherwise it is null.
tile_layout layout_of_two_axes(const strided_words& words, int steps, const char*& why);
// Takes enough axes of each side for contiguous pieces of `line` bytes on both, if the axes allow it.
tile_layout layout_of_lines(const strided_words& words, int line);

}  // namespace cornerturn
