// The bench of cells drawn at random, as far as it needs no GPU: what is drawn, what it is compared with, and what is
// made of times.
#include "lab/bench_random.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <sstream>

#include "cornerturn/error.hpp"
#include "lab/bench_views.hpp"
#include "lab/statistics.hpp"
#include "ladder_check.hpp"
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
        for (const bench_cell& c : transposes().bench_draws(50, seed))
            all += c.group + ": " + described(c).dump() + "\n";
        return all;
    };
    EXPECT_EQ(texts(1), texts(1));
    EXPECT_NE(texts(1), texts(2));
    EXPECT_THROW(find_operation("gemm").bench_draws(1, 1), invalid_argument);
}

TEST(draws, are_problems_of_any_kind_and_element) {
    std::set<std::string> kinds;
    std::set<int> sizes;
    for (const bench_cell& c : transposes().bench_draws(600, 7)) {
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

}  // namespace
