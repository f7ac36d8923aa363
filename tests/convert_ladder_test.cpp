// The operation convert. Its options have the right meaning. Every rung of its ladder converts every
// element in the emulator. Its verifier expects the right values, and finds mistakes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "conversion_values.hpp"
#include "core/converted_pattern.hpp"
#include "cornerturn/error.hpp"
#include "device/explanation.hpp"
#include "given.hpp"
#include "lab/run.hpp"
#include "message.hpp"
#include "move/converted_pairs.hpp"
#include "ops/convert/operation.hpp"
#include "ops/copy/strided_problem.hpp"
#include "ops/copy/tensor_movement.hpp"

using namespace cornerturn;
using tests::given;

namespace {

using numbers = std::vector<std::int64_t>;

const operation& convert() { return find_operation("convert"); }

std::vector<const kernel*> rungs() {
    std::vector<const kernel*> all;
    for (const kernel& k : kernels()) {
        if (k.op == &convert_operation() && k.is_built_for(backend::emulator)) all.push_back(&k);
    }
    return all;
}

std::string refusal(const arguments& all) { return tests::refusal_by(convert(), all); }

const strided_shape& shape_of(const workload_pointer& work) { return dynamic_cast<const tensor_work&>(*work).shape(); }

std::uint64_t new_seed() {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    return seed;
}

element_conversion drawn(std::mt19937_64& random, element_type from, element_type to) {
    element_conversion how{.cast = {from, to}, .factors = static_cast<factor_kind>(random() % 3)};
    if (from == to && how.factors == factor_kind::none) how.factors = factor_kind::one;
    how.cast.scaled = how.factors != factor_kind::none;
    return how;
}

tensor_work work_of(const strided_shape& s, std::uint64_t seed) {
    const element_type from = s.conversion.cast.from;
    return {convert_operation(), {name_of(from), size_of(from)}, s, seed};
}

// ---- Arguments

TEST(convert_ladder, reads_types_and_factors) {
    const auto work = convert().read(given({{"--shape", "4,5,6"},
                                            {"--axes", "0,2,1"},
                                            {"--dtype", "u8"},
                                            {"--to", "f16"},
                                            {"--factors", "each"},
                                            {"--axis", "-1"}}),
                                     1024);
    const strided_shape& s = shape_of(work);
    EXPECT_EQ(work->sizes(), (numbers{4, 5, 6, 0, 2, 1}));
    EXPECT_EQ(s.conversion.cast, (element_cast{element_type::u8, element_type::f16, true, true}));
    EXPECT_EQ(s.conversion.axis, 2);
    EXPECT_EQ(s.factors(), 5);
    EXPECT_EQ(work->bytes(), 4 * 5 * 6 * (1 + 2));
    EXPECT_EQ(work->type().name, std::string("u8"));
    std::istringstream options(work->options());
    arguments again;
    for (std::string option, value; options >> option >> value;) again.give(option, value);
    const auto same = convert().read(again, 1);
    EXPECT_EQ(same->options(), work->options());
    EXPECT_EQ(shape_of(same).conversion, s.conversion);
    const auto usual = convert().read({}, 1024);
    EXPECT_EQ(shape_of(usual).conversion.cast, (element_cast{element_type::f32, element_type::bf16}));
    EXPECT_LE(usual->outputs(), 1 << 20);
}

TEST(convert_ladder, refuses_wrong_types_and_factors) {
    EXPECT_NAMES(refusal(given({{"--dtype", "f33"}})), "--dtype", "'f33'", "f32", "e4m3fn");
    EXPECT_NAMES(refusal(given({{"--to", "c64"}})), "--to", "'c64'", "f32");
    EXPECT_NAMES(refusal(given({{"--to", "f32"}})), "f32");
    EXPECT_NAMES(refusal(given({{"--factors", "two"}})), "--factors", "'two'", "none", "one", "each");
    EXPECT_NAMES(refusal(given({{"--axis", "1"}})), "--axis", "--factors");
    EXPECT_NAMES(refusal(given({{"--shape", "2,3"}, {"--factors", "each"}, {"--axis", "2"}})), "--axis", 2, -2, 1);
    EXPECT_NAMES(refusal(given({{"--shape", ""}, {"--factors", "each"}})), "--axis", 0);
    EXPECT_NO_THROW(convert().read(given({{"--to", "f32"}, {"--factors", "one"}}), 1024));
}

TEST(convert_ladder, explains_the_engines_choice) {
    const explanation e = convert().explain(given({{"--shape", "64,224,224,3"},
                                                   {"--axes", "0,3,1,2"},
                                                   {"--dtype", "u8"},
                                                   {"--to", "f32"},
                                                   {"--factors", "each"}}));
    EXPECT_NAMES(e.text, "convert/production", e.json["others"][0]["choice"].get<std::string>());
    EXPECT_EQ(e.json["source_type"], "u8");
    EXPECT_EQ(e.json["destination_type"], "f32");
    EXPECT_EQ(e.json["factors"], "each");
    EXPECT_EQ(e.json["axis"], 1);
    EXPECT_NAMES(convert().explain(given({{"--on", "host"}})).text, "host/convert");
}

// ---- The values

// The verifier's values come from core/cast.hpp, as those of some kernels do. Here are values from tables.
TEST(convert_ladder, verifier_expects_the_values_of_the_rules) {
    const std::uint64_t seed = new_seed();
    std::mt19937_64 random(seed);
    for (const element_type from : tests::kRealTypes) {
        for (const element_type to : tests::kRealTypes) {
            const element_conversion how = drawn(random, from, to);
            const converted_elements source{seed, false, true, how, size_of(from)},
                destination{seed, false, false, how, size_of(to)};
            std::set<std::uint64_t> values;
            for (std::int64_t i = 0; i < 400; ++i) {
                const auto index = static_cast<std::uint64_t>(i);
                const std::int64_t factor = i % 7;
                unsigned char element[8] = {}, made[8] = {};
                source.put(element, index, factor);
                destination.put(made, index, factor);
                std::optional<std::pair<double, double>> scaled;
                if (how.factors == factor_kind::one) scaled = {how.scale, -0.0};
                if (how.factors == factor_kind::each)
                    scaled = {pattern_scale(factor, seed), pattern_bias(factor, seed)};
                ASSERT_TRUE(tests::converted_element(element, from, to, true, scaled).fits(made, to))
                    << name_of(from) << " to " << name_of(to) << ", element " << i << ", seed " << seed;
                ASSERT_TRUE(destination.holds(made, index, factor));
                std::uint64_t bits = 0;
                std::memcpy(&bits, made, sizeof made);
                values.insert(bits);
                // A NaN may have other bits; no other value may.
                made[0] ^= 1;
                ASSERT_EQ(destination.holds(made, index, factor), is_nan(to, bits) && is_nan(to, bits ^ 1))
                    << name_of(from) << " to " << name_of(to) << ", element " << i << ", seed " << seed;
            }
            // Few elements look alike, so that a wrong place shows. A bias makes all bools true.
            const bool biased = to == element_type::boolean && how.factors == factor_kind::each;
            const bool few = from == element_type::boolean || to == element_type::boolean;
            EXPECT_GE(values.size(), biased ? 1u
                                     : few  ? 2u
                                            : 16u)
                << name_of(from) << " to " << name_of(to) << ", seed " << seed;
        }
    }
}

TEST(convert_ladder, scales_and_biases_differ) {
    std::set<float> scales, biases;
    for (std::int64_t i = 0; i < 1000; ++i) {
        scales.insert(pattern_scale(i, 5));
        biases.insert(pattern_bias(i, 5));
    }
    EXPECT_GE(*scales.begin(), 0.5f);
    EXPECT_LE(*scales.rbegin(), 1.5f);
    EXPECT_GE(*biases.begin(), -2.0f);
    EXPECT_LE(*biases.rbegin(), 2.0f);
    EXPECT_GT(scales.size(), 990u);
    EXPECT_GT(biases.size(), 990u);
}

// ---- The verifier

// A conversion by a plain loop, with the values from tables.
struct loop_problem {
    strided_shape shape;
    std::uint64_t seed;
    std::unique_ptr<problem> p;
    unsigned char *source, *destination;

