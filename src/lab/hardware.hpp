// Reads a GPU's hardware counters with ncu, the command line of Nsight Compute. ncu runs this program's command once
// more and profiles the launches that are marked there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cornerturn::lab {

// The counters of all launches of one registered kernel.
struct hardware_counters {
    std::string ncu;  // its version
    int kernels = 0;  // launches
    // By Nsight Compute's names, in the order of the request. Over several launches, sums and cycles are added. For
    // maxima and properties of a launch the largest value is kept, for minima the smallest. Rates are averaged,
    // weighted by time.
    std::vector<std::pair<std::string, double>> metrics;

    const double* find(std::string_view name) const;  // null: was not read
};

// The metrics that are read of every kernel: those that the emulator models, those of notes 001 and 003, and what warps
// wait for.
const std::vector<std::string>& hardware_metrics();

// The meaning of one of these, in a few words; empty for other metrics.
std::string meaning_of(std::string_view hardware_metric);

std::string wait_text(std::string_view reason, double cycles);  // "long_scoreboard 12.3"

// The time of a launch under the profiler, in nanoseconds.
inline constexpr const char* kProfiledTime = "gpu__time_duration.sum";
// A stall metric's name is kStallPrefix + reason + kStallSuffix. Its unit is cycles per issued instruction.
inline constexpr std::string_view kStallPrefix = "smsp__average_warps_issue_stalled_",
                                  kStallSuffix = "_per_issue_active.ratio";

// The wait that costs a warp most, such as "long_scoreboard 12.3"; "-" if none was read.
template <class Metrics>
std::string longest_wait(const Metrics& metrics) {
    std::string_view worst;
    double most = 0;
    for (const auto& [name, value] : metrics) {
        if (!name.starts_with(kStallPrefix) || !name.ends_with(kStallSuffix) || value <= most) continue;
        most = value;
        worst = std::string_view(name).substr(kStallPrefix.size());
        worst.remove_suffix(kStallSuffix.size());
    }
    return worst.empty() ? "-" : wait_text(worst, most);
}

// Names separated by commas. Throws invalid_argument if one cannot be a metric's name.
std::vector<std::string> read_metrics(const std::string& text);

// The file of ncu. `named` is a path, or a name to search for in PATH. If it is empty: ncu in PATH, or the newest ncu
// where its packages install it. Throws unsupported, which says where this searched.
std::string find_ncu(const std::string& named);

// Runs this program with these arguments under ncu. Returns the counters by kernel id. Throws error with a remedy if
// ncu fails: no permission, a metric that the GPU does not have, no launch.
std::map<std::string, hardware_counters> read_hardware(const std::string& ncu,
                                                       const std::vector<std::string>& arguments,
                                                       const std::vector<std::string>& more_metrics);

// True in the program that read_hardware() runs. That program only has to launch.
bool is_profiled();

// Reads the output of `ncu --csv --page raw`, in which a launch's name begins with its mark. Throws error if one of
// `needed` is missing or not a number. Other metrics are then left out.
std::map<std::string, hardware_counters> parse_ncu(const std::string& printed, const std::vector<std::string>& metrics,
                                                   const std::vector<std::string>& needed);

// Makes a sentence from ncu's output: why it failed, and what helps.
std::string ncu_failure(const std::string& printed, int exit_code);

}  // namespace cornerturn::lab
