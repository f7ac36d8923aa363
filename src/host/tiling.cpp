#include "host/tiling.hpp"

#include <algorithm>
#include <cstdlib>

#include "host/job.hpp"

namespace cornerturn::host {
namespace {

constexpr std::int64_t kTileBytes = 128 * kKiB;
constexpr std::int64_t kLeastTile = 16 * kKiB;
constexpr std::int64_t kSidesRatio = 2;           // bytes along the destination, divided by those along the source
constexpr std::int64_t kMostTile = 1 * kMiB;      // if axes of the source overlap, or lines are rounded up
constexpr std::int64_t kMostTogether = 4 * kKiB;  // bytes on both sides that count as one element when tiles are shaped
constexpr std::int64_t kNear = 64;                // bytes between two rows that count as one span
constexpr std::int64_t kRepeatedPiece = 256;     // of the destination: longer pieces are written again, not moved again
constexpr std::int64_t kMostRepeated = 16;       // times, in one tile
constexpr std::int64_t kLeastAhead = 64;         // lines
constexpr std::int64_t kSets = 1024, kWays = 8;  // of a second-level cache, at least

// The least elements that fill a line.
std::int64_t elements_of_line(const tiling& t) { return divide_up(kLineBytes, t.size); }

std::int64_t tile_bytes(const tiling& t) {
    std::int64_t bytes = t.size;
    for (int i = 0; i < t.rank; ++i) bytes *= t.axis(i).tile;
    return bytes;
}

// Enlarges the tile to at least `bytes` bytes, from its first to its last, along these axes.
void grow(tiling& t, const axis_numbers& along, std::ptrdiff_t tiled_axis::*stride, std::int64_t bytes) {
    std::int64_t span = t.size;
    for (int i : along) {
        tiled_axis& a = t.axis(i);
        const std::int64_t step = std::abs(a.*stride), whole = elements_of_line(t);
        if (span >= bytes || step > span + kNear) return;
        std::int64_t steps = divide_up(bytes, step);
        if (steps > whole) steps = divide_up(steps, whole) * whole;  // vectors take whole lines of rows
        const std::int64_t most = std::max<std::int64_t>(1, kMostTile / (tile_bytes(t) / a.tile));
        a.tile = std::max(a.tile, std::min({a.extent, steps, most}));
        span += (a.tile - 1) * step;
        if (a.tile < a.extent) return;
    }
}

// The square root, rounded down. std::sqrt alone would force programs in C to link libm.
std::int64_t root(std::int64_t square) {
    std::int64_t side = 0;
    for (std::int64_t bit = std::int64_t{1} << 30; bit > 0; bit /= 2)
        if ((side + bit) * (side + bit) <= square) side += bit;
    return side;
}

// Bytes that are together on both sides, in any order: the first axes of one side are those of the other.
std::int64_t together(const tiling& t, const axis_numbers& by_destination, const axis_numbers& by_source) {
    std::int64_t together = t.size, bytes = t.size, destination = t.size, source = t.size;
    std::uint64_t of_destination = 0, of_source = 0;  // a bit for each axis
    for (int i = 0; i < by_source.size(); ++i) {
        const tiled_axis &next = t.axis(by_destination[i]), &from = t.axis(by_source[i]);
        destination += (next.extent - 1) * next.destination;
        source += (from.extent - 1) * std::abs(from.source);
        bytes *= next.extent;
        if (bytes > kMostTogether || std::max(destination, source) > 2 * bytes) break;
        of_destination |= std::uint64_t{1} << by_destination[i];
        of_source |= std::uint64_t{1} << by_source[i];
        if (of_destination == of_source) together = bytes;
    }
    return together;
}

void choose_tile(tiling& t, const axis_numbers& by_destination, const axis_numbers& by_source) {
    const std::int64_t unit = together(t, by_destination, by_source);
    const std::int64_t side = root(kTileBytes * unit / kSidesRatio);
    grow(t, by_destination, &tiled_axis::destination, kSidesRatio * side);
    grow(t, by_source, &tiled_axis::source, side);
    std::int64_t elements = 1;  // of the axes before
    for (int i = 0; i < t.rank; ++i) {
        const std::int64_t bytes = tile_bytes(t);
        tiled_axis& a = t.axis(i);
        std::int64_t steps = bytes < kLeastTile ? a.tile * divide_up(kLeastTile, bytes) : a.tile;
        if (elements > 1 && elements <= kMostListed) steps = std::max(a.tile, std::min(steps, kMostListed / elements));
        a.tile = std::min(a.extent, steps);
        elements *= a.tile;
    }
    t.tiles = 1;
    for (int i = 0; i < t.rank; ++i) {
        tiled_axis& a = t.axis(i);
        if (a.source == 0 && a.tile == 1) a.tile = std::min(a.extent, kMostRepeated);
        a.chunks = divide_up(a.extent, a.tile);
        // Chunks of equal size; of whole lines if they were before.
        const std::int64_t whole = a.tile % elements_of_line(t) == 0 ? elements_of_line(t) : 1;
        a.tile = divide_up(divide_up(a.extent, a.chunks), whole) * whole;
        t.tiles *= a.chunks;
    }
}

// Rounds up to an odd number of lines. Pieces at such a distance are in different sets of a cache.
std::int64_t apart(std::int64_t bytes) {
    return bytes <= kLineBytes ? bytes : (divide_up(bytes, kLineBytes) | 1) * kLineBytes;
}

// If the source repeats elements, the image has them only once. The axis is then outside the pieces, which are written
// repeatedly. Returns the length of a piece.
std::int64_t lay_out_image(tiling& t) {
    std::int64_t next = t.size, piece = 0;
    for (int i = 0; i < t.rank; ++i) {
        tiled_axis& a = t.axis(i);
        if (piece == 0 && (a.destination != next || (a.source == 0 && next >= kRepeatedPiece))) {
            piece = next;
            next = apart(next);
        }
        if (piece > 0) t.pieces.add(i);
        const bool repeated = piece > 0 && a.source == 0;
        a.image = repeated ? 0 : next;
        if (!repeated) next *= a.tile;
        if (piece > 0 || a.tile == a.extent) continue;
        piece = next;
        next = apart(next);
    }
    t.image_bytes = next;
    return piece > 0 ? piece : next;
}

// Positions of all steps along some axes, the first axis fastest.
std::vector<std::ptrdiff_t> places(const tiling& t, const axis_numbers& along, std::ptrdiff_t tiled_axis::*stride,
                                   bool backwards = false) {
    std::vector<std::ptrdiff_t> all{0};
    for (int i : along) {
        const tiled_axis& a = t.axis(i);
        const std::ptrdiff_t step = backwards && a.source < 0 ? -(a.*stride) : a.*stride;
        const std::size_t before = all.size();
        for (std::int64_t k = 1; k < a.tile; ++k) {
            for (std::size_t j = 0; j < before; ++j) all.push_back(all[j] + k * step);
        }
    }
    return all;
}

// Where each column goes, in the source's order, even if an axis runs backwards. Gaps go after the image.
std::vector<std::ptrdiff_t> column_places(const tiling& t) {
    const std::vector<std::ptrdiff_t> elements = places(t, t.cols, &tiled_axis::image, true);
    const auto all = static_cast<std::size_t>(t.columns([&](int i) { return t.axis(i).tile; }));
    if (elements.size() == all) return elements;
    std::vector<std::ptrdiff_t> at(all, t.image_bytes);
    const std::vector<std::ptrdiff_t> from = places(t, t.cols, &tiled_axis::source, true);
    for (std::size_t i = 0; i < from.size(); ++i) at[static_cast<std::size_t>(from[i] / t.size)] = elements[i];
    return at;
}

void list_places(tiling& t) {
    t.room = t.image_bytes;
    if (t.how == tiling::transfer::shuffled) {
        t.rows_at = places(t, t.cols, &tiled_axis::source);
        t.cols_at = places(t, t.cols, &tiled_axis::image);
    } else {
        t.rows_at = places(t, t.rows, &tiled_axis::source);
        t.cols_at = column_places(t);
        const bool gaps = std::find(t.cols_at.begin(), t.cols_at.end(), t.image_bytes) != t.cols_at.end();
        if (gaps) t.room = 2 * t.image_bytes;
    }
}

// The most successive lines that stay in the second-level cache: no more of them fall into a set than it has ways.
std::int64_t longest_window(const std::vector<std::ptrdiff_t>& lines) {
    std::vector<int> of_set(kSets);
    const auto set = [&](std::size_t i) -> int& {
        return of_set[static_cast<std::size_t>(lines[i] / kLineBytes) % of_set.size()];
    };
    std::size_t begin = 0, shortest = lines.size();
    for (std::size_t end = 0; end < lines.size(); ++end) {
        ++set(end);
        while (set(end) > kWays) {
            shortest = std::min(shortest, end - begin);
            --set(begin++);
        }
    }
    return static_cast<std::int64_t>(shortest);
}

void list_lines(tiling& t) {
    const auto planes = places(t, t.planes, &tiled_axis::source);
    axis_numbers starting = t.rows;
    const bool shuffled = t.how == tiling::transfer::shuffled;
    const int last = shuffled ? t.rows[t.rows.size() - 1] : 0;
    const bool apart = std::abs(t.axis(last).source) > kLineBytes;  // steps along that axis
    if (shuffled) {
        starting = {};
        if (apart) starting.add(last);
        for (int i : t.cols) starting.add(i);
    }
    const auto starts = places(t, starting, &tiled_axis::source);
    // The range that is read from each start.
    std::ptrdiff_t lowest = 0, span = t.size;
    if (shuffled) {
        for (int i : t.rows) {
            if (i == last && apart) continue;
            const std::ptrdiff_t along = (t.axis(i).tile - 1) * t.axis(i).source;
            lowest += std::min<std::ptrdiff_t>(along, 0);
            span += std::abs(along);
        }
    } else {
        for (int i : t.cols) {
            const tiled_axis& a = t.axis(i);
            if (a.source < 0) lowest += (a.tile - 1) * a.source;
            span += (a.tile - 1) * std::abs(a.source);
        }
    }
    constexpr std::size_t kRemembered = 4096;
    std::vector<std::ptrdiff_t> seen(kRemembered, 1);  // 1 is no line
    for (std::ptrdiff_t plane : planes) {
        for (std::ptrdiff_t start : starts) {
            const std::ptrdiff_t from = lowest + plane + start;
            for (std::ptrdiff_t line = from & -kLineBytes; line < from + span; line += kLineBytes) {
                std::ptrdiff_t& before = seen[static_cast<std::size_t>(line / kLineBytes) % kRemembered];
                if (before == line) continue;
                before = line;
                t.lines_at.push_back(line);
            }
        }
    }
    const auto rows = static_cast<std::int64_t>(t.rows_at.size()), cols = static_cast<std::int64_t>(t.cols_at.size());
    const std::int64_t at_a_time = t.how == tiling::transfer::in_vectors || t.how == tiling::transfer::streamed
                                       ? elements_of_line(t)
                                       : gathered_rows(cols);
    const std::int64_t of_plane = t.lines() / static_cast<std::int64_t>(planes.size());
    const std::int64_t least = std::min(t.lines(), of_plane * std::min(rows, at_a_time) / rows + kLeastAhead);
    const std::int64_t window = longest_window(t.lines_at);
    t.ahead = std::min(least, window);
    t.ahead_of_tile = std::min({t.lines(), least + t.lines() / 2, window});
}

// It is safe to read between elements if no page lies between two of them.
std::uintptr_t loose_until(const strided_copy& c, const tiling& t, const axis_numbers& by_source) {
    std::int64_t span = c.run;
    for (int i : by_source) {
        const tiled_axis& a = t.axis(i);
        if (std::abs(a.source) - span >= kPageBytes) return 0;
        span += (a.extent - 1) * std::abs(a.source);
    }
    return c.source_end() - kMostLoose;
}

// Whether each row of the destination, along its contiguous axes, begins a line and consists of whole lines.
bool begins_lines(const strided_copy& c) {
    if (c.destination % kLineBytes != 0) return false;
    std::ptrdiff_t row = c.run;
    bool in_row = true;
    for (int i = 0; i < c.rank; ++i) {
        const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
        in_row = in_row && a.destination == row;
        if (in_row) {
            row *= a.extent;
        } else if (a.destination % kLineBytes != 0) {
            return false;
        }
    }
    return row % kLineBytes == 0;
}

// Chooses planes that are streamed. If it returns false, they are not, and all except the tile must be chosen again.
bool streams(tiling& t, const axis_numbers& by_source, const kernels& use) {
    if (use.stream_listed == nullptr) return false;
    for (int i = 0; i < t.rank; ++i) t.axis(i).image = t.axis(i).destination;
    choose_plane(t, by_source, use);
    if (t.how != tiling::transfer::in_vectors && t.size < kBlockBytes) return false;
    const auto of_whole = [&](const axis_numbers& axes) {
        std::int64_t all = 1;
        for (int i : axes) all *= t.axis(i).tile;
        return all;
    };
    // The same at the end of the last axis. No other axis is cut.
    const auto at_end = [&](const axis_numbers& axes) {
        if (axes.size() == 0) return std::int64_t{1};
        const tiled_axis& last = t.axis(axes[axes.size() - 1]);
        return of_whole(axes) / last.tile * last.last_steps();
    };
    if (of_whole(t.rows) * t.size % kLineBytes != 0 || at_end(t.rows) * t.size % kLineBytes != 0) return false;
    const std::int64_t cols = std::min(of_whole(t.cols), at_end(t.cols));
    if (cols < use.least_streamed) return false;
    t.how = tiling::transfer::streamed;
    return true;
}

}  // namespace

tiling tile(const strided_copy& c, bool large, const kernels& use) {
    tiling t{};
    t.size = c.run;
    t.rank = c.rank;
    axis_numbers by_destination;
    std::vector<int> moving;
    for (int i = 0; i < c.rank; ++i) {
        const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
        t.axis(i) = {a.extent, 1, 0, a.source, a.destination, a.destination};
        by_destination.add(i);
        if (a.source != 0) moving.push_back(i);
    }
    std::stable_sort(moving.begin(), moving.end(),
                     [&](int a, int b) { return std::abs(t.axis(a).source) < std::abs(t.axis(b).source); });
    axis_numbers by_source;
    for (int i : moving) by_source.add(i);
    t.loose_until = loose_until(c, t, by_source);
    choose_tile(t, by_destination, by_source);
    if (large && begins_lines(c) && streams(t, by_source, use)) {
        list_places(t);
        list_lines(t);
        return t;
    }
    // Pieces shorter than lines share lines with others. They are written straight to the destination.
    if (large && lay_out_image(t) < kLineBytes) {
        for (int i = 0; i < t.rank; ++i) t.axis(i).image = t.axis(i).destination;
        t.image_bytes = 0;
    }
    choose_plane(t, by_source, use);
    list_places(t);
    if (large) list_lines(t);
    return t;
}

std::string text(const tiling& t) {
    static constexpr const char* kWays[] = {
        "element by element", "transposed in vectors", "streamed in lines", "packed", "joined", "shuffled"};
    std::string all = "tiles of ";
    for (int i = 0; i < t.rank; ++i) all += (i > 0 ? " x " : "") + std::to_string(t.axis(i).tile);
    all += " elements of " + std::to_string(t.size) + " bytes, in the destination's order, ";
    all += kWays[static_cast<int>(t.how)];
    return all + (t.image_bytes > 0 ? ", by way of an image" : "");
}

}  // namespace cornerturn::host
