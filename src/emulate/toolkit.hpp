// A toolkit's own headers, where a command line names their folder: ours stand for them.
#pragma once

#include <string>
#include <vector>

#include "emulate/compile.hpp"

namespace cornerturn::emulate {

// Keeps a toolkit's own headers behind ours, in whatever folder a Makefile or the environment names: such folders are
// searched last, for what else lies there. While one is alive, CPATH names none.
class toolkit_behind {
public:
    toolkit_behind(const installation& here, const std::vector<std::string>& flags);
    ~toolkit_behind();
    toolkit_behind(const toolkit_behind&) = delete;
    toolkit_behind& operator=(const toolkit_behind&) = delete;
    const std::vector<std::string>& flags() const { return flags_; }

private:
    std::vector<std::string> flags_;
    std::string before_;  // what CPATH was
};

}  // namespace cornerturn::emulate
