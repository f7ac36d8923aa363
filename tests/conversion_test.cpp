// Conversions between tensors in the emulator, by every plan of the policy, and the values of all pairs of types.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <random>

#include "conversion_problems.hpp"
#include "known_gpus.hpp"
#include "move/converted_pairs.hpp"
#include "sanitized.hpp"
#include "strided_emulated.hpp"

using namespace cornerturn;

namespace {

std::string run(const tests::conversion_problem& p, const tests::conversion_case& of, const gpu& on,
                std::map<std::string, int>& runs) {
    // Both buffers begin at a multiple of 64 bytes.
    std::mt19937_64 random;
    tests::buffer source(p.source_bytes, random), destination(p.destination_bytes, random);
    std::copy(of.source().begin(), of.source().end(), source.data());
    std::vector<unsigned char> scales = of.scales(), biases = of.biases();
    const strided_copy c = of.canonical(source.data(), destination.data(), of.how(scales.data(), biases.data()));
    std::vector<std::pair<std::string, moves::plan>> plans;
    for (const moves::candidate& one : moves::candidates(c, on))
        plans.emplace_back(moves::explain(one, c, on), moves::work_out(one, c, on));
    plans.emplace_back("the remembered plan", moves::plan_for(c, on));
    for (const auto& [text, plan] : plans) {
        std::copy(of.destination().begin(), of.destination().end(), destination.data());
        emulator::emulation emulation({.workers = 1});
        const auto bytes = c.is_empty() ? std::uintptr_t{1} : c.source_end() - c.source_begin();
        emulation.add_buffer(
            "source", c.is_empty() ? source.data() : reinterpret_cast<unsigned char*>(c.source_begin()), bytes, false);
        emulation.add_buffer("destination", destination.data(), static_cast<std::size_t>(p.destination_bytes), true);
        emulation.add_buffer("scales", scales.data(), scales.size(), false);
        emulation.add_buffer("biases", biases.data(), biases.size(), false);
        std::string wrong;
        try {
            moves::run_emulated(plan);
            wrong = of.wrong_in(destination.data());
        } catch (const error& e) {
            wrong = e.what();
        }
        if (!wrong.empty()) return text + "\n" + wrong;
        ++runs[std::string(plan.types.converts() ? "convert " : "move ") + moves::name(plan.by) +
               (plan.at_load ? " at load" : "") + (plan.gaps ? " with gaps" : "") + (plan.groups ? " by groups" : "")];
    }
    return {};
}

TEST(conversion, random_tensors_by_every_plan) {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    std::map<std::string, int> runs;
    for (int round = 0; round < (tests::kSanitized ? 300 : 3000); ++round) {
        tests::conversion_problem p = tests::draw_conversion(random, 1 << 16);
        if (round % 2 == 0) {  // a pair with kernels of its own
            const moves::converted_pair pair = moves::kConvertedPairs[random() % std::size(moves::kConvertedPairs)];
            const tests::conversion_problem other = p;
            p.from = pair.from, p.to = pair.to;
            p.saturates = true;
            p.source_at = p.destination_at = 0;
            const auto reach = [&](const std::vector<std::int64_t>& strides, int size, std::int64_t& at,
                                   std::int64_t& bytes) {
                std::int64_t low = 0, high = size;
                for (std::size_t i = 0; i < p.extents.size(); ++i) {
                    const std::int64_t by = p.extents[i] > 0 ? (p.extents[i] - 1) * strides[i] * size : 0;
                    (by < 0 ? low : high) += by;
                }
                at = 64 - low + static_cast<std::int64_t>(random() % 16) * size;
                bytes = 256 + high - low;
            };
            reach(p.source_strides, size_of(p.from), p.source_at, p.source_bytes);
            reach(p.destination_strides, size_of(p.to), p.destination_at, p.destination_bytes);
            p.aligned = true;
        }
        const tests::conversion_case of(p, seed + static_cast<unsigned>(round));
        const gpu& on = tests::kGpus[random() % std::size(tests::kGpus)];
        ASSERT_EQ(run(p, of, on, runs), "") << "seed " << seed << ", round " << round << ": " << p.text();
    }
    for (const auto& [name, count] : runs) std::printf("%s: %d\n", name.c_str(), count);
    EXPECT_GT(runs["convert tiles"], 50);
    EXPECT_GT(runs["convert tiles at load"], 10);
    if (!tests::kSanitized) {  // fewer rounds run there
        EXPECT_GT(runs["convert tiles at load by groups"], 0);
    }
    EXPECT_GT(runs["convert rows"], 10);
    EXPECT_GT(runs["convert units"], 50);
}

// Batches of matrices, aligned for vectors or not, with scales and biases along each axis.
TEST(conversion, matrices) {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    const auto up_to = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    std::map<std::string, int> runs;
    for (int round = 0; round < (tests::kSanitized ? 12 : 60); ++round) {
        tests::conversion_problem p = tests::draw_conversion(random, 1 << 10);
        const bool few = round % 3 == 0;      // columns, as pictures have
        const bool vectors = round % 3 == 1;  // on both sides
        moves::converted_pair pair;
        do {
            pair = moves::kConvertedPairs[random() % std::size(moves::kConvertedPairs)];
        } while ((few && !moves::has_few_columns(pair)) ||
                 (vectors && (size_of(pair.to) > 2 || !moves::converts_at_load(pair))));
        p.from = pair.from, p.to = pair.to;
        p.saturates = p.aligned = true;
        const std::int64_t rows = 1 + up_to(few ? 12000 : 200), cols = few ? 2 + up_to(2) : 1 + up_to(200),
                           batch = 1 + up_to(2), outer = 1 + up_to(1);
        const std::int64_t unit = vectors || (!few && random() % 3 > 0) ? 16 : 1;
        const auto pitch = [&](std::int64_t least) { return (least + unit - 1) / unit * unit; };
        const std::int64_t from = pitch(cols), to = pitch(rows);
        p.extents = {outer, batch, cols, rows};
        p.source_strides = {from * rows, outer * from * rows, 1, from};
        p.destination_strides = {batch * cols * to, cols * to, to, 1};
        p.source_at = p.destination_at = 64;
        p.source_bytes = 128 + outer * batch * rows * from * size_of(p.from);
        p.destination_bytes = 128 + outer * batch * cols * to * size_of(p.to);
        p.axis = static_cast<int>(up_to(3));
        const auto numbers = [&](tests::conversion_problem::kind kind, std::vector<double>& all) {
            if (kind != tests::conversion_problem::kind::each) return;
            all.assign(static_cast<std::size_t>(p.extents[static_cast<std::size_t>(p.axis)]), 0);
            for (double& x : all) x = static_cast<double>(up_to(1000)) / 8 - 60;
        };
        if (round % 2 == 0) p.scale = tests::conversion_problem::kind::each;
        numbers(p.scale, p.scales), numbers(p.bias, p.biases);
        const tests::conversion_case of(p, seed + static_cast<unsigned>(round));
        ASSERT_EQ(run(p, of, tests::kGpus[random() % std::size(tests::kGpus)], runs), "")
            << "seed " << seed << ", round " << round << ": " << p.text();
    }
    for (const auto& [name, count] : runs) std::printf("%s: %d\n", name.c_str(), count);
    EXPECT_GT(runs["convert vector"], 0);
    EXPECT_GT(runs["convert tall"], 0);
}

// A plan is reused for other addresses, and must not be if their alignment differs.
TEST(conversion, remembers_plans) {
    std::map<std::string, int> runs;
    for (const element_type to : {element_type::bf16, element_type::e4m3fn}) {
        for (int step = 0; step < 12; ++step) {
            std::mt19937_64 random(1);
            tests::conversion_problem p = tests::draw_conversion(random, 1 << 10);
            p.from = element_type::f32, p.to = to;
            p.saturates = p.aligned = true;
            p.scale = p.bias = tests::conversion_problem::kind::none;
            p.extents = {48, 80};
            p.source_strides = {1, 48}, p.destination_strides = {80, 1};
            p.source_at = 64 + step % 6 * 32, p.destination_at = 64;
            p.source_bytes = 512 + 48 * 80 * 4, p.destination_bytes = 128 + 48 * 80 * size_of(to);
            ASSERT_EQ(run(p, tests::conversion_case(p, 1), tests::kGpus[0], runs), "") << p.text();
        }
    }
}

// Scales count from a launch's first column, so vectors take no work that needs a second launch.
TEST(conversion, vectors_take_one_launch) {
    constexpr std::int64_t kRows = 256, kCols = std::int64_t{1} << 21, kMostTiles = 65535;
    const strided_axis axes[] = {{kRows, kCols * 4, 2}, {kCols, 4, kRows * 2, 1}};
    const strided_copy c = canonical(1 << 20, std::uintptr_t{1} << 40, 2, axes, 2,
                                     {element_type::f32, element_type::bf16, true, true}, {.scales = {1, 1 << 16}});
    int vectors = 0;
    for (const moves::candidate& one : moves::candidates(c, tests::kGpus[0])) {
        if (one.by != moves::kernel_family::vector) continue;
        const auto rows = moves::rows_of(one.by, true);
        EXPECT_LE(kCols, kMostTiles * rows[static_cast<std::size_t>(one.row)].tile_cols);
        ++vectors;
    }
    EXPECT_GT(vectors, 0);
}

}  // namespace
