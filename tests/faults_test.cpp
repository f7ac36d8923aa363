// Every class of fault, planted, is caught, by a message that says where.
#include <gtest/gtest.h>

#include "lab/run.hpp"
#include "ladder_check.hpp"
#include "work.hpp"

using namespace cornerturn;
using emulator::hazard_kind;

namespace {

const kernel& planted(const std::string& fault) { return find_kernel("fault/planted@" + fault); }

std::string verifier_says(const std::string& fault, std::int64_t rows, std::int64_t cols) {
    return tests::run_every_block(planted(fault), {.rows = rows, .cols = cols}).fault;
}

void expect_hazard(const std::string& fault, hazard_kind kind, std::initializer_list<const char*> parts,
                   std::int64_t rows = 70, std::int64_t cols = 90) {
    const tests::outcome found = tests::run_every_block(planted(fault), {.rows = rows, .cols = cols});
    ASSERT_TRUE(found.hazard.has_value()) << fault << " was not caught: " << found.fault;
    EXPECT_EQ(static_cast<int>(*found.hazard), static_cast<int>(kind)) << found.fault;
    for (const char* part : {"planted_fault<", "block (", "thread ("}) {
        EXPECT_NE(found.fault.find(part), std::string::npos) << found.fault;
    }
    for (const char* part : parts) {
        EXPECT_NE(found.fault.find(part), std::string::npos) << found.fault << "\nlacks: " << part;
    }
}

TEST(faults, hazards) {
    expect_hazard("missing_barrier", hazard_kind::race,
                  {"reads shared memory 'tile' at planted_faults.cu:", "writes the same bytes at planted_faults.cu:"});
    expect_hazard("same_lane_of_warp_race", hazard_kind::race, {"writes shared memory 'tile' at planted_faults.cu:"});
    expect_hazard("uninitialised_read", hazard_kind::uninitialised_read,
                  {"planted_faults.cu:", "no thread of the block has written"});
    expect_hazard("early_return", hazard_kind::divergent_barrier,
                  {"ended without reaching the barrier of planted_faults.cu:"});
    expect_hazard("barrier_in_a_branch", hazard_kind::divergent_barrier,
                  {"waits at the barrier of planted_faults.cu:"});
    expect_hazard("shared_out_of_bounds", hazard_kind::out_of_bounds,
                  {"write at planted_faults.cu:", "past the end of 'tile' (4224 bytes)"});
    expect_hazard("negative_index", hazard_kind::out_of_bounds,
                  {"4-byte read at planted_faults.cu:", "4 bytes before 'source'"});
    expect_hazard("past_the_end", hazard_kind::out_of_bounds,
                  {"4-byte write at planted_faults.cu:", "past the end of 'destination' (25200 bytes)"});
    expect_hazard("misaligned", hazard_kind::misaligned, {"8-byte read at planted_faults.cu:", "not a multiple of 8"});
    expect_hazard("writes_source", hazard_kind::read_only,
                  {"4-byte write at planted_faults.cu:", "'source', which it may only read"});
}

TEST(faults, that_need_an_edge_are_no_hazard_without_one) { EXPECT_EQ(verifier_says("early_return", 64, 96), ""); }

TEST(faults, wrong_elements) {
    EXPECT_NE(verifier_says("wrong_index", 64, 64).find("destination (row 0, column 1) holds 0x"), std::string::npos);
    EXPECT_NE(verifier_says("unwritten_tail", 64, 64).find("destination (row 63, column 63) holds 0x"),
              std::string::npos);
    EXPECT_NE(verifier_says("unwritten_tail", 64, 64).find("as before the run"), std::string::npos);
    EXPECT_NE(verifier_says("swapped_rows", 64, 64).find("destination (row 0, column 0)"), std::string::npos);
    EXPECT_NE(verifier_says("stale_output", 64, 64).find("as before the run"), std::string::npos);
    EXPECT_NE(verifier_says("nan", 64, 64).find("(row 63, column 63) holds 0x7fc00000"), std::string::npos);
    EXPECT_NE(verifier_says("missing_wait", 64, 64).find("destination (row 0, column 0) holds 0xffffffff"),
              std::string::npos);
    EXPECT_NE(verifier_says("nan", 64, 64).find("(seed 1)"), std::string::npos);
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
    EXPECT_NE(refused.fault.find("counts differently"), std::string::npos) << refused.fault;
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

TEST(faults, are_results_not_crashes_of_the_lab) {
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
