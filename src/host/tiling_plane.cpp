// Chooses how a tile is moved: the way with the fewest predicted cycles.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "host/job.hpp"
#include "host/tiling.hpp"

namespace cornerturn::host {
namespace {

constexpr std::int64_t kNearestBytes = 16 * kKiB;   // of the nearest cache
constexpr std::int64_t kPageOfRows = 2 * kKiB;      // bytes of it that a row counts as, if rows are pages apart
constexpr double kCall = 20;                        // cycles, here and below: for a plane
constexpr double kElement = 1.2, kColumn = 5;       // gathered
constexpr double kFarLine = 5, kPartOfLine = 2;     // of a row that has left the nearest cache
constexpr double kPackedByte = 0.15;                // packed
constexpr double kJoinedByte = 0.2, kJoined = 1.5;  // joined; the second for each column
constexpr double kShuffledPlace = 30;               // to begin the groups of a position
constexpr double kOrderedByte = 8;                  // of a group, to find the order
constexpr std::int64_t kLeastJoined = 256;          // bytes

bool is_power_of_two(std::int64_t n) { return (n & (n - 1)) == 0; }

struct moved {
    double cycles;
    tiling::transfer how;
};

moved cheaper(const moved& a, const moved& b) { return b.cycles < a.cycles ? b : a; }

// A plane of these rows and columns. `far`: cycles to read each row again.
moved gathered(const tiling& t, std::int64_t rows, std::int64_t cols, double far) {
    const double elements = static_cast<double>(rows * cols);
    const double wide = std::max(1.0, static_cast<double>(t.size) / kBlockBytes);
    const double columns = static_cast<double>(divide_up(rows, gathered_rows(cols)) * cols);
    return {kCall + elements * kElement * wide + static_cast<double>(rows) * far * wide + columns * kColumn,
            tiling::transfer::gathered};
}

// The same in blocks of 16 bytes. Blocks that rows and columns fill only in part take the same time.
moved in_vectors(const tiling& t, const kernels& use, std::int64_t rows, std::int64_t cols, double far) {
    const bool taken = use.transpose_listed != nullptr && rows >= rows_of_vectors(t.size) && t.axis(0).image == t.size;
    if (!taken) return {HUGE_VAL, tiling::transfer::in_vectors};
    const bool widened = !is_power_of_two(t.size);
    const std::int64_t side = widened ? 12 / t.size : kBlockBytes / t.size;
    const int steps =
        std::countr_zero(static_cast<std::uint64_t>(side));  // of interleaving: the side is a power of two
    const double of_block = static_cast<double>(side) * ((widened ? 2.0 : 1.3) + steps / 4.0);
    const auto blocks = static_cast<double>(divide_up(rows, side) * divide_up(cols, side));
    return {kCall + blocks * of_block + static_cast<double>(rows) * far, tiling::transfer::in_vectors};
}

// For packed rows or columns of few elements: cycles for those that fill no vector and are moved one by one.
double left_over(const tiling& t, std::int64_t many, std::int64_t few, bool few_cols) {
    const std::int64_t block = kBlockBytes / t.size, vector = kLineBytes / t.size;
    const std::int64_t left = few <= 4                       ? (many < block ? many : 0)
                              : few_cols && few * t.size > 8 ? (many - 1) % vector + 1
                                                             : (many - 1) % block + 1;
    return static_cast<double>(left * few) * kElement;
}

// For one axis each, one of them short and packed.
moved packed(const tiling& t, const tiled_axis& rows, const tiled_axis& cols) {
    const bool few_rows = rows.tile * t.size < kBlockBytes && cols.image == rows.tile * t.size;
    const bool few_cols = cols.tile * t.size < kBlockBytes && rows.source == cols.tile * t.size;
    const bool taken = t.size <= 8 && is_power_of_two(t.size) && rows.image == t.size && cols.source == t.size &&
                       (few_rows || few_cols);
    if (!taken) return {HUGE_VAL, tiling::transfer::packed};
    const std::int64_t many = few_rows ? cols.tile : rows.tile, few = few_rows ? rows.tile : cols.tile;
    const double bytes = static_cast<double>(many * few * t.size);
    return {kCall + bytes * kPackedByte + left_over(t, many, few, !few_rows), tiling::transfer::packed};
}

// For a few rows, all of one axis.
moved joined(const tiling& t, const tiled_axis& rows, std::int64_t cols) {
    const std::int64_t bytes = rows.tile * t.size;
    const bool taken = t.size <= 8 && is_power_of_two(t.size) && rows.image == t.size && bytes < kBlockBytes &&
                       cols * bytes >= kLeastJoined;
    if (!taken) return {HUGE_VAL, tiling::transfer::joined};
    const double packing = static_cast<double>(cols * bytes) * kJoinedByte + left_over(t, cols, rows.tile, false);
    return {3 * kCall + packing + static_cast<double>(cols) * kJoined, tiling::transfer::joined};
}

// Cycles to get the line of each row again from a farther cache, because other rows were read meanwhile.
double far_lines(const tiling& t, const axis_numbers& by_source, int row_axes, std::int64_t col_bytes) {
    const std::int64_t step = std::abs(t.axis(0).source);
    std::int64_t meanwhile = step == 0                ? 0
                             : step % kPageBytes == 0 ? kPageOfRows
                                                      : std::min<std::int64_t>(kLineBytes, step);
    for (int i = 0; i < row_axes && (by_source.size() == 0 || i != by_source[0]); ++i) meanwhile *= t.axis(i).tile;
    if (meanwhile <= kNearestBytes || col_bytes >= kLineBytes) return 0;
    return col_bytes == t.size ? kFarLine : kPartOfLine;
}

// Elements of a tile that are moved. Repeated elements are not.
std::int64_t moved_elements(const tiling& t, int first_axis = 0) {
    std::int64_t all = 1;
    for (int i = first_axis; i < t.rank; ++i) {
        if (t.axis(i).image != 0) all *= t.axis(i).tile;
    }
    return all;
}

// Axes at which a row or a column of the plane can end, and the elements up to there.
struct prefixes {
    axis_numbers axes;
    std::vector<std::int64_t> elements{1};
    std::vector<std::int64_t> places{1};  // with the gaps between them

