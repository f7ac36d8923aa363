#include "ops/convert/bench.hpp"

#include <algorithm>

#include "move/converted_pairs.hpp"
#include "ops/convert/operation.hpp"
#include "ops/copy/tensor_movement.hpp"

namespace cornerturn {
namespace {

struct named_conversion {
    const char* group;
    element_type from, to;
    factor_kind factors;
    std::vector<std::int64_t> extents;  // of the source
    std::vector<int> axes;
};

constexpr const char *kImages = "images", *kWeights = "weights", *kFp8 = "fp8";

// What people convert while they move it.
const std::vector<named_conversion>& named_conversions() {
    static const std::vector<named_conversion> all = [] {
        std::vector<named_conversion> made;
        // Images NHWC to normalised planes NCHW.
        for (const element_type to : {element_type::f32, element_type::f16}) {
            for (const auto& extents :
                 {std::vector<std::int64_t>{64, 224, 224, 3}, {16, 1080, 1920, 3}, {256, 224, 224, 3}})
                made.push_back({kImages, element_type::u8, to, factor_kind::each, extents, {0, 3, 1, 2}});
        }
        // Weights and activations to another layout.
        const std::pair<std::vector<std::int64_t>, std::vector<int>> layouts[] = {{{32, 3136, 96}, {0, 2, 1}},
                                                                                  {{64, 1024, 32, 64}, {0, 2, 1, 3}},
                                                                                  {{8, 256, 128, 128}, {0, 2, 3, 1}},
                                                                                  {{512, 512, 512}, {2, 1, 0}},
                                                                                  {{100000, 64}, {1, 0}}};
        for (const auto& [extents, axes] : layouts)
            made.push_back({kWeights, element_type::f32, element_type::bf16, factor_kind::none, extents, axes});
        // Activations to fp8 by one scale, for a product and for its gradient.
        for (const auto& extents : {std::vector<std::int64_t>{8192, 8192}, {16384, 12288}}) {
            for (const auto& axes : {std::vector<int>{1, 0}, {0, 1}})
                made.push_back({kFp8, element_type::bf16, element_type::e4m3fn, factor_kind::one, extents, axes});
        }
        return made;
    }();
    return all;
}

dtype dtype_of(element_type type) { return {name_of(type), size_of(type)}; }

}  // namespace

std::vector<std::string> conversion_groups() { return {kImages, kWeights, kFp8}; }

std::vector<bench_cell> conversion_grid(const std::vector<std::string>& groups) {
    constexpr std::uint64_t kSeed = 1;  // a bench takes another one
    std::vector<bench_cell> grid;
    for (const named_conversion& c : named_conversions()) {
        if (std::find(groups.begin(), groups.end(), c.group) == groups.end()) continue;
        const element_conversion how{.cast = {c.from, c.to, true, c.factors != factor_kind::none},
                                     .factors = c.factors,
                                     .axis = c.factors == factor_kind::each ? 1 : 0};
        grid.push_back({c.group, std::make_shared<tensor_work>(convert_operation(), dtype_of(c.from), c.extents, c.axes,
                                                               kSeed, true, 0, 0, how)});
    }
    return grid;
}

std::vector<bench_cell> conversion_draws(int count, std::uint64_t seed, const drawn_bytes& bytes) {
    random_bits random(seed);
    std::vector<bench_cell> cells;
    for (int i = 0; i < count; ++i) {
        const moves::converted_pair& pair = moves::kConvertedPairs[draw_up_to(random, moves::kPairs - 1)];
        element_conversion how{.cast = {pair.from, pair.to}};
        how.factors = static_cast<factor_kind>(draw_up_to(random, 2));
        if (pair.from == pair.to && how.factors == factor_kind::none) how.factors = factor_kind::one;
        how.cast.scaled = how.factors != factor_kind::none;
        const strided_shape shape = draw_conversion(random, bytes.least, bytes.most, how);
        cells.push_back(
            {shape.kind, std::make_shared<tensor_work>(convert_operation(), dtype_of(pair.from), shape, seed)});
    }
    return cells;
}

}  // namespace cornerturn
