// How a tile is moved: what is predicted to take the fewest cycles.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "host/job.hpp"
#include "host/tiling.hpp"

namespace cornerturn::host {
namespace {

constexpr std::int64_t kMostListed = 4096;          // rows or columns of more than one axis
constexpr std::int64_t kNearestBytes = 16 * kKiB;   // of the nearest cache
constexpr std::int64_t kPageOfRows = 2 * kKiB;      // bytes of it that a row counts as, where rows are pages apart
constexpr double kCall = 20;                        // cycles, here and below: for a plane
constexpr double kElement = 1.2, kColumn = 5;       // gathered
constexpr double kFarLine = 5, kPartOfLine = 2;     // of a row that has left the nearest cache
constexpr double kPackedByte = 0.15;                // packed
constexpr double kJoinedByte = 0.2, kJoined = 1.5;  // joined: and for each column
constexpr double kShuffledPlace = 30;
constexpr std::int64_t kLeastJoined = 256;  // bytes

bool is_power_of_two(std::int64_t n) { return (n & (n - 1)) == 0; }

struct moved {
    double cycles;
    tiling::way how;
};

moved cheaper(const moved& a, const moved& b) { return b.cycles < a.cycles ? b : a; }

// A plane of so many rows and columns. `far`: for each row, to read it again.
moved gathered(const tiling& t, std::int64_t rows, std::int64_t cols, double far) {
    const double elements = static_cast<double>(rows * cols);
    const double wide = std::max(1.0, static_cast<double>(t.size) / kBlockBytes);
    const double columns = static_cast<double>(divide_up(rows, gathered_rows(cols)) * cols);
    return {kCall + elements * kElement * wide + static_cast<double>(rows) * far * wide + columns * kColumn,
            tiling::way::gathered};
}

// The same in blocks of 16 bytes: rows and columns that fill them in part take as long.
moved in_vectors(const tiling& t, const kernels& use, std::int64_t rows, std::int64_t cols, double far) {
    const bool taken = use.transpose_listed != nullptr && rows >= rows_of_vectors(t.size) && t.axis(0).image == t.size;
    if (!taken) return {HUGE_VAL, tiling::way::in_vectors};
    const bool widened = !is_power_of_two(t.size);
    const std::int64_t side = widened ? 12 / t.size : kBlockBytes / t.size;
    const int steps =
        std::countr_zero(static_cast<std::uint64_t>(side));  // of interleaving: the side is a power of two
    const double of_block = static_cast<double>(side) * ((widened ? 2.0 : 1.3) + steps / 4.0);
    const auto blocks = static_cast<double>(divide_up(rows, side) * divide_up(cols, side));
    return {kCall + blocks * of_block + static_cast<double>(rows) * far, tiling::way::in_vectors};
}

// One axis each, of which one is short and packed.
moved packed(const tiling& t, const tiled_axis& rows, const tiled_axis& cols) {
    const bool few_rows = rows.tile * t.size < kBlockBytes && cols.image == rows.tile * t.size;
    const bool few_cols = cols.tile * t.size < kBlockBytes && rows.source == cols.tile * t.size;
    const bool taken = t.size <= 8 && is_power_of_two(t.size) && rows.image == t.size && cols.source == t.size &&
                       (few_rows || few_cols);
    const double bytes = static_cast<double>(rows.tile * cols.tile * t.size);
    return {taken ? kCall + bytes * kPackedByte : HUGE_VAL, tiling::way::packed};
}

// Rows of one axis, few of them.
moved joined(const tiling& t, const tiled_axis& rows, std::int64_t cols) {
    const std::int64_t bytes = rows.tile * t.size;
    const bool taken = t.size <= 8 && is_power_of_two(t.size) && rows.image == t.size && bytes < kBlockBytes &&
                       cols * bytes >= kLeastJoined;
    return {taken ? 3 * kCall + static_cast<double>(cols * bytes) * kJoinedByte + static_cast<double>(cols) * kJoined
                  : HUGE_VAL,
            tiling::way::joined};
}

// For each row of so many of the first axes: to get its line from further off, because other rows were read since.
double far_lines(const tiling& t, const axis_numbers& by_source, int row_axes, std::int64_t col_bytes) {
    const std::int64_t step = std::abs(t.axis(0).source);
    std::int64_t meanwhile = step == 0                ? 0
                             : step % kPageBytes == 0 ? kPageOfRows
                                                      : std::min<std::int64_t>(kLineBytes, step);
    for (int i = 0; i < row_axes && (by_source.size() == 0 || i != by_source[0]); ++i) meanwhile *= t.axis(i).tile;
    if (meanwhile <= kNearestBytes || col_bytes >= kLineBytes) return 0;
    return col_bytes == t.size ? kFarLine : kPartOfLine;
}

// Elements of a tile that are moved: what is repeated is not.
std::int64_t moved_elements(const tiling& t, int first_axis = 0) {
    std::int64_t all = 1;
    for (int i = first_axis; i < t.rank; ++i) {
        if (t.axis(i).image != 0) all *= t.axis(i).tile;
    }
    return all;
}

// Axes behind which a row or a column of the plane ends, and elements up to there.
struct prefixes {
    axis_numbers axes;
    std::vector<std::int64_t> elements{1};

