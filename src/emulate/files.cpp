#include "emulate/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "cornerturn/error.hpp"

namespace cornerturn::emulate {

namespace fs = std::filesystem;

temporary_folder::temporary_folder() {
    std::string name = (fs::temp_directory_path() / "cornerturn-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw error("cannot create a folder in " + fs::temp_directory_path().string());
    path_ = name;
}

temporary_folder::~temporary_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file) throw error("cannot read " + path);
    return text;
}

void write_file(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    if (!file.flush()) throw error("cannot write " + path);
}

void install_file(const std::string& from, const std::string& to) {
    const std::string fresh = fmt::format("{}.{}", to, getpid());
    fs::copy_file(from, fresh, fs::copy_options::overwrite_existing);
    fs::rename(fresh, to);
}

}  // namespace cornerturn::emulate
