// Makes our headers of CUDA win over those of an installed CUDA toolkit.
#pragma once

#include <string>
#include <vector>

#include "emulate/compile.hpp"

namespace cornerturn::emulate {

// Moves each folder of toolkit headers, which a Makefile or CPATH names, to the end of the include path: programs still
// find the toolkit's other headers there. While an object of this class exists, CPATH names no such folder.
class toolkit_headers_last {
public:
    toolkit_headers_last(const installation& here, const std::vector<std::string>& flags);
    ~toolkit_headers_last();
    toolkit_headers_last(const toolkit_headers_last&) = delete;
    toolkit_headers_last& operator=(const toolkit_headers_last&) = delete;
    const std::vector<std::string>& flags() const { return flags_; }

private:
    std::vector<std::string> flags_;
    std::string cpath_;  // the original CPATH
};

}  // namespace cornerturn::emulate
