#include "files/file_tiles.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cornerturn::files {
namespace {

constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kMostElement = 64 * 1024;  // longer runs are cut
constexpr double kWrittenToRead = 8;              // ratio of piece lengths: short writes cost more than short reads

}  // namespace

file_tiling::file_tiling(const strided_copy& c, element_bytes least, std::int64_t most_bytes)
    : source_(static_cast<std::int64_t>(c.source)),
      destination_(static_cast<std::int64_t>(c.destination)),
      element_{c.source_run(), c.run} {
    // A conversion needs its elements. There is always an axis, for the loops below.
    if (c.rank == 0 || ((c.converts() || c.run > kMostElement) && c.run > least.written && c.rank < kMostAxes)) {
        axes_.push_back({c.run / least.written, least.read, least.written});
        element_ = least;
    }
    for (int i = 0; i < c.rank; ++i) {
        const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
        axes_.push_back({a.extent, a.source, a.destination, a.factor});
    }
    by_source_.resize(axes_.size());
    std::iota(by_source_.begin(), by_source_.end(), std::size_t{0});
    by_destination_ = by_source_;
    const auto sort = [&](numbers& axis_sequence, std::int64_t file_axis::*step) {
        std::sort(axis_sequence.begin(), axis_sequence.end(),
                  [&](std::size_t a, std::size_t b) { return axes_[a].*step < axes_[b].*step; });
    };
    sort(by_source_, &file_axis::source);
    sort(by_destination_, &file_axis::destination);
    // A piece that is read has an eighth of the length of a piece that is written. But it is at least a page long, if
    // written pieces can then be a page, too.
    const std::int64_t most = std::max<std::int64_t>(1, most_bytes / element_.both());
    // The elements of a piece that is read if both pieces have as many bytes.
    const double as_long = std::sqrt(static_cast<double>(most) * static_cast<double>(element_.written) /
                                     static_cast<double>(element_.read));
    const auto shortest = static_cast<std::int64_t>(as_long / std::sqrt(kWrittenToRead));
    const std::int64_t page = std::max<std::int64_t>(1, kPage / element_.read);
    extend(by_source_, element_.read, most, std::max(shortest, std::min(static_cast<std::int64_t>(as_long), page)));
    extend(by_destination_, element_.written, most, most);
    extend(by_source_, element_.read, most, most);
    for (file_axis& a : axes_) a.tiles = (a.extent + a.tile - 1) / a.tile;
}

// Enlarges the tile along the axes in `axis_sequence`, until a piece has `goal` elements or the tile has
// `most_elements`. A piece of more than two pages becomes a whole number of pages. `element` is an element's size in
// the file of these pieces.
void file_tiling::extend(const numbers& axis_sequence, std::int64_t element, std::int64_t most_elements,
                         std::int64_t goal) {
    const std::int64_t page = std::max<std::int64_t>(1, kPage / element);
    std::int64_t piece = 1;
    for (std::size_t i : axis_sequence) {
        file_axis& a = axes_[i];
        const std::int64_t others = tile_elements() / a.tile;
        std::int64_t extent = std::min(most_elements / others, std::max<std::int64_t>(1, goal / piece));
        const std::int64_t of_page = std::max<std::int64_t>(1, page / piece);
        if (extent > 2 * of_page) extent = extent / of_page * of_page;
        a.tile = std::max(a.tile, std::min(a.extent, extent));
        piece *= a.tile;
        if (a.tile < a.extent) return;
    }
}

std::int64_t file_tiling::tiles() const {
    std::int64_t all = 1;
    for (const file_axis& a : axes_) all *= a.tiles;
    return all;
}

std::int64_t file_tiling::tile_elements() const {
    std::int64_t all = 1;
    for (const file_axis& a : axes_) all *= a.tile;
    return all;
}

region file_tiling::at(std::int64_t number) const {
    region r{std::vector<std::int64_t>(axes_.size()), std::vector<std::int64_t>(axes_.size())};
    for (std::size_t i : by_source_) {
        const file_axis& a = axes_[i];
        r.first[i] = number % a.tiles * a.tile;
        r.extents[i] = std::min(a.tile, a.extent - r.first[i]);
        number /= a.tiles;
    }
    return r;
}

std::int64_t file_tiling::read_piece_bytes() const {
    std::int64_t bytes = element_.read;
    for (std::size_t i : by_source_) {
        bytes *= axes_[i].tile;
        if (axes_[i].tile < axes_[i].extent) break;
    }
    return bytes;
}

file_tiling::tile_layout file_tiling::layout_of(const region& r) const {
    std::vector<std::int64_t> read(axes_.size()), written(axes_.size());
    const auto fill = [&](const numbers& axis_sequence, std::vector<std::int64_t>& strides) {
        std::int64_t stride = 1;
        for (std::size_t i : axis_sequence) {
            strides[i] = stride;
            stride *= r.extents[i];
        }
    };
    fill(by_source_, read);
    fill(by_destination_, written);
    tile_layout layout{r.extents, read, written};
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        if (axes_[i].factor == 0) continue;
        layout.factor_axis = static_cast<int>(i);
        layout.first_factor = r.first[i] * axes_[i].factor;
    }
    return layout;
}

std::int64_t file_tiling::tiles_of_band() const { return tiles() / slowest(by_source_).tiles; }

std::int64_t file_tiling::parts() const { return slowest(by_destination_).tiles; }

std::int64_t file_tiling::part_of(const region& r) const {
    return r.first[by_destination_.back()] / slowest(by_destination_).tile;
}
std::int64_t file_tiling::part_offset(std::int64_t part) const {
    const file_axis& a = slowest(by_destination_);
    return destination_ + part * a.tile * a.destination;
}
std::int64_t file_tiling::part_bytes(std::int64_t part) const {
    const file_axis& a = slowest(by_destination_);
    return std::min(a.tile, a.extent - part * a.tile) * a.destination;
}

}  // namespace cornerturn::files