    // False where it cannot go on.
    bool add(int axis, const tiled_axis& a) {
        if (axes.size() > 0 && elements.back() * a.tile > kMostListed) return false;
        axes.add(axis);
        elements.push_back(elements.back() * a.tile);
        return a.tile == a.extent;
    }
};

// Elements that lie close together on both sides are moved by shuffles of bytes where that takes less than so many
// cycles: groups of whole axes, and of some steps along the next.
void try_groups(tiling& t, const kernels& use, double least) {
    if (t.size > 8 || t.axis(0).image != t.size) return;
    std::int64_t below = 0, above = 0, bytes = t.size;
    const auto fits = [&](const tiled_axis& a, std::int64_t steps) {
        return a.image == bytes && bytes * steps <= kMostShuffled &&
               above - below + (steps - 1) * std::abs(a.source) + t.size <= kMostShuffled;
    };
    int axes = 0;
    for (; axes < t.rank - 1 && t.axis(axes).tile == t.axis(axes).extent && fits(t.axis(axes), t.axis(axes).tile);
         ++axes) {
        const tiled_axis& a = t.axis(axes);
        (a.source < 0 ? below : above) += (a.tile - 1) * a.source;
        bytes *= a.tile;
    }
    const tiled_axis& last = t.axis(axes);
    std::int64_t steps = 1;
    while (steps < last.tile && fits(last, steps + 1)) ++steps;
    if (bytes * steps < 2 * t.size) return;
    // Places of groups: of the axes behind, of which the last alone is cut.
    axis_numbers behind;
    std::int64_t places = 1;
    bool whole = last.tile == last.extent;
    for (int i = axes + 1; i < t.rank && whole && t.axis(i).image != 0; ++i) {
        if (places * t.axis(i).tile > kMostListed) break;
        behind.add(i);
        places *= t.axis(i).tile;
        whole = t.axis(i).tile == t.axis(i).extent;
    }
    const std::int64_t all = moved_elements(t, axes + 1);
    const double taken = static_cast<double>(all * divide_up(last.tile, steps)) * use.shuffle_cost +
                         static_cast<double>(all / places) * kShuffledPlace;
    if (taken >= least) return;
    t.how = tiling::way::shuffled;
    t.rows = {};
    for (int i = 0; i <= axes; ++i) t.rows.add(i);
    t.cols = behind;
    t.steps_of_group = steps;
    t.group_below = below;
    t.group_above = above;
    const std::int64_t backwards = last.source < 0 ? (steps - 1) * last.source : 0;
    for (std::int64_t i = 0; i < bytes * steps; ++i) {
        std::int64_t from = i % t.size - below - backwards, element = i / t.size;
        for (int k = 0; k < axes; element /= t.axis(k++).tile) from += element % t.axis(k).tile * t.axis(k).source;
        t.order[static_cast<std::size_t>(i)] = static_cast<byte>(from + element * last.source);
    }
}

}  // namespace

void choose_plane(tiling& t, const axis_numbers& by_source, const kernels& use) {
    prefixes rows, cols;
    std::ptrdiff_t next = t.axis(0).image;
    for (int i = 0; i < t.rank && t.axis(i).image == next && rows.add(i, t.axis(i)); ++i) next *= t.axis(i).tile;
    next = t.size;
    for (int i : by_source) {
        if (std::abs(t.axis(i).source) != next || !cols.add(i, t.axis(i))) break;
        next *= t.axis(i).tile;
    }
    double least = HUGE_VAL;
    for (int r = 0; r <= rows.axes.size(); ++r) {
        for (int k = 0; k <= cols.axes.size(); ++k) {
            if (std::any_of(cols.axes.begin(), cols.axes.begin() + k, [&](int i) { return i < r; })) break;
            const std::int64_t row_count = rows.elements[static_cast<std::size_t>(r)];
            const std::int64_t col_count = cols.elements[static_cast<std::size_t>(k)];
            const double far = far_lines(t, by_source, r, col_count * t.size);
            moved by = cheaper(gathered(t, row_count, col_count, far), in_vectors(t, use, row_count, col_count, far));
            if (r == 1) by = cheaper(by, joined(t, t.axis(0), col_count));
            if (r == 1 && k == 1) by = cheaper(by, packed(t, t.axis(0), t.axis(cols.axes[0])));
            const double cycles = by.cycles * static_cast<double>(moved_elements(t) / (row_count * col_count));
            if (cycles >= least) continue;
            least = cycles;
            t.how = by.how;
            t.rows = rows.axes.first(r);
            t.cols = cols.axes.first(k);
        }
    }
    try_groups(t, use, least);
    t.planes = {};
    for (int i = t.rows.size(); i < t.rank; ++i) {
        const bool along_rows = std::find(t.cols.begin(), t.cols.end(), i) != t.cols.end();
        if (!along_rows && t.axis(i).tile > 1 && t.axis(i).image != 0) t.planes.add(i);
    }
}

}  // namespace cornerturn::host
