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

constexpr const char* kTemporary = "/.cornerturn-";

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

void require_regular(const char* what, const std::string& path, const struct stat& found) {
    if (S_ISREG(found.st_mode)) return;
    throw error(fmt::format("cannot {} {}: {}", what, path,
                            S_ISDIR(found.st_mode) ? std::strerror(EISDIR) : "it is not a regular file"));
}

std::string folder_of(const std::string& path) {
    const std::filesystem::path parent = std::filesystem::path(path).parent_path();
    return parent.empty() ? "." : parent.string();
}

}  // namespace

descriptor::~descriptor() {
    if (number_ >= 0) close(number_);
}

temporary_name::~temporary_name() {
    if (!path.empty()) unlink(path.c_str());
}

// O_NONBLOCK: a pipe that nobody writes to is refused, not waited for.
input_file::input_file(const std::string& path)
    : path_(path), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat found;
    if (file_.get() < 0 || fstat(file_.get(), &found) != 0) fail("read", path);
    require_regular("read", path, found);
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
    if (path.empty()) throw error("cannot write a file without a name");
    struct stat present;
    const bool exists = stat(path.c_str(), &present) == 0;
    if (exists) require_regular("write", path, present);
    if (exists) target_ = std::filesystem::canonical(path).string();
    const mode_t mask = umask(0);
    umask(mask);
    const mode_t mode = exists ? present.st_mode & 07777 : 0666 & ~mask;
#if defined(O_TMPFILE)
    // It gets its name by way of /proc.
    if (access("/proc/self/fd", X_OK) == 0)
        file_ = descriptor(open(folder_of(target_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
#endif
    if (file_.get() < 0) {  // a file system that has none, or an error that this meets again
        std::string name = folder_of(target_) + kTemporary + "XXXXXX";
        file_ = descriptor(mkostemp(name.data(), O_CLOEXEC));
        if (file_.get() < 0) fail();
        partial_.path = name;
    }
    // Only root can give a file to others, and not everywhere.
    [[maybe_unused]] const bool kept_owner = !exists || fchown(file_.get(), present.st_uid, present.st_gid) == 0;
    if (fchmod(file_.get(), mode) != 0) fail();
}

void new_file::fail() const { files::fail("write", target_); }

void new_file::reserve(std::int64_t bytes) {
    if (bytes == 0) return;
    // A file system that cannot is no reason to stop: the writes will tell. (posix_fallocate() would write all of it.)
    while (fallocate(file_.get(), 0, 0, bytes) != 0) {
        if (errno == EOPNOTSUPP || errno == ENOSYS) return;
        if (errno != EINTR) fail();
    }
}

void new_file::write(const void* from, std::int64_t bytes, std::int64_t offset) {
    const bool whole = move_all(bytes, [&](std::int64_t done, std::size_t left) {
        return pwrite(file_.get(), static_cast<const char*>(from) + done, left, offset + done);
    });
    if (!whole) fail();
}

void new_file::begin_sync(std::int64_t bytes, std::int64_t offset) {
    sync_file_range(file_.get(), offset, bytes, SYNC_FILE_RANGE_WRITE);
}

void new_file::sync() {
    if (fsync(file_.get()) != 0) fail();
}

void new_file::commit() {
    const std::string self = fmt::format("/proc/self/fd/{}", file_.get());
    const auto link_as = [&](const std::string& name) {
        if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
        if (errno != EEXIST) fail();
        return false;
    };
    // No call gives a file without a name one that is taken: it gets another first, and for that moment has it.
    if (!partial_.path.empty() || !link_as(target_)) {
        for (int attempt = 0; partial_.path.empty(); ++attempt) {
            const std::string name = fmt::format("{}{}{}-{}", folder_of(target_), kTemporary, getpid(), attempt);
            if (link_as(name)) partial_.path = name;
        }
        if (std::rename(partial_.path.c_str(), target_.c_str()) != 0) fail();
        partial_.path.clear();
    }
    // The name, too, is to outlast a crash. Some file systems cannot sync a folder.
    const descriptor folder(open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() >= 0) fsync(folder.get());
}

}  // namespace cornerturn::files