    loop_problem(const strided_shape& s, std::uint64_t seed)
        : shape(s), seed(seed), p(make_host_tensors(backend::host, {s}, seed)) {
        p->prepare();
        source = p->buffers()[0].data;
        destination = p->buffers()[1].data;
    }
    void convert() {
        const element_conversion& how = shape.conversion;
        numbers index(shape.extents.size(), 0);
        for (std::int64_t left = shape.elements(); left > 0; --left) {
            std::int64_t from = shape.source_first(), to = shape.destination_first();
            for (std::size_t i = 0; i < index.size(); ++i) {
                from += index[i] * shape.source_strides[i];
                to += index[i] * shape.destination_strides[i];
            }
            std::optional<std::pair<double, double>> scaled;
            if (how.factors == factor_kind::one) scaled = {how.scale, -0.0};
            if (how.factors == factor_kind::each) {
                const auto* const numbers_in_memory = reinterpret_cast<const float*>(p->buffers()[2].data);
                const std::int64_t at = index[static_cast<std::size_t>(how.axis)];
                scaled = {numbers_in_memory[at], numbers_in_memory[shape.factors() + at]};
            }
            const tests::expected_element made =
                tests::converted_element(source + from * shape.source_size(), how.cast.from, how.cast.to, true, scaled);
            std::uint64_t bits = made.nan ? ~std::uint64_t{0} : made.bits;
            std::memcpy(destination + to * shape.element_size, &bits, static_cast<std::size_t>(shape.element_size));
            for (std::size_t i = index.size(); i-- > 0 && ++index[i] == shape.extents[i];) index[i] = 0;
        }
    }
    std::string fault() const { return p->check().fault; }
};

TEST(convert_ladder, verifier_passes_right_results_and_finds_wrong_bytes) {
    const std::uint64_t seed = new_seed();
    std::mt19937_64 random(seed);
    for (int round = 0; round < 300; ++round) {
        const moves::converted_pair& pair = moves::kConvertedPairs[random() % moves::kPairs];
        strided_shape s = draw_conversion(random, 1 << 6, 1 << 11, drawn(random, pair.from, pair.to));
        s.source_offset = static_cast<std::int64_t>(random() % 5);
        s.destination_offset = static_cast<std::int64_t>(random() % 5);
        const std::string about = fmt::format("{}, seed {}", work_of(s, 1).text(), seed);
        loop_problem all(s, seed);
        ASSERT_NE(all.fault(), "") << "before the conversion: " << about;
        all.convert();
        ASSERT_EQ(all.fault(), "") << about;
        // A byte of a guard, and of an element: a sign or the top bit, which makes no NaN of another.
        unsigned char& guard = all.destination[s.destination_bytes() + static_cast<std::int64_t>(random() % 100)];
        guard ^= 1;
        ASSERT_NE(all.fault(), "") << about;
        guard ^= 1;
        const std::int64_t at = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(s.elements()));
        if (s.destination_strides.back() == 1 && s.extents.back() > at) {
            unsigned char* const element =
                all.destination + (s.destination_offset + at) * s.element_size + s.element_size - 1;
            std::uint64_t bits = 0;
            std::memcpy(&bits, element - s.element_size + 1, static_cast<std::size_t>(s.element_size));
            if (!is_nan(pair.to, bits)) {
                *element ^= 128;
                ASSERT_NE(all.fault(), "") << about;
                *element ^= 128;
            }
        }
        unsigned char& byte = all.source[random() % static_cast<std::uint64_t>(s.source_bytes())];
        byte ^= 128;
        ASSERT_NE(all.fault(), "") << about;
        byte ^= 128;
        ASSERT_EQ(all.fault(), "") << about;
    }
}

