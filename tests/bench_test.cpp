// The parts of the bench that need no GPU: its grid, the sectors of its yardstick, and how it shows times.
#include "lab/bench.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <sstream>

#include "lab/bench_views.hpp"
#include "ladder_check.hpp"
#include "message.hpp"
#include "ops/copy/sectors.hpp"
#include "run_kernels.hpp"

using namespace cornerturn;
using namespace cornerturn::lab;

namespace {

const operation& transposes() { return find_operation("transpose"); }
const std::vector<int> kSizes = {1, 2, 4, 8, 16};

std::vector<bench_cell> bench_grid(const std::vector<int>& sizes, const std::vector<std::string>& groups) {
    return transposes().bench_grid(sizes, groups);
}
std::vector<bench_cell> whole_grid() {
    return bench_grid(transposes().facts().element_sizes, transposes().bench_groups());
}

const movement_work& of(const bench_cell& c) { return dynamic_cast<const movement_work&>(*c.work); }

TEST(bench_grid, has_every_group_for_every_size) {
    std::map<std::pair<int, std::string>, int> cells;
    std::set<std::string> names;
    for (const bench_cell& c : whole_grid()) {
        ++cells[{c.work->type().size, c.group}];
        if (!transposes().is_usual_group(c.group)) continue;  // the other groups have squares, too
        EXPECT_TRUE(names.insert(std::to_string(c.work->type().size) + ": " + c.work->text()).second) << c.work->text();
    }
    const std::map<std::string, int> each = {{"squares", 8}, {"odd", 2},     {"skinny", 10},  {"padded", 2},
                                             {"offset", 1},  {"batched", 3}, {"in_place", 3}, {"caches", 18}};
    ASSERT_EQ(transposes().bench_groups().size(), each.size());
    for (int size : {1, 2, 4, 8, 16}) {
        for (const auto& [group, count] : each) EXPECT_EQ((cells[{size, group}]), count) << group;
    }
}

TEST(bench_grid, skinny_and_batched_matrices_are_of_one_size) {
    for (const bench_cell& c : bench_grid(kSizes, {"skinny", "batched"})) {
        EXPECT_GT(c.work->bytes() / 2, 127 << 20) << c.work->text();
        EXPECT_LE(c.work->bytes() / 2, 128 << 20) << c.work->text();
    }
}

TEST(bench_grid, has_the_given_sizes_and_groups) {
    EXPECT_EQ(bench_grid({4}, {"odd"}).size(), 2u);
    EXPECT_EQ(bench_grid({2, 16}, {"squares", "offset"}).size(), 18u);
    EXPECT_EQ(bench_grid({4}, {"odd"})[0].work->text(), "10007 x 10009");
    EXPECT_EQ(bench_grid({4}, {"padded"})[1].work->text(), "8192 x 8192, ld + 3");
    EXPECT_EQ(bench_grid({4}, {"offset"})[0].work->text(), "8192 x 8192, offset 1");
    EXPECT_EQ(bench_grid({4}, {"batched"})[0].work->text(), "32768 of 32 x 32");
}

TEST(bench_grid, of_products_has_narrow_small_and_batched_ones) {
    const operation& products = find_operation("gemm");
    const auto shapes = [&](const char* group) {
        std::vector<gemm_shape> all;
        for (const bench_cell& c : products.bench_grid({4}, {group}))
            all.push_back(dynamic_cast<const product_work&>(*c.work).shape());
        return all;
    };
    const std::vector<gemm_shape> batches = shapes("batches"), narrow = shapes("narrow");
    std::set<std::pair<std::int64_t, std::int64_t>> found;  // sides and counts
    for (const gemm_shape& s : batches) {
        EXPECT_EQ(s.m, s.n);
        EXPECT_EQ(s.m, s.k);
        EXPECT_LE(s.spans() * 4, std::int64_t{4} << 30);
        found.insert({s.m, s.count});
    }
    EXPECT_EQ(found.size(), 12u);
    EXPECT_TRUE(found.contains({32, 100000}));
    EXPECT_FALSE(found.contains({64, 100000}));
    EXPECT_EQ(narrow.size(), 13u * 2 + 4);
    EXPECT_EQ(std::count_if(narrow.begin(), narrow.end(), [](const gemm_shape& s) { return s.b_transposed; }), 8);
    EXPECT_EQ(std::count_if(narrow.begin(), narrow.end(), [](const gemm_shape& s) { return s.a_transposed; }), 5);
    EXPECT_EQ(shapes("small").size(), 11u);
    EXPECT_EQ(products.bench_grid({4}, {"batches"})[1].work->text(), "1000 of 16 x 16 x 16");
}

TEST(bench_cells, of_products_say_their_layout) {
    const auto text = [](const gemm_shape& s) { return product_work(s).text(); };
    EXPECT_EQ(text({.m = 3, .n = 5, .k = 7}), "3 x 5 x 7");
    EXPECT_EQ(text({.m = 3, .n = 5, .k = 7, .lda = 8, .ldb = 6, .ldc = 6}), "3 x 5 x 7, ld + 1");
    EXPECT_EQ(text({.m = 3, .n = 5, .k = 7, .lda = 5, .ldc = 9, .a_transposed = true}),
              "3 x 5 x 7, A transposed, ld + 2, 0, 4");
    EXPECT_EQ(text({.m = 3, .n = 5, .k = 7, .a_offset = 1, .b_offset = 1, .c_offset = 1}), "3 x 5 x 7, offset 1");
    EXPECT_EQ(text({.m = 3, .n = 5, .k = 7, .b_offset = 2, .count = 9}), "9 of 3 x 5 x 7, offset 0, 2, 0");
    const product_work batch({.m = 3, .n = 5, .k = 7, .count = 9});
    EXPECT_EQ(batch.outputs(), 9 * 15);
    EXPECT_EQ(batch.steps(), 9 * 15 * 7);
    EXPECT_EQ(batch.bytes(), 9 * 4 * (21 + 35 + 15));
    EXPECT_EQ(batch.amount(find_kernel("gemm/cublas")), 2.0 * 9 * 15 * 7);
    EXPECT_EQ(batch.why_not_run(find_kernel("gemm/production")), "");
    EXPECT_NE(batch.why_not_run(find_kernel("gemm/tiled")), "");
    const product_work transposed({.m = 3, .n = 5, .k = 7, .b_transposed = true});
    EXPECT_NE(transposed.why_not_run(find_kernel("gemm/tiled")), "");
    EXPECT_EQ(transposed.why_not_run(find_kernel("gemm/cublas")), "");
}

TEST(sectors, are_those_that_the_rows_touch) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    for (int round = 0; round < 3000; ++round) {
        const int size = 1 << random() % 5;
        const std::int64_t offset = random() % 20 * size, rows = random() % 80, row = random() % 90 * size;
        const std::int64_t pitch = row + random() % (round % 2 == 0 ? 3 : 50) * size;
        std::set<std::int64_t> touched;
        for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t byte = 0; byte < row; ++byte) touched.insert((offset + r * pitch + byte) / 32);
        }
        ASSERT_EQ(touched_sectors(offset, rows, row, pitch), static_cast<std::int64_t>(touched.size()))
            << offset << ", " << rows << " rows of " << row << ", " << pitch << " apart, seed " << seed;
    }
}

