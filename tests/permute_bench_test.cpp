// The bench of permutations: its cells, the copies beside them, and how its results are shown.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "lab/bench_views.hpp"
#include "lab/run.hpp"
#include "message.hpp"
#include "ops/copy/sectors.hpp"
#include "ops/copy/strided_problem.hpp"
#include "ops/copy/tensor_movement.hpp"
#include "ops/permute/strided_work.hpp"
#include "report/document.hpp"
#include "report/report.hpp"
#include "strided_problems.hpp"

using namespace cornerturn;

namespace {

const operation& permute() { return find_operation("permute"); }

TEST(permute_bench, has_every_named_case_at_every_size) {
    const auto grid = permute().bench_grid({1, 2, 4, 8, 16}, permute().bench_groups());
    constexpr std::size_t kNamed = 13, kPublished = 57;
    EXPECT_EQ(grid.size(), 5 * (kNamed + kPublished));
    EXPECT_FALSE(permute().is_usual_group("published"));
    std::set<std::string> rows;
    for (const bench_cell& c : grid) {
        rows.insert(permute().bench_row(c.group, c.work->text(), {}));
        nlohmann::ordered_json cell = {{"shape", c.work->text()}};
        c.work->describe(cell);
        EXPECT_EQ(cell["shape"], c.work->text());
        EXPECT_GT(c.work->bytes(), 20 << 20) << c.work->text();
        EXPECT_TRUE(c.work->writes_whole_sectors()) << c.work->text();
        EXPECT_GE(cell["sector_bytes"].get<std::int64_t>(), c.work->bytes());
    }
    EXPECT_EQ(rows.size(), kNamed + kPublished);
}

// About 200 MB each in elements of 4 bytes. Two as HPTT's benchmark has them: the first axis of
// 80, 96, 75 and 96 is the fastest, and the new axes are 0, 3, 2, 1.
TEST(permute_bench, has_the_published_permutations) {
    const auto grid = permute().bench_grid({4}, {"published"});
    ASSERT_EQ(grid.size(), 57u);
    for (const bench_cell& c : grid) {
        EXPECT_GT(c.work->bytes(), 380'000'000) << c.work->text();
        EXPECT_LT(c.work->bytes(), 490'000'000) << c.work->text();
    }
    const auto has = [&](const char* text) {
        return std::any_of(grid.begin(), grid.end(), [&](const bench_cell& c) { return c.work->text() == text; });
    };
    EXPECT_TRUE(has("96 x 75 x 96 x 80, axes 2,1,0,3"));
    EXPECT_TRUE(has("32 x 15 x 15 x 15 x 15 x 32, axes 5,4,3,2,1,0"));
}

TEST(permute_bench, draws_the_same_cells_from_a_seed) {
    const auto one = permute().bench_draws(20, 7, draw_size::large),
               again = permute().bench_draws(20, 7, draw_size::large),
               other = permute().bench_draws(20, 8, draw_size::large);
    ASSERT_EQ(one.size(), 20u);
    int same = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(one[i].work->text(), again[i].work->text());
        same += one[i].work->text() == other[i].work->text();
        EXPECT_EQ(one[i].group, dynamic_cast<const tensor_work&>(*one[i].work).shape().kind);
        EXPECT_EQ(one[i].work->among({}, 3)->seed(), 3u);
    }
    EXPECT_LT(same, 3);
}

TEST(permute_bench, draws_small_cells) {
    int within = 0;
    for (const bench_cell& c : permute().bench_draws(200, 7, draw_size::small)) {
        const std::int64_t bytes = c.work->bytes() / 2;
        EXPECT_LE(bytes, std::int64_t{1} << 30) << c.work->text();  // extents are rounded, those of eight axes too
        within += bytes >= 1 << 20 && bytes <= 64 << 20;
    }
    EXPECT_GT(within, 150);
}

