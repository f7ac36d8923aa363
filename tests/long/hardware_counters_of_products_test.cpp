// The emulator's counters of products equal Nsight Compute's on an H200 (results/counters_gemm_*.json), to the last
// digit. kDifferences has the exceptions. The test takes 15 seconds, because k is 4096.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "hardware_readings.hpp"
#include "lab/run.hpp"
#include "run_kernels.hpp"

using namespace cornerturn;

namespace {

// Rungs whose machine code has other loads from shared memory than the source.
struct difference {
    const char *kernel, *why;
};
constexpr difference kDifferences[] = {
    {"gemm/swizzled", "the last step loads values that it does not use; the emulator would report that as a mistake"},
};

TEST(hardware_counters, of_products_equal_the_emulators) {
    const nlohmann::json stored = tests::stored(tests::results_folder() / "counters_gemm_4096x4096x4096.json");
    std::set<std::string> seen;
    for (const auto& result : stored.at("results")) {
        const kernel& k = find_kernel(result.at("kernel").get<std::string>());
        // One rung with asynchronous copies and one without. All rungs would take the emulator too long. For rungs that
        // transpose A first, Nsight Compute's readings do not include the transpose.
        if (k.id != "gemm/strided@padded" && k.id != "gemm/swizzled") continue;
        seen.insert(k.id);
        const gemm_shape shape{.m = result.at("m"), .n = result.at("n"), .k = result.at("k")};
        const emulator::counters counts = lab::emulate(k, product_work(shape), {.every_block = false}).report.counts;
        for (const lab::metric& m : lab::metrics()) {
            const bool loads_shared = m.op == emulator::kLoad && m.member != &emulator::counters::global_requests &&
                                      m.member != &emulator::counters::global_sectors;
            const auto* const named = std::find_if(std::begin(kDifferences), std::end(kDifferences),
                                                   [&](const difference& d) { return k.id == d.kernel; });
            const std::uint64_t emulated = (counts.*m.member)[m.op];
            const std::uint64_t counted = tests::reading(result, m);
            if (loads_shared && named != std::end(kDifferences))
                EXPECT_NE(counted, emulated) << k.id << " " << m.name << " no longer differs: " << named->why;
            else
                EXPECT_EQ(counted, emulated) << k.id << " " << m.name;
        }
    }
    EXPECT_EQ(seen.size(), 2u);
}

}  // namespace
