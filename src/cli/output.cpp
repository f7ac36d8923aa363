#include "cli/output.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "cornerturn/error.hpp"
#include "files/file.hpp"

namespace cornerturn::cli {
namespace {

[[noreturn]] void fail(const std::string& target) {
    throw error(fmt::format("cannot write {}: {}", target, std::strerror(errno)));
}

}  // namespace

void check_writable(const std::string& path) {
    std::error_code none;
    const std::filesystem::path target(path), folder = target.has_parent_path() ? target.parent_path() : ".";
    errno = ENOENT;
    if (path.empty()) fail("a file without a name (--output)");
    errno = EISDIR;
    if (std::filesystem::is_directory(target, none)) fail(path);
    const bool replaces = !std::filesystem::exists(target, none) || std::filesystem::is_regular_file(target, none);
    if (access(replaces ? folder.c_str() : path.c_str(), W_OK) != 0) fail(path);
}

void write_out(const std::optional<std::string>& to, const std::string& text) {
    const auto check = [&](bool good) {
        if (!good) fail(to.value_or("standard output"));
    };
    if (!to) {
        check(std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0);
        return;
    }
    const std::string& path = *to;
    struct stat present;
    if (stat(path.c_str(), &present) == 0 && !S_ISREG(present.st_mode)) {
        std::FILE* const file = std::fopen(path.c_str(), "w");
        check(file != nullptr);
        const bool wrote = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
        const int why = errno;
        std::fclose(file);
        errno = why;
        check(wrote);
        return;
    }
    files::new_file file(path);
    file.write(text.data(), static_cast<std::int64_t>(text.size()), 0);
    file.sync();
    file.commit();
}

}  // namespace cornerturn::cli
