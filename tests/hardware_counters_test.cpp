// The emulator's counters equal those that Nsight Compute read of the same kernels on an H200 (results/counters_*.json,
// made by scripts/measure.py counters). For products see long/hardware_counters_of_products_test.cpp.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <set>

#include "core/dtype.hpp"
#include "hardware_readings.hpp"
#include "ladder_check.hpp"

using namespace cornerturn;

namespace {

TEST(hardware_counters, equal_the_emulators) {
    std::set<std::string> shapes, kernels_seen;
    for (const auto& entry : std::filesystem::directory_iterator(tests::results_folder())) {
        const std::string file = entry.path().filename().string();
        if (!file.starts_with("counters_transpose_")) continue;
        shapes.insert(file);
        const nlohmann::json stored = tests::stored(entry.path());
        std::set<std::string> kernels_here;
        int size = 0;
        for (const auto& result : stored.at("results")) {
            const std::string id = result.at("kernel");
            size = find_dtype(result.at("dtype")).size;
            if (result.at("status") == "skipped") continue;
            kernels_here.insert(id);
            // The kernel depends on the shape. If it cannot run by classes, there is nothing to compare.
            const kernel& k = find_kernel(id);
            if (!tests::in_ladder(k) && !result.contains("metrics")) continue;
            const problem_shape shape{.rows = result.at("rows"), .cols = result.at("cols"), .element_size = size};
            const emulator::report report = tests::run_classes(k, shape).report;
            const nlohmann::json grid{report.grid.x, report.grid.y, report.grid.z};
            const nlohmann::json block{report.block.x, report.block.y, report.block.z};
            const nlohmann::json& launch = result.at("launch");
            // The constants of the predicted costs may have changed since.
            if (!tests::in_ladder(k) && (launch.at("grid") != grid || launch.at("block") != block)) {
                std::cout << file << ": " << id << " chose another kernel when it was read: it is not compared\n";
                continue;
            }
            EXPECT_EQ(launch.at("grid"), grid) << file << " " << id;
            EXPECT_EQ(launch.at("block"), block) << file << " " << id;
            for (const lab::metric& m : lab::metrics())
                EXPECT_EQ(tests::reading(result, m), (report.counts.*m.member)[m.op])
                    << file << " " << id << " " << m.name;
            kernels_seen.insert(id);
        }
        for (const kernel& k : kernels()) {
            if (!tests::in_ladder(k) || !k.takes(size) || k.facts.needs.feature != nullptr ||
                kernels_here.contains(k.id))
                continue;
            // The rungs of the notes must have readings. A new rung without one is printed.
            EXPECT_FALSE(std::string_view(k.facts.origin).starts_with("00")) << k.id << " has no reading in " << file;
            std::cout << file << " has no reading of " << k.id << ": it is not compared\n";
        }
    }
    EXPECT_GE(shapes.size(), 7u) << "readings are missing from results/";
    EXPECT_GE(kernels_seen.size(), 20u);
}

// Random transposes of any shape and type. Half of them have gaps after the rows, and half are not aligned.
TEST(hardware_counters, equal_the_emulators_at_random_shapes) {
    int shapes = 0, readings = 0;
    std::set<std::string> types;
    for (const auto& entry : std::filesystem::directory_iterator(tests::results_folder() / "counters")) {
        const std::string file = entry.path().filename().string();
        const nlohmann::json stored = tests::stored(entry.path());
        ASSERT_EQ(stored.at("metrics").size(), lab::metrics().size()) << file;
        for (const auto& cell : stored.at("results")) {
            ++shapes;
            arguments given;
            const std::vector<std::string> options = cell.at("options");
            for (std::size_t i = 0; i < options.size(); i += 2) given.give(options[i], options[i + 1]);
            types.insert(given.text("--dtype", ""));
            const workload_pointer work = find_operation("transpose").read(given, 0);
            for (const auto& [id, read] : cell.at("readings").items()) {
                const emulator::report report = lab::emulate(find_kernel(id), *work, {.every_block = true}).report;
                for (std::size_t i = 0; i < lab::metrics().size(); ++i) {
                    const lab::metric& m = lab::metrics()[i];
                    ASSERT_EQ(stored.at("metrics")[i], m.name) << file;
                    EXPECT_EQ(read[i].get<std::uint64_t>(), (report.counts.*m.member)[m.op])
                        << id << " " << work->options() << " " << m.name;
                    ++readings;
                }
            }
        }
    }
    EXPECT_GE(shapes, 40) << "readings are missing from results/counters/";
    EXPECT_EQ(types.size(), dtypes().size());
    std::cout << readings << " readings of " << shapes << " random shapes\n";
}

}  // namespace