    // False if it cannot go further.
    bool add(int axis, const tiled_axis& a, std::int64_t step) {
        const std::int64_t all = places.back() + (a.tile - 1) * step;
        if (axes.size() > 0 && all > kMostListed) return false;
        axes.add(axis);
        elements.push_back(elements.back() * a.tile);
        places.push_back(all);
        return a.tile == a.extent;
    }
    bool has_gaps(int count) const {
        return elements[static_cast<std::size_t>(count)] != places[static_cast<std::size_t>(count)];
    }
};

// Columns along the source. Gaps between them count as columns; an axis may at most double them.
prefixes columns(const tiling& t, const axis_numbers& by_source) {
    prefixes cols;
    for (int i : by_source) {
        const std::int64_t step = std::abs(t.axis(i).source), end = cols.places.back() * t.size;
        const bool gap =
            t.image_bytes > 0 && step > end && step <= 2 * end && step - end < kPageBytes && step % t.size == 0;
        if ((step != end && !gap) || !cols.add(i, t.axis(i), step / t.size)) break;
    }
    return cols;
}

// Positions of the elements of the first axes. The last of these axes has `steps` steps.
std::vector<int> elements_of_group(const tiling& t, int last, std::int64_t steps) {
    std::vector<int> from{0};
    const auto repeat = [&](std::int64_t times, std::ptrdiff_t step) {
        const std::size_t before = from.size();
        from.reserve(before * static_cast<std::size_t>(times));
        for (std::int64_t k = 1; k < times; ++k) {
            for (std::size_t i = 0; i < before; ++i) from.push_back(from[i] + static_cast<int>(k * step));
        }
    };
    for (int i = 0; i < last; ++i) repeat(t.axis(i).tile, t.axis(i).source);
    repeat(steps, t.axis(last).source);
    return from;
}

// Tries shuffles of bytes for elements that are close together on both sides, and takes them if they need fewer than
// `least` cycles. Groups are whole axes, and some steps along the next axis.
void try_groups(tiling& t, const kernels& use, double least) {
    if (use.shuffle == nullptr || t.size > 8 || t.axis(0).image != t.size) return;
    std::int64_t window = t.size, bytes = t.size;
    const auto fits = [&](const tiled_axis& a, std::int64_t steps) {
        return a.image == bytes && bytes * steps <= kMostShuffled &&
               window + (steps - 1) * std::abs(a.source) <= kMostShuffled;
    };
    int axes = 0;
    for (; axes < t.rank - 1 && t.axis(axes).tile == t.axis(axes).extent && fits(t.axis(axes), t.axis(axes).tile);
         ++axes) {
        const tiled_axis& a = t.axis(axes);
        window += (a.tile - 1) * std::abs(a.source);
        bytes *= a.tile;
    }
    const tiled_axis& last = t.axis(axes);
    std::int64_t steps = 1;
    while (steps < last.tile && fits(last, steps + 1)) ++steps;
    if (bytes * steps < 2 * t.size) return;
    // Positions of groups, along the axes that follow. Only the last of these is cut.
    axis_numbers behind;
    std::int64_t places = 1;
    bool whole = last.tile == last.extent;
    for (int i = axes + 1; i < t.rank && whole && t.axis(i).image != 0; ++i) {
        if (places * t.axis(i).tile > kMostListed) break;
        behind.add(i);
        places *= t.axis(i).tile;
        whole = t.axis(i).tile == t.axis(i).extent;
    }
    // The steps that fit, or fit a block, or one step: whichever is fastest.
    const shuffle_blocks& by = use.shuffled_by;
    const std::vector<int> from = elements_of_group(t, axes, steps);
    const std::int64_t of_step = bytes / t.size;
    const std::int64_t read = (by.source - window) / std::max<std::int64_t>(1, std::abs(last.source)) + 1;
    const std::int64_t in_block = std::min({steps, by.destination / bytes, window <= by.source ? read : 0});
    double cycles = HUGE_VAL;
    for (const std::int64_t candidate : {steps, in_block, std::int64_t{1}}) {
        if (candidate == 0) continue;
        const double one = cycles_of_shuffle(from.data(), candidate * of_step, t.size, by);
        const double its = one * static_cast<double>(divide_up(last.tile, candidate));
        if (its >= cycles) continue;
        cycles = its;
        t.steps_of_group = candidate;
    }
    const std::int64_t all = moved_elements(t, axes + 1);
    const double taken = static_cast<double>(all) * cycles + static_cast<double>(all / places) * kShuffledPlace;
    const double once = static_cast<double>(t.steps_of_group * bytes) * kOrderedByte / static_cast<double>(t.tiles);
    if (taken + once >= least) return;
    t.how = tiling::transfer::shuffled;
    t.rows = {};
    for (int i = 0; i <= axes; ++i) t.rows.add(i);
    t.cols = behind;
    const auto order = [&](std::int64_t its_steps) {
        return order_shuffle(from.data(), its_steps * of_step, t.size, by);
    };
    t.group = order(t.steps_of_group);
    const std::int64_t left = last.tile % t.steps_of_group;
    const std::int64_t left_at_end = last.last_steps() % t.steps_of_group;
    if (left > 0) t.shorter[0] = order(left);
    if (left_at_end > 0 && left_at_end != left) t.shorter[1] = order(left_at_end);
}

}  // namespace

void choose_plane(tiling& t, const axis_numbers& by_source, const kernels& use) {
    t.shorter = {};
    prefixes rows;
    std::ptrdiff_t next = t.axis(0).image;
    for (int i = 0; i < t.rank && t.axis(i).image == next && next != 0; ++i) {
        if (!rows.add(i, t.axis(i), rows.elements.back())) break;
        next *= t.axis(i).tile;
    }
    const prefixes cols = columns(t, by_source);
    double least = HUGE_VAL;
    for (int r = 0; r <= rows.axes.size(); ++r) {
        for (int k = 0; k <= cols.axes.size(); ++k) {
            if (std::any_of(cols.axes.begin(), cols.axes.begin() + k, [&](int i) { return i < r; })) break;
            const std::int64_t row_count = rows.elements[static_cast<std::size_t>(r)];
            const std::int64_t col_count = cols.places[static_cast<std::size_t>(k)];
            const double far = far_lines(t, by_source, r, col_count * t.size);
            moved by = in_vectors(t, use, row_count, col_count, far);
            if (!cols.has_gaps(k)) {
                by = cheaper(gathered(t, row_count, col_count, far), by);
                if (r == 1) by = cheaper(by, joined(t, t.axis(0), col_count));
                if (r == 1 && k == 1) by = cheaper(by, packed(t, t.axis(0), t.axis(cols.axes[0])));
            }
            const std::int64_t moved_at_a_time = row_count * cols.elements[static_cast<std::size_t>(k)];
            const double cycles = by.cycles * static_cast<double>(moved_elements(t) / moved_at_a_time);
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
