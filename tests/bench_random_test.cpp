// The bench of cells drawn at random, without a GPU: the draws, the ordered copies, and the regret.
#include "lab/bench_random.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "cornerturn/error.hpp"
#include "ladder_check.hpp"
#include "message.hpp"
#include "ops/copy/sectors.hpp"
#include "run_kernels.hpp"

using namespace cornerturn;
using namespace cornerturn::lab;

namespace {

const operation& transposes() { return find_operation("transpose"); }
const movement_work& of(const bench_cell& c) { return dynamic_cast<const movement_work&>(*c.work); }

nlohmann::ordered_json described(const bench_cell& c) {
    nlohmann::ordered_json out;
    c.work->describe(out);
    return out;
}

// ---- Draws ----------------------------------------------------------------------------------------------------------

TEST(draws, depend_on_the_seed_alone) {
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
    EXPECT_GE(least, (std::int64_t{1} << 19) - (1 << 14));  // the size is rounded down to whole rows
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
        EXPECT_GE(c.work->bytes() / 2, std::int64_t{31} << 20) << text;  // the size is rounded down to whole rows
        EXPECT_EQ(c.work->why_not_run(find_kernel("transpose/production")), "") << text;
        EXPECT_EQ(c.work->why_not_run(find_kernel("baseline/memcpy")), "") << text;
        const nlohmann::ordered_json cell = described(c);
        EXPECT_EQ(cell["element_size"], c.work->type().size);
        const std::int64_t rows = cell["rows"], cols = cell["cols"];
        const bool padded = cell["source_ld"] > cols || cell["destination_ld"] > rows;
        EXPECT_TRUE(!padded || c.group == "padded") << text;
        EXPECT_EQ(cell["source_offset"] > 0, c.group == "offset") << text;
        EXPECT_EQ(cell["destination_offset"] > 0, c.group == "offset") << text;
        EXPECT_TRUE(cell["count"] == 1 || c.group == "batched") << text;
        // The ordered copies have shapes of their own. The memory is large enough for these.
        EXPECT_TRUE(c.work->writes_whole_sectors() || padded) << text;
        std::int64_t most = 0;
        for (const kernel* k : tests::ordered_copies()) {
            const problem_shape s = of(c).shape_for(*k);
            EXPECT_EQ(s.elements(), c.work->outputs()) << text;
            most = std::max(most, s.capacity(side::source) + s.capacity(side::destination));
        }
        EXPECT_GE(c.work->gpu_bytes(tests::ordered_copies(), false), most) << text;
    }
    EXPECT_EQ(kinds, (std::set<std::string>{"packed", "padded", "offset", "batched"}));
    EXPECT_EQ(sizes, (std::set<int>{1, 2, 3, 4, 6, 8, 12, 16}));
}

TEST(draws, show_both_sides_if_they_differ) {
    const auto text = [](problem_shape shape) {
        return movement_work(dynamic_cast<const movement&>(transposes()), {"", shape.element_size}, shape).text();
    };
    EXPECT_EQ(text({.rows = 3, .cols = 5, .source_ld = 6, .destination_ld = 4}), "3 x 5, ld + 1");
    EXPECT_EQ(text({.rows = 3, .cols = 5, .source_ld = 6}), "3 x 5, ld + 1 and 0");
    EXPECT_EQ(text({.rows = 3, .cols = 5, .source_offset = 2, .destination_offset = 1}), "3 x 5, offset 2 and 1");
}

const operation& products() { return find_operation("gemm"); }
const gemm_shape& product_of(const bench_cell& c) { return dynamic_cast<const product_work&>(*c.work).shape(); }

