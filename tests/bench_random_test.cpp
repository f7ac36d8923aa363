// The bench of cells drawn at random, as far as it needs no GPU: what is drawn, what it is compared with, and what is
// made of times.
#include "lab/bench_random.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "cornerturn/error.hpp"
#include "lab/bench_views.hpp"
#include "lab/statistics.hpp"
#include "ladder_check.hpp"
#include "ops/copy/sectors.hpp"
#include "report/document.hpp"
#include "report/report.hpp"
#include "work.hpp"

using namespace cornerturn;
using namespace cornerturn::lab;

namespace {

const operation& transposes() { return find_operation("transpose"); }
const movement_work& of(const bench_cell& c) { return dynamic_cast<const movement_work&>(*c.work); }
std::vector<const kernel*> ordered_copies() {
    std::vector<const kernel*> all;
    for (const std::string& id : transposes().contestants(backend::cuda).ordered) all.push_back(&find_kernel(id));
    return all;
}

nlohmann::ordered_json described(const bench_cell& c) {
    nlohmann::ordered_json out;
    c.work->describe(out);
    return out;
}

// ---- Draws ----------------------------------------------------------------------------------------------------------

TEST(draws, are_the_seeds) {
    const auto texts = [](std::uint64_t seed) {
        std::string all;
        for (const bench_cell& c : transposes().bench_draws(50, seed, draw_size::large))
            all += c.group + ": " + described(c).dump() + "\n";
        return all;
    };
    EXPECT_EQ(texts(1), texts(1));
    EXPECT_NE(texts(1), texts(2));
    EXPECT_THROW(find_operation("gemm").bench_draws(1, 1, draw_size::small), invalid_argument);
}

TEST(draws, may_be_small) {
    std::set<std::string> kinds;
    std::int64_t least = std::int64_t{1} << 40, most = 0;
    for (const bench_cell& c : transposes().bench_draws(600, 7, draw_size::small)) {
        kinds.insert(c.group);
        least = std::min(least, c.work->bytes() / 2);
        most = std::max(most, c.work->bytes() / 2);
    }
    EXPECT_EQ(kinds, (std::set<std::string>{"packed", "padded", "offset", "batched"}));
    EXPECT_GE(least, (std::int64_t{1} << 19) - (1 << 14));  // what rows leave over is cut off
    EXPECT_LT(least, std::int64_t{1} << 20);
    EXPECT_LE(most, (std::int64_t{64} << 20) + 16);
    EXPECT_GT(most, std::int64_t{48} << 20);
}

TEST(draws, are_problems_of_any_kind_and_element) {
    std::set<std::string> kinds;
    std::set<int> sizes;
    for (const bench_cell& c : transposes().bench_draws(600, 7, draw_size::large)) {
        kinds.insert(c.group);
        sizes.insert(c.work->type().size);
        const std::string text = c.work->text();
        EXPECT_LE(c.work->bytes() / 2, (std::int64_t{1} << 30) + 16) << text;
        EXPECT_GE(c.work->bytes() / 2, std::int64_t{31} << 20) << text;  // what rows leave over is cut off
        EXPECT_EQ(c.work->cannot_run(find_kernel("transpose/production")), "") << text;
        EXPECT_EQ(c.work->cannot_run(find_kernel("baseline/memcpy")), "") << text;
        const nlohmann::ordered_json cell = described(c);
        EXPECT_EQ(cell["element_size"], c.work->type().size);
        const std::int64_t rows = cell["rows"], cols = cell["cols"];
        const bool padded = cell["source_ld"] > cols || cell["destination_ld"] > rows;
        EXPECT_TRUE(!padded || c.group == "padded") << text;
        EXPECT_EQ(cell["source_offset"] > 0, c.group == "offset") << text;
        EXPECT_EQ(cell["destination_offset"] > 0, c.group == "offset") << text;
        EXPECT_TRUE(cell["count"] == 1 || c.group == "batched") << text;
        // What the kernels of a cell are asked to do is a problem, too, and memory is taken for all of it.
        EXPECT_TRUE(c.work->writes_whole_sectors() || padded) << text;
        std::int64_t most = 0;
        for (const kernel* k : ordered_copies()) {
            const problem_shape s = of(c).shape_for(*k);
            EXPECT_EQ(s.elements(), c.work->outputs()) << text;
            most = std::max(most, s.room(side::source) + s.room(side::destination));
        }
        EXPECT_GE(c.work->gpu_bytes(ordered_copies(), false), most) << text;
    }
    EXPECT_EQ(kinds, (std::set<std::string>{"packed", "padded", "offset", "batched"}));
    EXPECT_EQ(sizes, (std::set<int>{1, 2, 3, 4, 6, 8, 12, 16}));
}

TEST(draws, tell_both_sides) {
    const auto text = [](problem_shape shape) {
        return movement_work(dynamic_cast<const movement&>(transposes()), {"", shape.element_size}, shape).text();
    };
    EXPECT_EQ(text({.rows = 3, .cols = 5, .source_ld = 6, .destination_ld = 4}), "3 x 5, ld + 1");
    EXPECT_EQ(text({.rows = 3, .cols = 5, .source_ld = 6}), "3 x 5, ld + 1 and 0");
    EXPECT_EQ(text({.rows = 3, .cols = 5, .source_offset = 2, .destination_offset = 1}), "3 x 5, offset 2 and 1");
}

const operation& products() { return find_operation("gemm"); }
const gemm_shape& product_of(const bench_cell& c) { return dynamic_cast<const product_work&>(*c.work).shape(); }

TEST(draws, of_products_are_the_seeds) {
    const auto texts = [](std::uint64_t seed, int count) {
        std::string all;
        for (const bench_cell& c : products().bench_draws(count, seed, draw_size::large))
            all += c.group + ": " + described(c).dump() + "\n";
        return all;
    };
    EXPECT_EQ(texts(1, 50), texts(1, 50));
    EXPECT_NE(texts(1, 50), texts(2, 50));
    EXPECT_TRUE(texts(1, 60).starts_with(texts(1, 50)));
    // The same on every machine.
    const bench_cell first = products().bench_draws(1, 2001, draw_size::large)[0];
    EXPECT_EQ(first.group + ": " + first.work->text(), "packed: 5086 x 2598 x 1478, B transposed");
}

TEST(draws, of_products_are_of_any_kind_and_within_bounds) {
    std::map<std::string, int> kinds, transposed, classes;
    std::int64_t longest = 0, shortest = 1 << 20, most_count = 0;
    const int count = 4000;
    for (const bench_cell& c : products().bench_draws(count, 7, draw_size::large)) {
        const gemm_shape& s = product_of(c);
        const std::string text = c.work->text();
        ++kinds[c.group];
        ++transposed[std::string(s.a_transposed ? "T" : "N") + (s.b_transposed ? "T" : "N")];
        for (const std::string& name : c.work->shape_classes()) ++classes[name];
        for (std::int64_t side : {s.m, s.n, s.k}) {
            ASSERT_GE(side, 1) << text;
            ASSERT_LE(side, 16384) << text;
            longest = std::max(longest, side), shortest = std::min(shortest, side);
        }
        const double operations = 2.0 * static_cast<double>(s.m * s.n) * static_cast<double>(s.k);
        EXPECT_GE(operations, 0x1p24) << text;
        const gemm_shape packed =
            gemm_shape{.m = s.m, .n = s.n, .k = s.k, .a_transposed = s.a_transposed, .b_transposed = s.b_transposed}
                .checked();
        for (const auto& [ld, least, offset] : {std::tuple{s.lda, packed.lda, s.a_offset},
                                                {s.ldb, packed.ldb, s.b_offset},
                                                {s.ldc, packed.ldc, s.c_offset}}) {
            EXPECT_EQ(ld > least, c.group == "leading") << text;
            EXPECT_LE(ld, least + 32) << text;
            EXPECT_EQ(offset > 0, c.group == "offset") << text;
            EXPECT_LE(offset, 5) << text;
        }
        EXPECT_EQ(s.count > 1, c.group == "batched") << text;
        if (s.count > 1) {
            most_count = std::max(most_count, s.count);
            EXPECT_LE(operations * static_cast<double>(s.count), 0x1p43) << text;
            EXPECT_LE(c.work->bytes(), std::int64_t{4} << 30) << text;
        }
        EXPECT_EQ(c.work->outputs(), s.m * s.n * s.count) << text;
        EXPECT_EQ(c.work->amount(find_kernel("gemm/cublas")), operations * static_cast<double>(s.count)) << text;
        EXPECT_EQ(described(c)["count"], s.count) << text;
        EXPECT_EQ(c.work->cannot_run(find_kernel("gemm/production@plain")), "") << text;
        EXPECT_GE(c.work->gpu_bytes({&find_kernel("gemm/cublas")}, false), c.work->bytes()) << text;
    }
    EXPECT_GT(longest, 16000);
    EXPECT_EQ(shortest, 1);
    EXPECT_LE(most_count, 1000);
    EXPECT_GT(most_count, 500);
    ASSERT_EQ(kinds.size(), 4u);
    ASSERT_EQ(transposed.size(), 4u);
    for (const auto& [name, cells] : kinds) EXPECT_NEAR(cells, count / 4, 120) << name;
    for (const auto& [name, cells] : transposed) EXPECT_NEAR(cells, count / 4, 120) << name;
    EXPECT_EQ(classes.size(), 3u);
    for (const char* name : {"narrow", "short k", "neither"}) EXPECT_GT(classes[name], 200) << name;
}

// ---- Sectors that are written in part -------------------------------------------------------------------------------

TEST(sectors, are_written_whole_or_in_part) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    int whole = 0;
    for (int round = 0; round < 5000; ++round) {
        const bool sectors = random() % 3 == 0;  // rows that fill some
        const int size = sectors ? 32 : 1 << random() % 5;
        const std::int64_t offset = random() % 20 * (sectors ? 16 : size), rows = random() % 150;
        const std::int64_t row = random() % (random() % 2 == 0 ? 90 : 4) * size;
        const std::int64_t pitch = row + random() % (round % 2 == 0 ? 3 : 50) * size;
        std::map<std::int64_t, int> written;
        for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t byte = 0; byte < row; ++byte) ++written[(offset + r * pitch + byte) / 32];
        }
        bool expected = true;
        for (const auto& [sector, bytes] : written) {
            const bool end = sector == written.begin()->first || sector == written.rbegin()->first;
            if (!end && bytes < 32) expected = false;
        }
        whole += expected;
        ASSERT_EQ(fill_whole_sectors(offset, rows, row, pitch), expected)
            << offset << ", " << rows << " rows of " << row << ", " << pitch << " apart, seed " << seed;
    }
    EXPECT_GT(whole, 100);
    EXPECT_LT(whole, 4900);
}

