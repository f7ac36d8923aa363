// How the bench shows cells drawn at random: tables, CSV and JSON of made-up times.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <sstream>

#include "lab/bench_random.hpp"
#include "lab/bench_views.hpp"
#include "lab/statistics.hpp"
#include "message.hpp"
#include "report/document.hpp"
#include "report/report.hpp"
#include "run_kernels.hpp"

using namespace cornerturn;
using namespace cornerturn::lab;

namespace {

const operation& transposes() { return find_operation("transpose"); }
const operation& products() { return find_operation("gemm"); }
const gemm_shape& product_of(const bench_cell& c) { return dynamic_cast<const product_work&>(*c.work).shape(); }

// ---- Transposes -----------------------------------------------------------------------------------------------------

// 100 cells. Cell i takes i milliseconds, memcpy and the peers take one, and the fastest ordered copy 1.25.
struct made_up {
    bench_report report;

    explicit made_up(bool small = false) {
        bench_request& request = report.request;
        report.device = {.kind = "cuda", .name = "A GPU", .driver = "1.2", .cuda = "13.0"};
        request.op = &transposes();
        request.subject = &find_kernel("transpose/production");
        request.yardstick = &find_kernel("baseline/memcpy");
        request.peers = {&find_kernel("baseline/geam")};
        request.ordered_copies = tests::ordered_copies();
        request.random_cells = 100;
        request.small = small;
        request.regret = true;
        request.seconds = 0.05;
        request.rounds = 10;
        int i = 0;
        for (const bench_cell& c :
             small ? transposes().bench_draws(request.random_cells, request.seed, draw_size::small)
                   : transposes().bench_draws(request.random_cells, request.seed, draw_size::large)) {
            bench_result r = begin_bench(c, request);
            r.method = "by guess";
            for (bench_entry* e : r.entries()) e->time = {1e-3, 1e-3, 1e-3, 10};
            for (bench_entry& e : r.ordered_copies) e.time.median_s = 1.5e-3;
            if (!r.ordered_copies.empty()) r.ordered_copies[1].time.median_s = 1.25e-3;
            r.subject.time.median_s = ++i * 1e-3;
            r.choice = "choice-" + std::to_string(i);
            r.regret = bench_regret{.candidates = 4,
                                    .chosen = r.choice,
                                    .best = "another",
                                    .chosen_time = {1 + (i - 0.5) * 1e-3},
                                    .best_time = {1}};
            report.results.push_back(std::move(r));
        }
    }
};

// A ratio or time as tables show it.
std::string number(double x) {
    char digits[16];
    std::snprintf(digits, sizeof digits, "%.3f", x);
    return digits;
}

TEST(random_views, tables_have_percentiles_worst_cells_and_regret) {
    made_up m;
    m.report.results[3].skipped = "no memory";
    m.report.results[4].subject.fault = "it is wrong";
    m.report.results[5].regret->fault = "it is not right";
    const std::string text = show_bench(m.report, format::table);
    EXPECT_NAMES(text, "transpose/production", "A GPU", "1.2", "13.0", 1);
    // Ratios to memcpy of all cells: 1, 1/2, 1/3, 1/6, ... 1/100.
    std::vector<double> ratios;
    for (int i = 1; i <= 100; ++i) {
        if (i != 4 && i != 5) ratios.push_back(1.0 / i);
    }
    EXPECT_LINE_NAMES(text, "memcpy", 98, "0.010", number(percentile(ratios, 0.01)), number(percentile(ratios, 0.05)),
                      number(percentile(ratios, 0.1)), number(percentile(ratios, 0.25)),
                      number(percentile(ratios, 0.5)));
    for (const char* of : {"all", "batched"}) EXPECT_LINE_NAMES(text, of, "memcpy");
    for (const char* value : {"padded", "3 bytes", "12 bytes", "ordered@4", "choice-100", "geam", "another"})
        EXPECT_NAMES(text, value);
    // 0.0005, 0.0015, ... 0.0995, but for a cell: more than 0.05 in 50.
    EXPECT_NAMES(text, 396, 99, 5, "50.5");
    // Ten of the last cells, by one yardstick or the other.
    EXPECT_FALSE(tests::names(text, "choice-85"));
    const std::string unwrapped = show_bench(m.report, format::markdown);
    const auto shape = [&](std::size_t i) { return m.report.results[i].cell.work->text(); };
    EXPECT_LINE_NAMES(unwrapped, shape(3), "no memory");
    EXPECT_LINE_NAMES(unwrapped, "transpose/production", shape(4), "it is wrong");
    EXPECT_LINE_NAMES(unwrapped, shape(5), "it is not right");
}

// Cell i takes i milliseconds. The fastest copies take 0.8, or 1.25 if sectors are written in part.
TEST(random_views, small_cells_show_the_time_divided_by_the_fastest_copys) {
    made_up m(true);
    bench_request& request = m.report.request;
    request.peers = {&find_kernel("baseline/copy"), &find_kernel("baseline/geam")};
    for (bench_result& r : m.report.results) {
        bench_entry copy = r.yardstick, geam = r.yardstick;
        copy.kernel = "baseline/copy";
        copy.time.median_s = 0.8e-3;
        geam.kernel = "baseline/geam";
        geam.time.median_s = 0.1e-3;  // fast, but not a copy
        r.peers = {copy, geam};
    }
    const std::string text = show_bench(m.report, format::table);
    std::vector<double> times;
    for (std::size_t i = 0; i < 100; ++i) {
        const bench_result& r = m.report.results[i];
        EXPECT_EQ(reference_of(m.report, r).kernel, r.ordered_copies.empty() ? "baseline/copy" : "baseline/ordered@4");
        times.push_back(static_cast<double>(i + 1) / (r.ordered_copies.empty() ? 0.8 : 1.25));
    }
    EXPECT_LINE_NAMES(text, 100, number(percentile(times, 0.5)), number(percentile(times, 0.75)),
                      number(percentile(times, 0.9)), number(percentile(times, 0.95)), number(percentile(times, 0.99)),
                      number(percentile(times, 1)));
    EXPECT_LINE_NAMES(text, "75 %", "99 %", "1.25");
    EXPECT_LINE_NAMES(text, "4 MiB");
    EXPECT_LINE_NAMES(text, 4, "16 MiB");
    EXPECT_NAMES(text, "choice-100");
    const auto json = nlohmann::ordered_json::parse(show_bench(m.report, format::json));
    EXPECT_EQ(json["random"]["small"], true);
    EXPECT_FALSE(json["random"].contains("ratios"));
    EXPECT_NE(json["random"]["times"][0]["yardstick"], json["random"]["times"][1]["yardstick"]);
    EXPECT_NEAR(json["random"]["times"][2]["max"], percentile(times, 1), 1e-9);
    EXPECT_GT(json["random"]["times"][2]["above_1.25"], 0.9);
    EXPECT_NEAR(json["cells"][99]["figure"], 1 / times[99], 1e-9);
    EXPECT_EQ(json["cells"][99]["judge"], reference_of(m.report, m.report.results[99]).kernel);
}

TEST(random_views, csv_is_the_cells) {
    std::istringstream lines(show_bench(made_up().report, format::csv));
    int count = 0;
    for (std::string line; std::getline(lines, line);) ++count;
    EXPECT_EQ(count, 101);
}

TEST(random_views, json_has_everything) {
    made_up m;
    const auto json = nlohmann::ordered_json::parse(show_bench(m.report, format::json));
    EXPECT_EQ(json["seed"], 1);
    EXPECT_EQ(json["random"]["count"], 100);
    EXPECT_EQ(json["random"]["seed"], 1);
    EXPECT_EQ(json["random"]["ratios"][0]["of"], "all");
    EXPECT_EQ(json["random"]["ratios"][0]["yardstick"], "memcpy");
    EXPECT_NE(json["random"]["ratios"][1]["yardstick"], "memcpy");
    EXPECT_DOUBLE_EQ(json["random"]["ratios"][2]["min"], 0.01);
    EXPECT_EQ(json["random"]["regret"]["candidates"], 400);
    ASSERT_EQ(json["cells"].size(), 100u);
    int in_part = 0;
    for (std::size_t i = 0; i < 100; ++i) {
        const auto& cell = json["cells"][i];
        const double milliseconds = static_cast<double>(i + 1);
        EXPECT_DOUBLE_EQ(cell["ratio"], 1 / milliseconds);
        EXPECT_EQ(cell["choice"], "choice-" + std::to_string(i + 1));
        EXPECT_EQ(cell["regret"]["best"], "another");
        const bool whole = cell["writes_whole_sectors"];
        EXPECT_EQ(cell.contains("ordered"), !whole);
        EXPECT_NEAR(cell["figure"], (whole ? 1 : 1.25) / milliseconds, 1e-12);
        if (whole) continue;
        ++in_part;
        EXPECT_EQ(cell["group"], "padded");
        EXPECT_EQ(cell["ordered"]["kernel"], "baseline/ordered@4");
        EXPECT_NEAR(cell["ordered"]["ratio"], 1.25 / milliseconds, 1e-12);
        EXPECT_EQ(cell["ordered"]["variants"].size(), 5u);
        EXPECT_EQ(cell["ordered"]["variants"]["ordered@1"]["time"]["median_s"], 1.5e-3);
    }
    EXPECT_GT(in_part, 5);
}

// ---- Ways of calling ------------------------------------------------------------------------------------------------

// 80 products, drawn or from the grid. With a given workspace, the library takes as long as cuBLAS. One call of cell i
// takes i % longer than cuBLAS. Calls in a row take twice as long as cuBLAS.
struct made_up_products {
    bench_report report;

