// Cuts the elements of a file into tiles. A tile fits in memory, and its elements go to different places of another
// file.
#pragma once

#include <cstdint>
#include <vector>

#include "core/strided.hpp"

namespace cornerturn::files {

// The bytes of an element in the file that is read and in the file that is written.
struct element_bytes {
    std::int64_t read, written;

    std::int64_t both() const { return read + written; }
};

// `source` and `destination` are the strides in bytes in the file that is read and in the file that is written.
// `factor` is the stride of a conversion's scales and biases. `tile` is the extent of a tile.
struct file_axis {
    std::int64_t extent, source, destination, factor = 0;
    std::int64_t tile = 1, tiles = 1;
};

// The part of each axis that a tile covers.
struct region {
    std::vector<std::int64_t> first, extents;
};

// In memory, a tile first has the order of the source file, and then the order of the destination file.
class file_tiling {
public:
    // `c` copies from offset to offset, and neither file has gaps. No tile cuts an element of `least` bytes. A tile has
    // at most `most_bytes`, before and after the move together, but at least one element.
    file_tiling(const strided_copy& c, element_bytes least, std::int64_t most_bytes);

    element_bytes element() const { return element_; }  // of what a tile's layout counts
    std::int64_t tiles() const;
    std::int64_t tile_elements() const;  // of the largest tile
    region at(std::int64_t number) const;

    // Calls move(offset in the tile, bytes, offset in the file) for each piece that is contiguous in the file, in the
    // order of the file.
    template <class Move>
    void read_pieces(const region& r, Move move) const {
        each_piece(r, by_source_, &file_axis::source, element_.read, source_, move);
    }
    template <class Move>
    void write_pieces(const region& r, Move move) const {
        each_piece(r, by_destination_, &file_axis::destination, element_.written, destination_, move);
    }
    // Bytes of a piece that is read, except for pieces at the edges.
    std::int64_t read_piece_bytes() const;

    // The tile's extents, and its strides in memory before and after the move, in elements. The tile has the scales and
    // biases from number `first_factor` on, one for each index of its axis `factor_axis`.
    struct tile_layout {
        detail::axis_list extents, read, written;
        int factor_axis = 0;
        std::int64_t first_factor = 0;
    };
    tile_layout layout_of(const region& r) const;

    // Tiles are numbered along the source. A band is a group of consecutive tiles whose bytes are contiguous in the
    // source.
    std::int64_t tiles_of_band() const;
    std::int64_t bands() const { return tiles() / tiles_of_band(); }
    // A part is a contiguous piece of the destination that several tiles fill together.
    std::int64_t parts() const;
    std::int64_t part_of(const region& r) const;
    std::int64_t part_offset(std::int64_t part) const;
    std::int64_t part_bytes(std::int64_t part) const;

private:
    using numbers = std::vector<std::size_t>;

    const file_axis& slowest(const numbers& axis_sequence) const { return axes_[axis_sequence.back()]; }
    void extend(const numbers& axis_sequence, std::int64_t element, std::int64_t most_elements, std::int64_t goal);

    template <class Move>
    void each_piece(const region& r, const numbers& axis_sequence, std::int64_t file_axis::*step, std::int64_t bytes,
                    std::int64_t offset, Move move) const {
        std::int64_t pieces = 1;
        std::size_t inner = 0;
        for (std::size_t i : axis_sequence) offset += r.first[i] * (axes_[i].*step);
        for (; inner < axis_sequence.size() && axes_[axis_sequence[inner]].*step == bytes; ++inner)
            bytes *= r.extents[axis_sequence[inner]];
        for (std::size_t k = inner; k < axis_sequence.size(); ++k) pieces *= r.extents[axis_sequence[k]];
        std::vector<std::int64_t> index(axes_.size(), 0);
        for (std::int64_t n = 0; n < pieces; ++n) {
            move(n * bytes, bytes, offset);
            for (std::size_t k = inner; k < axis_sequence.size(); ++k) {
                const std::size_t i = axis_sequence[k];
                offset += axes_[i].*step;
                if (++index[i] < r.extents[i]) break;
                offset -= r.extents[i] * (axes_[i].*step);
                index[i] = 0;
            }
        }
    }

    std::int64_t source_, destination_;  // offsets in the files
    element_bytes element_;
    std::vector<file_axis> axes_;
    numbers by_source_, by_destination_;  // axis numbers, the fastest axis first
};

}  // namespace cornerturn::files
