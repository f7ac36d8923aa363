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
using words = std::vector<std::string>;

constexpr std::array<const char*, 2> kOptions{"-I", "-isystem"};

// The folder of a toolkit's headers, or the one below it where CUDA 13 has CCCL.
bool is_toolkit(const std::string& folder, const installation& here) {
    if (folder.empty()) return false;
    fs::path top = folder;
    if (!top.has_filename()) top = top.parent_path();  // "include/"
    if (top.filename() == "cccl") top = top.parent_path();
    std::error_code none;
    return fs::exists(top / "cuda_runtime.h", none) && !fs::equivalent(top, here.headers, none);
}

}  // namespace

toolkit_behind::toolkit_behind(const installation& here, const words& flags) {
    words behind;
    for (std::size_t i = 0; i < flags.size(); ++i) {
        const std::string& word = flags[i];
        const auto option =
            std::find_if(kOptions.begin(), kOptions.end(), [&](const char* o) { return word.starts_with(o); });
        const bool apart = option != kOptions.end() && word == *option && i + 1 < flags.size();
        const std::string folder = option == kOptions.end() ? ""
                                   : apart                  ? flags[i + 1]
                                                            : word.substr(std::strlen(*option));
        if (is_toolkit(folder, here)) {
            behind.insert(behind.end(), {"-idirafter", folder});
        } else {
            flags_.push_back(word);
            if (apart) flags_.push_back(folder);
        }
        i += apart;
    }
    if (const char* const path = std::getenv("CPATH"); path != nullptr) {
        before_ = path;
        std::string others;
        std::stringstream folders(before_);
        for (std::string folder; std::getline(folders, folder, ':');) {
            if (is_toolkit(folder, here))
                behind.insert(behind.end(), {"-idirafter", folder});
            else
                others += (others.empty() ? "" : ":") + (folder.empty() ? "." : folder);
        }
        others.empty() ? unsetenv("CPATH") : setenv("CPATH", others.c_str(), 1);
    }
    flags_.insert(flags_.end(), behind.begin(), behind.end());
}

toolkit_behind::~toolkit_behind() {
    if (!before_.empty()) setenv("CPATH", before_.c_str(), 1);
}

}  // namespace cornerturn::emulate
