#include "lab/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "cornerturn/error.hpp"
#include "lab/run.hpp"

namespace cornerturn::lab {
namespace {

constexpr std::int64_t kSectorBytes = 32;
constexpr std::int64_t kCellBytes = 128 << 20;  // of one matrix that is skinny, or of one batch
constexpr std::int64_t kAwkwardSide = 8192;     // of the matrices that are padded or begin off their boundary

// The shapes of a group, for elements of one size.
struct grid_group {
    const char* name;
    std::vector<problem_shape> (*shapes)(std::int64_t element_size);
};

std::vector<problem_shape> squares(std::int64_t) {
    std::vector<problem_shape> all;
    for (std::int64_t side = 256; side <= 32768; side *= 2) all.push_back({.rows = side, .cols = side});
    return all;
}

std::vector<problem_shape> odd(std::int64_t) { return {{.rows = 10007, .cols = 10009}, {.rows = 4097, .cols = 4095}}; }

std::vector<problem_shape> skinny(std::int64_t element_size) {
    std::vector<problem_shape> all;
    for (std::int64_t narrow : {2, 3, 7, 32, 64}) {
        const std::int64_t length = kCellBytes / (narrow * element_size);
        all.push_back({.rows = narrow, .cols = length});
        all.push_back({.rows = length, .cols = narrow});
    }
    return all;
}

std::vector<problem_shape> padded(std::int64_t) {
    std::vector<problem_shape> all;
    for (std::int64_t gap : {1, 3}) {
        all.push_back({.rows = kAwkwardSide,
                       .cols = kAwkwardSide,
                       .source_ld = kAwkwardSide + gap,
                       .destination_ld = kAwkwardSide + gap});
    }
    return all;
}

std::vector<problem_shape> offset(std::int64_t) {
    return {{.rows = kAwkwardSide, .cols = kAwkwardSide, .source_offset = 1, .destination_offset = 1}};
}

std::vector<problem_shape> batched(std::int64_t element_size) {
    std::vector<problem_shape> all;
    for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{32, 32}, {100, 100}, {128, 64}}) {
        all.push_back({.rows = rows, .cols = cols, .count = kCellBytes / (rows * cols * element_size)});
    }
    return all;
}

std::vector<problem_shape> in_place(std::int64_t) {
    std::vector<problem_shape> all;
    for (std::int64_t side : {8192, 10007, 16384}) all.push_back({.rows = side, .cols = side, .in_place = true});
    return all;
}

constexpr grid_group kGroups[] = {{"squares", squares}, {"odd", odd},         {"skinny", skinny},    {"padded", padded},
                                  {"offset", offset},   {"batched", batched}, {"in_place", in_place}};

}  // namespace

std::string bench_cell::text() const {
    std::string out = fmt::format("{} x {}", shape.rows, shape.cols);
    if (shape.count > 1) out = fmt::format("{} of {}", shape.count, out);
    if (shape.source_ld > shape.cols) out += fmt::format(", ld + {}", shape.source_ld - shape.cols);
    if (shape.in_place) out += ", in place";
    if (shape.source_offset > 0) out += fmt::format(", offset {}", shape.source_offset);
    return out;
}

std::int64_t bench_cell::elements() const { return shape.count * shape.rows * shape.cols; }
std::int64_t bench_cell::bytes() const { return 2 * elements() * shape.element_size; }

std::int64_t bench_cell::sector_bytes() const {
    const problem_shape s = shape.checked();
    const std::int64_t size = s.element_size;
    // Buffers begin on a sector.
    return kSectorBytes *
           (touched_sectors(s.source_offset * size, s.count * s.rows, s.cols * size, s.source_ld * size) +
            touched_sectors(s.destination_offset * size, s.count * s.destination_rows(), s.destination_cols() * size,
                            s.destination_ld * size));
}

const std::vector<int>& bench_sizes() {
    static const std::vector<int> sizes = {1, 2, 4, 8, 16};
    return sizes;
}

