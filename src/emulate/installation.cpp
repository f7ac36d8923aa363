#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "cornerturn/error.hpp"
#include "cornerturn/version.h"
#include "emulate/compile.hpp"

namespace cornerturn::emulate {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> all;
    std::stringstream stream(list);
    for (std::string part; stream >> part;) all.push_back(part);
    return all;
}

}  // namespace

bool asks_version(const std::vector<std::string>& arguments) {
    return std::any_of(arguments.begin(), arguments.end(),
                       [](const std::string& argument) { return argument == "--version" || argument == "-V"; });
}

std::string version_text() {
    // Makefiles parse nvcc's "release 12.4, V12.4.1".
    return fmt::format("cornerturn {}.{}.{}, in place of nvcc of CUDA release 13.0, V13.0.0\n",
                       CORNERTURN_VERSION_MAJOR, CORNERTURN_VERSION_MINOR, CORNERTURN_VERSION_PATCH);
}

// The installed files beside the running program. If there are none: the files in the source and build folders.
installation find_installation() {
    std::error_code none;
    const fs::path prefix = fs::read_symlink("/proc/self/exe", none).parent_path().parent_path();
    const fs::path headers = prefix / "share/cornerturn/cuda";
    installation found;
    fs::path library;
    if (fs::exists(headers / "cuda_runtime.h", none)) {
        found.headers = headers.string();
        found.include = (prefix / "include").string();
        library = prefix / CORNERTURN_LIBRARY_FOLDER / "cornerturn/libcornerturn_emulate.a";
    } else {
        found.headers = CORNERTURN_SOURCE_DIR "/src/emulate/cuda";
        found.include = CORNERTURN_SOURCE_DIR "/include";
        library = CORNERTURN_EMULATE_LIBRARY;
    }
    if (!fs::exists(library, none))
        throw error(library.string() + " is missing: build all of cornerturn, or install its emulator");
    found.libraries = split(CORNERTURN_EMULATE_LINKS);
    found.libraries.insert(found.libraries.begin(), library.string());
    return found;
}

}  // namespace cornerturn::emulate
