// The accesses of one warp that the emulator keeps, and their pictures.
#include "report/warp_picture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "lab/run.hpp"
#include "message.hpp"
#include "run_kernels.hpp"

using namespace cornerturn;

namespace {

lab::result watched(const char* id, std::int64_t rows = 256, bool full = true, int element_size = 4) {
    const kernel& k = find_kernel(id);
    lab::run_request request = tests::request_of(k, {.rows = rows, .cols = rows, .element_size = element_size});
    request.full = full;
    request.watch = true;
    return lab::emulator_runner()->run(k, request);
}

const emulator::watched_access& step(const lab::result& r, bool shared, emulator::direction op) {
    return *std::find_if(r.watched.begin(), r.watched.end(),
                         [&](const auto& a) { return a.shared == shared && a.op == op; });
}

TEST(watched, contains_the_accesses_of_warp_0_of_the_first_tile) {
    const lab::result r = watched("transpose/shared@32x32");
    ASSERT_EQ(r.watched.size(), 4u);
    const auto& load = step(r, false, emulator::kLoad);
    EXPECT_EQ(load.memory, "source");
    EXPECT_EQ(load.file, "70_shared.cu");
    EXPECT_EQ(load.active, ~0u);
    EXPECT_EQ(load.sectors, 4u);
    for (std::size_t lane = 0; lane < 32; ++lane) EXPECT_EQ(load.offsets[lane], static_cast<std::int64_t>(4 * lane));
    const auto& read = step(r, true, emulator::kLoad);
    EXPECT_EQ(read.memory, "tile");
    EXPECT_EQ(read.wavefronts, 32u);
    EXPECT_EQ(read.least_wavefronts, 1u);
    for (std::size_t lane = 0; lane < 32; ++lane) EXPECT_EQ(read.offsets[lane] % 128, 0) << "all in one bank";
    EXPECT_EQ(step(r, false, emulator::kStore).sectors, 4u);
}

TEST(watched, is_the_same_in_a_sampled_run) {
    for (const char* id : {"transpose/padded@32x8", "transpose/diagonal@32x8", "transpose/vectorized@8x32"}) {
        const lab::result full = watched(id), sampled = watched(id, 8192, false);
        EXPECT_EQ(sampled.verified, lab::verification::some_blocks);
        ASSERT_EQ(full.watched.size(), sampled.watched.size()) << id;
        for (std::size_t i = 0; i < full.watched.size(); ++i) {
            const auto &a = full.watched[i], &b = sampled.watched[i];
            EXPECT_EQ(a.line, b.line);
            EXPECT_EQ(a.sectors, b.sectors);
            EXPECT_EQ(a.wavefronts, b.wavefronts);
            if (a.shared) {
                EXPECT_EQ(a.offsets, b.offsets);
            }
        }
    }
}

// All warps of all blocks do the same here, so the counters are the costs of one warp times the number of warps.
TEST(watched, adds_up_to_the_counters) {
    for (const char* id : {"transpose/naive_read@32x8", "transpose/shared@16x16", "transpose/padded@32x32",
                           "transpose/swizzled@64x64"}) {
        const lab::result r = watched(id);
        const std::uint64_t warps = std::uint64_t{r.grid.x} * r.grid.y * r.block.x * r.block.y * r.block.z / 32;
        emulator::counters sum;
        for (const auto& a : r.watched) {
            (a.shared ? sum.shared_requests : sum.global_requests)[a.op] += warps;
            sum.global_sectors[a.op] += warps * a.sectors;
            sum.shared_wavefronts[a.op] += warps * a.wavefronts;
            sum.shared_conflicts[a.op] += warps * (a.wavefronts - a.least_wavefronts);
        }
        EXPECT_EQ(sum, *r.counts) << id;
    }
}

TEST(watched, is_empty_by_default) {
    const kernel& padded = find_kernel("transpose/padded@32x8");
    EXPECT_TRUE(
        lab::emulator_runner()->run(padded, tests::request_of(padded, {.rows = 64, .cols = 64})).watched.empty());
    EXPECT_TRUE(watched("transpose/padded@32x8", 0).watched.empty());
}

TEST(picture, has_as_many_wavefronts_as_the_emulator_counts) {
    for (const char* id :
         {"transpose/shared@16x16", "transpose/padded@16x16", "transpose/swizzled@64x64", "transpose/reindexed@3x4"}) {
        for (const int size : {1, 4, 8, 16}) {
            if (!find_kernel(id).takes(size)) continue;
            for (const auto& a : watched(id, 64, true, size).watched) {
                if (!a.shared) continue;
                const std::string text = report::picture_text(a);
                const auto lines = static_cast<unsigned>(std::count(text.begin(), text.end(), '\n'));
                EXPECT_EQ(lines, a.wavefronts <= 6 ? 1 + a.wavefronts : 8) << id << " of " << size << "\n" << text;
            }
        }
    }
}

TEST(picture, of_banks_names_the_lanes) {
    const lab::result r = watched("transpose/padded@32x32");
    const std::string text = report::picture_text(step(r, true, emulator::kLoad));
    EXPECT_NAMES(text, 31, 1, 0, 1, 2, 3);  // the last bank; wavefront 1, and its lanes
    EXPECT_NAMES(report::access_text(step(r, true, emulator::kLoad)), 4, 1);
}

TEST(picture, of_sectors_names_the_lanes) {
    const lab::result r = watched("transpose/naive_read@32x32");
    const std::string text = report::picture_text(step(r, false, emulator::kStore));
    EXPECT_NAMES(text, "+0", 0, "+1024", 1, 24);  // the first sectors with their lanes; the number of the others
    EXPECT_NAMES(report::access_text(step(r, false, emulator::kStore)), 4, 32, 4);
}

TEST(picture, shows_a_repeated_access_once) {
    const lab::result r = watched("transpose/padded@32x8");
    const auto sites = report::access_sites_of(r.watched);
    EXPECT_EQ(r.watched.size(), 16u);
    ASSERT_EQ(sites.size(), 4u);
    for (const report::warp_access_site& s : sites) EXPECT_EQ(s.times, 4u);
    const std::string svg = report::picture_of("it & <that>", sites).as_file();
    EXPECT_NE(svg.find("it &amp; &lt;that&gt;"), std::string::npos);
    EXPECT_EQ(svg.find("it & <that>"), std::string::npos);
}

}  // namespace