    explicit made_up_products(bool drawn) {
        bench_request& request = report.request;
        report.device = {.kind = "cuda", .name = "A GPU", .driver = "1.2", .cuda = "13.0"};
        request.op = &products();
        const bench_contestants who = products().contestants(backend::cuda);
        request.subject = &find_kernel(who.subject);
        request.yardstick = &find_kernel(who.yardstick);
        for (const bench_way& way : products().bench_ways(backend::cuda))
            request.ways.push_back({way.name, &find_kernel(way.subject), &find_kernel(way.yardstick), way.in_a_row});
        request.random_cells = drawn ? 80 : 0;
        int i = 0;
        for (const bench_cell& c : drawn ? products().bench_draws(80, 1, draw_size::large)
                                         : products().bench_grid({4}, products().bench_groups())) {
            bench_result r = begin_bench(c, request);
            r.method = "by guess";
            r.choice = "choice-" + std::to_string(++i);
            const auto took = [&](bench_entry& e, double seconds) {
                e.time = {seconds, seconds, seconds, 10};
                e.more["error"] = {{"largest", 1e-7}, {"frobenius", 1e-8}};
            };
            for (bench_entry* e : r.entries()) took(*e, 1e-3);
            took(r.ways[0].yardstick, 1e-3), took(r.ways[0].subject, (100 + i) * 1e-5);
            took(r.ways[1].yardstick, 1e-3), took(r.ways[1].subject, 2e-3);
            for (bench_way_result& way : r.ways) way.method = "by another guess";
            report.results.push_back(std::move(r));
        }
    }
};

TEST(ways, belong_to_the_operation) {
    EXPECT_TRUE(transposes().bench_ways(backend::cuda).empty());
    EXPECT_TRUE(products().bench_ways(backend::host).empty());
    const auto ways = products().bench_ways(backend::cuda);
    ASSERT_EQ(ways.size(), 2u);
    EXPECT_EQ(ways[0].in_a_row, 1);
    EXPECT_EQ(ways[1].in_a_row, 20);
    const made_up_products m(true);
    for (const bench_result& r : m.report.results) {
        ASSERT_EQ(r.ways.size(), 2u);
        EXPECT_EQ(r.ways[0].subject.kernel, "gemm/production@plain");
        EXPECT_EQ(r.ways[0].yardstick.kernel, "gemm/cublas");
        EXPECT_EQ(r.ways[0].subject.amount, r.subject.amount);
        EXPECT_EQ(r.every_entry().size(), r.entries().size() + 4);
    }
}

TEST(ways, have_percentiles_by_kind_and_by_class_and_worst_cells) {
    made_up_products m(true);
    m.report.results[79].ways[0].subject.fault = "it is wrong";
    m.report.results[78].ways[0].subject.skipped = "it is not there";
    const std::string text = show_bench(m.report, format::table), unwrapped = show_bench(m.report, format::markdown);
    for (const char* way : {"workspace given", "one call", "twenty in a row"}) {
        for (const char* of : {"packed", "leading", "offset", "batched", "narrow", "short k", "neither"})
            EXPECT_LINE_NAMES(text, way, of, "cublas");
    }
    EXPECT_NAMES(text, "twenty in a row", "neither", "workspace given", "one call", "twenty in a row");  // worst cells
    EXPECT_LINE_NAMES(unwrapped, "gemm/production@plain", m.report.results[79].cell.work->text(), "it is wrong");
    EXPECT_LINE_NAMES(unwrapped, "gemm/production@plain", "it is not there");
    // The ten worst of those that are right: cells 78 to 69. The other two ways are alike in all cells: 1 to 10.
    for (const int worst : {78, 69, 10, 1}) EXPECT_NAMES(text, "choice-" + std::to_string(worst));
    for (const int other : {80, 79, 68, 11}) EXPECT_FALSE(tests::names(text, "choice-" + std::to_string(other)));

    const auto json = nlohmann::ordered_json::parse(show_bench(m.report, format::json));
    std::map<std::string, std::map<std::string, nlohmann::ordered_json>> ratios;
    for (const auto& row : json["random"]["ratios"]) ratios[row["way"]][row["of"]] = row;
    ASSERT_EQ(ratios.size(), 3u);
    for (const auto& [way, rows] : ratios) EXPECT_EQ(rows.size(), 1u + 4 + 3) << way;
    EXPECT_EQ(ratios["workspace given"]["all"]["cells"], 80);
    EXPECT_EQ(ratios["workspace given"]["all"]["min"], 1.0);
    EXPECT_EQ(ratios["one call"]["all"]["cells"], 78);
    EXPECT_NEAR(ratios["one call"]["all"]["min"], 100.0 / 178, 1e-12);
    EXPECT_EQ(ratios["one call"]["all"]["yardstick"], "cublas");
    EXPECT_EQ(ratios["twenty in a row"]["batched"]["median"], 0.5);
    // By class. A cell may belong to two of them.
    for (const char* name : {"narrow", "short k", "neither"}) {
        std::vector<double> found;
        for (std::size_t i = 0; i < 78; ++i) {
            const gemm_shape& s = product_of(m.report.results[i].cell);
            const bool narrow = s.m <= 64 || s.n <= 64, short_k = s.k <= 64;
            const bool belongs = std::string(name) == "narrow"    ? narrow
                                 : std::string(name) == "short k" ? short_k
                                                                  : !narrow && !short_k;
            if (belongs) found.push_back(100.0 / static_cast<double>(101 + i));
        }
        EXPECT_EQ(ratios["one call"][name]["cells"], found.size()) << name;
        EXPECT_NEAR(ratios["one call"][name]["p10"], percentile(found, 0.1), 1e-12) << name;
    }
    ASSERT_EQ(json["random"]["worst"].size(), 30u);
    EXPECT_EQ(json["random"]["worst"][10]["way"], "one call");
    EXPECT_EQ(json["random"]["worst"][10]["choice"], "choice-78");
    EXPECT_EQ(json["random"]["worst"][10]["shape"], m.report.results[77].cell.work->text());
}

TEST(ways, are_in_the_cells) {
    made_up_products m(false);
    m.report.results[1].ways[0].subject.fault = "it is wrong";
    m.report.results[2].skipped = "no memory";
    const std::string stored = show_bench(m.report, format::json);
    const auto json = nlohmann::ordered_json::parse(stored);
    EXPECT_FALSE(json.contains("random"));
    const auto& cell = json["cells"][0];
    ASSERT_EQ(cell["ways"].size(), 2u);
    EXPECT_EQ(cell["ways"][0]["way"], "one call");
    EXPECT_EQ(cell["ways"][0]["method"], "by another guess");
    EXPECT_EQ(cell["ways"][0]["subject"]["kernel"], "gemm/production@plain");
    EXPECT_EQ(cell["ways"][0]["subject"]["time"]["median_s"], 101e-5);
    EXPECT_EQ(cell["ways"][0]["subject"]["verified"], true);
    EXPECT_EQ(cell["ways"][0]["yardstick"]["time"]["samples"], 10);
    EXPECT_NEAR(cell["ways"][0]["ratio"], 100.0 / 101, 1e-12);
    EXPECT_EQ(cell["ways"][1]["ratio"], 0.5);
    EXPECT_EQ(json["cells"][1]["ways"][0]["subject"]["fault"], "it is wrong");
    EXPECT_FALSE(json["cells"][1]["ways"][0].contains("ratio"));
    EXPECT_FALSE(json["cells"][2].contains("ways"));

    std::istringstream lines(show_bench(m.report, format::csv));
    std::string heading, first, second;
    std::getline(lines, heading), std::getline(lines, first), std::getline(lines, second);
    EXPECT_NAMES(heading, "one call", "twenty in a row");
    EXPECT_NE(first.find(",1.000,0.990,0.500,"), std::string::npos) << first;
    EXPECT_NE(second.find(",1.000,WRONG,0.500,"), std::string::npos) << second;

    const report::document read = report::read_document("bench.json", stored);
    const std::string page = report::html(report::make_page({read}));
    for (const char* value : {"one call", "twenty in a row", "0.990", "it is wrong"}) EXPECT_NAMES(page, value);
}

}  // namespace