const std::vector<std::string>& bench_groups() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const grid_group& g : kGroups) all.emplace_back(g.name);
        return all;
    }();
    return names;
}

std::vector<bench_cell> bench_grid(const std::vector<int>& sizes, const std::vector<std::string>& groups) {
    std::vector<bench_cell> grid;
    for (int size : sizes) {
        for (const grid_group& g : kGroups) {
            if (std::find(groups.begin(), groups.end(), g.name) == groups.end()) continue;
            for (problem_shape shape : g.shapes(size)) {
                shape.element_size = size;
                grid.push_back({g.name, shape});
            }
        }
    }
    return grid;
}

std::int64_t touched_sectors(std::int64_t offset, std::int64_t rows, std::int64_t row_bytes, std::int64_t pitch) {
    if (rows == 0 || row_bytes == 0) return 0;
    const auto first = [&](std::int64_t row) { return (offset + row * pitch) / kSectorBytes; };
    const auto last = [&](std::int64_t row) { return (offset + row * pitch + row_bytes - 1) / kSectorBytes; };
    std::int64_t sectors = last(0) - first(0) + 1;
    // A row adds its sectors but the one that it may share with the row before. How many depends on where in a sector
    // it begins, and that repeats.
    const std::int64_t period = kSectorBytes / std::gcd(kSectorBytes, pitch);
    for (std::int64_t row = 1; row <= std::min(period, rows - 1); ++row) {
        const std::int64_t added = last(row) - std::max(first(row), last(row - 1) + 1) + 1;
        sectors += added * ((rows - 1 - row) / period + 1);
    }
    return sectors;
}

std::int64_t bench_shapes::bytes() const {
    return 2 * std::max({matrix.before(side::source).bytes(), matrix.before(side::destination).bytes(),
                         copy.before(side::source).bytes()});
}

bench_shapes shapes_of(const bench_cell& cell, const bench_request& what) {
    bench_shapes s{.matrix = cell.shape.checked(),
                   .copy = problem_shape{.does = operation::copy,
                                         .rows = 1,
                                         .cols = cell.sector_bytes() / 2 / 16,
                                         .element_size = 16,
                                         .seed = what.seed}
                               .checked()};
    s.matrix.seed = what.seed;
    s.matrix.numbers = what.subject->arithmetic;
    for (const kernel* peer : what.peers) s.matrix.numbers = s.matrix.numbers || peer->arithmetic;
    return s;
}

std::vector<const bench_entry*> bench_result::entries() const {
    std::vector<const bench_entry*> all = {&yardstick, &subject};
    for (const bench_entry& e : peers) all.push_back(&e);
    return all;
}

bench_result begin_bench(const bench_cell& cell, const bench_request& what) {
    const auto entry_of = [&](const kernel& k) {
        const bool copies = k.does == operation::copy;
        bench_entry e{.kernel = k.id, .bytes = copies ? cell.sector_bytes() : cell.bytes()};
        if (copies) return e;
        if (!k.takes(cell.shape.element_size)) {
            e.skipped = fmt::format("does not take {}-byte elements", cell.shape.element_size);
        } else if (cell.shape.count > 1 && !k.batches) {
            e.skipped = "takes one matrix, not a batch";
        } else if (cell.shape.in_place && !k.in_place) {
            e.skipped = "takes a source and a destination";
        }
        return e;
    };
    bench_result r{.cell = cell};
    r.yardstick = entry_of(*what.yardstick);
    r.subject = entry_of(*what.subject);
    for (const kernel* peer : what.peers) r.peers.push_back(entry_of(*peer));
    return r;
}

#if !defined(CORNERTURN_WITH_CUDA)
std::unique_ptr<bencher> cuda_bencher() {
    std::string reason;
    cuda_available(reason);
    throw unsupported("no GPU to run on: " + reason);
}
#endif

}  // namespace cornerturn::lab