TEST(convert_ladder, verifier_finds_the_wrong_scale) {
    strided_shape s = permuted_shape({6, 5}, {1, 0}, 4);
    s.conversion = {.cast = {element_type::u8, element_type::f32, true, true}, .factors = factor_kind::each, .axis = 1};
    loop_problem all(s, 3);
    auto* const factors = reinterpret_cast<float*>(all.p->buffers()[2].data);
    std::swap(factors[2], factors[3]);
    all.convert();
    EXPECT_NE(all.fault(), "");
    std::swap(factors[2], factors[3]);
    all.convert();
    EXPECT_EQ(all.fault(), "");
}

// ---- Rungs

struct counts {
    int ran = 0, declined = 0;
};

void run_right(const kernel& k, const strided_shape& s, std::uint64_t seed, counts& all) {
    const tensor_work work = work_of(s, seed);
    const lab::emulation_outcome run = lab::emulate(k, work, {.workers = 1});
    if (run.declined) {
        ++all.declined;
        return;
    }
    ++all.ran;
    ASSERT_EQ(run.verdict.fault, "") << k.id << ": " << work.text() << ", seed " << seed;
    ASSERT_EQ(run.verdict.elements, s.elements());
}

// The pairs that all rungs convert.
constexpr moves::converted_pair kOfRungs[] = {{element_type::u8, element_type::f32},
                                              {element_type::u8, element_type::f16},
                                              {element_type::f32, element_type::bf16},
                                              {element_type::bf16, element_type::f32},
                                              {element_type::bf16, element_type::e4m3fn}};

