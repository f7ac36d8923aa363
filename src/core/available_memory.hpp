// What the system says of its memory.
#pragma once

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

namespace cornerturn {

// What the system can give without swapping: memory that is mapped but not there ends the program without a word.
inline std::int64_t available_memory() {
    std::ifstream info("/proc/meminfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("MemAvailable:")) return std::stoll(line.substr(line.find(':') + 1)) * 1024;
    }
    return std::numeric_limits<std::int64_t>::max();
}

}  // namespace cornerturn