// ---- Ordered copies -------------------------------------------------------------------------------------------------

// Rows, gaps and offsets as the bench's cells have them, and less.
TEST(ordered_copies, write_rows_of_any_length_and_nothing_else) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    const auto up_to = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    for (int round = 0; round < 250; ++round) {
        constexpr int kSizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 1, 2, 4};
        problem_shape s{.arranged = copied, .element_size = kSizes[up_to(10)], .seed = seed};
        s.cols = up_to(2) == 0 ? 1 + up_to(9) : 1 + up_to(700);
        s.rows = 1 + up_to(up_to(1) == 0 ? 3000 / s.cols : 5);
        s.destination_ld = s.cols + (up_to(3) == 0 ? 16 * up_to(2) : up_to(7));
        s.source_offset = up_to(1) * up_to(17);
        s.destination_offset = up_to(1) * up_to(17);
        s.count = up_to(2) == 0 ? 1 + up_to(8) : 1;
        if (up_to(2) == 0) s.source_stride = s.rows * s.cols + up_to(200);
        s.reads_stride = true;
        if (s.count > 1 && up_to(1) == 0) s.destination_stride = s.rows * s.destination_ld + up_to(20);
        for (const kernel* k : ordered_copies()) {
            if (!k->is_built_for(backend::emulator)) continue;
            const auto found = tests::run_every_block(*k, s);
            ASSERT_EQ(found.fault, "") << k->id << ": " << s.count << " of " << s.rows << " x " << s.cols << " of "
                                       << s.element_size << ", ld " << s.destination_ld << ", strides "
                                       << s.source_stride << " and " << s.destination_stride << ", offsets "
                                       << s.source_offset << " and " << s.destination_offset << ", seed " << seed;
        }
    }
}