TEST(draws, of_products_depend_on_the_seed_alone) {
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
        EXPECT_EQ(c.work->why_not_run(find_kernel("gemm/production@plain")), "") << text;
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
        const bool sectors = random() % 3 == 0;  // rows of whole sectors
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

// Rows, gaps and offsets as in the bench's cells, and smaller ones.
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
        for (const kernel* k : tests::ordered_copies()) {
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
    for (const kernel* k : tests::ordered_copies()) {
        if (!k->is_built_for(backend::emulator)) continue;
        const problem_shape ordered = work.shape_for(*k);
        EXPECT_EQ(ordered.rows, 1);
        EXPECT_EQ(ordered.cols, 100);
        EXPECT_EQ(ordered.capacity(side::source), 100 * 32);
        tests::outcome found = tests::run_every_block(*k, ordered);
        EXPECT_EQ(found.fault, "") << k->id;
        const auto reads = found.report.counts.global_sectors[emulator::kLoad];
        EXPECT_GE(reads, 100u) << k->id;
    }
}

// ---- Candidates -----------------------------------------------------------------------------------------------------

// Runs each of the library's candidates in the emulator. Returns the first fault.
std::string fault_of_candidates(const problem_shape& shape, int& candidates) {
    const movement_work work(dynamic_cast<const movement&>(transposes()), {"", shape.element_size}, shape);
    const kernel& library = find_kernel("transpose/production");
    const auto problem = transposes().make(backend::emulator, {&work}, {&library}, false);
    if (!problem->take(work, library)) return "no room";
    const auto all = problem->candidates();
    std::set<std::string> names;
    for (const auto& one : all) {
        if (!names.insert(one.name).second) return "two candidates are named " + one.name;
        emulator::emulation emulation(emulator::options{});
        for (const problem::buffer& b : problem->buffers())
            emulation.add_buffer(b.name, b.data, static_cast<std::size_t>(b.bytes), b.writable);
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

// The candidates of a made-up problem do nothing. One may be wrong and one may decline, after it has run well
// `runs_well` times.
struct made_up_candidates {
    int count = 0, wrong = -1, declines = -1, runs_well = 0;
};

class made_up_problem final : public problem {
public:
    explicit made_up_problem(const made_up_candidates& made_up)
        : made_up_(made_up), runs_(static_cast<std::size_t>(made_up.count)) {}

    bool take(const workload&, const kernel&) override { return true; }
    std::int64_t capacity() const override { return 0; }
    void prepare() override { last_ = -1; }
    verdict check(nlohmann::ordered_json*) const override {
        const bool wrong = last_ < 0 || (last_ == made_up_.wrong && is_worn(last_));
        return {.elements = 1, .fault = wrong ? "it is wrong" : ""};
    }
    std::function<void()> bind(const kernel&) const override { return {}; }
    std::function<void()> bind_yardstick() const override { return {}; }
    std::vector<candidate> candidates() const override {
        std::vector<candidate> all;
        for (int i = 0; i < made_up_.count; ++i) {
            all.push_back({"candidate " + std::to_string(i), [this, i] {
                               ++runs_[static_cast<std::size_t>(i)];
                               if (i == made_up_.declines && is_worn(i)) throw unsupported("it has no kernel");
                               last_ = i;
                           }});
        }
        return all;
    }
    int last() const { return last_; }

private:
    bool is_worn(int i) const { return runs_[static_cast<std::size_t>(i)] > made_up_.runs_well; }

    made_up_candidates made_up_;
    mutable std::vector<int> runs_;
    mutable int last_ = -1;
};

// Runs each work once, and returns made-up seconds for it.
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

TEST(regret, compares_the_chosen_candidate_with_the_best) {
    made_up_problem of({.count = 7, .declines = 6});
    made_up_times times{of, {3, 9, 2.5, 8, 2, 2.6}};
    const auto found = regret_of(of, std::ref(times));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->fault, "");
    EXPECT_EQ(found->candidates, 6);
    EXPECT_EQ(found->chosen, "candidate 0");
    EXPECT_EQ(found->best, "candidate 4");
    EXPECT_DOUBLE_EQ(found->share(), 0.5);
    ASSERT_EQ(found->all.size(), 6u);  // of all that did not decline
    EXPECT_EQ(found->all[2].name, "candidate 2");
    EXPECT_EQ(found->all[2].median_s, 2.5);
    EXPECT_EQ(times.rounds, (std::vector<int>{3, 5, 20}));
    EXPECT_EQ(times.works,
              (std::vector<std::size_t>{6, 4, 4}));  // below twice the best; the best three and candidate 0
}

TEST(regret, times_the_chosen_candidate_even_if_it_is_hopeless) {
    made_up_problem of({.count = 4});
    made_up_times times{of, {5, 2, 2.1, 9}};
    const auto found = regret_of(of, std::ref(times));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->best, "candidate 1");
    EXPECT_DOUBLE_EQ(found->share(), 1.5);
    EXPECT_EQ(times.works, (std::vector<std::size_t>{4, 3, 3}));
}

TEST(regret, is_none_without_a_choice_or_with_a_wrong_one) {
    const auto nobody = [](const std::vector<std::function<void()>>&, int) -> std::vector<timing> {
        ADD_FAILURE() << "nothing is to be timed";
        return {};
    };
    made_up_problem none({});
    EXPECT_FALSE(regret_of(none, nobody).has_value());
    for (const auto& [candidates, name, fault] :
         {std::tuple{made_up_candidates{.count = 3, .wrong = 1}, "candidate 1", "it is wrong"},
          {made_up_candidates{.count = 3, .declines = 0}, "candidate 0", "it has no kernel"}}) {
        made_up_problem of(candidates);
        const auto found = regret_of(of, nobody);
        ASSERT_TRUE(found.has_value());
        EXPECT_NAMES(found->fault, name, fault);
    }
}

// Each of these candidates runs four times before the last check: to be verified, and three times to be timed.
TEST(regret, is_none_if_a_candidate_fails_after_it_was_timed) {
    constexpr int kRuns = 4;
    for (int i : {0, 4, 5}) {  // the chosen one, the best one, and another
        const std::string name = "candidate " + std::to_string(i);
        for (const auto& [candidates, fault] :
             {std::pair{made_up_candidates{.count = 6, .wrong = i, .runs_well = kRuns}, "it is wrong"},
              {made_up_candidates{.count = 6, .declines = i, .runs_well = kRuns}, "it has no kernel"}}) {
            made_up_problem of(candidates);
            made_up_times times{of, {3, 9, 2.5, 8, 2, 2.6}};
            const auto found = regret_of(of, std::ref(times));
            ASSERT_TRUE(found.has_value());
            EXPECT_NAMES(found->fault, name, fault);
            EXPECT_EQ(times.rounds.size(), 3u);
            EXPECT_EQ(found->best, "");
            EXPECT_EQ(found->chosen_time.median_s, 0);
            EXPECT_EQ(found->best_time.median_s, 0);
        }
    }
}

}  // namespace
