// Kernels that would crash the program, never end, or read unwritten memory are stopped with a message that names the
// line. The lab then goes on with the next kernel.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 of std::regex, under the sanitizers
#endif

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "emulator/written.hpp"
#include "lab/run.hpp"
#include "ladder_check.hpp"
#include "message.hpp"
#include "run_kernels.hpp"

using namespace cornerturn;
using emulator::hazard_kind;

namespace {

const kernel& misbehaving(const std::string& variant) { return find_kernel("fault/misbehaving@" + variant); }

// The first source line with this text, as "misbehaving.cu:12".
std::string line_of(const std::string& text, const std::string& file = "misbehaving.cu") {
    std::ifstream source(std::string(CORNERTURN_SOURCE_DIR) + "/tests/kernels/" + file);
    int number = 1;
    for (std::string line; std::getline(source, line); ++number) {
        if (line.find(text) != std::string::npos) return file + ":" + std::to_string(number);
    }
    ADD_FAILURE() << "no line has " << text;
    return "";
}

void expect_sound_ladder() {
    const kernel& k = find_kernel("transpose/padded@32x8");
    const lab::result sound = lab::emulator_runner()->run(k, tests::request_of(k, {.rows = 64, .cols = 64}));
    EXPECT_EQ(sound.verified, lab::verification::passed) << sound.fault;
}

// Expects a hazard of this kind, whose message names the kernel, the block, the thread and then the values. The next
// kernel must run as usual. Returns the message.
std::string expect_hazard(const std::string& variant, hazard_kind kind, const std::vector<std::string>& values,
                          const emulator::options& options = {}) {
    SCOPED_TRACE(variant);
    const tests::outcome found = tests::run_every_block(misbehaving(variant), {.rows = 70, .cols = 90}, options);
    EXPECT_EQ(found.hazard, kind) << found.fault;
    std::vector<std::string> all = {"misbehaving", ", 0)", ", 0)"};  // z is 0 in the block and in the thread
    all.insert(all.end(), values.begin(), values.end());
    EXPECT_NAMES(found.fault, all);
    expect_sound_ladder();
    return found.fault;
}

void expect_sound(const std::string& variant) {
    SCOPED_TRACE(variant);
    for (const bool every_block : {true, false}) {
        const tests::outcome found =
            tests::run_every_block(misbehaving(variant), {.rows = 70, .cols = 90}, {.every_block = every_block});
        EXPECT_TRUE(found.finished);
        EXPECT_EQ(found.fault, "");
    }
}

TEST(misbehaving, division) {
    const auto at = [](const char* text) { return std::vector{line_of(text)}; };
    for (unsigned workers : {1u, 3u}) {
        expect_hazard("divides_by_zero", hazard_kind::division, at("return value / (blockDim.z - 1)"),
                      {.workers = workers});
        expect_hazard("remainder_by_zero", hazard_kind::division, at("% static_cast<std::int64_t>(one() - 1)"),
                      {.workers = workers});
        expect_hazard("divides_least_by_minus_one", hazard_kind::division, at("(INT_MIN + one() - 1) / -one()"),
                      {.workers = workers});
    }
    expect_hazard("divides_by_zero", hazard_kind::division, at("return value / (blockDim.z - 1)"),
                  {.every_block = false});
}

TEST(misbehaving, the_first_block_that_divides_by_zero_is_named) {
    const tests::outcome found = tests::run_every_block(misbehaving("divides_by_zero"), {.rows = 64, .cols = 96});
    EXPECT_EQ(found.hazard, hazard_kind::division);
    EXPECT_NAMES(found.fault, "misbehaving", "(0, 0, 0)", "(0, 0, 0)", line_of("return value / (blockDim.z - 1)"));
}

// The time limit is for one block.
TEST(misbehaving, endless_loops) {
    const auto after = [](const std::string& line) { return std::vector<std::string>{line, "0.25", "--timeout"}; };
    const emulator::options quarter{.workers = 1, .block_seconds = 0.25};
    expect_hazard("loops", hazard_kind::endless_loop, after(line_of("while (x != 0)")), quarter);
    expect_hazard("loops_over_local", hazard_kind::endless_loop, after(line_of("while (here != 0)")), quarter);
    expect_hazard("loops_over_barriers", hazard_kind::endless_loop, after(line_of("while (blockDim.z != 0)")), quarter);
    emulator::options three = quarter;
    three.workers = 3;
    expect_hazard("loops", hazard_kind::endless_loop, after(line_of("while (x != 0)")), three);
    expect_hazard("loops_in_last_block", hazard_kind::endless_loop, after(line_of("while (x != 0)")), three);
    emulator::options classes = quarter;
    classes.every_block = false;
    expect_hazard("loops", hazard_kind::endless_loop, after(line_of("while (x != 0)")), classes);
}

// The emulator keeps the accesses of such a loop, so the memory is a limit as well.
TEST(misbehaving, endless_loops_over_memory) {
    const std::string shared = line_of("(&tile[0][tid]) != 0) continue;"),
                      global = line_of("(from) == value) continue;");
    const std::string fault = expect_hazard("loops_over_shared", hazard_kind::endless_loop, {shared}, {.workers = 1});
    EXPECT_FALSE(tests::names(fault, "--timeout")) << fault;  // the limit was the number of accesses
    const emulator::options timed{.workers = 1, .block_seconds = 0.05};
    expect_hazard("loops_over_shared", hazard_kind::endless_loop, {shared}, timed);
    expect_hazard("loops_over_global", hazard_kind::endless_loop, {global}, timed);
}

TEST(misbehaving, a_long_loop_that_ends_is_sound) {
    const tests::outcome found =
        tests::run_every_block(misbehaving("long_loop"), {.rows = 32, .cols = 33}, {.block_seconds = 600});
    EXPECT_EQ(found.fault, "");
}

TEST(misbehaving, arrays_of_known_size) {
    const auto at = [](const char* text, const char* index) {
        return std::vector<std::string>{"'unsigned int [4]'", index, line_of(text)};
    };
    expect_hazard("writes_behind_local", hazard_kind::out_of_bounds, at("local[3 + one()] = value", "4"));
    expect_hazard("reads_behind_local", hazard_kind::out_of_bounds, at("return local[3 + one()]", "4"));
    expect_hazard("reads_before_local", hazard_kind::out_of_bounds, at("return local[one() - 2]", "-1"));
    expect_hazard("reads_far_from_local", hazard_kind::out_of_bounds, at("return local[one() << 20]", "1048576"));
    expect_hazard("reads_behind_table", hazard_kind::out_of_bounds, at("kTable[3 + one()]", "4"));
    expect_hazard("reads_behind_parameter", hazard_kind::out_of_bounds, at("values[at]", "4"));
    expect_hazard("reads_behind_row", hazard_kind::out_of_bounds, at("rows[0][3 + one()]", "4"));
    expect_sound("flat_shared");
    expect_sound("flat_shared_in_function");
}

TEST(misbehaving, structs_without_the_alignment_of_one_access) {
    const std::string line = line_of("*reinterpret_cast<T*>(to) =");
    expect_hazard("copies_pairs", hazard_kind::unsupported_access, {"8", line, "alignas(8)"});
    expect_hazard("copies_triples", hazard_kind::unsupported_access, {"12", line, "1", "2", "4", "8", "16"});
    EXPECT_EQ(tests::run_every_block(misbehaving("copies_aligned_pairs"), {.rows = 70, .cols = 90}).fault, "");
}

TEST(misbehaving, variables_of_the_device) {
    expect_sound("reads_variable");
    const tests::outcome found = tests::run_every_block(misbehaving("reads_variable"), {.rows = 32, .cols = 32});
    EXPECT_EQ(found.report.counts.global_requests[emulator::kLoad], 2u * 32) << "it is global memory";
    expect_hazard("reads_behind_variable", hazard_kind::out_of_bounds, {"4", line_of("*(&added_to_all[7] + one())")});
}

TEST(misbehaving, shared_arrays_of_functions_are_sound) {
    const tests::outcome found = tests::run_every_block(misbehaving("shares_in_function"), {.rows = 64, .cols = 96});
    EXPECT_EQ(found.fault, "");
    const std::uint64_t warps = 64 * 96 / 32;
    EXPECT_EQ(found.report.counts.shared_requests[emulator::kLoad], 2 * warps);
    EXPECT_EQ(found.report.counts.shared_requests[emulator::kStore], 2 * warps);
}

TEST(misbehaving, reads_of_an_unwritten_destination) {
    for (const bool every_block : {true, false}) {
        const emulator::options options{.every_block = every_block};
        expect_hazard("reads_destination", hazard_kind::uninitialised_read,
                      {"4", "'destination'", line_of("tid == 33) return value")}, options);
        expect_hazard("adds_to_destination", hazard_kind::uninitialised_read,
                      {"4", "'destination'", line_of("*to += value;")}, options);
    }
    expect_sound("reads_what_it_wrote");
    expect_sound("reads_in_its_own_order");
    // In place the destination holds the source.
    const tests::outcome in_place =
        tests::run_every_block(misbehaving("reads_destination"), {.rows = 64, .cols = 64, .in_place = true});
    EXPECT_NE(in_place.hazard, hazard_kind::uninitialised_read) << in_place.fault;
}

TEST(misbehaving, reads_of_c_and_of_the_workspace) {
    const auto run = [](const char* variant, float beta, bool every_block) {
        const product_work work({.m = 40, .n = 30, .k = 20, .beta = beta, .values = gemm_values::integers});
        return lab::emulate(find_kernel(std::string("fault/misbehaving_product@") + variant), work,
                            {.every_block = every_block});
    };
    const std::string line = line_of("kReadsC ? *to", "misbehaving_product.cu");
    for (const bool every_block : {true, false}) {
        for (const auto& [variant, buffer] :
             {std::pair{"reads_c", "'C'"}, std::pair{"reads_workspace", "'the workspace'"}}) {
            const lab::emulation_outcome found = run(variant, 0, every_block);
            EXPECT_EQ(found.hazard, hazard_kind::uninitialised_read) << found.verdict.fault;
            EXPECT_NAMES(found.verdict.fault, 4, buffer, line);
        }
    }
    EXPECT_EQ(run("reads_c", 1, true).verdict.fault, "");
}

TEST(misbehaving, prints_to_standard_error_in_whole_lines) {
    const auto printed = [](const char* variant, unsigned workers) {
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        const tests::outcome found =
            tests::run_every_block(misbehaving(variant), {.rows = 64, .cols = 64}, {.workers = workers});
        EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
        EXPECT_EQ(found.fault, "");
        std::istringstream text(testing::internal::GetCapturedStderr());
        std::vector<std::string> lines;
        for (std::string line; std::getline(text, line);) lines.push_back(line);
        return lines;
    };
    const auto expect_each = [](const std::vector<std::string>& lines, const char* pattern) {
        const std::regex whole(pattern);
        for (const std::string& line : lines) EXPECT_TRUE(std::regex_match(line, whole)) << line;
    };
    const auto one = printed("prints", 1);
    EXPECT_EQ(one.size(), 4096u);
    expect_each(one, R"(thread \d+ has (0|0x[0-9a-f]+))");
    const auto three = printed("prints_in_pieces", 3);
    EXPECT_EQ(std::count_if(three.begin(), three.end(), [](const auto& l) { return l.find("has") != l.npos; }), 4096);
    expect_each(three, R"((that is all)?(thread \d+ has an (even|odd) number(, 0)?)?)");
    EXPECT_EQ(printed("prints_much", 1).size(), 4096u);
}

// The range begins and ends in the middle of an 8-byte element.
TEST(written_elements, a_range_marks_each_element_that_it_touches) {
    constexpr std::uintptr_t kBegin = 1 << 20;
    emulator::written_elements written(kBegin, 256, 3);
    written.note_write(kBegin + 4, 31 * 4);
    for (std::uintptr_t at = 0; at < 256; at += 8) EXPECT_EQ(written.is_written(kBegin + at, 8), at < 128) << at;
}

}  // namespace
