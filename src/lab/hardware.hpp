// Counters that a GPU itself keeps, read with Nsight Compute's command line (ncu): it runs this program's own command
// once more and profiles the launches that are marked there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cornerturn::lab {

// Of one kernel of the registry: all that it launched.
struct hardware_counters {
    std::string ncu;  // its version
    int kernels = 0;  // launches
    // By Nsight Compute's names, in the order asked for. Over several launches sums and cycles are added, what is the
    // launch's own or a maximum is the largest, a minimum the least, and rates are means by how long each launch took.
    std::vector<std::pair<std::string, double>> metrics;

    const double* find(std::string_view name) const;  // null: was not read
};

// What is read of every kernel: what the emulator models, notes 001's and 003's, and what tells why a kernel waits.
const std::vector<std::string>& hardware_metrics();

// What one of these says, in a few words; empty for others.
std::string meaning_of(std::string_view hardware_metric);

std::string wait_text(std::string_view reason, double cycles);  // "long_scoreboard 12.3"

// What nvcc and the hardware know and no emulator: how long a launch took under the profiler, in nanoseconds.
inline constexpr const char* kProfiledTime = "gpu__time_duration.sum";
// A warp's wait of this kind, in cycles an instruction issued, stands between these.
inline constexpr std::string_view kStallPrefix = "smsp__average_warps_issue_stalled_",
                                  kStallSuffix = "_per_issue_active.ratio";

// The wait that costs a warp most, of metrics by name, such as "long_scoreboard 12.3"; "-" where none was read.
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

// Words with commas between them. Throws invalid_argument where one could not be a metric's name.
std::vector<std::string> read_metrics(const std::string& text);

// ncu itself: `named` if that is not empty, else the one of PATH, or the newest where its packages put it. Throws
// unsupported that says where it was looked for.
std::string find_ncu(const std::string& named);

// Runs this program with these arguments under ncu. By kernel id. Throws error with the remedy where ncu cannot: no
// permission, a metric that the GPU does not have, no launch.
std::map<std::string, hardware_counters> read_hardware(const std::string& ncu,
                                                       const std::vector<std::string>& arguments,
                                                       const std::vector<std::string>& more_metrics);

// True in the program that read_hardware() runs: all that it has to do is launch.
bool is_profiled();

// What ncu printed for `--csv --page raw`, each launch named by the mark it was made under. Throws error where one of
// `needed` is missing or no number; others are left out there.
std::map<std::string, hardware_counters> parse_ncu(const std::string& printed, const std::vector<std::string>& metrics,
                                                   const std::vector<std::string>& needed);

// A sentence on why ncu failed and what helps, from what it printed.
std::string ncu_failure(const std::string& printed, int exit_code);

}  // namespace cornerturn::lab