TEST(sectors, of_a_cell_are_read_and_written) {
    for (const bench_cell& c : whole_grid()) {
        const std::int64_t more = of(c).sector_bytes() - c.work->bytes();
        EXPECT_GE(more, 0) << c.work->text();
        EXPECT_EQ(of(c).sector_bytes() % 32, 0);
        // Without gaps: only the last sector of each side, or with an offset the first, is not full. With them: at most
        // two sectors a row.
        EXPECT_LE(more, c.group == "padded" ? 4 * 32 * c.work->sizes()[0] : 4 * 32) << c.work->text();
    }
    // Two rows of 1 byte, one sector; four columns of 2 bytes, 16 apart: one sector holds two.
    const movement_work w(dynamic_cast<const movement&>(transposes()), {"u8", 1},
                          {.rows = 2, .cols = 4, .element_size = 1, .destination_ld = 16});
    EXPECT_EQ(w.sector_bytes(), 32 + 64);
}

// A bench of transpose/padded beside the copy and geam, with made-up times.
struct made_up {
    bench_report report;

    made_up() {
        report.device = {.kind = "cuda", .name = "A GPU", .driver = "1.2", .cuda = "13.0"};
        report.request.op = &transposes();
        report.request.subject = &find_kernel("transpose/padded@32x8");
        report.request.yardstick = &find_kernel("baseline/memcpy");
        report.request.peers = {&find_kernel("baseline/copy"), &find_kernel("baseline/geam")};
        for (const bench_cell& c : bench_grid({1, 4}, {"odd", "batched"})) {
            bench_result r = begin_bench(c, report.request);
            r.method = "by guess";
            for (bench_entry* e : {&r.yardstick, &r.subject, &r.peers[0], &r.peers[1]})
                e->time = {2e-3, 1e-3, 3e-3, 20};
            r.subject.time.median_s = c.work->sizes()[0] == 4097 ? 2.5e-3 : 2.1e-3;
            report.results.push_back(std::move(r));
        }
    }
    nlohmann::ordered_json json() const { return nlohmann::ordered_json::parse(show_bench(report, format::json)); }
};