TEST(ordered_copies, read_as_many_sectors_as_the_work) {
    // Each row of the source touches sectors of its own: 100 of them hold 100 elements.
    const problem_shape shape{.rows = 100, .cols = 1, .element_size = 4, .source_ld = 8, .destination_ld = 101};
    const movement_work work(dynamic_cast<const movement&>(transposes()), {"", 4}, shape, true);
    for (const kernel* k : ordered_copies()) {
        if (!k->is_built_for(backend::emulator)) continue;
        const problem_shape ordered = work.shape_for(*k);
        EXPECT_EQ(ordered.rows, 1);
        EXPECT_EQ(ordered.cols, 100);
        EXPECT_EQ(ordered.room(side::source), 100 * 32);
        tests::outcome found = tests::run_every_block(*k, ordered);
        EXPECT_EQ(found.fault, "") << k->id;
        const auto reads = found.report.counts.global_sectors[emulator::kLoad];
        EXPECT_GE(reads, 100u) << k->id;
    }
}

// ---- Candidates -----------------------------------------------------------------------------------------------------

// Every way of the library's, in the emulator.
std::string fault_of_candidates(const problem_shape& shape, int& candidates) {
    const movement_work work(dynamic_cast<const movement&>(transposes()), {"", shape.element_size}, shape);
    const kernel& library = find_kernel("transpose/production");
    const auto problem = transposes().make(backend::emulator, {&work}, {&library}, false);
    if (!problem->take(work, library)) return "no room";
    const auto all = problem->candidates();
    std::set<std::string> names;
    for (const auto& one : all) {
        if (!names.insert(one.name).second) return "two are " + one.name;
        emulator::session session(emulator::options{});
        for (const problem::buffer& b : problem->buffers())
            session.add_buffer(b.name, b.data, static_cast<std::size_t>(b.bytes), b.writable);
        problem->prepare();
        try {
            one.run();
        } catch (const error& e) {
            return one.name + ": " + e.what();
        }
        if (const std::string fault = problem->check().fault; !fault.empty()) return one.name + ": " + fault;
    }
    candidates += static_cast<int>(all.size());
    return {};
}

