#include "files/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cornerturn/error.hpp"

namespace cornerturn::files {
namespace {

[[noreturn]] void fail(const char* what, const std::string& path) {
    throw error(fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

// Calls a system call that moves some bytes until it has moved all; false, with errno set, where it cannot.
template <class Call>
bool move_all(std::int64_t bytes, Call call) {
    for (std::int64_t done = 0; done < bytes;) {
        const ssize_t moved = call(done, static_cast<std::size_t>(bytes - done));
        if (moved < 0 && errno == EINTR) continue;
        if (moved == 0) errno = ENODATA;
        if (moved <= 0) return false;
        done += moved;
    }
    return true;
}

std::string folder_of(const std::string& path) {
    const std::filesystem::path parent = std::filesystem::path(path).parent_path();
    return parent.empty() ? "." : parent.string();
}

}  // namespace

descriptor::~descriptor() {
    if (number_ >= 0) close(number_);
}
bool descriptor::close_now() { return close(std::exchange(number_, -1)) == 0; }

temporary_name::~temporary_name() {
    if (!path.empty()) unlink(path.c_str());
}

input_file::input_file(const std::string& path) : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat found;
    if (file_.get() < 0 || fstat(file_.get(), &found) != 0) fail("read", path);
    if (!S_ISREG(found.st_mode)) {
        errno = S_ISDIR(found.st_mode) ? EISDIR : ESPIPE;
        fail("read", path);
    }
    size_ = found.st_size;
}

void input_file::read(void* to, std::int64_t bytes, std::int64_t offset) const {
    const bool whole = move_all(bytes, [&](std::int64_t done, std::size_t left) {
        return pread(file_.get(), static_cast<char*>(to) + done, left, offset + done);
    });
    if (whole) return;
    if (errno == ENODATA) throw error(fmt::format("cannot read {}: it has become shorter", path_));
    files::fail("read", path_);
}

new_file::new_file(const std::string& path) : target_(path) {
    struct stat present;
    const bool exists = stat(path.c_str(), &present) == 0;
    if (exists && !S_ISREG(present.st_mode)) {
        errno = S_ISDIR(present.st_mode) ? EISDIR : EINVAL;
        fail();
    }
    if (exists) target_ = std::filesystem::canonical(path).string();
    const mode_t mask = umask(0);
    umask(mask);
    const mode_t mode = exists ? present.st_mode & 07777 : 0666 & ~mask;
#if defined(O_TMPFILE)
    file_ = descriptor(open(folder_of(target_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
#endif
    if (file_.get() < 0) {  // a file system that has none, or an error that this meets again
        std::string name = target_ + ".XXXXXX";
        file_ = descriptor(mkostemp(name.data(), O_CLOEXEC));
        if (file_.get() < 0) fail();
        partial_.path = name;
    }
    if (fchmod(file_.get(), mode) != 0) fail();
}

void new_file::fail() const { files::fail("write", target_); }

void new_file::reserve(std::int64_t bytes) {
    if (bytes == 0) return;
    const int result = posix_fallocate(file_.get(), 0, bytes);
    // A file system that cannot is no reason to stop: the writes will tell.
    if (result == 0 || result == EOPNOTSUPP || result == EINVAL) return;
    errno = result;
    fail();
}

void new_file::write(const void* from, std::int64_t bytes, std::int64_t offset) {
    const bool whole = move_all(bytes, [&](std::int64_t done, std::size_t left) {
        return pwrite(file_.get(), static_cast<const char*>(from) + done, left, offset + done);
    });
    if (!whole) fail();
}

void new_file::commit() {
    if (fsync(file_.get()) != 0) fail();
    if (partial_.path.empty()) {
        // A name of its own first: no call gives a file a name that is taken.
        const std::string self = fmt::format("/proc/self/fd/{}", file_.get());
        for (int attempt = 0; partial_.path.empty(); ++attempt) {
            const std::string name = fmt::format("{}.{:06x}", target_, (getpid() * 7919 + attempt) & 0xffffff);
            if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
                partial_.path = name;
            } else if (errno != EEXIST || attempt > 100) {
                fail();
            }
        }
    }
    if (std::rename(partial_.path.c_str(), target_.c_str()) != 0) fail();
    partial_.path.clear();
    // The name, too, is to outlast a crash. Some file systems cannot sync a folder.
    const descriptor folder(open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() >= 0) fsync(folder.get());
    if (!file_.close_now()) fail();
}

}  // namespace cornerturn::files
