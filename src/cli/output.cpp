#include "cli/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cornerturn/error.hpp"
#include "files/file.hpp"

namespace cornerturn::cli {
namespace {

[[noreturn]] void fail(const std::string& target) {
    throw error(fmt::format("cannot write {}: {}", target, std::strerror(errno)));
}

constexpr const char* kStandardOutput = "standard output";

// Whether it is a pipe or a device: the program writes to it instead of replacing it.
bool is_stream(const std::string& path) {
    struct stat found;
    return stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

}  // namespace

void open_standard_files() {
    // Each one is opened for the wrong direction, so that reading or writing still fails.
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(number, F_GETFD) < 0) (void)open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

void say(std::string_view message) noexcept {
    try {
        std::string line = "cornerturn: ";
        // A name can contain any character. The message stays one line and does not move the cursor.
        for (const char c : message) line += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
        std::fputs((line + '\n').c_str(), stderr);
    } catch (const std::bad_alloc&) {
        std::fputs("cornerturn: out of memory\n", stderr);
    }
}

void check_writable(const std::optional<std::string>& path) {
    if (!path) {
        const int flags = fcntl(STDOUT_FILENO, F_GETFL);
        errno = EBADF;
        if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) fail(kStandardOutput);
    } else if (!is_stream(*path)) {
        files::check_target(*path);
    } else if (access(path->c_str(), W_OK) != 0) {
        fail(*path);
    }
}

void write_out(const std::optional<std::string>& to, const std::string& text) {
    const auto check = [&](bool good) {
        if (!good) fail(to.value_or(kStandardOutput));
    };
    if (!to) {
        check(std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0);
        return;
    }
    const std::string& path = *to;
    if (is_stream(path)) {
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
