// How the output of Nsight Compute is read and explained. The sample was printed by version 2025.3.1 on an H200, with
// more columns. On a GPU, tests/cuda/ncu_test.py compares with ncu itself.
#include "lab/hardware.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <typeinfo>

#include "cornerturn/error.hpp"
#include "lab/compare.hpp"
#include "lab/run.hpp"
#include "lab/views.hpp"
#include "message.hpp"
#include "run_kernels.hpp"

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

// The message of the exception, which must have this type.
template <class Exception>
std::string message_of(const auto& action) {
    try {
        action();
    } catch (const error& mistake) {
        EXPECT_EQ(typeid(mistake), typeid(Exception)) << mistake.what();
        return mistake.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST(ncu, output_is_read_by_kernel) {
    const auto read = lab::parse_ncu(kPrinted, kAsked, kAsked);
    ASSERT_EQ(read.size(), 2u);
    const lab::hardware_counters& padded = read.at("transpose/padded@32x8");
    EXPECT_EQ(padded.kernels, 1);
    EXPECT_EQ(*padded.find("smsp__inst_executed.sum"), 19267584);
    EXPECT_EQ(*padded.find("l1tex__t_sector_hit_rate.pct"), 0);
    EXPECT_EQ(padded.find("sm__cycles_elapsed.max"), nullptr);
}

TEST(ncu, launches_of_one_kernel_are_combined) {
    const lab::hardware_counters both = lab::parse_ncu(kPrinted, kAsked, kAsked).at("gemm/quadrants");
    EXPECT_EQ(both.kernels, 2);
    EXPECT_EQ(*both.find("smsp__inst_executed.sum"), 6000);      // a sum
    EXPECT_EQ(*both.find("gpu__time_duration.sum"), 400);        // another
    EXPECT_EQ(*both.find("l1tex__t_sector_hit_rate.pct"), 80);   // a rate: (50 * 100 + 90 * 300) / 400
    EXPECT_EQ(*both.find("launch__registers_per_thread"), 128);  // a property of the launch: the largest
}

TEST(ncu, output_without_launches_has_no_counters) {
    EXPECT_TRUE(lab::parse_ncu("==WARNING== No kernels were profiled.\n", kAsked, kAsked).empty());
    EXPECT_TRUE(lab::parse_ncu("", kAsked, kAsked).empty());
}

TEST(ncu, a_missing_metric_is_named) {
    const std::vector<std::string> nonsense = {"smsp__nonsense.sum"};
    EXPECT_NAMES(message_of<error>([&] { lab::parse_ncu(kPrinted, nonsense, nonsense); }), "'smsp__nonsense.sum'",
                 "--query-metrics");
    std::string without = kPrinted;
    without.replace(without.find("35,872.00"), 9, "n/a");
    EXPECT_NAMES(message_of<error>([&] { lab::parse_ncu(without, kAsked, kAsked); }), "'n/a'", "gpu__time_duration.sum",
                 "transpose/padded@32x8", "--query-metrics");
}

TEST(ncu, a_metric_that_is_not_needed_may_be_missing) {
    std::vector<std::string> more = kAsked;
    more.push_back("smsp__nonsense.sum");
    EXPECT_EQ(lab::parse_ncu(kPrinted, more, {}).at("gemm/quadrants").metrics.size(), kAsked.size());
}

// Wherever the output is cut off, its whole rows are read, or it is refused.
TEST(ncu, truncated_output_is_read_in_part_or_refused) {
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
    EXPECT_NAMES(denied, "ERR_NVGPUCTRPERM", "NVreg_RestrictProfilingToAdminUsers=0");
    const std::string unknown =
        lab::ncu_failure("==ERROR== Failed to find metric smsp__nonsense.sum\n==ERROR== Failed.\n", 1);
    EXPECT_NAMES(unknown, "smsp__nonsense.sum", "--query-metrics");
    const std::string own =
        lab::ncu_failure("cornerturn: no memory\n==ERROR== The application returned an error code (1).\n", 1);
    EXPECT_NAMES(own, "no memory");
    EXPECT_FALSE(tests::names(own, 1));
    const std::string no_launch = lab::ncu_failure("==WARNING== No kernels were profiled.\n", 0);
    EXPECT_NE(no_launch, "");
    EXPECT_FALSE(tests::names(no_launch, 0));  // not an exit code
    EXPECT_NAMES(lab::ncu_failure("", 139), 139);
}

TEST(ncu, is_found_by_path_and_by_name) {
    EXPECT_NAMES(message_of<unsupported>([] { lab::find_ncu("no-such-ncu"); }), "'no-such-ncu'", "PATH");
    EXPECT_NAMES(message_of<unsupported>([] { lab::find_ncu("/no/such/ncu"); }), "--ncu", "/no/such/ncu");
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

TEST(ncu, metrics_are_a_list_of_names) {
    EXPECT_EQ(lab::read_metrics("a__b.sum,c__d.avg,a__b.sum"), (std::vector<std::string>{"a__b.sum", "c__d.avg"}));
    for (const char* bad : {"", ",", "a b", "a,--launch-count", "a;b"})
        EXPECT_THROW(lab::read_metrics(bad), invalid_argument) << bad;
    for (const std::string& name : lab::hardware_metrics()) EXPECT_EQ(lab::read_metrics(name).size(), 1u);
}

// ---- The emulator beside the hardware -----------------------------------------------------------------------------

// A run in the emulator, with hardware counters that are equal to the emulator's except for `altered`.
lab::result run_with_hardware(const char* id, const std::map<std::string, double>& altered) {
    lab::result r =
        lab::emulator_runner()->run(find_kernel(id), tests::request_of(find_kernel(id), {.rows = 256, .cols = 256}));
    r.hardware = lab::hardware_counters{.ncu = "2025.3.1", .kernels = 1, .metrics = {}};
    for (const lab::metric& m : lab::metrics()) {
        const auto found = altered.find(m.name);
        const auto counted = static_cast<double>(((*r.counts).*m.member)[m.op]);
        r.hardware->metrics.emplace_back(m.name, found == altered.end() ? counted : found->second);
    }
    for (const auto& [name, value] : altered) {
        if (r.hardware->find(name) == nullptr) r.hardware->metrics.emplace_back(name, value);
    }
    return r;
}

lab::counter_comparison compared(const lab::result& r, const std::string& metric) {
    for (const lab::counter_comparison& one : lab::compare_with_hardware(r)) {
        if (one.metric == metric) return one;
    }
    ADD_FAILURE() << metric << " is not compared";
    return {};
}

std::string why(const lab::result& r, const std::string& metric) { return compared(r, metric).why; }

TEST(comparison, equal_counters_are_equal) {
    const lab::result r = run_with_hardware("transpose/padded@32x32", {});
    EXPECT_NAMES(lab::agreement(r), 8, 8);
    for (const lab::counter_comparison& one : lab::compare_with_hardware(r)) EXPECT_TRUE(one.equal()) << one.metric;
    EXPECT_LINE_NAMES(lab::show_comparison(r, lab::format::table), "2025.3.1", 1, 8, 8);
    const auto json = nlohmann::json::parse(lab::show_comparison(r, lab::format::json));
    EXPECT_EQ(json.at("comparison").size(), 8u);
    EXPECT_EQ(json.at("hardware").at("metrics").at("smsp__sass_inst_executed_op_shared_ld.sum"), 2048);
}

TEST(comparison, says_how_many_accesses_the_compiler_merged) {
    const lab::result r = run_with_hardware("transpose/padded@32x32",
                                            {{"smsp__sass_inst_executed_op_shared_ld.sum", 512},
                                             {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 1024}});
    EXPECT_NAMES(why(r, "smsp__sass_inst_executed_op_shared_ld.sum"), "4.00");
    EXPECT_NAMES(lab::agreement(r), 6, 8);
}

// Wavefronts that differ follow from loads that differ. If the loads are equal, they are not explained.
TEST(comparison, tells_explained_wavefronts_from_others) {
    const char* const loads = "smsp__sass_inst_executed_op_shared_ld.sum";
    const char* const wavefronts = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
    const std::string equal = why(run_with_hardware("transpose/padded@32x32", {}), wavefronts),
                      above = why(run_with_hardware("transpose/padded@32x32", {{wavefronts, 2049}}), wavefronts),
                      below = why(run_with_hardware("transpose/padded@32x32", {{wavefronts, 2047}}), wavefronts),
                      explained = why(run_with_hardware("transpose/padded@32x32", {{loads, 512}, {wavefronts, 1024}}),
                                      wavefronts);
    EXPECT_EQ((std::set<std::string>{equal, above, below, explained}).size(), 4u);
}

TEST(comparison, lost_arbitration_is_beside_the_modelled_counters) {
    const lab::result r =
        run_with_hardware("transpose/padded@32x32", {{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 2560},
                                                     {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 512},
                                                     {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 2048}});
    EXPECT_NAMES(why(r, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"), 512);
    EXPECT_TRUE(compared(r, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum").equal());
    EXPECT_NAMES(lab::agreement(r), 8, 8);  // without the counters above
}

TEST(comparison, lost_arbitration_does_not_include_conflicts_and_changes_by_the_compiler) {
    const char* const noisy = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
    const char* const exact = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
    const std::string conflicting = why(run_with_hardware("transpose/shared@32x32", {{noisy, 65536 + 300}}), noisy);
    EXPECT_NAMES(conflicting, 300);
    const std::string other = why(run_with_hardware("transpose/padded@32x32", {{exact, 2148}, {noisy, 2178}}), noisy);
    EXPECT_NAMES(other, 30, "+100");
}

TEST(ladder, shows_the_hardware_counters) {
    const lab::result r = run_with_hardware(
        "transpose/padded@32x32", {{"launch__registers_per_thread", 18},
                                   {"my__own.sum", 7},
                                   {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 3.25}});
    const std::string table = lab::show_ladder({r}, lab::format::csv);
    EXPECT_NAMES(table, "my__own.sum", 18, "barrier 3.2", 8, 8, 7);
    EXPECT_LINE_NAMES(lab::show_profile(r, lab::format::table), "hardware.launch__registers_per_thread", 18);
}

// ---- Two kernels --------------------------------------------------------------------------------------------------

lab::result emulated(const char* id) {
    return lab::emulator_runner()->run(find_kernel(id), tests::request_of(find_kernel(id), {.rows = 256, .cols = 256}));
}

TEST(difference, the_counter_that_changed_most_is_named) {
    EXPECT_NAMES(lab::explain_difference(emulated("transpose/shared@32x32"), emulated("transpose/padded@32x32")),
                 "65,536", "2,048", 32, 1);  // wavefronts of shared loads; a request
    EXPECT_NAMES(lab::explain_difference(emulated("transpose/naive_read@32x32"), emulated("transpose/padded@32x32")),
                 "65,536", "8,192");  // sectors of global stores
    EXPECT_NAMES(lab::explain_difference(emulated("transpose/padded@32x32"), emulated("transpose/padded@32x8")),
                 "65,536", "16,384");  // threads
    const std::string order =
        lab::explain_difference(emulated("transpose/padded@32x8"), emulated("transpose/diagonal@32x8"));
    EXPECT_NE(order, "");
    EXPECT_TRUE(std::none_of(order.begin(), order.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
        << order;
}

TEST(difference, times_are_compared_if_there_are_any) {
    lab::result before = emulated("transpose/padded@32x32"), after = emulated("transpose/padded@32x8");
    const std::string without = lab::explain_difference(before, after);
    EXPECT_FALSE(tests::names(without, "transpose/padded@32x8"));
    before.time = after.time = lab::measured_time{};
    before.time->kernel = {.median_s = 3e-6, .p10_s = 2.9e-6, .p90_s = 3.1e-6, .samples = 20};
    after.time->kernel = {.median_s = 2e-6, .p10_s = 1.9e-6, .p90_s = 2.1e-6, .samples = 20};
    EXPECT_NAMES(lab::explain_difference(before, after), "transpose/padded@32x8", "1.50");
    EXPECT_NAMES(lab::explain_difference(after, before), "transpose/padded@32x32", "1.50");
    after.time->kernel.p90_s = 2.95e-6;  // within each other's spread
    const std::string alike = lab::explain_difference(before, after);
    EXPECT_NE(alike, without);
    EXPECT_FALSE(tests::names(alike, "1.50"));
}

TEST(difference, includes_the_hardware_counters) {
    const std::map<std::string, double> before = {{"dram__throughput.avg.pct_of_peak_sustained_elapsed", 35}},
                                        after = {{"dram__throughput.avg.pct_of_peak_sustained_elapsed", 72}};
    EXPECT_NAMES(lab::explain_difference(run_with_hardware("transpose/padded@32x32", before),
                                         run_with_hardware("transpose/padded@32x8", after)),
                 "DRAM", "35 %", "72 %");
    const std::string more = "smsp__sass_inst_executed_op_shared_ld.sum";
    EXPECT_NAMES(why(run_with_hardware("transpose/padded@32x32", {{more, 2050}}), more), 2);
}

TEST(difference, a_skipped_kernel_is_not_compared) {
    lab::result skipped = emulated("transpose/padded@32x8");
    skipped.skipped = "needs something";
    const std::string text = lab::explain_difference(skipped, emulated("transpose/padded@32x32"));
    EXPECT_NAMES(text, "transpose/padded@32x8");
    EXPECT_FALSE(tests::names(text, "65,536"));
}

}  // namespace
