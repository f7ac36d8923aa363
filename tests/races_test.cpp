// The search for races in global memory: its rules one by one, and kernels that transpose in place and race.
#include "emulator/races.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "ladder_check.hpp"
#include "message.hpp"
#include "seed.hpp"

using namespace cornerturn;
using namespace cornerturn::emulator;

namespace {

// Matrices for one worker, and for three: there is one for each 2^14 threads.
constexpr std::int64_t kSmall = 100, kLarge = 450;

tests::outcome run_in_place(const std::string& fault, unsigned workers) {
    race_search races;
    const std::int64_t n = workers == 1 ? kSmall : kLarge;
    return tests::run_every_block(find_kernel("fault/in_place@" + fault), {.rows = n, .cols = n, .in_place = true},
                                  {.workers = workers, .races = &races});
}

TEST(races_in_place, planted) {
    for (const unsigned workers : {1u, 3u}) {
        for (const char* fault : {"both_of_a_pair", "one_tile_each", "both_of_an_elements_pair", "late_load"}) {
            const tests::outcome found = run_in_place(fault, workers);
            EXPECT_EQ(found.hazard, hazard_kind::race) << fault << ": " << found.fault;
            // z is 0 in the block and in the thread. The racing thread may be unknown.
            EXPECT_NAMES(found.fault, "planted_in_place", ", 0)", ", 0)", "'destination'", "planted_in_place.cu:");
        }
        const tests::outcome sound = run_in_place("none", workers);
        EXPECT_TRUE(sound.finished) << sound.fault;
        EXPECT_EQ(sound.fault, "");
    }
}

TEST(races_in_place, none_in_the_library) {
    const kernel& k = find_kernel("transpose/production");
    for (const int size : {1, 2, 4, 8, 16, 12}) {
        for (const std::int64_t n : {31, 100, 257, 1000}) {
            race_search races;
            const tests::outcome found = tests::run_every_block(
                k, {.rows = n, .cols = n, .element_size = size, .in_place = true}, {.workers = 3, .races = &races});
            EXPECT_EQ(found.fault, "") << size << " bytes, " << n;
        }
    }
}

// Two workers with one block each. Their accesses alternate.
class Rules : public testing::Test {
protected:
    Rules() {
        search.begin_launch();
        for (unsigned i = 0; i < 2; ++i) {
            blocks[i].begin(&search, i);
            blocks[i].begin_block(i);
        }
    }
    static global_touch by(const block_races& block, unsigned thread, unsigned syncs = 0) {
        return {block.interval_bits() | global_bits(touch::make(0, syncs, 0, thread))};
    }
    bool read(unsigned block, unsigned thread, unsigned syncs = 0) {
        blocks[block].settle_acquire();
        return blocks[block].note_read(cell, by(blocks[block], thread, syncs)).who.bits != 0;
    }
    bool write(unsigned block, unsigned thread, unsigned syncs = 0) {
        blocks[block].settle_acquire();
        return blocks[block].note_write(cell, by(blocks[block], thread, syncs)).who.bits != 0;
    }

