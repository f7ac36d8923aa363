#include "ops/permute/bench.hpp"

#include <algorithm>

#include "ops/copy/tensor_movement.hpp"
#include "ops/permute/strided_work.hpp"

namespace cornerturn {
namespace {

struct named_shape {
    const char* group;
    std::vector<std::int64_t> extents;  // of the source, for elements of 8 bytes
    std::vector<int> axes;
};

const std::vector<named_shape>& named_shapes() {
    static const std::vector<named_shape> all = {
        // NCHW to NHWC and back, with 256 channels and with 3.
        {"channels", {32, 256, 56, 56}, {0, 2, 3, 1}},
        {"channels", {32, 56, 56, 256}, {0, 3, 1, 2}},
        {"channels", {64, 3, 512, 512}, {0, 2, 3, 1}},
        {"channels", {64, 512, 512, 3}, {0, 3, 1, 2}},
        // Heads of attention: split, joined, and the keys transposed; and the tokens of a vision transformer.
        {"heads", {16, 2048, 16, 64}, {0, 2, 1, 3}},
        {"heads", {16, 16, 2048, 64}, {0, 2, 1, 3}},
        {"heads", {16, 16, 2048, 64}, {0, 1, 3, 2}},
        {"heads", {64, 197, 768}, {0, 2, 1}},
        // Windows of a Swin transformer.
        {"windows", {32, 8, 7, 8, 7, 128}, {0, 1, 3, 2, 4, 5}},
        {"odd", {31, 29, 40000}, {2, 1, 0}},
        {"odd", {7, 7, 7, 7, 7, 7, 7, 7}, {7, 6, 5, 4, 3, 2, 1, 0}},
        {"odd", {4096, 4096}, {1, 0}},
        {"odd", {8, 20, 20, 20, 20, 20}, {5, 4, 3, 2, 1, 0}},
    };
    return all;
}

}  // namespace

std::vector<std::string> permutation_groups() {
    std::vector<std::string> names;
    for (const named_shape& s : named_shapes()) {
        if (names.empty() || names.back() != s.group) names.emplace_back(s.group);
    }
    names.emplace_back(kPublished);
    return names;
}

std::vector<bench_cell> permutation_grid(const std::vector<int>& element_sizes,
                                         const std::vector<std::string>& groups) {
    constexpr std::uint64_t kSeed = 1;  // a bench takes another one
    const auto has = [&](const char* group) { return std::find(groups.begin(), groups.end(), group) != groups.end(); };
    std::vector<bench_cell> grid;
    for (int size : element_sizes) {
        const auto add = [&](const char* group, const std::vector<std::int64_t>& extents,
                             const std::vector<int>& axes) {
            grid.push_back({group, std::make_shared<tensor_work>(permute_operation(), dtype_of(size), extents, axes,
                                                                 kSeed, true)});
        };
        for (const named_shape& s : named_shapes()) {
            if (!has(s.group)) continue;
            std::vector<std::int64_t> extents = s.extents;
            extents[0] = extents[0] * 8 / size;  // about the same number of bytes for every element size
            add(s.group, extents, s.axes);
        }
        if (!has(kPublished)) continue;
        for (const published_order& p : published_orders()) {
            for (const std::vector<std::int64_t>& extents : p.extents) add(kPublished, extents, p.axes);
        }
    }
    return grid;
}

std::vector<bench_cell> permutation_draws(int count, std::uint64_t seed, const drawn_bytes& bytes) {
    random_bits random(seed);
    std::vector<bench_cell> cells;
    for (int i = 0; i < count; ++i) {
        const strided_shape shape = draw_permutation(random, bytes.least, bytes.most);
        const dtype type = dtype_of(static_cast<int>(shape.element_size));
        cells.push_back({shape.kind, std::make_shared<tensor_work>(permute_operation(), type, shape, seed)});
    }
    return cells;
}

}  // namespace cornerturn
