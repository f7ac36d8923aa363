// The trials that operations draw: other work that a kernel must do right before it counts as verified.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <random>
#include <sstream>

#include "core/draw.hpp"
#include "run_kernels.hpp"

using namespace cornerturn;

namespace {

// Work of random sizes, read from options of the command line.
std::vector<workload_pointer> drawn_work(const std::string& name) {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    random_bits random(seed);
    std::vector<workload_pointer> all;
    for (int i = 0; i < 60; ++i) {
        arguments given;
        const operation& op = find_operation(name);
        const auto size = [&] { return std::to_string(draw_log_uniform(random, 1, 5000) - draw_up_to(random, 1)); };
        for (const option& o : op.facts().sizes) {
            if (!o.list) given.give(o.name, size());
        }
        if (name == "permute") given.give("--shape", fmt::format("{},{},{}", size(), size(), size()));
        if (name != "gemm") given.give("--dtype", dtypes()[static_cast<std::size_t>(draw_up_to(random, 13))].name);
        given.give("--seed", std::to_string(random() >> 1));
        all.push_back(op.read(given, 1024));
    }
    return all;
}

bool has_any(const workload& trial, std::initializer_list<const char*> members) {
    const nlohmann::ordered_json layout = trial.layout();
    return std::any_of(members.begin(), members.end(), [&](const char* name) { return layout.contains(name); });
}

template <class Predicate>
void expect_some(const workload& work, const char* what, Predicate holds) {
    const auto trials = work.trials();
    EXPECT_TRUE(std::any_of(trials.begin(), trials.end(), [&](const auto& t) { return holds(*t); }))
        << "no trial of " << work.options() << " has " << what;
}

TEST(trials, of_transposes_have_gaps_offsets_and_all_special_values) {
    constexpr std::int64_t kAllSpecials = 1 << 12, kMostElements = 1 << 16;
    for (const workload_pointer& work : drawn_work("transpose")) {
        expect_some(*work, "a gap after the source's rows",
                    [](const workload& t) { return has_any(t, {"source_ld"}); });
        expect_some(*work, "a gap after the destination's rows",
                    [](const workload& t) { return has_any(t, {"destination_ld"}); });
        expect_some(*work, "an offset", [](const workload& t) {
            return has_any(t, {"source_offset", "destination_offset"});
        });
        expect_some(*work, "all special values", [](const workload& t) { return t.outputs() >= kAllSpecials; });
        expect_some(*work, "sides that differ and fill no tile", [](const workload& t) {
            return t.sizes()[0] != t.sizes()[1] && t.sizes()[0] % 32 != 0 && t.sizes()[1] % 32 != 0;
        });
        for (const auto& t : work->trials()) EXPECT_LE(t->outputs(), kMostElements) << t->options();
    }
}

TEST(trials, of_products_have_all_unusual_layouts_factors_and_values) {
    for (const workload_pointer& work : drawn_work("gemm")) {
        const auto trials = work->trials();
        for (const char* member : {"lda", "ldb", "ldc", "a_offset", "b_offset", "c_offset", "alpha", "beta"})
            expect_some(*work, member, [&](const workload& t) { return has_any(t, {member}); });
        for (const char* values : {"special", "symmetric"})
            expect_some(*work, values, [&](const workload& t) { return t.layout().value("values", "") == values; });
        // The last is the shape itself; the others are small.
        EXPECT_EQ(trials.back()->sizes(), work->sizes());
        for (std::size_t i = 0; i + 1 < trials.size(); ++i) EXPECT_LE(trials[i]->steps(), 200 * 200 * 200);
    }
}

TEST(trials, of_permutations_have_gaps_and_offsets) {
    for (const workload_pointer& work : drawn_work("permute")) {
        const auto trials = work->trials();
        const auto shape_of = [](const workload& t) { return dynamic_cast<const tensor_work&>(t).shape(); };
        expect_some(*work, "an offset", [&](const workload& t) { return shape_of(t).source_offset > 0; });
        expect_some(*work, "some thousand elements", [](const workload& t) { return t.outputs() >= 1 << 12; });
        for (const auto& t : trials) EXPECT_LE(t->outputs(), 1 << 18) << t->options();
    }
}

// A fault names a trial by its options, with which a user can repeat it.
TEST(trials, can_be_read_from_their_options) {
    for (const char* name : {"transpose", "gemm"}) {
        for (const workload_pointer& work : drawn_work(name)) {
            for (const auto& trial : work->trials()) {
                std::istringstream options(trial->options());
                arguments given;
                for (std::string option, value; options >> option >> value;) given.give(option, value);
                const workload_pointer again = work->op().read(given, 1);
                EXPECT_EQ(again->options(), trial->options());
                EXPECT_EQ(again->sizes(), trial->sizes());
                EXPECT_EQ(again->layout(), trial->layout()) << trial->options();
            }
        }
    }
}

}  // namespace