TEST(candidates, transpose_whatever_the_shape) {
    const unsigned seed = std::random_device{}();
    std::mt19937 random(seed);
    const auto up_to = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    int candidates = 0;
    for (int round = 0; round < 60; ++round) {
        constexpr int kSizes[] = {1, 2, 3, 4, 6, 8, 12, 16};
        problem_shape s{.element_size = kSizes[up_to(7)], .seed = seed};
        const bool aligned = up_to(1) == 0;
        s.rows = 1 + up_to(up_to(2) == 0 ? 5000 : 150);
        s.cols = 1 + up_to(up_to(2) == 0 ? 9 : 150);
        if (up_to(1) == 0) std::swap(s.rows, s.cols);
        while (s.rows * s.cols * s.element_size > 1 << 17) (s.rows > s.cols ? s.rows : s.cols) /= 2;
        if (aligned) s.rows = (s.rows + 15) / 16 * 16, s.cols = (s.cols + 15) / 16 * 16;
        s.count = up_to(2) == 0 && s.rows * s.cols < 4096 ? 1 + up_to(8) : 1;
        s.source_ld = s.cols + (aligned || up_to(1) == 0 ? 0 : up_to(7));
        s.destination_ld = s.rows + (aligned || up_to(1) == 0 ? 0 : up_to(7));
        s.source_offset = aligned ? 0 : up_to(5);
        s.destination_offset = aligned ? 0 : up_to(5);
        ASSERT_EQ(fault_of_candidates(s, candidates), "")
            << s.count << " of " << s.rows << " x " << s.cols << " of " << s.element_size << ", lds " << s.source_ld
            << " and " << s.destination_ld << ", offsets " << s.source_offset << " and " << s.destination_offset
            << ", seed " << seed;
    }
    EXPECT_GT(candidates, 60 * 5);
}

