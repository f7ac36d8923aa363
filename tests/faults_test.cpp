// Each kind of planted fault is caught, with a message that says where it is.
#include <gtest/gtest.h>

#include "lab/run.hpp"
#include "ladder_check.hpp"
#include "message.hpp"
#include "run_kernels.hpp"

using namespace cornerturn;
using emulator::hazard_kind;

namespace {

const kernel& planted(const std::string& fault) { return find_kernel("fault/planted@" + fault); }

std::string message_of(const std::string& fault, std::int64_t rows, std::int64_t cols) {
    return tests::run_every_block(planted(fault), {.rows = rows, .cols = cols}).fault;
}

// Expects a hazard of this kind, whose message names the kernel, the block, the thread and then the values.
void expect_hazard(const std::string& fault, hazard_kind kind, const std::vector<std::string>& values) {
    SCOPED_TRACE(fault);
    const tests::outcome found = tests::run_every_block(planted(fault), {.rows = 70, .cols = 90});
    EXPECT_EQ(found.hazard, kind) << found.fault;
    std::vector<std::string> all = {"planted_fault", ", 0)", ", 0)"};  // z is 0 in the block and in the thread
    all.insert(all.end(), values.begin(), values.end());
    EXPECT_NAMES(found.fault, all);
}

// Expects that a wrong element holds its value from before the run: the complement of the right one.
void expect_unwritten(const std::string& message) {
    const std::vector<std::uint64_t> bits = tests::hex_numbers(message);
    ASSERT_EQ(bits.size(), 2u) << message;
    EXPECT_EQ(bits[0] ^ bits[1], 0xffffffffu) << message;
}

TEST(faults, hazards) {
    const std::string site = "planted_faults.cu:";
    expect_hazard("missing_barrier", hazard_kind::race, {"'tile'", site, site});
    expect_hazard("same_lane_of_warp_race", hazard_kind::race, {"'tile'", site, site});
    expect_hazard("uninitialised_read", hazard_kind::uninitialised_read, {"'tile'", site});
    expect_hazard("early_return", hazard_kind::divergent_barrier, {site, ", 0)"});
    expect_hazard("barrier_in_a_branch", hazard_kind::divergent_barrier, {site, ", 0)", site});
    expect_hazard("shared_out_of_bounds", hazard_kind::out_of_bounds, {"4", site, "'tile'", "4224"});
    expect_hazard("negative_index", hazard_kind::out_of_bounds, {"4", site, "4", "'source'"});
    expect_hazard("past_the_end", hazard_kind::out_of_bounds, {"4", site, "'destination'", "25200"});
    expect_hazard("misaligned", hazard_kind::misaligned, {"8", site, "8"});
    expect_hazard("writes_source", hazard_kind::read_only, {"4", site, "'source'"});
}

TEST(faults, that_need_an_edge_are_no_hazard_without_one) { EXPECT_EQ(message_of("early_return", 64, 96), ""); }

// Messages name the row and the column in the destination, then in the source.
TEST(faults, wrong_elements) {
    EXPECT_NAMES(message_of("wrong_index", 64, 64), "destination", 0, 1, "source", 1, 0);
    EXPECT_NAMES(message_of("unwritten_tail", 64, 64), "destination", 63, 63, "source", 63, 63);
    expect_unwritten(message_of("unwritten_tail", 64, 64));
    EXPECT_NAMES(message_of("swapped_rows", 64, 64), "destination", 0, 0, "source", 0, 0);
    expect_unwritten(message_of("stale_output", 64, 64));
    EXPECT_NAMES(message_of("nan", 64, 64), "destination", 63, 63, "0x7fc00000", "source", 63, 63, "seed", 1);
    EXPECT_NAMES(message_of("missing_wait", 64, 64), "destination", 0, 0, "0xffffffff", "source", 0, 0);
}

TEST(faults, a_write_past_the_last_row) {
    const tests::outcome found =
        tests::run_every_block(planted("past_the_end"), {.rows = 70, .cols = 90, .destination_ld = 75});
    EXPECT_EQ(found.hazard, hazard_kind::out_of_bounds) << found.fault;
}

TEST(faults, in_a_sampled_run) {
    for (const char* fault : {"wrong_index", "swapped_rows", "stale_output"}) {
        const tests::outcome found = tests::run_classes(planted(fault), {.rows = 100000, .cols = 100000});
        EXPECT_TRUE(found.finished);
        EXPECT_NE(found.fault, "") << fault;
    }
    EXPECT_EQ(tests::run_classes(planted("missing_barrier"), {.rows = 100000, .cols = 100000}).hazard,
              hazard_kind::race);
}

TEST(faults, blocks_that_differ_from_their_class_are_not_extrapolated) {
    const tests::outcome refused = tests::run_classes(planted("differs_by_block"), {.rows = 6400, .cols = 6400});
    EXPECT_FALSE(refused.finished);
    EXPECT_TRUE(refused.declined);
    EXPECT_NAMES(refused.fault, "planted_fault", "(0, 0)", "--full");  // the block that represents the class
    EXPECT_EQ(tests::run_every_block(planted("differs_by_block"), {.rows = 640, .cols = 640}).fault, "");
}

TEST(faults, the_first_block_is_named_whatever_the_number_of_workers) {
    const auto message = [](unsigned workers) {
        return tests::run_every_block(planted("early_return"), {.rows = 1000, .cols = 1000}, {.workers = workers})
            .fault;
    };
    EXPECT_NE(message(1), "");
    EXPECT_EQ(message(1), message(2));
    EXPECT_EQ(message(1), message(7));
}

TEST(faults, are_results_of_the_lab_not_crashes) {
    const auto runner = lab::emulator_runner();
    const auto of = [](const kernel& k) { return tests::request_of(k, {.rows = 64, .cols = 64}); };
    const lab::result broken = runner->run(planted("missing_barrier"), of(planted("missing_barrier")));
    EXPECT_TRUE(broken.failed());
    EXPECT_FALSE(broken.fault.empty());
    const lab::result sound =
        runner->run(find_kernel("transpose/padded@32x8"), of(find_kernel("transpose/padded@32x8")));
    EXPECT_EQ(sound.verified, lab::verification::passed) << sound.fault;
}

}  // namespace
