// The emulator against Nsight Compute's readings of products on an H200 (results/counters_gemm_*.json): equal to the
// last digit, but for what kDifferences names. It takes 15 seconds: k is 4096.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "hardware_readings.hpp"
#include "lab/run.hpp"
#include "work.hpp"

using namespace cornerturn;

namespace {

// Rungs whose loads from shared memory nvcc executes otherwise than the source has them.
struct difference {
    const char *kernel, *why;
};
constexpr difference kDifferences[] = {
    {"gemm/swizzled", "the last step loads what nobody uses, which the emulator would call a mistake"},
};

TEST(hardware_counters, of_products_equal_the_emulators) {
    const nlohmann::json stored = tests::stored(tests::results_folder() / "counters_gemm_4096x4096x4096.json");
    std::set<std::string> seen;
    for (const auto& result : stored.at("results")) {
        const kernel& k = find_kernel(result.at("kernel").get<std::string>());
        // With and without asynchronous copies; all would take the emulator long. Of those that transpose A first,
        // Nsight Compute's readings leave that out.
        if (k.id != "gemm/strided@padded" && k.id != "gemm/swizzled") continue;
        seen.insert(k.id);
        const gemm_shape shape{.m = result.at("m"), .n = result.at("n"), .k = result.at("k")};
        const emulator::counters counts = lab::emulate(k, product_work(shape), {.every_block = false}).report.counts;
        for (const lab::metric& m : lab::metrics()) {
            const bool loads_shared = m.op == emulator::kLoad && m.where != &emulator::counters::global_requests &&
                                      m.where != &emulator::counters::global_sectors;
            const auto* const named = std::find_if(std::begin(kDifferences), std::end(kDifferences),
                                                   [&](const difference& d) { return k.id == d.kernel; });
            const std::uint64_t emulated = (counts.*m.where)[m.op];
            const std::uint64_t counted = tests::reading(result, m);
            if (loads_shared && named != std::end(kDifferences))
                EXPECT_NE(counted, emulated) << k.id << " " << m.name << " differs no longer: " << named->why;
            else
                EXPECT_EQ(counted, emulated) << k.id << " " << m.name;
        }
    }
    EXPECT_EQ(seen.size(), 2u);
}

}  // namespace
