#include "ops/gemm/bench.hpp"

#include <algorithm>

#include "core/draw.hpp"

namespace cornerturn {
namespace {

using shapes = std::vector<gemm_shape>;

constexpr std::int64_t kMostOperands = std::int64_t{4} << 30;  // bytes of a batch

std::int64_t operand_bytes(const gemm_shape& s) {
    return s.with_layout().spans() * static_cast<std::int64_t>(sizeof(float));
}

// ---- Groups ---------------------------------------------------------------------------------------------------------

shapes squares_of(const std::vector<std::int64_t>& sides) {
    shapes all;
    for (std::int64_t side : sides) all.push_back({.m = side, .n = side, .k = side});
    return all;
}
shapes squares() { return squares_of({256, 512, 1024, 2048, 4096, 8192, 16384}); }
shapes small() { return squares_of({64, 96, 128, 192, 256, 384, 512, 768, 1000, 1024, 1536}); }

shapes ragged() {
    return {{.m = 4095, .n = 4097, .k = 4099}, {.m = 1000, .n = 1000, .k = 1000}, {.m = 8191, .n = 8191, .k = 8191}};
}

shapes oblong() {
    return {{.m = 128, .n = 8192, .k = 8192}, {.m = 8192, .n = 128, .k = 8192}, {.m = 8192, .n = 8192, .k = 128},
            {.m = 64, .n = 64, .k = 65536},   {.m = 16, .n = 8192, .k = 8192},  {.m = 8192, .n = 16, .k = 8192},
            {.m = 131072, .n = 256, .k = 256}};
}

// The large operand as it is and transposed. It is B if m is small, and A if n is small.
shapes narrow() {
    shapes all;
    for (const gemm_shape& s : {gemm_shape{.m = 1, .n = 4096, .k = 4096},
                                {.m = 4096, .n = 1, .k = 4096},
                                {.m = 8, .n = 4096, .k = 4096},
                                {.m = 4096, .n = 8, .k = 4096},
                                {.m = 16, .n = 4096, .k = 4096},
                                {.m = 32, .n = 4096, .k = 4096},
                                {.m = 64, .n = 4096, .k = 4096},
                                {.m = 10000, .n = 10, .k = 10000},
                                {.m = 1, .n = 16384, .k = 16384},
                                {.m = 16384, .n = 1, .k = 16384},
                                {.m = 4, .n = 16384, .k = 16384},
                                {.m = 16384, .n = 4, .k = 16384},
                                {.m = 16, .n = 16384, .k = 16384}}) {
        all.push_back(s);
        all.push_back(s);
        (s.m < s.n ? all.back().b_transposed : all.back().a_transposed) = true;
    }
    for (const gemm_shape& s : {gemm_shape{.m = 8192, .n = 8192, .k = 4},
                                {.m = 16384, .n = 8192, .k = 16},
                                {.m = 64, .n = 64, .k = 262144},
                                {.m = 8, .n = 8, .k = 1048576}})
        all.push_back(s);
    return all;
}

shapes transposes() {
    shapes all;
    for (std::int64_t side : {1024, 4096}) {
        for (bool a : {false, true}) {
            for (bool b : {false, true})
                all.push_back({.m = side, .n = side, .k = side, .a_transposed = a, .b_transposed = b});
        }
    }
    return all;
}

shapes padded() {
    constexpr std::int64_t kSide = 4096;
    const gemm_shape plain{.m = kSide, .n = kSide, .k = kSide};
    gemm_shape ld = plain, offset = plain;
    ld.lda = ld.ldb = ld.ldc = kSide + 1;
    offset.a_offset = offset.b_offset = offset.c_offset = 1;
    return {ld, offset};
}

shapes batches() {
    shapes all;
    for (std::int64_t side : {16, 32, 64, 128, 256}) {
        for (std::int64_t count : {10, 1000, 100000}) {
            const gemm_shape s{.m = side, .n = side, .k = side, .count = count};
            if (operand_bytes(s) <= kMostOperands) all.push_back(s);
        }
    }
    return all;
}

struct shape_group {
    const char* name;
    shapes (*all)();
};
constexpr shape_group kGroups[] = {{kSquareProducts, squares}, {"small", small},    {"ragged", ragged},
                                   {"oblong", oblong},         {"narrow", narrow},  {"transposes", transposes},
                                   {"padded", padded},         {"batches", batches}};

// ---- Draws ----------------------------------------------------------------------------------------------------------

double operations(const gemm_shape& s) {
    return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) *
           static_cast<double>(s.count);
}

void draw_sizes(random_bits& random, gemm_shape& s) {
    constexpr double kMostSide = 16384, kLeastOperations = 0x1p24;
    do {
        for (std::int64_t* side : {&s.m, &s.n, &s.k}) *side = draw_log_uniform(random, 1, kMostSide);
    } while (operations(s) < kLeastOperations);
}

void draw_batch(random_bits& random, gemm_shape& s) {
    constexpr double kLeastCount = 2, kMostCount = 1000, kMostOperations = 0x1p43;
    do {
        s.count = 1;
        draw_sizes(random, s);
        s.count = draw_log_uniform(random, kLeastCount, kMostCount);
    } while (operations(s) > kMostOperations || operand_bytes(s) > kMostOperands);
}

product_cell draw(random_bits& random, std::uint64_t seed) {
    gemm_shape s{.seed = seed};
    constexpr const char* kKinds[] = {"packed", "leading", "offset", "batched"};
    const std::int64_t kind = draw_up_to(random, 3);
    kind == 3 ? draw_batch(random, s) : draw_sizes(random, s);
    s.a_transposed = draw_up_to(random, 1) == 1;
    s.b_transposed = draw_up_to(random, 1) == 1;
    s = s.with_layout();
    if (kind == 1) {
        for (std::int64_t* ld : {&s.lda, &s.ldb, &s.ldc}) *ld += 1 + draw_up_to(random, 31);
        s.a_stride = s.b_stride = s.c_stride = 0;
    }
    if (kind == 2) {
        for (std::int64_t* offset : {&s.a_offset, &s.b_offset, &s.c_offset}) *offset = 1 + draw_up_to(random, 4);
    }
    return {kKinds[kind], s};
}

// ---- Trials ---------------------------------------------------------------------------------------------------------

// Of either sign, with a magnitude from 1/2 to 2.
float draw_factor(random_bits& random) {
    const auto size = static_cast<float>(0.5 + 1.5 * draw_uniform(random));
    return draw_up_to(random, 1) == 0 ? size : -size;
}

// One or a few packed products, with factors. A and B are stored as in the shape.
gemm_shape draw_trial(random_bits& random, const gemm_shape& of, gemm_values values) {
    constexpr std::int64_t kStep = 64, kFew = 3;
    return {.m = small_like(of.m, kStep),
            .n = small_like(of.n, kStep),
            .k = small_like(of.k, kStep / 2),
            .a_transposed = of.a_transposed,
            .b_transposed = of.b_transposed,
            .alpha = draw_factor(random),
            .beta = draw_factor(random),
            .values = values,
            .seed = random() >> 1,
            .count = std::min(of.count, kFew)};
}

}  // namespace

