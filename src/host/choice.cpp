#include "host/choice.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>

#include "host/machine.hpp"
#include "host/methods.hpp"

namespace cornerturn::host {
namespace {

constexpr std::int64_t kLongRun = 1 * kKiB;  // longer runs are moved one by one
constexpr std::int64_t kFewRuns = 256;       // copied without a search for a better way
constexpr std::int64_t kDirectBytes = 128;   // of a row of the destination, written at a time
// For elements below 4 bytes; and for elements of 8 bytes and more if the destination is below kFetchedFrom.
constexpr std::int64_t kMoreDirectBytes = 256;
constexpr std::int64_t kLongTile = 4;            // factor on elements, if rows or columns are few
constexpr std::int64_t kFetchedFrom = 1 * kMiB;  // of the destination: less fits in the nearest caches
constexpr std::int64_t kImageBytes = 64 * kKiB;  // of whole rows of the destination, before they are streamed
constexpr std::int64_t kLeastImage = 2 * kKiB;   // of whole matrices
constexpr std::int64_t kImageAhead = 8 * kKiB;   // from what is transposed next to what is fetched
constexpr std::int64_t kShortRow = 1 * kKiB;     // of the destination: streamed with its neighbours
constexpr std::int64_t kLeastRow = 128;          // of the destination: shorter rows are not streamed in strips

struct problem;

// A way to do work: whether it can, and how. Among the ways that can, the cheapest is taken (cost.hpp). A way whose
// cost is not predicted is the only one that can.
struct family {
    const char *name, *why;
    bool (*can)(const problem& p);
    void (*run)(const problem& p);
    std::optional<costed> cost = {};
    std::string (*why_exactly)(const problem& p) = nullptr;
};

// Work that was checked and is not empty: matrices, or a copy between tensors, or both.
struct problem {
    std::optional<job> matrices;
    std::optional<strided_copy> copy;
    team threads;

    problem(const matrix_work& work, const team& use) : threads(use) {
        matrices.emplace(work, use);
        if (matrices->bytes() >= kStreamFrom && !matrices->in_place()) copy = canonical(work);
    }
    problem(const strided_copy& c, const team& use) : copy(c), threads(use) {}

