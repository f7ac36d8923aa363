// How a copy between tensors in host memory is cut into tiles, and how a tile is moved.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/strided.hpp"
#include "host/kernels.hpp"

namespace cornerturn::host {

inline constexpr std::int64_t kMostListed = 4096;  // rows or columns of more than one axis

// Strides are in bytes. `tile` is the steps of a tile along the axis.
struct tiled_axis {
    std::int64_t extent, tile, chunks;
    std::ptrdiff_t source, destination, image;

    std::int64_t last_steps() const { return (extent - 1) % tile + 1; }  // of the last tile
};

// The numbers of some axes.
class axis_numbers {
public:
    void add(int axis) { numbers_[static_cast<std::size_t>(count_++)] = axis; }
    int size() const { return count_; }
    int operator[](int i) const { return numbers_[static_cast<std::size_t>(i)]; }
    const int* begin() const { return numbers_.data(); }
    const int* end() const { return begin() + count_; }
    axis_numbers first(int count) const {
        axis_numbers some = *this;
        some.count_ = count;
        return some;
    }

private:
    int count_ = 0;
    std::array<int, kMostAxes> numbers_{};
};

// A tile is moved plane by plane into an image, and the image is written to the destination. An image holds a tile in
// the destination's order, without the gaps between its pieces there. A plane has rows and columns. The elements of a
// row are contiguous in the source, except for gaps that are moved with them. The elements of a column are contiguous
// in the image.
struct tiling {
    enum class transfer {
        gathered,    // element by element
        in_vectors,  // in blocks of 16 bytes, transposed in registers
        streamed,    // in whole lines of the destination, past the caches
        packed,      // so few packed rows or columns that vectors hold several
        joined,      // few rows, which are packed first
        shuffled     // groups of bytes that are close together on both sides
    };

    std::int64_t size;  // of an element: bytes that are contiguous on both sides
    int rank;
    std::array<tiled_axis, kMostAxes> axes;  // in the order of the destination's strides
    std::int64_t tiles;
    std::int64_t image_bytes;  // 0: planes are moved straight into the destination
    std::int64_t room;         // for the image, and for gaps after it
    axis_numbers pieces;       // axes from one piece of the destination to another
    transfer how;
    axis_numbers rows;    // axes from row to row: the first ones
    axis_numbers cols;    // along a row, by the source's stride; shuffled: from one position of groups to another
    axis_numbers planes;  // the other axes
    std::vector<std::ptrdiff_t> rows_at, cols_at;  // in the source and in the image; shuffled: positions in both
    // Shuffled: a group has all steps along the row axes except the last, and steps_of_group along the last. The rest
    // of a tile, or of the last tile, is a shorter group.
    std::int64_t steps_of_group;
    shuffle_order group;
    std::array<shuffle_order, 2> shorter;
    std::uintptr_t loose_until;  // elements of the source that end before this can be read together with what follows
    // For large copies: the lines of the source that a tile needs, in the order in which it reads them. `ahead` of them
    // are fetched before they are read, and ahead_of_tile before the tile begins, because writing an image reads
    // nothing.
    std::vector<std::ptrdiff_t> lines_at;
    std::int64_t ahead, ahead_of_tile;

    // Columns of a plane with steps(i) steps along axis i, including the gaps between them.
    template <class Steps>
    std::int64_t columns(Steps steps) const {
        std::int64_t all = 1;
        for (int i : cols) all += (steps(i) - 1) * std::abs(axis(i).source) / size;
        return all;
    }
    const tiled_axis& axis(int i) const { return axes[static_cast<std::size_t>(i)]; }
    tiled_axis& axis(int i) { return axes[static_cast<std::size_t>(i)]; }
    std::int64_t lines() const { return static_cast<std::int64_t>(lines_at.size()); }
};

// For a copy that is not empty and has axes. `large`: neither side fits the caches.
tiling tile(const strided_copy& c, bool large, const kernels& use);

// Chooses rows, columns and planes, and how they are moved. `by_source`: the axes by the source's stride, without those
// that repeat it.
void choose_plane(tiling& t, const axis_numbers& by_source, const kernels& use);

// A description in words.
std::string text(const tiling& t);

}  // namespace cornerturn::host