    race_search search;
    std::array<block_races, 2> blocks;
    std::uint64_t last_write = 0, last_read = 0;
    const global_cell cell{&last_write, &last_read};
};

TEST_F(Rules, a_thread_does_not_race_with_itself) {
    EXPECT_FALSE(write(0, 5));
    EXPECT_FALSE(read(0, 5));
    EXPECT_FALSE(write(0, 5));
}

TEST_F(Rules, reads_do_not_race) {
    EXPECT_FALSE(read(0, 1));
    EXPECT_FALSE(read(0, 2));
    EXPECT_FALSE(read(0, 200));
    EXPECT_FALSE(read(1, 1));
}

TEST_F(Rules, threads_of_a_block) {
    EXPECT_FALSE(write(0, 1));
    EXPECT_TRUE(read(0, 2));
    EXPECT_TRUE(write(0, 40));
    blocks[0].next_interval();
    EXPECT_FALSE(read(0, 2));
    EXPECT_TRUE(write(0, 1));
}

TEST_F(Rules, lanes_of_a_warp) {
    EXPECT_FALSE(write(0, 1));
    EXPECT_FALSE(read(0, 2, 1));
    EXPECT_FALSE(write(0, 1, 2));
    EXPECT_TRUE(write(0, 33, 5));
}

TEST_F(Rules, readers_before_the_last_count) {
    EXPECT_FALSE(read(0, 40));
    EXPECT_FALSE(read(0, 1));
    EXPECT_TRUE(write(0, 1));
    blocks[0].next_interval();
    EXPECT_FALSE(read(0, 3));
    EXPECT_FALSE(read(0, 1));
    EXPECT_TRUE(write(0, 1));
}

TEST_F(Rules, blocks_race_in_any_interval) {
    EXPECT_FALSE(write(0, 1));
    blocks[0].next_interval();
    blocks[1].next_interval();
    EXPECT_TRUE(read(1, 1));
    EXPECT_TRUE(write(0, 1));
}

TEST_F(Rules, a_reader_in_another_block_is_remembered) {
    EXPECT_FALSE(read(1, 7));
    EXPECT_FALSE(read(0, 1));
    blocks[0].next_interval();
    EXPECT_FALSE(read(0, 1));
    EXPECT_TRUE(write(0, 1));
}

TEST_F(Rules, a_fence_and_an_acquire_order_blocks) {
    EXPECT_FALSE(write(0, 1));
    EXPECT_FALSE(read(0, 1));
    blocks[0].fence();
    EXPECT_TRUE(read(1, 1)) << "nothing acquired";
    last_read = 0;
    blocks[1].acquire();
    EXPECT_FALSE(read(1, 1));
    EXPECT_FALSE(write(1, 1));
    EXPECT_TRUE(read(0, 9)) << "nothing orders them in the other direction";
}

TEST_F(Rules, a_fence_before_the_access_or_after_the_acquire_orders_nothing) {
    blocks[0].fence();
    blocks[0].next_interval();
    EXPECT_FALSE(write(0, 1));
    blocks[1].acquire();
    EXPECT_TRUE(read(1, 1));
    last_write = last_read = 0;
    EXPECT_FALSE(write(0, 1));
    blocks[0].fence();
    EXPECT_TRUE(read(1, 1));
}

TEST_F(Rules, a_fence_behind_a_barrier_is_one_for_the_block) {
    EXPECT_FALSE(write(0, 77));
    blocks[0].next_interval();
    blocks[0].fence();
    blocks[1].acquire();
    blocks[1].next_interval();
    EXPECT_FALSE(read(1, 3));
}

TEST_F(Rules, accesses_of_different_launches_do_not_race) {
    EXPECT_FALSE(write(0, 1));
    for (block_races& block : blocks) block.end();
    search.begin_launch();
    blocks[1].begin(&search, 1);
    blocks[1].begin_block(0);
    EXPECT_FALSE(write(1, 1));
}

// Many launches and blocks, so that serials restart many times: no false alarms, and each race is found.
TEST_F(Rules, serials_restart) {
    search.cover("x", 4096, 128, 4);
    for (int launch = 0; launch < 200; ++launch) {
        for (block_races& block : blocks) block.end();
        search.begin_launch();
        global_shadow& shadow = *search.cover("x", 4096, 128, 4);
        for (unsigned i = 0; i < 2; ++i) blocks[i].begin(&search, i);
        const global_shadow::cells& cells = *shadow.cells_for(4);
        // Bytes that no other block of the launch accesses.
        const auto note = [&](int number) {
            const global_cell own = cells[cells.at(4096 + 4 * (16u + static_cast<unsigned>(number) % 16))];
            EXPECT_EQ(blocks[0].note_write(own, by(blocks[0], 1)).who.bits, 0u) << launch;
        };
        // More intervals than serials in every seventh launch.
        for (int block = 0; block < (launch % 7 == 3 ? 400 : 20); ++block) {
            blocks[0].begin_block(static_cast<std::uint64_t>(block));
            if (block == 0) note(launch);
            for (int i = 0; i < 2000; ++i) blocks[0].next_interval();
        }
        const global_cell at = cells[cells.at(4096 + 4 * (static_cast<unsigned>(launch) % 16))];
        EXPECT_EQ(blocks[0].note_write(at, by(blocks[0], 1)).who.bits, 0u) << launch;
        blocks[1].begin_block(99);
        EXPECT_NE(blocks[1].note_read(at, by(blocks[1], 1)).who.bits, 0u) << launch;
    }
}

// Random accesses, barriers, fences and acquires of two blocks, against a model that keeps every access. Every reported
// race is one in the model. Without fences, every race of the model is reported.
TEST_F(Rules, random_sequences) {
    std::mt19937 random(tests::seed(std::random_device()()));
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    struct access {
        unsigned block, thread, interval;
        bool wrote, seen;  // by the other block: a fence and then an acquire followed
    };
    for (int round = 0; round < 4000; ++round) {
        for (block_races& block : blocks) block.end();
        search.begin_launch();
        for (unsigned i = 0; i < 2; ++i) {
            blocks[i].begin(&search, i);
            blocks[i].begin_block(i);
        }
        last_write = last_read = 0;
        const bool with_fences = round % 2 == 0;
        unsigned interval[2] = {0, 0};
        bool fenced[2] = {false, false};  // in this interval; for the search, the fence follows all of its accesses
        std::vector<access> all;
        bool raced = false;
        for (unsigned left = 1 + below(12); left > 0 && !raced; --left) {
            const unsigned b = below(2), thread = below(3) * 31, what = below(6);
            if (what == 0) {
                blocks[b].next_interval();
                ++interval[b];
                fenced[b] = false;
            } else if (what == 1) {
                if (!with_fences) continue;
                blocks[b].fence();
                blocks[1 - b].acquire();
                for (access& a : all) a.seen |= a.block == b;
                fenced[b] = true;
            } else {
                const bool writes = below(2) == 0;
                raced = std::any_of(all.begin(), all.end(), [&](const access& a) {
                    if (!a.wrote && !writes) return false;
                    if (a.block != b) return !a.seen;
                    return a.interval == interval[b] && a.thread != thread;
                });
                const bool found = writes ? write(b, thread) : read(b, thread);
                ASSERT_TRUE(raced || !found) << "false alarm in round " << round;
                ASSERT_TRUE(found || !raced || with_fences) << "missed in round " << round;
                all.push_back({b, thread, interval[b], writes, fenced[b]});
            }
        }
    }
}

}  // namespace
