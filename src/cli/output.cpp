#include "cli/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cornerturn/error.hpp"

namespace cornerturn::cli {
namespace {

// Writes it all to a descriptor, and closes that; false, with errno set, where it cannot.
bool write_and_close(int file, const std::string& text) {
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t wrote = write(file, text.data() + done, text.size() - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) {
            const int why = errno;
            close(file);
            errno = why;
            return false;
        }
        done += static_cast<std::size_t>(wrote);
    }
    return close(file) == 0;
}

}  // namespace

void write_out(const std::string& path, const std::string& text) {
    const auto check = [&](bool good) {
        const std::string target = path.empty() ? "standard output" : path;
        if (!good) throw error(fmt::format("cannot write {}: {}", target, std::strerror(errno)));
    };
    if (path.empty()) {
        check(std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0);
        return;
    }
    struct stat present;
    const bool exists = stat(path.c_str(), &present) == 0;
    if (exists && !S_ISREG(present.st_mode)) {
        const int file = open(path.c_str(), O_WRONLY);
        check(file >= 0 && write_and_close(file, text));
        return;
    }
    const mode_t mask = umask(0);
    umask(mask);
    const mode_t mode = exists ? present.st_mode & 07777 : 0666 & ~mask;
    const std::string target = exists ? std::filesystem::canonical(path).string() : path;  // behind a link
    std::string partial = target + ".XXXXXX";
    const int file = mkstemp(partial.data());
    check(file >= 0);
    const bool done =
        fchmod(file, mode) == 0 && write_and_close(file, text) && std::rename(partial.c_str(), target.c_str()) == 0;
    if (!done) {
        const int why = errno;
        unlink(partial.c_str());
        errno = why;
    }
    check(done);
}

}  // namespace cornerturn::cli
