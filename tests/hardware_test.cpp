// Reading what Nsight Compute prints, and what is said of it. What it prints here was printed by version 2025.3.1 on an
// H200, with fewer columns. tests/cuda/ncu_test.py compares the whole with ncu itself, where there is a GPU.
#include "lab/hardware.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cornerturn/error.hpp"
#include "lab/compare.hpp"
#include "lab/run.hpp"
#include "lab/views.hpp"
#include "work.hpp"

using namespace cornerturn;

namespace {

const std::vector<std::string> kAsked = {"smsp__inst_executed.sum", "gpu__time_duration.sum",
                                         "l1tex__t_sector_hit_rate.pct", "launch__registers_per_thread"};

constexpr const char* kPrinted = R"ncu(==PROF== Connected to process 529 (/somewhere/cornerturn)
transpose/padded@32x8  4096 x 4096 f32 on NVIDIA H200
==PROF== Disconnected from process 529
"ID","Process Name","Kernel Name","Block Size","smsp__inst_executed.sum","gpu__time_duration.sum","l1tex__t_sector_hit_rate.pct","launch__registers_per_thread"
"","","","","inst","ns","%","register/thread"
"0","cornerturn","transpose/padded@32x8/void cornerturn::dialect::transpose_padded<unsigned int, (int)32>(T1, ""x"")","(32, 8, 1)","19,267,584.00","35,872.00","0.00","32.00"
"1","cornerturn","gemm/quadrants/void turn(float)","(32, 8, 1)","1,000.00","100.00","50.00","32.00"
"2","cornerturn","gemm/quadrants/void multiply(float)","(16, 16, 1)","5,000.00","300.00","90.00","128.00"
)ncu";

std::string message_of(const auto& action) {
    try {
        action();
    } catch (const error& mistake) {
        return mistake.what();
    }
    return "no error";
}