// ---- Regret ---------------------------------------------------------------------------------------------------------

// What the candidates of a made-up problem do: nothing, but one may be wrong and one may decline, each once it has run
// well so many times.
struct made_up_ways {
    int count = 0, wrong = -1, declines = -1, runs_well = 0;
};

class made_up_problem final : public problem {
public:
    explicit made_up_problem(const made_up_ways& ways) : ways_(ways), runs_(static_cast<std::size_t>(ways.count)) {}

    bool take(const workload&, const kernel&) override { return true; }
    std::int64_t room() const override { return 0; }
    void prepare() override { last_ = -1; }
    verdict check(nlohmann::ordered_json*) const override {
        const bool wrong = last_ < 0 || (last_ == ways_.wrong && is_worn(last_));
        return {.elements = 1, .fault = wrong ? "it is wrong" : ""};
    }
    std::function<void()> bind(const kernel&) const override { return {}; }
    std::function<void()> bind_yardstick() const override { return {}; }
    std::vector<candidate> candidates() const override {
        std::vector<candidate> all;
        for (int i = 0; i < ways_.count; ++i) {
            all.push_back({"way " + std::to_string(i), [this, i] {
                               ++runs_[static_cast<std::size_t>(i)];
                               if (i == ways_.declines && is_worn(i)) throw unsupported("it has no kernel");
                               last_ = i;
                           }});
        }
        return all;
    }
    int last() const { return last_; }

private:
    bool is_worn(int i) const { return runs_[static_cast<std::size_t>(i)] > ways_.runs_well; }

    made_up_ways ways_;
    mutable std::vector<int> runs_;
    mutable int last_ = -1;
};

// Runs each work once, and says that it took so many seconds.
struct made_up_times {
    const made_up_problem& of;
    std::vector<double> seconds;
    std::vector<int> rounds = {};
    std::vector<std::size_t> works = {};

    std::vector<timing> operator()(const std::vector<std::function<void()>>& all, int at_least) {
        rounds.push_back(at_least);
        works.push_back(all.size());
        std::vector<timing> times;
        for (const auto& work : all) {
            work();
            times.push_back({.median_s = seconds[static_cast<std::size_t>(of.last())]});
        }
        return times;
    }
};

TEST(regret, is_of_the_chosen_way_beside_the_best) {
    made_up_problem of({.count = 7, .declines = 6});
    made_up_times times{of, {3, 9, 2.5, 8, 2, 2.6}};
    const auto found = regret_of(of, std::ref(times));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->fault, "");
    EXPECT_EQ(found->candidates, 6);
    EXPECT_EQ(found->chosen, "way 0");
    EXPECT_EQ(found->best, "way 4");
    EXPECT_DOUBLE_EQ(found->share(), 0.5);
    EXPECT_EQ(times.rounds, (std::vector<int>{5, 20}));
    EXPECT_EQ(times.works, (std::vector<std::size_t>{6, 4}));  // the best three, and the chosen one
}

TEST(regret, is_none_without_a_choice_or_with_a_wrong_one) {
    const auto nobody = [](const std::vector<std::function<void()>>&, int) -> std::vector<timing> {
        ADD_FAILURE() << "nothing is to be timed";
        return {};
    };
    made_up_problem none({});
    EXPECT_FALSE(regret_of(none, nobody).has_value());
    for (const auto& [ways, fault] : {std::pair{made_up_ways{.count = 3, .wrong = 1}, "way 1: it is wrong"},
                                      {made_up_ways{.count = 3, .declines = 0}, "way 0: it has no kernel"}}) {
        made_up_problem of(ways);
        const auto found = regret_of(of, nobody);
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ(found->fault, fault);
    }
}

