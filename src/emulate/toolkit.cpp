#include "emulate/toolkit.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

namespace cornerturn::emulate {
namespace {

namespace fs = std::filesystem;
using strings = std::vector<std::string>;

constexpr std::array<const char*, 2> kOptions{"-I", "-isystem"};

// Whether this is the folder of a toolkit's headers, or the folder "cccl" in it (CUDA 13).
bool is_toolkit(const std::string& folder, const installation& here) {
    if (folder.empty()) return false;
    fs::path top = folder;
    if (!top.has_filename()) top = top.parent_path();  // "include/"
    if (top.filename() == "cccl") top = top.parent_path();
    std::error_code none;
    return fs::exists(top / "cuda_runtime.h", none) && !fs::equivalent(top, here.headers, none);
}

}  // namespace

toolkit_headers_last::toolkit_headers_last(const installation& here, const strings& flags) {
    strings last;
    for (std::size_t i = 0; i < flags.size(); ++i) {
        const std::string& flag = flags[i];
        const auto option =
            std::find_if(kOptions.begin(), kOptions.end(), [&](const char* o) { return flag.starts_with(o); });
        const bool is_separate = option != kOptions.end() && flag == *option && i + 1 < flags.size();
        const std::string folder = option == kOptions.end() ? ""
                                   : is_separate            ? flags[i + 1]
                                                            : flag.substr(std::strlen(*option));
        if (is_toolkit(folder, here)) {
            last.insert(last.end(), {"-idirafter", folder});
        } else {
            flags_.push_back(flag);
            if (is_separate) flags_.push_back(folder);
        }
        i += is_separate;
    }
    if (const char* const path = std::getenv("CPATH"); path != nullptr) {
        cpath_ = path;
        std::string others;
        std::stringstream folders(cpath_);
        for (std::string folder; std::getline(folders, folder, ':');) {
            if (is_toolkit(folder, here))
                last.insert(last.end(), {"-idirafter", folder});
            else
                others += (others.empty() ? "" : ":") + (folder.empty() ? "." : folder);
        }
        others.empty() ? unsetenv("CPATH") : setenv("CPATH", others.c_str(), 1);
    }
    flags_.insert(flags_.end(), last.begin(), last.end());
}

toolkit_headers_last::~toolkit_headers_last() {
    if (!cpath_.empty()) setenv("CPATH", cpath_.c_str(), 1);
}

}  // namespace cornerturn::emulate
