// How the elements of a file are cut into tiles, each of which goes to other places of another file.
#pragma once

#include <cstdint>
#include <vector>

#include "core/strided.hpp"

namespace cornerturn::files {

// Steps are in bytes of the file that is read, and of the one that is written. A tile is so many steps along the axis.
struct file_axis {
    std::int64_t extent, source, destination;
    std::int64_t tile = 1, tiles = 1;
};

// Which part of the axes a tile is.
struct region {
    std::vector<std::int64_t> first, steps;
};

// Whole in memory, a tile lies in the order of the file that it was read from, and then of the one that it goes to.
class file_tiling {
public:
    // Of a copy from offset to offset, of which neither file has gaps. Tiles of at most so many bytes, or of one
    // element where that is more.
    file_tiling(const strided_copy& c, std::int64_t most_bytes);

    std::int64_t element_size() const { return element_size_; }
    std::int64_t tiles() const;
    std::int64_t tile_elements() const;  // at most
    region at(std::int64_t number) const;

    // Calls move(place in the tile, bytes, offset in the file) for each piece that is contiguous in a file, in its
    // order.
    template <class Move>
    void read_pieces(const region& r, Move move) const {
        each_piece(r, by_source_, &file_axis::source, source_, move);
    }
    template <class Move>
    void write_pieces(const region& r, Move move) const {
        each_piece(r, by_destination_, &file_axis::destination, destination_, move);
    }
    // Bytes of pieces, mostly.
    std::int64_t read_piece_bytes() const;

    // The tile's extents and its steps in memory, in elements: in the order in which it is read, and to be written.
    struct order {
        detail::axis_list extents, read, written;
    };
    order order_of(const region& r) const;

    // Tiles follow one another along the source, in bands of so many, each of which is contiguous there. So are the
    // parts of the destination that tiles fill together: how many there are, which one a tile is in, where it lies.
    std::int64_t tiles_of_band() const;
    std::int64_t bands() const { return tiles() / tiles_of_band(); }
    std::int64_t parts() const;
    std::int64_t part_of(const region& r) const;
    std::int64_t part_offset(std::int64_t part) const;
    std::int64_t part_bytes(std::int64_t part) const;

private:
    using numbers = std::vector<std::size_t>;

    const file_axis& slowest(const numbers& order) const { return axes_[order.back()]; }
    void extend(const numbers& order, std::int64_t most_elements, std::int64_t goal);

    template <class Move>
    void each_piece(const region& r, const numbers& order, std::int64_t file_axis::*step, std::int64_t offset,
                    Move move) const {
        std::int64_t bytes = element_size_, pieces = 1;
        std::size_t inner = 0;
        for (std::size_t i : order) offset += r.first[i] * (axes_[i].*step);
        for (; inner < order.size() && axes_[order[inner]].*step == bytes; ++inner) bytes *= r.steps[order[inner]];
        for (std::size_t k = inner; k < order.size(); ++k) pieces *= r.steps[order[k]];
        std::vector<std::int64_t> index(axes_.size(), 0);
        for (std::int64_t n = 0; n < pieces; ++n) {
            move(n * bytes, bytes, offset);
            for (std::size_t k = inner; k < order.size(); ++k) {
                const std::size_t i = order[k];
                offset += axes_[i].*step;
                if (++index[i] < r.steps[i]) break;
                offset -= r.steps[i] * (axes_[i].*step);
                index[i] = 0;
            }
        }
    }

    std::int64_t source_, destination_, element_size_;  // offsets, and bytes
    std::vector<file_axis> axes_;
    numbers by_source_, by_destination_;  // the fastest axis first
};

}  // namespace cornerturn::files
