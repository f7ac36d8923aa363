// Reads the report of a program's kernels, which the emulator's runtime wrote, and checks budgets.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/counters.hpp"
#include "emulator/emulation.hpp"

namespace cornerturn::emulate {

struct kernel_report {
    std::string kernel;  // "add<float>"
    std::string symbol;  // mangled
    std::uint64_t launches = 0;
    std::uint64_t blocks = 0, blocks_run = 0;
    bool sampled = false;  // some blocks did not run: others were counted for them
    emulator::counters counts;
    struct hazard {
        std::string kind, message;
        std::uint64_t times = 0;
    };
    std::vector<hazard> hazards;
    std::vector<emulator::line_counters> lines;
};

// Throws error if the text is not such a report.
std::vector<kernel_report> read_report(const std::string& json);

// "transpose: load.sectors_per_request <= 4, shared.conflicts == 0".
struct budget {
    std::string kernel;
    struct limit {
        std::string metric, comparison;
        double bound = 0;
    };
    std::vector<limit> limits;

    // Throws invalid_argument, which names the wrong part and the allowed values.
    static budget parse(const std::string& text);
    // A sentence for each limit that the sum over all launches of the kernels misses.
    std::vector<std::string> missed(const std::vector<kernel_report>& kernels) const;
};

}  // namespace cornerturn::emulate
