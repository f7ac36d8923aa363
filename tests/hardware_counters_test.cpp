// The emulator against Nsight Compute's readings of the same kernels on an H200 (results/counters_*.json, made by
// scripts/measure.py counters): equal to the last digit, but for what kDifferences names.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include "core/dtype.hpp"
#include "lab/result.hpp"
#include "ladder_check.hpp"

using namespace cornerturn;

namespace {

std::uint64_t read(const nlohmann::json& result, const lab::metric& m) {
    return result.at("hardware").at("metrics").at(m.name).get<std::uint64_t>();
}

TEST(hardware_counters, equal_the_emulators) {
    std::set<std::string> shapes, kernels_seen;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(CORNERTURN_SOURCE_DIR) + "/results")) {
        const std::string file = entry.path().filename().string();
        if (!file.starts_with("counters_transpose_")) continue;
        shapes.insert(file);
        const auto stored = nlohmann::json::parse(std::ifstream(entry.path()));
        std::set<std::string> kernels_here;
        int size = 0;
        for (const auto& result : stored.at("results")) {
            const std::string id = result.at("kernel");
            size = find_dtype(result.at("dtype")).size;
            if (result.at("status") == "skipped") continue;
            kernels_here.insert(id);
            // One of many kernels, by shape: where classes cannot stand for its blocks there is nothing to compare.
            const kernel& k = find_kernel(id);
            if (!tests::in_ladder(k) && !result.contains("metrics")) continue;
            const problem_shape shape{.rows = result.at("rows"), .cols = result.at("cols"), .element_size = size};
            const emulator::report report = tests::run_classes(k, shape).report;
            EXPECT_EQ(result.at("launch").at("grid"), (nlohmann::json{report.grid.x, report.grid.y, report.grid.z}))
                << file << " " << id;
            EXPECT_EQ(result.at("launch").at("block"), (nlohmann::json{report.block.x, report.block.y, report.block.z}))
                << file << " " << id;
            for (const lab::metric& m : lab::metrics())
                EXPECT_EQ(read(result, m), (report.counts.*m.where)[m.op]) << file << " " << id << " " << m.name;
            kernels_seen.insert(id);
        }
        for (const kernel& k : kernels()) {
            if (!tests::in_ladder(k) || !k.takes(size) || k.needs.feature != nullptr || kernels_here.contains(k.id))
                continue;
            // The notes' rungs must have been measured; a new one is named until it has been.
            EXPECT_FALSE(k.origin.starts_with("00")) << k.id << " has no reading in " << file;
            std::cout << file << " has no reading of " << k.id << " yet: it was not compared\n";
        }
    }
    EXPECT_GE(shapes.size(), 7u) << "readings are missing from results/";
    EXPECT_GE(kernels_seen.size(), 20u);
}

// Rungs whose loads from shared memory nvcc executes otherwise than the source has them.
struct difference {
    const char *kernel, *why;
};
constexpr difference kDifferences[] = {
    {"gemm/swizzled", "the last step loads what nobody uses, which the emulator would call a mistake"},
};

TEST(hardware_counters, of_products_equal_the_emulators) {
    const auto stored = nlohmann::json::parse(
        std::ifstream(std::string(CORNERTURN_SOURCE_DIR) + "/results/counters_gemm_4096x4096x4096.json"));
    std::set<std::string> seen;
    for (const auto& result : stored.at("results")) {
        const kernel& k = find_kernel(result.at("kernel").get<std::string>());
        // With and without asynchronous copies; all would take the emulator long. Of those that transpose A first,
        // Nsight Compute's readings leave that out.
        if (k.id != "gemm/strided@padded" && k.id != "gemm/swizzled") continue;
        seen.insert(k.id);
        const gemm_shape shape{.m = result.at("m"), .n = result.at("n"), .k = result.at("k")};
        const emulator::counters counts = lab::emulate(k, shape, {.every_block = false}).report.counts;
        for (const lab::metric& m : lab::metrics()) {
            const bool loads_shared = m.op == emulator::kLoad && m.where != &emulator::counters::global_requests &&
                                      m.where != &emulator::counters::global_sectors;
            const auto* const named = std::find_if(std::begin(kDifferences), std::end(kDifferences),
                                                   [&](const difference& d) { return k.id == d.kernel; });
            const std::uint64_t emulated = (counts.*m.where)[m.op];
            const std::uint64_t counted = read(result, m);
            if (loads_shared && named != std::end(kDifferences))
                EXPECT_NE(counted, emulated) << k.id << " " << m.name << " differs no longer: " << named->why;
            else
                EXPECT_EQ(counted, emulated) << k.id << " " << m.name;
        }
    }
    EXPECT_EQ(seen.size(), 2u);
}

}  // namespace
