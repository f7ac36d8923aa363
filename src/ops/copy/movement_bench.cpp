// The shapes for a bench of an operation that moves elements.
#include <fmt/format.h>

#include <algorithm>

#include "ops/copy/movement.hpp"
#include "ops/copy/strided_shape.hpp"

namespace cornerturn {
namespace {

constexpr std::int64_t kCellBytes = 128 << 20;  // of one skinny matrix, or of one batch
constexpr std::int64_t kAwkwardSide = 8192;     // of matrices that are padded or begin off a boundary

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

// Sizes for one core's caches and a little more. They are measured warm.
std::vector<problem_shape> caches(std::int64_t) {
    std::vector<problem_shape> all;
    for (std::int64_t side : {4, 16, 32, 64, 100, 128, 256, 500, 512, 1000, 1024, 2048})
        all.push_back({.rows = side, .cols = side});
    for (auto [rows, cols] : {std::pair<std::int64_t, std::int64_t>{3, 10000}, {16, 4096}, {100, 1000}}) {
        all.push_back({.rows = rows, .cols = cols});
        all.push_back({.rows = cols, .cols = rows});
    }
    return all;
}

constexpr const char *kSkinny = "skinny", *kBatched = "batched";

}  // namespace

const drawn_bytes& bytes_of(draw_size size) {
    return size == draw_size::large ? kLargeDraws : size == draw_size::small ? kSmallDraws : kHostDraws;
}

std::vector<shape_group> movement::shape_groups() const {
    return {{kSquares, squares}, {"odd", odd},        {kSkinny, skinny}, {"padded", padded},
            {"offset", offset},  {kBatched, batched}, {kCaches, caches}};
}

// "many" and "long" depend on the element size, so the row's name leaves them out.
std::string movement::bench_row(const std::string& group, const std::string& text,
                                const std::vector<std::int64_t>& sizes) const {
    if (group == kBatched) return fmt::format("many {}", sizes_text(sizes));
    if (group != kSkinny) return text;
    return sizes[0] < sizes[1] ? fmt::format("{} x many", sizes[0]) : fmt::format("many x {}", sizes[1]);
}

std::vector<std::string> movement::bench_groups() const {
    std::vector<std::string> names;
    for (const shape_group& g : shape_groups()) names.emplace_back(g.name);
    return names;
}

// The outermost loop is over element sizes. A batch is packed: in memory it is one long matrix.
std::vector<bench_cell> movement::bench_grid(const std::vector<int>& element_sizes,
                                             const std::vector<std::string>& groups) const {
    std::vector<bench_cell> grid;
    for (int size : element_sizes) {
        for (const shape_group& g : shape_groups()) {
            if (std::find(groups.begin(), groups.end(), g.name) == groups.end()) continue;
            for (problem_shape shape : g.shapes(size)) {
                shape.arranged = arranged_;
                shape.element_size = size;
                grid.push_back({g.name, std::make_shared<movement_work>(*this, dtype_of(size), shape, true)});
            }
        }
    }
    return grid;
}

// The gap after the destination's rows is as long as drawn, whatever the arrangement.
std::vector<bench_cell> movement::bench_draws(int count, std::uint64_t seed, draw_size size) const {
    random_bits random(seed);
    const drawn_bytes& bytes = bytes_of(size);
    std::vector<bench_cell> cells;
    for (int i = 0; i < count; ++i) {
        const strided_shape drawn = draw_transpose(random, bytes.least, bytes.most);
        problem_shape shape{.arranged = arranged_,
                            .rows = drawn.extents[2],
                            .cols = drawn.extents[1],
                            .element_size = static_cast<int>(drawn.element_size),
                            .source_ld = drawn.source_strides[2],
                            .source_offset = drawn.source_offset,
                            .destination_offset = drawn.destination_offset,
                            .count = drawn.extents[0]};
        shape.destination_ld = shape.destination_cols() + drawn.destination_strides[1] - drawn.extents[2];
        cells.push_back(
            {drawn.kind, std::make_shared<movement_work>(*this, dtype_of(shape.element_size), shape, true)});
    }
    return cells;
}

}  // namespace cornerturn
