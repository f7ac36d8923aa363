// The bench of conversions: its cells, the copies beside them, and how its results are shown.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cornerturn/error.hpp"
#include "lab/bench_views.hpp"
#include "ops/copy/tensor_movement.hpp"
#include "report/document.hpp"

using namespace cornerturn;

namespace {

const operation& convert() { return find_operation("convert"); }

const strided_shape& shape_of(const workload_pointer& work) { return dynamic_cast<const tensor_work&>(*work).shape(); }

TEST(convert_bench, has_every_named_case) {
    const auto grid = convert().bench_grid({1}, convert().bench_groups());
    EXPECT_EQ(grid.size(), 3u * 2 + 5 + 4);
    std::set<std::string> texts;
    for (const bench_cell& c : grid) {
        EXPECT_TRUE(texts.insert(c.work->text()).second) << c.work->text();
        EXPECT_TRUE(c.work->writes_whole_sectors()) << c.work->text();
    }
    EXPECT_TRUE(texts.contains("64 x 224 x 224 x 3, axes 0,3,1,2, u8 to f16, scaled along axis 1"));
    EXPECT_TRUE(texts.contains("8192 x 8192, axes 1,0, bf16 to e4m3fn, scaled"));
    EXPECT_TRUE(texts.contains("100000 x 64, axes 1,0, f32 to bf16"));
}

TEST(convert_bench, draws_the_same_cells_from_a_seed) {
    const auto one = convert().bench_draws(200, 7, draw_size::large),
               again = convert().bench_draws(200, 7, draw_size::large);
    std::set<std::string> pairs, factors;
    std::set<std::size_t> ranks;
    int within = 0, sorted = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(one[i].work->text(), again[i].work->text());
        const strided_shape& s = shape_of(one[i].work);
        pairs.insert(one[i].work->shape_classes().at(0));
        ranks.insert(s.extents.size());
        nlohmann::ordered_json cell;
        one[i].work->describe(cell);
        factors.insert(cell["factors"].get<std::string>());
        within += one[i].work->bytes() >= 2 * (std::int64_t{64} << 20) && one[i].work->bytes() <= std::int64_t{2} << 30;
        sorted += std::is_sorted(s.source_strides.rbegin(), s.source_strides.rend());
        EXPECT_LE(s.factors(), 4096);
        EXPECT_EQ(one[i].work->type().size, s.source_size());
    }
    EXPECT_GT(pairs.size(), 25u);
    EXPECT_EQ(ranks, (std::set<std::size_t>{2, 3, 4, 5, 6}));
    EXPECT_EQ(factors.size(), 3u);
    EXPECT_GT(within, 150);
    EXPECT_GT(sorted, 5);
    EXPECT_NE(one[0].work->text(), convert().bench_draws(1, 8, draw_size::large)[0].work->text());
}

// Yardsticks copy half the bytes of both sides.
TEST(convert_bench, yardsticks_copy_as_many_bytes) {
    for (const bench_cell& c : convert().bench_grid({1}, {"images"})) {
        const kernel& copy = find_kernel("baseline/memcpy");
        EXPECT_EQ(c.work->amount(copy), static_cast<double>(c.work->bytes()));
        const strided_shape moved = dynamic_cast<const tensor_work&>(*c.work).shape_for(copy);
        EXPECT_EQ(2 * moved.elements() * moved.element_size, c.work->bytes());
        EXPECT_FALSE(moved.conversion.cast.converts());
    }
}

// Named and drawn cells with made-up times. They are shown, stored, measured again by --cells, and read by a report.
TEST(convert_bench, results_are_shown_and_read_again) {
    lab::bench_report report;
    report.device = {.kind = "cuda", .name = "A GPU", .driver = "1.2", .cuda = "13.0"};
    report.request.op = &convert();
    report.request.subject = &find_kernel("convert/production");
    report.request.yardstick = &find_kernel("baseline/memcpy");
    std::vector<bench_cell> cells = convert().bench_grid({1}, {"images", "fp8"});
    for (const bench_cell& c : convert().bench_draws(12, 1, draw_size::large)) cells.push_back(c);
    for (const bench_cell& c : cells) {
        lab::bench_result r = lab::begin_bench(c, report.request);
        r.method = "by guess";
        for (lab::bench_entry* e : r.entries()) e->time = {2e-3, 1e-3, 3e-3, 20};
        report.results.push_back(std::move(r));
    }
    const std::string stored = lab::show_bench(report, lab::format::json);
    const auto json = nlohmann::ordered_json::parse(stored);
    EXPECT_EQ(json["cells"][0]["source_type"], "u8");
    EXPECT_EQ(json["cells"][0]["destination_type"], "f32");
    EXPECT_EQ(json["cells"][0]["factors"], "each");
    EXPECT_EQ(json["cells"][0]["axis"], 1);
    const std::vector<bench_cell> again = convert().bench_cells(json["cells"]);
    ASSERT_EQ(again.size(), cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
        EXPECT_EQ(again[i].work->text(), cells[i].work->text());
        EXPECT_EQ(shape_of(again[i].work).conversion, shape_of(cells[i].work).conversion);
    }
    const report::document read = report::read_document("bench.json", stored);
    ASSERT_NE(read.as_bench(), nullptr);
    EXPECT_EQ(read.as_bench()->cells.size(), cells.size());
    auto wrong = json["cells"];
    wrong[1]["destination_type"] = "f33";
    EXPECT_THROW(convert().bench_cells(wrong), invalid_argument);
    wrong[1].erase("destination_type");
    EXPECT_THROW(convert().bench_cells(wrong), invalid_argument);
}

}  // namespace