// Each candidate runs three times before the last check: to be verified, and twice to be timed.
TEST(regret, is_none_where_a_way_fails_after_it_was_timed) {
    constexpr int kRuns = 3;
    for (int i : {0, 4, 5}) {  // the chosen one, the best one, and one of neither
        const std::string name = "way " + std::to_string(i);
        for (const auto& [ways, fault] :
             {std::pair{made_up_ways{.count = 6, .wrong = i, .runs_well = kRuns}, name + ": it is wrong"},
              {made_up_ways{.count = 6, .declines = i, .runs_well = kRuns}, name + ": it has no kernel"}}) {
            made_up_problem of(ways);
            made_up_times times{of, {3, 9, 2.5, 8, 2, 2.6}};
            const auto found = regret_of(of, std::ref(times));
            ASSERT_TRUE(found.has_value());
            EXPECT_EQ(found->fault, fault);
            EXPECT_EQ(times.rounds.size(), 2u);
            EXPECT_EQ(found->best, "");
            EXPECT_EQ(found->chosen_time.median_s, 0);
            EXPECT_EQ(found->best_time.median_s, 0);
        }
    }
}

// ---- What is shown --------------------------------------------------------------------------------------------------

// 100 cells: i milliseconds for cell i, and a millisecond for whatever it is compared with; the ordered copies in turn
// a little slower or as fast.
struct made_up {
    bench_report report;

    explicit made_up(bool small = false) {
        bench_request& what = report.what;
        report.device = {.kind = "cuda", .name = "A GPU", .driver = "1.2", .cuda = "13.0"};
        what.does = &transposes();
        what.subject = &find_kernel("transpose/production");
        what.yardstick = &find_kernel("baseline/memcpy");
        what.peers = {&find_kernel("baseline/geam")};
        what.ordered = ordered_copies();
        what.drawn = 100;
        what.small = small;
        what.regret = true;
        what.seconds = 0.05;
        what.rounds = 10;
        int i = 0;
        for (const bench_cell& c : small ? transposes().bench_draws(what.drawn, what.seed, draw_size::small)
                                         : transposes().bench_draws(what.drawn, what.seed, draw_size::large)) {
            bench_result r = begin_bench(c, what);
            r.method = "by guess";
            for (bench_entry* e : r.entries()) e->time = {1e-3, 1e-3, 1e-3, 10};
            for (bench_entry& e : r.ordered) e.time.median_s = 1.5e-3;
            if (!r.ordered.empty()) r.ordered[1].time.median_s = 1.25e-3;
            r.subject.time.median_s = ++i * 1e-3;
            r.choice = "way " + std::to_string(i);
            r.regret = bench_regret{.candidates = 4,
                                    .chosen = r.choice,
                                    .best = "the best",
                                    .chosen_time = {1 + (i - 0.5) * 1e-3},
                                    .best_time = {1}};
            report.results.push_back(std::move(r));
        }
    }
};

std::vector<std::string> row_of(const std::string& text, const std::string& begin) {
    std::istringstream row(text.substr(text.find("\n" + begin) + 1 + begin.size()));
    std::string line, word;
    std::getline(row, line);
    std::istringstream words(line);
    std::vector<std::string> all;
    while (words >> word) all.push_back(word);
    return all;
}