void expect_says(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(ncu, what_it_prints_is_read_by_kernel) {
    const auto read = lab::parse_ncu(kPrinted, kAsked, kAsked);
    ASSERT_EQ(read.size(), 2u);
    const lab::hardware_counters& padded = read.at("transpose/padded@32x8");
    EXPECT_EQ(padded.kernels, 1);
    EXPECT_EQ(*padded.find("smsp__inst_executed.sum"), 19267584);
    EXPECT_EQ(*padded.find("l1tex__t_sector_hit_rate.pct"), 0);
    EXPECT_EQ(padded.find("sm__cycles_elapsed.max"), nullptr);
}

TEST(ncu, launches_of_one_kernel_are_put_together) {
    const lab::hardware_counters both = lab::parse_ncu(kPrinted, kAsked, kAsked).at("gemm/quadrants");
    EXPECT_EQ(both.kernels, 2);
    EXPECT_EQ(*both.find("smsp__inst_executed.sum"), 6000);      // a sum
    EXPECT_EQ(*both.find("gpu__time_duration.sum"), 400);        // another
    EXPECT_EQ(*both.find("l1tex__t_sector_hit_rate.pct"), 80);   // a rate: (50 * 100 + 90 * 300) / 400
    EXPECT_EQ(*both.find("launch__registers_per_thread"), 128);  // the launch's own
}

TEST(ncu, nothing_profiled_is_nothing_read) {
    EXPECT_TRUE(lab::parse_ncu("==WARNING== No kernels were profiled.\n", kAsked, kAsked).empty());
    EXPECT_TRUE(lab::parse_ncu("", kAsked, kAsked).empty());
}

TEST(ncu, what_is_missing_is_named) {
    expect_says(message_of([] { lab::parse_ncu(kPrinted, {"smsp__nonsense.sum"}, {"smsp__nonsense.sum"}); }),
                "'smsp__nonsense.sum'");
    std::string without = kPrinted;
    without.replace(without.find("35,872.00"), 9, "n/a");
    const std::string said = message_of([&] { lab::parse_ncu(without, kAsked, kAsked); });
    expect_says(said, "'n/a' for gpu__time_duration.sum of transpose/padded@32x8");
    expect_says(said, "--query-metrics");
}

TEST(ncu, what_nobody_asked_for_may_be_missing) {
    std::vector<std::string> more = kAsked;
    more.push_back("smsp__nonsense.sum");
    EXPECT_EQ(lab::parse_ncu(kPrinted, more, {}).at("gemm/quadrants").metrics.size(), kAsked.size());
}

// Cut off anywhere, it is read as far as rows are whole, or refused; nothing else happens.
TEST(ncu, truncated_output_is_no_reading) {
    const std::string printed = kPrinted;
    const auto whole = lab::parse_ncu(printed, kAsked, kAsked);
    for (std::size_t length = 0; length < printed.size(); ++length) {
        try {
            for (const auto& [id, counters] : lab::parse_ncu(printed.substr(0, length), kAsked, kAsked)) {
                ASSERT_TRUE(whole.contains(id)) << length;
                EXPECT_LE(counters.kernels, whole.at(id).kernels);
            }
        } catch (const error&) {
        }
    }
}

TEST(ncu, failures_come_with_a_remedy) {
    const std::string denied = lab::ncu_failure(
        "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters.\n",
        1);
    expect_says(denied, "run as root");
    expect_says(denied, "NVreg_RestrictProfilingToAdminUsers=0");
    const std::string unknown =
        lab::ncu_failure("==ERROR== Failed to find metric smsp__nonsense.sum\n==ERROR== Failed.\n", 1);
    expect_says(unknown, "smsp__nonsense.sum");
    expect_says(unknown, "--query-metrics");
    EXPECT_EQ(lab::ncu_failure("cornerturn: no memory\n==ERROR== The application returned an error code (1).\n", 1),
              "under ncu: no memory");
    expect_says(lab::ncu_failure("==WARNING== No kernels were profiled.\n", 0), "no launch");
    expect_says(lab::ncu_failure("", 139), "139");
}

TEST(ncu, is_found_or_asked_for) {
    expect_says(message_of([] { lab::find_ncu("no-such-ncu"); }), "'no-such-ncu' was not found in PATH");
    expect_says(message_of([] { lab::find_ncu("/no/such/ncu"); }), "/no/such/ncu");
    const auto folder = std::filesystem::temp_directory_path() / ("ncu_test_" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    const auto tool = folder / "my-ncu";
    std::ofstream(tool) << "#!/bin/sh\n";
    EXPECT_THROW(lab::find_ncu(tool), unsupported) << "not executable";
    std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
    EXPECT_EQ(lab::find_ncu(tool), tool);
    const std::string path = std::getenv("PATH");
    setenv("PATH", (folder.string() + ":" + path).c_str(), 1);
    EXPECT_EQ(lab::find_ncu("my-ncu"), tool);
    setenv("PATH", path.c_str(), 1);
    std::filesystem::remove_all(folder);
}

TEST(ncu, metrics_are_names) {
    EXPECT_EQ(lab::read_metrics("a__b.sum,c__d.avg,a__b.sum"), (std::vector<std::string>{"a__b.sum", "c__d.avg"}));
    for (const char* bad : {"", ",", "a b", "a,--launch-count", "a;b"})
        EXPECT_THROW(lab::read_metrics(bad), invalid_argument) << bad;
    for (const std::string& name : lab::hardware_metrics()) EXPECT_EQ(lab::read_metrics(name).size(), 1u);
}

// ---- The emulator beside the hardware -----------------------------------------------------------------------------

// A run in the emulator, and a reading that agrees with it but for what is altered.
lab::result run_with_reading(const char* id, const std::map<std::string, double>& altered) {
    lab::result r =
        lab::emulator_runner()->run(find_kernel(id), tests::request_of(find_kernel(id), {.rows = 256, .cols = 256}));
    r.hardware = lab::hardware_counters{.ncu = "2025.3.1", .kernels = 1, .metrics = {}};
    for (const lab::metric& m : lab::metrics()) {
        const auto found = altered.find(m.name);
        const auto counted = static_cast<double>(((*r.counts).*m.where)[m.op]);
        r.hardware->metrics.emplace_back(m.name, found == altered.end() ? counted : found->second);
    }
    for (const auto& [name, value] : altered) {
        if (r.hardware->find(name) == nullptr) r.hardware->metrics.emplace_back(name, value);
    }
    return r;
}

std::string why(const lab::result& r, const std::string& metric) {
    for (const lab::reading_beside& beside : lab::compare_with_hardware(r)) {
        if (beside.metric == metric) return beside.why;
    }
    return "not compared";
}

TEST(comparison, equal_counters_are_equal) {
    const lab::result r = run_with_reading("transpose/padded@32x32", {});
    EXPECT_EQ(lab::agreement(r), "8 of 8");
    for (const lab::reading_beside& beside : lab::compare_with_hardware(r)) EXPECT_EQ(beside.why, "equal");
    expect_says(lab::show_comparison(r, lab::format::table), "8 of 8");
    const auto json = nlohmann::json::parse(lab::show_comparison(r, lab::format::json));
    EXPECT_EQ(json.at("comparison").size(), 8u);
    EXPECT_EQ(json.at("hardware").at("metrics").at("smsp__sass_inst_executed_op_shared_ld.sum"), 2048);
}

TEST(comparison, merged_accesses_are_the_compilers) {
    const lab::result r = run_with_reading("transpose/padded@32x32",
                                           {{"smsp__sass_inst_executed_op_shared_ld.sum", 512},
                                            {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 1024}});
    expect_says(why(r, "smsp__sass_inst_executed_op_shared_ld.sum"), "merged by the compiler: 4.00");
    expect_says(why(r, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), "follows from its loads");
    EXPECT_EQ(lab::agreement(r), "6 of 8");
}

TEST(comparison, what_nobody_explains_is_said_to_be_so) {
    const lab::result r = run_with_reading("transpose/padded@32x32",
                                           {{"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 2049}});
    expect_says(why(r, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"), "not explained");
}

TEST(comparison, lost_arbitration_is_above_the_model) {
    const lab::result r =
        run_with_reading("transpose/padded@32x32", {{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 2560},
                                                    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 512},
                                                    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 2048}});
    expect_says(why(r, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"),
                "lost arbitration: 512 wavefronts beyond");
    expect_says(why(r, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"), "no arbitration was lost");
    EXPECT_EQ(lab::agreement(r), "8 of 8") << "these count more than the emulator models";
}

// Neither conflicts of banks nor what the compiler changed is arbitration.
TEST(comparison, lost_arbitration_is_apart_from_conflicts_and_from_other_code) {
    const char* const noisy = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
    const char* const exact = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
    const std::string conflicting = why(run_with_reading("transpose/shared@32x32", {{noisy, 65536 + 300}}), noisy);
    expect_says(conflicting, "lost arbitration: 300 wavefronts beyond what the banks cost");
    const std::string other = why(run_with_reading("transpose/padded@32x32", {{exact, 2148}, {noisy, 2178}}), noisy);
    expect_says(other, "lost arbitration: 30 wavefronts");
    expect_says(other, "+100 by other accesses than the source's");
}

TEST(ladder, shows_what_the_hardware_read) {
    const lab::result r = run_with_reading(
        "transpose/padded@32x32", {{"launch__registers_per_thread", 18},
                                   {"my__own.sum", 7},
                                   {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 3.25}});
    const std::string table = lab::show_ladder({r}, lab::format::csv);
    for (const char* part :
         {"registers", "longest wait", "as emulated", "my__own.sum", ",18,", "barrier 3.2", "8 of 8,7"})
        expect_says(table, part);
    expect_says(lab::show_profile(r, lab::format::table), "hardware.launch__registers_per_thread");
}

// ---- Two kernels --------------------------------------------------------------------------------------------------

lab::result emulated(const char* id) {
    return lab::emulator_runner()->run(find_kernel(id), tests::request_of(find_kernel(id), {.rows = 256, .cols = 256}));
}

TEST(difference, the_counter_that_changed_most_is_named) {
    expect_says(lab::explain_difference(emulated("transpose/shared@32x32"), emulated("transpose/padded@32x32")),
                "wavefronts of shared loads: 65,536 -> 2,048 (32 -> 1 a request)");
    expect_says(lab::explain_difference(emulated("transpose/naive_read@32x32"), emulated("transpose/padded@32x32")),
                "sectors of global stores: 65,536 -> 8,192");
    expect_says(lab::explain_difference(emulated("transpose/padded@32x32"), emulated("transpose/padded@32x8")),
                "threads do the work of");
    expect_says(lab::explain_difference(emulated("transpose/padded@32x8"), emulated("transpose/diagonal@32x8")),
                "the order of blocks");
}

TEST(difference, time_is_told_where_there_is_one) {
    lab::result before = emulated("transpose/padded@32x32"), after = emulated("transpose/padded@32x8");
    EXPECT_EQ(lab::explain_difference(before, after).find("as fast"), std::string::npos);
    before.time = after.time = lab::measured_time{};
    before.time->kernel = {.median_s = 3e-6, .p10_s = 2.9e-6, .p90_s = 3.1e-6, .samples = 20};
    after.time->kernel = {.median_s = 2e-6, .p10_s = 1.9e-6, .p90_s = 2.1e-6, .samples = 20};
    expect_says(lab::explain_difference(before, after), "transpose/padded@32x8 is 1.50 times as fast");
    expect_says(lab::explain_difference(after, before), "transpose/padded@32x32 takes 1.50 times as long");
    after.time->kernel.p90_s = 2.95e-6;
    expect_says(lab::explain_difference(before, after), "within each other's spread");
}

TEST(difference, the_hardware_adds_what_it_read) {
    const std::map<std::string, double> before = {{"dram__throughput.avg.pct_of_peak_sustained_elapsed", 35}},
                                        after = {{"dram__throughput.avg.pct_of_peak_sustained_elapsed", 72}};
    expect_says(lab::explain_difference(run_with_reading("transpose/padded@32x32", before),
                                        run_with_reading("transpose/padded@32x8", after)),
                " On the hardware: DRAM 35 % -> 72 %.");
    const std::string more = "smsp__sass_inst_executed_op_shared_ld.sum";
    expect_says(why(run_with_reading("transpose/padded@32x32", {{more, 2050}}), more),
                "has 2 more loads than its source");
}

TEST(difference, what_did_not_run_is_not_compared) {
    lab::result skipped = emulated("transpose/padded@32x8");
    skipped.skipped = "needs something";
    expect_says(lab::explain_difference(skipped, emulated("transpose/padded@32x32")),
                "transpose/padded@32x8 was skipped");
}

}  // namespace
