// The memory that the system can still provide.
#pragma once

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

namespace cornerturn {

// Bytes that the system can provide without swapping. A program that touches more mapped memory than exists is killed
// without a message.
inline std::int64_t available_memory() {
    std::ifstream info("/proc/meminfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("MemAvailable:")) return std::stoll(line.substr(line.find(':') + 1)) * 1024;
    }
    return std::numeric_limits<std::int64_t>::max();
}

}  // namespace cornerturn