// A bench of named and drawn shapes with made-up times. It is shown, stored, and read by a report.
TEST(permute_bench, results_are_shown_and_read_again) {
    lab::bench_report report;
    report.device = {.kind = "cuda", .name = "A GPU", .driver = "1.2", .cuda = "13.0"};
    report.request.op = &permute();
    report.request.subject = &find_kernel("permute/production");
    report.request.yardstick = &find_kernel("baseline/memcpy");
    report.request.peers = {&find_kernel("baseline/cutensor")};
    std::vector<bench_cell> cells = permute().bench_grid({1, 2}, {"heads"});
    for (const bench_cell& c : permute().bench_draws(3, 1, draw_size::large)) cells.push_back(c);
    for (const bench_cell& c : cells) {
        lab::bench_result r = lab::begin_bench(c, report.request);
        r.method = "by guess";
        for (lab::bench_entry* e : r.entries()) e->time = {2e-3, 1e-3, 3e-3, 20};
        report.results.push_back(std::move(r));
    }
    const std::string stored = lab::show_bench(report, lab::format::json);
    const auto json = nlohmann::json::parse(stored);
    EXPECT_EQ(json["cells"][0]["shape"], "128 x 2048 x 16 x 64, axes 0,2,1,3");
    EXPECT_EQ(json["cells"][0]["source_extents"], (std::vector<int>{128, 2048, 16, 64}));
    EXPECT_NAMES(json["cells"][0]["peers"]["cutensor"]["reason"].get<std::string>(), 1);
    EXPECT_EQ(json["cells"].back()["extents"].size(), json["cells"].back()["source_strides"].size());
    const report::document read = report::read_document("bench.json", stored);
    ASSERT_NE(read.as_bench(), nullptr);
    EXPECT_EQ(read.as_bench()->cells.size(), cells.size());
    const std::string page = report::html(report::make_page({read}));
    EXPECT_NAMES(page, permute().bench_row(cells[0].group, cells[0].work->text(), {}));
    EXPECT_NAMES(lab::show_bench(report, lab::format::table), "heads");
}

// Yardsticks copy half the bytes of the sectors that a permutation must touch, in elements of 16 bytes.
TEST(permute_bench, yardsticks_copy_as_many_sectors) {
    strided_shape s = permuted_shape({40, 30}, {1, 0}, 2);
    s.source_offset = 3;  // 6 bytes: one sector more
    const tensor_work work(permute_operation(), find_dtype("f16"), s, 1);
    EXPECT_EQ(work.sector_bytes(), 32 * (76 + 75));
    const kernel& memcpy_kernel = find_kernel("baseline/memcpy");
    EXPECT_EQ(work.shape_for(memcpy_kernel).extents, (std::vector<std::int64_t>{32 * 151 / 2 / 16}));
    EXPECT_EQ(work.amount(memcpy_kernel), 32 * 151);
    EXPECT_EQ(work.amount(find_kernel("permute/production")), 4800);
    // A copying kernel of the emulator runs on the problem, too.
    const kernel& copies = find_kernel("baseline/copy");
    if (copies.is_built_for(backend::emulator)) {
        EXPECT_EQ(lab::emulate(copies, work, {}).verdict.fault, "");
    }
}

TEST(permute_bench, sectors_are_those_that_hold_elements) {
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    for (int round = 0; round < 600; ++round) {
        const tests::strided_problem p = tests::draw_strided(random, 1 << 12);
        for (const auto& strides : {p.source_strides, p.destination_strides}) {
            std::vector<byte_axis> axes;
            std::int64_t low = 0;
            for (std::size_t i = 0; i < p.extents.size(); ++i) {
                axes.push_back({p.extents[i], strides[i] * p.element_size});
                if (p.extents[i] > 0)
                    low += std::min<std::int64_t>(0, (p.extents[i] - 1) * strides[i] * p.element_size);
            }
            const auto offset = static_cast<std::int64_t>(random() % 40);
            tests::strided_problem one_side = p;
            one_side.source_strides = strides;
            one_side.source_at = offset - low;
            std::set<std::int64_t> touched;
            one_side.each_element([&](std::int64_t from, std::int64_t) {
                for (std::int64_t b = from; b < from + p.element_size; ++b) touched.insert(b / 32);
            });
            ASSERT_EQ(touched_sectors(offset, p.element_size, axes), static_cast<std::int64_t>(touched.size()))
                << p.text() << ", seed " << seed;
        }
    }
}

}  // namespace
