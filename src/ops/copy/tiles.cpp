#include "ops/copy/tiles.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "cornerturn/error.hpp"
#include "ops/copy/sectors.hpp"

namespace cornerturn {
namespace {

constexpr std::int64_t kMostTiles = 0x7fffffff, kVectorBytes = 16;

using steps_of_axes = std::vector<std::int64_t>;  // of a tile

// Axes in the order of the source's stride. Axes that repeat the source come last.
std::vector<int> by_source(const strided_words& w) {
    std::vector<int> order;
    for (int i = 0; i < w.rank; ++i) order.push_back(i);
    const auto key = [&](int i) { return static_cast<std::uint64_t>(std::abs(w.axes[i].source)) - 1; };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    return order;
}

// Whether the words of every tile, in that order, come in whole vectors of 16 bytes.
bool in_vectors(const strided_words& w, const steps_of_axes& steps, const std::vector<int>& order,
                std::int64_t strided_axis::*stride, int unit, std::uintptr_t begin) {
    std::int64_t behind = unit;  // bytes that are contiguous
    std::uint64_t others = begin;
    bool joined = true;
    for (int i : order) {
        const strided_axis& a = w.axes[i];
        const std::int64_t inside = steps[static_cast<std::size_t>(i)];
        const bool here = joined && inside > 1 && a.*stride == behind;
        // The step from tile to tile, or from one contiguous piece to the next.
        if (!here && inside > 1) others |= static_cast<std::uint64_t>(a.*stride);
        if (a.extent > inside) others |= static_cast<std::uint64_t>(a.*stride * inside);
        if (here) behind *= inside;
        joined = here && inside == a.extent;
    }
    return (others | static_cast<std::uint64_t>(behind)) % kVectorBytes == 0;
}

tile_layout layout_of(const strided_words& w, const steps_of_axes& steps) {
    tile_layout p{};
    p.source = w.source;
    p.destination = w.destination;
    p.unit = w.unit;
    p.source_unit = w.source_unit;
    p.elements = w.elements;
    p.first_factor = w.first_factor;
    if (w.words == 0) return p;
    tile_layout::cut_axis* const cuts[] = {&p.rows, &p.cols};
    for (tile_layout::cut_axis* c : cuts) *c = {1, 1, divider(1), 0, 0, 0};
    std::vector<int> cut_of(static_cast<std::size_t>(w.rank), -1), place(static_cast<std::size_t>(w.rank));
    int cut = 0;
    std::int64_t tiles = 1;
    p.words = 1;
    const std::vector<int> source_order = by_source(w);
    for (int i : source_order) {
        const std::int64_t inside = steps[static_cast<std::size_t>(i)];
        place[static_cast<std::size_t>(i)] = p.words;
        p.words *= static_cast<int>(inside);
    }
    for (int i = 0; i < w.rank; ++i) {
        const strided_axis& a = w.axes[i];
        const std::int64_t inside = steps[static_cast<std::size_t>(i)], along = (a.extent + inside - 1) / inside;
        if (__builtin_mul_overflow(tiles, along, &tiles) || tiles > kMostTiles)
            throw unsupported("a grid has at most 2147483647 blocks");
        if (inside == 1) {
            p.outer_extents[p.outer_rank] = a.extent;
            p.outer_factors[p.outer_rank] = a.factor;
            p.outer[p.outer_rank++] = {divider(static_cast<unsigned>(a.extent)), a.source, a.destination};
        } else if (inside < a.extent) {
            cut_of[static_cast<std::size_t>(i)] = cut;
            *cuts[cut++] = {
                a.extent, static_cast<int>(inside), divider(static_cast<unsigned>(along)), a.source, a.destination,
                a.factor};
        }
    }
    p.tiles = static_cast<unsigned>(tiles);
    const auto digits = [&](const std::vector<int>& order, std::int64_t strided_axis::*stride, inner_digit* into) {
        int rank = 0;
        for (int i : order) {
            const auto at = static_cast<std::size_t>(i);
            if (steps[at] > 1)
                into[rank++] = {divider(static_cast<unsigned>(steps[at])), w.axes[i].*stride, cut_of[at], place[at],
                                w.axes[i].factor};
        }
        return rank;
    };
    std::vector<int> destination_order = source_order;
    std::sort(destination_order.begin(), destination_order.end());
    p.rank = digits(source_order, &strided_axis::source, p.read);
    digits(destination_order, &strided_axis::destination, p.write);
    p.read_vectors = in_vectors(w, steps, source_order, &strided_axis::source, w.source_unit,
                                reinterpret_cast<std::uintptr_t>(w.source));
    p.write_vectors = in_vectors(w, steps, destination_order, &strided_axis::destination, w.unit,
                                 reinterpret_cast<std::uintptr_t>(w.destination));
    return p;
}

// Enlarges a tile that is small because both sides have axes in common. At most two axes stay cut.
void grow(const strided_words& w, steps_of_axes& steps) {
    constexpr std::int64_t kArea = 4 << 10;  // bytes
    std::int64_t area = w.unit;
    for (std::int64_t inside : steps) area *= inside;
    for (int i = 0; i < w.rank && area < kArea; ++i) {
        const std::int64_t extent = w.axes[i].extent;
        std::int64_t& inside = steps[static_cast<std::size_t>(i)];
        const std::int64_t others = area / inside;
        std::int64_t wanted = (kArea + others - 1) / others;
        if (wanted > kSectorBytes) wanted = (wanted + kSectorBytes - 1) / kSectorBytes * kSectorBytes;
        wanted = std::min(extent, wanted);
        int cuts = 0;
        for (int k = 0; k < w.rank; ++k) {
            const std::int64_t other = steps[static_cast<std::size_t>(k)];
            cuts += k != i && other > 1 && other < w.axes[k].extent;
        }
        if (wanted <= inside || (wanted < extent && cuts == 2)) continue;
        inside = wanted;
        area = others * inside;
    }
}

}  // namespace

strided_words words_of(const strided_work& work) {
    const strided_copy c = canonical(work);
    strided_words w{};
    w.source = reinterpret_cast<const unsigned char*>(c.source);
    w.destination = reinterpret_cast<unsigned char*>(c.destination);
    if (c.is_empty()) return w;
    w.unit = c.unit();
    w.source_unit = c.source_unit();
    w.elements = w.unit / work.element_size;
    w.words = c.bytes() / w.unit;
    w.first_factor = c.by.first;
    if (c.run > w.unit) w.axes[w.rank++] = {c.run / w.unit, w.source_unit, w.unit};
    for (int i = 0; i < c.rank; ++i) w.axes[w.rank++] = c.axes[static_cast<std::size_t>(i)];
    return w;
}

int strided_words::fastest_of_source() const {
    const std::vector<int> order = by_source(*this);
    return order.empty() || axes[order.front()].source == 0 ? -1 : order.front();
}

tile_layout layout_of_two_axes(const strided_words& words, int steps, const char*& why) {
    why = nullptr;
    const int across = words.fastest_of_source();
    if (across <= 0) {
        if (words.words > 0)
            why = across < 0 ? "the source is a single word and has no axis: permute/merged moves it"
                             : "both sides have the same fastest axis: permute/merged reads along it";
        return {};
    }
    steps_of_axes inside(static_cast<std::size_t>(words.rank), 1);
    for (int i : {0, across}) inside[static_cast<std::size_t>(i)] = std::min<std::int64_t>(steps, words.axes[i].extent);
    return layout_of(words, inside);
}

tile_layout layout_of_lines(const strided_words& words, int line) {
    steps_of_axes inside(static_cast<std::size_t>(words.rank), 1);
    const std::vector<int> of_source = by_source(words);
    const auto take = [&](auto axis_at, std::int64_t strided_axis::*stride, int unit) {
        std::int64_t bytes = unit;
        for (int k = 0; k < words.rank && bytes < line; ++k) {
            const int i = axis_at(k);
            const strided_axis& a = words.axes[i];
            if (std::abs(a.*stride) > 2 * bytes && k > 0) break;  // gaps that no longer piece closes
            std::int64_t& steps = inside[static_cast<std::size_t>(i)];
            std::int64_t wanted = (line + bytes - 1) / bytes;
            // The next tile should begin at a sector too, if that takes at most twice the line.
            const std::int64_t whole = kSectorBytes / std::gcd(kSectorBytes, bytes);
            if (const std::int64_t up = (wanted + whole - 1) / whole * whole; up * bytes <= 2 * line) wanted = up;
            steps = std::max(steps, std::min(a.extent, wanted));
            bytes *= steps;
            if (steps < a.extent) break;
        }
    };
    take([](int k) { return k; }, &strided_axis::destination, words.unit);
    take([&](int k) { return of_source[static_cast<std::size_t>(k)]; }, &strided_axis::source, words.source_unit);
    grow(words, inside);
    return layout_of(words, inside);
}

}  // namespace cornerturn