TEST(random_views, tables_have_percentiles_worst_cells_and_regret) {
    made_up m;
    m.report.results[3].skipped = "no memory";
    m.report.results[4].subject.fault = "it is wrong";
    m.report.results[5].regret->fault = "it is not right";
    const std::string text = show_bench(m.report, format::table);
    const auto has = [&](const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    };
    has("transpose/production on A GPU (driver 1.2, CUDA 13.0); seed 1");
    // Ratios to memcpy of all cells: 1, 1/2, 1/3, 1/6, ... 1/100.
    std::vector<double> ratios;
    for (int i = 1; i <= 100; ++i) {
        if (i != 4 && i != 5) ratios.push_back(1.0 / i);
    }
    const std::vector<std::string> every = row_of(text, "all  "), all = [&] {
        std::string line = text.substr(text.find("memcpy, of every cell") + 21);
        std::istringstream words(line);
        std::vector<std::string> found(7);
        for (std::string& word : found) words >> word;
        return found;
    }();
    const auto number = [](double x) {
        char digits[16];
        std::snprintf(digits, sizeof digits, "%.3f", x);
        return std::string(digits);
    };
    EXPECT_EQ(all, (std::vector<std::string>{"98", "0.010", number(percentile(ratios, 0.01)),
                                             number(percentile(ratios, 0.05)), number(percentile(ratios, 0.1)),
                                             number(percentile(ratios, 0.25)), number(percentile(ratios, 0.5))}))
        << text;
    EXPECT_EQ(every[0], "memcpy");
    for (const char* part :
         {"ordered copy", "padded", "batched", "3 bytes", "12 bytes", "ordered@4", "way 100", "geam"})
        has(part);
    has("of every cell");
    // 0.0005, 0.0015, ... 0.0995, but for a cell: more than 0.05 in 50.
    has("396 candidates in 99 cells; above 5 % in 50.5 % of the cells");
    has("the best");
    has(": no memory\n");
    has("FAILED transpose/production, ");
    has("FAILED a candidate, ");
    const std::size_t worst = text.find("the worst cells");
    ASSERT_NE(worst, std::string::npos);
    EXPECT_EQ(text.find("way 85\n", worst), std::string::npos);  // ten of the last, by one yardstick or the other
}

