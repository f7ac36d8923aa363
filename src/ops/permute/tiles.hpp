// How rungs cut a copy into tiles: in host code, which kernel files call. A tile takes the fastest axes of the
// destination, so that a warp writes neighbours, and the fastest of the source, so that it reads neighbours.
#pragma once

#include "core/divider.hpp"
#include "core/strided.hpp"
#include "ops/copy/kernels/works.hpp"
#include "ops/permute/work.hpp"

namespace cornerturn {

// A copy by words, the widest that alignment and the runs of both sides allow. Its axes are sorted by the destination's
// stride, which is positive; the words of a run are an axis, too.
struct strided_words {
    const unsigned char* source;
    unsigned char* destination;
    int unit;      // bytes of a word
    int elements;  // of a word
    int rank;
    strided_axis axes[kMostAxes + 1];
    std::int64_t words;

    // The axis of the smallest step in the source, but for those that repeat it; -1 where there is none.
    int fastest_of_source() const;
};
strided_words words_of(const strided_work& work);

// One axis within a tile. Digits of a word's number, the fastest first.
struct inner_digit {
    divider by;
    std::int64_t stride;  // bytes
    int cut;              // 0, 1: along the tiling's rows or columns, so that the last tiles are not whole; -1: neither
    int place;            // words further on in the tile, as it is read
};

struct tile_plan {
    const unsigned char* source;
    unsigned char* destination;
    int unit, elements;
    unsigned tiles;  // 0: there is nothing to do

    // The axes that tiles are cut from: steps of a tile, tiles, and bytes a step. Tiles count columns first, then rows,
    // then the axes that are in no tile.
    struct cut_axis {
        std::int64_t extent;
        int steps;
        divider tiles;
        std::int64_t source, destination;
    } rows, cols;
    int outer_rank;
    strided::digit outer[kMostAxes + 1];
    std::int64_t outer_extents[kMostAxes + 1];

    static constexpr int kMostInner = 16;
    int words, rank;
    inner_digit read[kMostInner], write[kMostInner];  // by the source's strides, and by the destination's
    // Words of 16 bytes' worth lie behind each other, aligned, in the source, or in the destination.
    bool read_vectors, write_vectors;
};

// One axis of each side, so many steps. `why` is not null, and says why, where that is no way to do it.
tile_plan plan_of_two_axes(const strided_words& words, int steps, const char*& why);
// So many axes of each side that pieces of `line` bytes lie behind each other on both, if axes allow.
tile_plan plan_of_lines(const strided_words& words, int line);

}  // namespace cornerturn