// memcpy has no trial in place: it moves the matrix elsewhere.
TEST(bench_entries, copies_are_right_in_the_trials_of_every_group) {
    const kernel& copies = find_kernel("host/copy@memcpy");
    for (const bench_cell& c : bench_grid({4}, transposes().bench_groups())) {
        for (const workload_pointer& trial : c.work->trials()) {
            const std::unique_ptr<problem> own = transposes().make(backend::host, {trial.get()}, {&copies}, false);
            EXPECT_TRUE(run_trials(copies, *trial, backend::host, *own).fault.empty()) << c.group << trial->options();
        }
    }
}

TEST(bench_entries, say_what_they_do_not_take) {
    const made_up m;
    for (const bench_result& r : m.report.results) {
        EXPECT_EQ(r.yardstick.skipped, "");
        EXPECT_EQ(r.peers[0].skipped, "");
        EXPECT_EQ(!r.subject.skipped.empty(), r.cell.group == "batched") << r.subject.skipped;
        if (r.cell.work->type().size == 1) {
            EXPECT_NAMES(r.peers[1].skipped, 1);
        } else {
            EXPECT_EQ(r.peers[1].skipped, "");
        }
        EXPECT_EQ(r.subject.amount, static_cast<double>(r.cell.work->bytes()));
        EXPECT_EQ(r.peers[0].amount, static_cast<double>(of(r.cell).sector_bytes()));
    }
}

TEST(bench_views, table_has_cells_groups_and_reasons) {
    made_up m;
    m.report.results[1].subject.fault = "it is wrong";
    m.report.results[0].skipped = "no memory";
    const std::string text = show_bench(m.report, format::table);
    EXPECT_NAMES(text, "transpose/padded@32x8", "A GPU", "1.2", "13.0", 1);
    EXPECT_LINE_NAMES(text, "transpose/padded@32x8", "4097 x 4095", 1, "it is wrong");
    EXPECT_LINE_NAMES(text, "10007 x 10009", 1, "no memory");
    EXPECT_LINE_NAMES(text, "baseline/geam", 1, 4);       // bytes, cells
    EXPECT_LINE_NAMES(text, "transpose/padded@32x8", 6);  // cells
    // Two cells are left: 2.0 / 2.1 and 2.0 / 2.5, both slower than geam. The row of their group is the last of that
    // name.
    EXPECT_NAMES(text.substr(text.rfind("\nodd")), 2, "0.800", "4097 x 4095", 4, "0.876", 1, 2, 2);
}