// Cell i takes i times as long as the copies, of which the second is a quarter faster than memcpy.
TEST(random_views, small_cells_are_told_as_times_over_the_fastest_copy) {
    made_up m(true);
    bench_request& what = m.report.what;
    what.peers = {&find_kernel("baseline/copy"), &find_kernel("baseline/geam")};
    for (bench_result& r : m.report.results) {
        bench_entry copy = r.yardstick, geam = r.yardstick;
        copy.kernel = "baseline/copy";
        copy.time.median_s = 0.8e-3;
        geam.kernel = "baseline/geam";
        geam.time.median_s = 0.1e-3;  // as fast as it may be, it is no copy
        r.peers = {copy, geam};
    }
    const std::string text = show_bench(m.report, format::table);
    std::vector<double> times;
    for (std::size_t i = 0; i < 100; ++i) {
        const bench_result& r = m.report.results[i];
        EXPECT_EQ(judge_of(m.report, r).kernel, r.ordered.empty() ? "baseline/copy" : "baseline/ordered@4");
        times.push_back(static_cast<double>(i + 1) / (r.ordered.empty() ? 0.8 : 1.25));
    }
    const std::string every = text.substr(text.find("either") + 6, 90);
    for (const double share : {0.5, 0.9, 0.95, 0.99, 1.0}) {
        char digits[16];
        std::snprintf(digits, sizeof digits, "%.3f", percentile(times, share));
        EXPECT_NE(every.find(digits), std::string::npos) << digits << "\n" << text;
    }
    for (const char* part : {"above 1.25", "below 4 MiB", "4 to 16 MiB", "from 16 MiB"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(text.find("way 100"), std::string::npos) << text;
    const auto json = nlohmann::ordered_json::parse(show_bench(m.report, format::json));
    EXPECT_EQ(json["random"]["small"], true);
    EXPECT_FALSE(json["random"].contains("ratios"));
    EXPECT_EQ(json["random"]["times"][0]["yardstick"], "the fastest copy");
    EXPECT_NEAR(json["random"]["times"][2]["max"], percentile(times, 1), 1e-9);
    EXPECT_GT(json["random"]["times"][2]["above_1.25"], 0.9);
    EXPECT_NEAR(json["cells"][99]["figure"], 1 / times[99], 1e-9);
    EXPECT_EQ(json["cells"][99]["judge"], judge_of(m.report, m.report.results[99]).kernel);
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
    EXPECT_EQ(json["random"]["ratios"][1]["yardstick"], "ordered copy");
    EXPECT_DOUBLE_EQ(json["random"]["ratios"][2]["min"], 0.01);
    EXPECT_EQ(json["random"]["regret"]["candidates"], 400);
    ASSERT_EQ(json["cells"].size(), 100u);
    int in_part = 0;
    for (std::size_t i = 0; i < 100; ++i) {
        const auto& cell = json["cells"][i];
        const double milliseconds = static_cast<double>(i + 1);
        EXPECT_DOUBLE_EQ(cell["ratio"], 1 / milliseconds);
        EXPECT_EQ(cell["choice"], "way " + std::to_string(i + 1));
        EXPECT_EQ(cell["regret"]["best"], "the best");
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

// 80 products, drawn or of the grid. The library takes as long as cuBLAS where it has its workspace; called once i
// hundredths longer in cell i, and called in a row twice as long in all cells.
struct made_up_products {
    bench_report report;

    explicit made_up_products(bool drawn) {
        bench_request& what = report.what;
        report.device = {.kind = "cuda", .name = "A GPU", .driver = "1.2", .cuda = "13.0"};
        what.does = &products();
        const bench_contestants who = products().contestants(backend::cuda);
        what.subject = &find_kernel(who.subject);
        what.yardstick = &find_kernel(who.yardstick);
        for (const bench_way& way : products().bench_ways(backend::cuda))
            what.ways.push_back({way.name, &find_kernel(way.subject), &find_kernel(way.yardstick), way.in_a_row});
        what.drawn = drawn ? 80 : 0;
        int i = 0;
        for (const bench_cell& c : drawn ? products().bench_draws(80, 1, draw_size::large)
                                         : products().bench_grid({4}, products().bench_groups())) {
            bench_result r = begin_bench(c, what);
            r.method = "by guess";
            r.choice = "way " + std::to_string(++i);
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

TEST(ways, are_the_operations) {
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
    const std::string text = show_bench(m.report, format::table);
    const auto has = [&](const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    };
    for (const char* part : {"called", "workspace given", "one call", "twenty in a row", "packed", "leading", "offset",
                             "batched", "narrow", "short k", "neither", "the worst cells, workspace given",
                             "the worst cells, one call", "the worst cells, twenty in a row"})
        has(part);
    EXPECT_EQ(text.find("4 bytes"), std::string::npos) << text;
    has("FAILED gemm/production@plain, ");
    has("skipped gemm/production@plain: it is not there\n");
    // The worst of those that are right: cell 78.
    const std::size_t worst = text.find("the worst cells, one call"), next = text.find("the worst cells, twenty");
    EXPECT_LT(text.find("way 78\n", worst), next) << text;
    EXPECT_EQ(std::min(text.find("way 79\n", worst), next), next) << text;
    EXPECT_EQ(std::min(text.find("way 68\n", worst), next), next) << text;  // ten of them

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
    // Of the cells of a class alone, of which one may have two.
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
    EXPECT_EQ(json["random"]["worst"][10]["choice"], "way 78");
    EXPECT_EQ(json["random"]["worst"][10]["shape"], m.report.results[77].cell.work->text());
}

TEST(ways, stand_in_the_cells) {
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
    EXPECT_NE(heading.find("ratio,\"ratio, one call\",\"ratio, twenty in a row\","), std::string::npos) << heading;
    EXPECT_NE(first.find(",1.000,0.990,0.500,"), std::string::npos) << first;
    EXPECT_NE(second.find(",1.000,WRONG,0.500,"), std::string::npos) << second;

    const report::document read = report::read_document("bench.json", stored);
    const std::string page = report::html(report::make_page({read}));
    for (const char* part : {"ratio, one call", "ratio, twenty in a row", "0.990", "it is wrong"})
        EXPECT_NE(page.find(part), std::string::npos) << part;
}

}  // namespace