TEST(convert_ladder, every_rung_converts_every_element) {
    const std::uint64_t seed = new_seed();
    std::mt19937_64 random(seed);
    std::map<std::string, counts> all;
    const auto run = [&](const strided_shape& s) {
        for (const kernel* k : rungs()) ASSERT_NO_FATAL_FAILURE(run_right(*k, s, seed, all[k->id]));
    };
    for (int round = 0; round < 200; ++round) {
        const moves::converted_pair& pair = kOfRungs[random() % std::size(kOfRungs)];
        strided_shape s = draw_conversion(random, 1 << 8, 1 << 14, drawn(random, pair.from, pair.to));
        s.source_offset = static_cast<std::int64_t>(random() % 5);
        s.destination_offset = static_cast<std::int64_t>(random() % 5);
        ASSERT_NO_FATAL_FAILURE(run(s));
    }
    // Aligned tensors, for the kernels that use words.
    for (int round = 0; round < 80; ++round) {
        const moves::converted_pair& pair = kOfRungs[random() % std::size(kOfRungs)];
        numbers extents;
        std::vector<int> axes = {0, 1, 2};
        for (int i = 0; i < 3; ++i) extents.push_back(1 + static_cast<std::int64_t>(random() % 3));
        for (std::size_t i : {random() % 3, random() % 3})
            extents[i] = 16 * (1 + static_cast<std::int64_t>(random() % 6));
        std::shuffle(axes.begin(), axes.end(), random);
        strided_shape s = permuted_shape(extents, axes, size_of(pair.to));
        s.conversion = drawn(random, pair.from, pair.to);
        s.conversion.axis = static_cast<int>(random() % 3);
        ASSERT_NO_FATAL_FAILURE(run(s));
    }
    // The library's kernels convert all pairs.
    for (int round = 0; round < 60; ++round) {
        const element_type from = tests::kRealTypes[random() % std::size(tests::kRealTypes)],
                           to = tests::kRealTypes[random() % std::size(tests::kRealTypes)];
        const strided_shape s = draw_conversion(random, 1 << 8, 1 << 13, drawn(random, from, to));
        const kernel& production = find_kernel("convert/production");
        ASSERT_NO_FATAL_FAILURE(run_right(production, s, seed, all[production.id]));
    }
    for (const auto& [id, found] : all) {
        std::printf("%s: %d right, %d declined\n", id.c_str(), found.ran, found.declined);
        EXPECT_GT(found.ran, 30) << id;
    }
    EXPECT_EQ(all["convert/production"].declined, 0);
}

