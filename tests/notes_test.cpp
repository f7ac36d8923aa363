// Compares the emulator's counters with those in the notes. Exact counters are equal. Notes 001 and 003 also read
// counters of shared memory that include lost arbitration. There the emulator's value is the note's or less. For loads
// the difference is at most a quarter of the requests. For stores it is up to 45 % of the requests, so their bound is a
// quarter of the wavefronts.
#include <gtest/gtest.h>

#include "ladder_check.hpp"

using namespace cornerturn;
using emulator::kLoad;
using emulator::kStore;

namespace {

emulator::counters count(const char* id, std::int64_t rows, std::int64_t cols, int size) {
    const auto found = tests::run_classes(find_kernel(id), {.rows = rows, .cols = cols, .element_size = size});
    EXPECT_EQ(found.fault, "");
    return found.report.counts;
}

void expect_below_by_arbitration(std::uint64_t model, std::uint64_t note, std::uint64_t most_lost) {
    EXPECT_LE(model, note);
    EXPECT_LE(note - model, most_lost);
}

TEST(note_003, step1) {
    const auto c = count("transpose/naive_write@32x32", 4096, 4096, 8);
    EXPECT_EQ(c.global_requests[kLoad], 524288u);
    EXPECT_EQ(c.global_requests[kStore], 524288u);
    EXPECT_EQ(c.global_sectors[kLoad], 16777216u);
    EXPECT_EQ(c.global_sectors[kStore], 4194304u);
}

TEST(note_003, step2) {
    const auto c = count("transpose/shared@32x32", 4096, 4096, 8);
    EXPECT_EQ(c.global_requests[kLoad], 524288u);
    EXPECT_EQ(c.global_requests[kStore], 524288u);
    EXPECT_EQ(c.global_sectors[kLoad], 4194304u);
    EXPECT_EQ(c.global_sectors[kStore], 4194304u);
    EXPECT_EQ(c.shared_wavefronts[kLoad], 16777216u);
    EXPECT_EQ(c.shared_wavefronts[kStore], 1048576u);
    expect_below_by_arbitration(c.shared_wavefronts[kLoad], 16833165, c.shared_requests[kLoad] / 4);
    expect_below_by_arbitration(c.shared_wavefronts[kStore], 1282150, c.shared_wavefronts[kStore] / 4);
    expect_below_by_arbitration(c.shared_conflicts[kLoad], 15784589, c.shared_requests[kLoad] / 4);
    expect_below_by_arbitration(c.shared_conflicts[kStore], 233574, c.shared_wavefronts[kStore] / 4);
}

TEST(note_003, step3) {
    const auto c = count("transpose/padded@32x32", 4096, 4096, 8);
    EXPECT_EQ(c.global_sectors[kLoad], 4194304u);
    EXPECT_EQ(c.global_sectors[kStore], 4194304u);
    EXPECT_EQ(c.shared_wavefronts[kLoad], 1048576u);
    EXPECT_EQ(c.shared_wavefronts[kStore], 1048576u);
    EXPECT_EQ(c.shared_conflicts[kLoad], 0u);
    EXPECT_EQ(c.shared_conflicts[kStore], 0u);
    expect_below_by_arbitration(c.shared_wavefronts[kStore], 1222432, c.shared_wavefronts[kStore] / 4);
    expect_below_by_arbitration(c.shared_conflicts[kStore], 173856, c.shared_wavefronts[kStore] / 4);
}

TEST(note_001, k1_and_k2) {
    for (const char* id : {"transpose/padded@32x32", "transpose/vectorized@8x32"}) {
        const auto c = count(id, 16384, 16384, 4);
        for (auto op : {kLoad, kStore}) {
            EXPECT_EQ(c.global_sectors[op], 33554432u) << id;
            EXPECT_EQ(c.shared_requests[op], 8388608u) << id;
            EXPECT_EQ(c.shared_conflicts[op], 0u) << id;
        }
    }
    // The note's K1 reads 1,518,357 conflicts on loads, all of them lost arbitration.
    const auto k1 = count("transpose/padded@32x32", 16384, 16384, 4);
    expect_below_by_arbitration(k1.shared_conflicts[kLoad], 1518357, k1.shared_requests[kLoad] / 4);
}

// Note 000 calls the unpadded 16 x 16 read a 16-way conflict and the padded one free of conflicts.
TEST(note_000, conflicts_at_16_wide) {
    const auto shared = count("transpose/shared@16x16", 1024, 1024, 4);
    EXPECT_EQ(shared.shared_wavefronts[kLoad], 8 * shared.shared_requests[kLoad]);
    const auto padded = count("transpose/padded@16x16", 1024, 1024, 4);
    EXPECT_EQ(padded.shared_wavefronts[kLoad], 2 * padded.shared_requests[kLoad]);
    EXPECT_EQ(padded.shared_wavefronts[kStore], 2 * padded.shared_requests[kStore]);
}

}  // namespace