    bool large() const { return copy->bytes() >= kStreamFrom; }
    bool in_runs() const { return copy->rank == 0 || copy->run >= kLongRun; }
    bool is_few() const { return !in_runs() && copy->runs() <= kFewRuns; }
    // Matrices that do not stay in the caches and whose elements change their order.
    bool is_large_transpose() const {
        return matrices && copy && matrices->rows > 1 && matrices->cols > 1 && matrices->size < kLongRun;
    }
};

template <void (*kRun)(const job&)>
void run_job(const problem& p) {
    kRun(*p.matrices);
}

constexpr family kAll[] = {
    {"in_place", "source and destination are the same",
     [](const problem& p) { return p.matrices && p.matrices->in_place(); }, run_job<run_in_place>},
    {"direct", "straight into the destination, tile by tile",
     [](const problem& p) { return p.is_large_transpose() || (p.matrices && !p.copy && !p.matrices->in_place()); },
     run_job<run_direct>, costed::direct},
    {"lines", "past the caches, line by line of the destination",
     [](const problem& p) { return p.is_large_transpose() && p.matrices->in_lines(); }, run_job<run_lines>,
     costed::lines},
    {"image", "whole rows of the destination, put together in the caches",
     [](const problem& p) {
         return p.is_large_transpose() && p.matrices->packed_destination() &&
                (p.matrices->rows * p.matrices->size <= kShortRow || p.matrices->matrix_bytes() <= kImageBytes);
     },
     run_job<run_image>, costed::image},
    {"strips", "past the caches, each line when it is whole",
     [](const problem& p) { return p.is_large_transpose() && p.matrices->rows * p.matrices->size >= kLeastRow; },
     run_job<run_strips>, costed::strips},
    {"runs",
     "",
     [](const problem& p) { return p.copy && p.in_runs(); },
     [](const problem& p) { run_runs(*p.copy, p.large(), p.threads); },
     {},
     [](const problem& p) {
         return (p.copy->rank == 0 ? "one run of bytes: " : "runs of bytes: ") + std::to_string(p.copy->run);
     }},
    {"few", "so few elements that they are copied one by one",
     [](const problem& p) { return p.copy && p.is_few() && !p.is_large_transpose(); },
     [](const problem& p) { run_few(*p.copy); }},
    {"tiles", "", [](const problem& p) { return p.copy && !p.in_runs() && (!p.is_few() || p.is_large_transpose()); },
     [](const problem& p) { run_tiles(*p.copy, p.large(), p.threads); }, costed::tiles,
     [](const problem& p) { return explain_tiles(*p.copy, p.large()); }},
};

struct way {
    const family* by;
    float cost;
};

// What can do the work, the cheapest first.
class ways {
public:
    explicit ways(const problem& p) {
        for (const family& f : kAll) {
            if (f.can(p)) all_[static_cast<std::size_t>(count_++)] = {&f, 0};
        }
        if (count_ < 2) return;
        const features of(*p.matrices);
        for (way& w : *this) w.cost = cost_of(*w.by->cost, of);
        std::sort(begin(), end(), [](const way& a, const way& b) { return a.cost < b.cost; });
    }
    way* begin() { return all_.data(); }
    way* end() { return all_.data() + count_; }
    const family& best() const { return *all_[0].by; }

private:
    std::array<way, std::size(kAll)> all_;
    int count_ = 0;
};

}  // namespace

// Straight into the destination, tile by tile. If the nearest caches do not hold all lines, it fetches the next tile's
// lines before it moves a tile.
void run_direct(const job& j) {
    const bool far = j.bytes() >= kFetchedFrom;
    const bool more = j.size < 4 || (j.size >= 8 && !far);
    const std::int64_t side = std::max<std::int64_t>(1, (more ? kMoreDirectBytes : kDirectBytes) / j.size);
    if (j.rows <= side && j.cols <= side && j.count == 1)
        return j.use.transpose_tile(j.source, j.source_pitch, j.destination, j.destination_pitch, j.rows, j.cols,
                                    j.size);
    // Tiles have more rows or columns if the other side is short and all lines are near.
    const std::int64_t of_rows = !far && j.cols < side ? kLongTile * (side / j.cols) * side : side;
    const std::int64_t of_cols = !far && j.rows < side ? kLongTile * (side / j.rows) * side : side;
    const std::int64_t across = std::max<std::int64_t>(1, j.cols / of_cols);
    // The last tiles also take the rest that is less than a tile.
    const auto rows_from = [&](std::int64_t row) {
        const std::int64_t left = j.rows - row;
        return left < 2 * of_rows ? left : of_rows;
    };
    const auto move_column = [&](std::int64_t i) {
        const std::int64_t matrix = i / across, col = i % across * of_cols;
        const std::int64_t cols = i % across == across - 1 ? j.cols - col : of_cols;
        for (std::int64_t row = 0, rows, next; row < j.rows; row = next) {
            rows = rows_from(row);
            next = row + rows;
            if (far && next < j.rows) {
                const std::int64_t next_rows = rows_from(next);
                fetch_tile(j.source_at(matrix, next, col), j.source_pitch, next_rows, cols * j.size);
                own_tile(j.destination_at(matrix, col, next), j.destination_pitch, cols, next_rows * j.size);
            }
            j.use.transpose_tile(j.source_at(matrix, row, col), j.source_pitch, j.destination_at(matrix, col, row),
                                 j.destination_pitch, rows, cols, j.size);
        }
    };
    share_out(j, j.count * across, move_column, kTaskBytes, false);
}

// Whole rows of a packed destination, across its matrices. They are transposed into an image, which is streamed.
void run_image(const job& j) {
    const std::int64_t row_bytes = j.rows * j.size, all = j.count * j.cols;
    // Whole matrices take the same bytes of the source and of the destination.
    const bool whole = j.matrix_bytes() <= kImageBytes && j.packed_source();
    const std::int64_t at_a_time =
        whole ? divide_up(kLeastImage, j.matrix_bytes()) * j.cols : std::max<std::int64_t>(1, kImageBytes / row_bytes);
    const std::int64_t ahead = kImageAhead / row_bytes;
    share_out(j, divide_up(all, at_a_time), [&](std::int64_t i) {
        const std::int64_t first = i * at_a_time, last = std::min(all, first + at_a_time);
        byte* const to = j.destination + first * row_bytes;
        byte* const image = scratch(at_a_time * row_bytes + kLineBytes) + in_line(to);
        for (std::int64_t row = first; row < last;) {
            const std::int64_t matrix = row / j.cols, col = row % j.cols;
            const std::int64_t cols = std::min(last - row, j.cols - col);
            j.use.transpose_tile(j.source_at(matrix, 0, col), j.source_pitch, image + (row - first) * row_bytes,
                                 row_bytes, j.rows, cols, j.size);
            row += cols;
        }
        const std::int64_t fetched = last + ahead;
        const byte* const next = whole && fetched + at_a_time <= all ? j.source + fetched * row_bytes : nullptr;
        j.use.stream(image, to, (last - first) * row_bytes, next);
    });
}

float cost_of(costed method, const features& of) {
    return std::inner_product(of.all().begin(), of.all().end(), kCosts[static_cast<int>(method)], 0.0f);
}

namespace {

void run(const problem& p) { ways(p).best().run(p); }

std::string explain(const problem& p) {
    ways all(p);
    const family& best = all.best();
    const bool is_copy = p.copy && !p.is_large_transpose();
    std::string text = std::string(is_copy ? "copy" : best.name) + ", " +
                       kernels_for(p.matrices ? p.matrices->size : p.copy->run).target + ": " +
                       (best.why_exactly != nullptr ? best.why_exactly(p) : best.why);
    for (const way& w : all) {
        if (w.by != &best) text += std::string(&w == all.begin() + 1 ? "; next " : ", then ") + w.by->name;
    }
    return text;
}

// A copy that is a transpose of matrices is done as one.
problem problem_of(const strided_copy& copy, const team& threads) {
    const std::optional<matrix_work> work = matrices_of(copy);
    return work ? problem(*work, threads) : problem(copy, threads);
}

}  // namespace

void run(const matrix_work& work, const team& threads) { run(problem(work, threads)); }
void run(const strided_copy& copy, const team& threads) { run(problem_of(copy, threads)); }

std::string explain(const matrix_work& work) { return explain(problem(work, team({}))); }
std::string explain(const strided_copy& copy) {
    const problem p = problem_of(copy, team({}));
    return (p.matrices ? "matrices: " : "") + explain(p);
}

std::vector<named_way> ways_of(const matrix_work& work, const team& threads) {
    const problem p(work, threads);
    const features of(*p.matrices);
    std::vector<named_way> all;
    for (const way& w : ways(p)) {
        std::vector<double> numbers = {w.by->cost ? static_cast<double>(*w.by->cost) : -1};
        numbers.insert(numbers.end(), of.all().begin(), of.all().end());
        all.push_back({w.by->name, [run = w.by->run, threads](const matrix_work& here) { run(problem(here, threads)); },
                       numbers});
    }
    return all;
}

}  // namespace cornerturn::host