TEST(convert_ladder, edges_of_tiles_and_no_axes) {
    for (const kernel* k : rungs()) {
        for (const moves::converted_pair& pair : kOfRungs) {
            counts all;
            const auto run = [&](const numbers& extents, const std::vector<int>& axes) {
                strided_shape s = permuted_shape(extents, axes, size_of(pair.to));
                s.conversion = {.cast = {pair.from, pair.to, true, !extents.empty()},
                                .factors = extents.empty() ? factor_kind::none : factor_kind::each};
                run_right(*k, s, 1, all);
            };
            for (std::int64_t n : {1, 7, 31, 32, 33, 64, 65}) {
                for (std::int64_t m : {1, 3, 16, 32, 128}) ASSERT_NO_FATAL_FAILURE(run({n, 2, m}, {2, 0, 1}));
            }
            ASSERT_NO_FATAL_FAILURE(run({}, {}));
            ASSERT_NO_FATAL_FAILURE(run({5}, {0}));
            ASSERT_NO_FATAL_FAILURE(run({4, 0, 3}, {2, 1, 0}));
            EXPECT_GT(all.ran, 5) << k->id;
        }
    }
}

// Each rung needs fewer sectors, requests or wavefronts than an earlier one, for the shapes that it was made for.
TEST(convert_ladder, each_rung_is_an_improvement) {
    const auto counted = [](const char* id, const char* shape, const char* axes, const char* from, const char* to,
                            const char* factors = "none") {
        const auto work = convert().read(
            given({{"--shape", shape}, {"--axes", axes}, {"--dtype", from}, {"--to", to}, {"--factors", factors}}),
            1024);
        return lab::emulate(find_kernel(id), *work, {}).report.counts;
    };
    using emulator::kLoad, emulator::kStore;
    constexpr const char *kImages = "2,64,64,3", *kPlanes = "0,3,1,2", *kMatrix = "256,512", *kTransposed = "1,0";
    EXPECT_LT(7 * counted("convert/tiled", kMatrix, kTransposed, "f32", "bf16").global_sectors[kLoad],
              counted("convert/naive", kMatrix, kTransposed, "f32", "bf16").global_sectors[kLoad]);
    EXPECT_LT(4 * counted("convert/composite", kImages, kPlanes, "u8", "f32").global_requests[kLoad],
              counted("convert/tiled", kImages, kPlanes, "u8", "f32").global_requests[kLoad]);
    for (const auto& [from, to] : {std::pair{"f32", "bf16"}, {"bf16", "e4m3fn"}, {"u8", "f16"}, {"bf16", "f32"}}) {
        const emulator::counters before = counted("convert/composite", kMatrix, kTransposed, from, to),
                                 after = counted("convert/words", kMatrix, kTransposed, from, to);
        EXPECT_LT(3 * after.global_requests[kLoad], before.global_requests[kLoad]) << from << " to " << to;
        EXPECT_LT(3 * after.global_requests[kStore], before.global_requests[kStore]) << from << " to " << to;
    }
}

// ---- Trials

TEST(convert_ladder, trials_have_all_factors_gaps_and_offsets) {
    for (const auto& [from, to] : {std::pair{"u8", "f16"}, {"f32", "bf16"}, {"bf16", "e4m3fn"}}) {
        const auto work =
            convert().read(given({{"--shape", "300,70,50"}, {"--dtype", from}, {"--to", to}, {"--seed", "4"}}), 1024);
        std::set<factor_kind> kinds;
        bool offset = false, many = false;
        for (const auto& trial : work->trials()) {
            const strided_shape& s = shape_of(trial);
            EXPECT_EQ(s.conversion.cast.from, shape_of(work).conversion.cast.from);
            EXPECT_EQ(s.conversion.cast.to, shape_of(work).conversion.cast.to);
            kinds.insert(s.conversion.factors);
            offset = offset || s.source_offset > 0;
            many = many || s.elements() >= 1 << 12;
            EXPECT_LE(s.elements(), 1 << 18) << trial->text();
        }
        EXPECT_EQ(kinds.size(), 3u);
        EXPECT_TRUE(offset && many);
    }
}

}  // namespace