TEST(bench_views, a_remark_says_how_unsteady_the_yardstick_was) {
    made_up m;  // from 1 to 3 ms, with a median of 2
    const auto unsteady = [&] {
        return tests::line_names(show_bench(m.report, format::markdown), "copy", "5 %", 10, 10);
    };
    EXPECT_TRUE(unsteady());
    EXPECT_LINE_NAMES(show_bench(m.report, format::markdown), "copy", "5 %", 10, 10, "100 %");
    for (bench_result& r : m.report.results) r.yardstick.time = {2e-3, 1.96e-3, 2.04e-3, 20};
    EXPECT_FALSE(unsteady());
}

TEST(bench_views, csv_is_one_table) {
    std::istringstream lines(show_bench(made_up().report, format::csv));
    std::set<std::ptrdiff_t> commas;
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        commas.insert(std::count(line.begin(), line.end(), ',') - 2 * std::count(line.begin(), line.end(), '"') / 2);
    }
    EXPECT_EQ(count, 1 + 10);
    EXPECT_EQ(*commas.rbegin(), 9);
}

TEST(bench_views, json_has_every_time) {
    made_up m;
    m.report.provenance = {{"commit", "abc"}};
    m.report.results[0].subject.fault = "it is wrong";
    const auto json = m.json();
    EXPECT_EQ(json["bench"], "transpose");
    EXPECT_EQ(json["provenance"]["commit"], "abc");
    EXPECT_EQ(json["cells"].size(), 10u);
    const auto& wrong = json["cells"][0]["subject"];
    EXPECT_EQ(wrong["verified"], false);
    EXPECT_EQ(wrong["fault"], "it is wrong");
    EXPECT_FALSE(wrong.contains("ratio"));
    const auto& cell = json["cells"][1];
    EXPECT_EQ(cell["group"], "odd");
    EXPECT_EQ(cell["source_ld"], 4095);
    EXPECT_EQ(cell["destination_ld"], 4097);
    EXPECT_EQ(cell["yardstick"]["time"]["median_s"], 2e-3);
    EXPECT_EQ(cell["subject"]["time"]["samples"], 20);
    EXPECT_DOUBLE_EQ(cell["subject"]["ratio"], 0.8);
    EXPECT_DOUBLE_EQ(cell["subject"]["bandwidth_gbps"], 2.0 * 4097 * 4095 / 2.5e-3 / 1e9);
    EXPECT_EQ(cell["peers"]["copy"]["ratio"], 1.0);
    EXPECT_EQ(cell["peers"]["geam"]["status"], "skipped");
    EXPECT_NAMES(cell["peers"]["geam"]["reason"].get<std::string>(), 1);
}

TEST(baseline_copy, copies_matrices_without_gaps_of_any_size_and_offset) {
    const kernel& copy = find_kernel("baseline/copy");
    for (int size : {1, 2, 4, 8, 16}) {
        for (std::int64_t cols : {1, 2, 3, 8, 255, 256, 1000}) {
            for (std::int64_t offset : {0, 1, 2, 3}) {
                const problem_shape shape{.arranged = copied,
                                          .rows = 3,
                                          .cols = cols,
                                          .element_size = size,
                                          .source_offset = offset,
                                          .destination_offset = offset / 2};
                EXPECT_EQ(tests::run_every_block(copy, shape).fault, "") << cols << " of " << size << " at " << offset;
            }
        }
    }
    const problem_shape gaps{.arranged = copied, .rows = 3, .cols = 5, .source_ld = 6};
    EXPECT_TRUE(tests::run_every_block(copy, gaps).declined);
}

}  // namespace
