// 100,000 random copies between tensors in the emulator, each by the plan that the library chooses.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

#include "sanitized.hpp"
#include "strided_emulated.hpp"

using namespace cornerturn;

TEST(strided_many, random_copies) {
    constexpr int kProblems = tests::kSanitized ? 20'000 : 100'000;
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::atomic<int> next = 0;
    std::mutex lock;
    std::string fault;
    std::map<std::string, int> runs;
    const auto work = [&] {
        std::map<std::string, int> mine;
        for (int round = next++; round < kProblems; round = next++) {
            std::mt19937_64 random(seed + static_cast<std::uint64_t>(round));
            const tests::strided_problem p = tests::draw_strided(random, round % 4 == 0 ? 1 << 16 : 1 << 14);
            tests::copier with(p, seed);
            const strided_copy c = with.copy();
            std::string found;
            moves::for_each_plan(c, kH200, [&](const moves::plan& plan) {
                ++mine[tests::name_of(plan)];
                found = with.run(plan);
            });
            if (found.empty()) continue;
            const std::lock_guard hold(lock);
            fault = found + ": seed " + std::to_string(seed) + ", round " + std::to_string(round) + ": " + p.text();
            next = kProblems;
        }
        const std::lock_guard hold(lock);
        for (const auto& [name, count] : mine) runs[name] += count;
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
    for (std::thread& t : threads) t.join();
    for (const auto& [name, count] : runs) std::printf("%6d runs of %s\n", count, name.c_str());
    ASSERT_EQ(fault, "");
}

// More matrices than a grid can count, in batches of several axes: a grid begins in the middle of a batch.
TEST(strided_many, batches_of_more_than_a_grid) {
    tests::strided_problem p{{2, 183, 191, 2, 2}, {150'000, 800, 4, 1, 2}, {139'812, 764, 4, 2, 1}, 1};
    p.lay_out(64, 1, 3);
    tests::copier with(p, 1);
    const strided_copy c = with.copy();
    int grids = 0;
    for (const moves::candidate& one : moves::candidates(c, kH200)) {
        const moves::plan plan = moves::work_out(one, c, kH200);
        if (plan.by <= moves::kernel_family::tiles || grids == 3) continue;
        EXPECT_GT(plan.matrices.batch.rank, 1);
        EXPECT_GT(plan.matrices.count, 65'535);
        EXPECT_EQ(with.run(plan), "") << moves::explain(one, c, kH200);
        ++grids;
    }
    EXPECT_EQ(grids, 3);
}