std::vector<gemm_shape> product_trials(const gemm_shape& shape) {
    random_bits random(shape.seed);
    const auto with_gaps = [&](gemm_shape s, std::int64_t least, std::int64_t most, std::int64_t times) {
        s = s.with_layout();
        for (std::int64_t* ld : {&s.lda, &s.ldb, &s.ldc}) *ld += times * (least + draw_up_to(random, most - least));
        s.a_stride = s.b_stride = s.c_stride = 0;
        return s.with_layout();
    };
    const auto off_boundaries = [&](gemm_shape s) {
        for (std::int64_t* offset : {&s.a_offset, &s.b_offset, &s.c_offset}) *offset = 1 + draw_up_to(random, 4);
        return s;
    };
    // Gaps of whole vectors keep rows aligned, and others do not. Kernels may take different paths for these.
    constexpr std::int64_t kVector = 4;
    const gemm_shape aligned = with_gaps(draw_trial(random, shape, gemm_values::symmetric), 1, 3, kVector);
    const gemm_shape unaligned = off_boundaries(with_gaps(draw_trial(random, shape, gemm_values::special), 1, 7, 1));
    constexpr gemm_values kOthers[] = {gemm_values::wide, gemm_values::cancelling, gemm_values::uniform,
                                       gemm_values::normal};
    gemm_shape any = draw_trial(random, shape, kOthers[draw_up_to(random, 3)]);
    for (std::int64_t* side : {&any.m, &any.n, &any.k}) *side = draw_log_uniform(random, 1, 200);
    any.beta = 0;
    any = off_boundaries(with_gaps(any, 0, 7, 1));
    gemm_shape itself = shape;
    itself.values = gemm_values::symmetric;
    itself.alpha = draw_factor(random);
    itself.beta = draw_factor(random);
    return {aligned, unaligned, any, itself};
}

std::vector<std::string> product_groups() {
    std::vector<std::string> names;
    for (const shape_group& g : kGroups) names.emplace_back(g.name);
    return names;
}

std::vector<product_cell> product_grid(const std::vector<std::string>& groups) {
    std::vector<product_cell> grid;
    for (const shape_group& g : kGroups) {
        if (std::find(groups.begin(), groups.end(), g.name) == groups.end()) continue;
        for (const gemm_shape& s : g.all()) grid.push_back({g.name, s});
    }
    return grid;
}

std::vector<product_cell> product_draws(int count, std::uint64_t seed) {
    random_bits random(seed);
    std::vector<product_cell> cells;
    for (int i = 0; i < count; ++i) cells.push_back(draw(random, seed));
    return cells;
}

std::vector<std::string> product_classes(const gemm_shape& s) {
    constexpr std::int64_t kFew = 64;
    std::vector<std::string> classes;
    if (std::min(s.m, s.n) <= kFew) classes.emplace_back("narrow");
    if (s.k <= kFew) classes.emplace_back("short k");
    if (classes.empty()) classes.emplace_back("neither");
    return classes;
}

}  // namespace cornerturn
