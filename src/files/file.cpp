#include "files/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "cornerturn/error.hpp"

namespace cornerturn::files {
namespace {

constexpr const char* kTemporary = "/.cornerturn-";

[[noreturn]] void fail(const char* what, const std::string& path) {
    throw error(fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

// Repeats a system call that moves some of the bytes until all are moved. Returns false, with errno set, if it fails.
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

// Opens the file that will be replaced, if it exists. Opening it for writing checks the permission to write it.
descriptor open_target(const std::string& path) {
    if (path.empty()) throw error("cannot write a file without a name");
    struct stat found;
    if (stat(path.c_str(), &found) != 0) {
        if (errno != ENOENT) fail("write", path);
        if (lstat(path.c_str(), &found) == 0)
            throw error(fmt::format("cannot write {}: it is a symbolic link to a file that does not exist", path));
        return descriptor();
    }
    require_regular("write", path, found);
    descriptor file(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (file.get() < 0) fail("write", path);
    return file;
}

std::string resolve_links(const std::string& path) {
    std::error_code failure;
    const std::filesystem::path resolved = std::filesystem::canonical(path, failure);
    if (failure) throw error(fmt::format("cannot write {}: {}", path, failure.message()));
    return resolved.string();
}

// Checks that the folder allows a new file at `path`, and the replacement of `target`.
void check_folder(const std::string& path, const descriptor& target) {
    const std::string folder = folder_of(path);
    struct stat of_folder, found;
    if (faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0 || stat(folder.c_str(), &of_folder) != 0)
        fail("write", path);
    if (target.get() < 0 || (of_folder.st_mode & S_ISVTX) == 0 || geteuid() == 0) return;
    if (fstat(target.get(), &found) != 0) fail("write", path);
    if (geteuid() != found.st_uid && geteuid() != of_folder.st_uid)
        throw error(fmt::format(
            "cannot write {}: in the folder {}, only the owner of a file can replace it (sticky bit)", path, folder));
}

// Includes the ACL. Ignores attributes that the system does not show or accept.
void copy_extended_attributes(const descriptor& from, const descriptor& to) {
    std::vector<char> names(1 << 16), value(1 << 16);  // Linux's limits
    const ssize_t length = flistxattr(from.get(), names.data(), names.size());
    for (ssize_t at = 0; at < length; at += static_cast<ssize_t>(std::strlen(names.data() + at)) + 1) {
        const char* const name = names.data() + at;
        const ssize_t size = fgetxattr(from.get(), name, value.data(), value.size());
        if (size >= 0) fsetxattr(to.get(), name, value.data(), static_cast<std::size_t>(size), 0);
    }
}

// Copies the owner, the mode and the extended attributes. Only root can change the owner, and not on every file system,
// so a failure to do so is ignored. Returns false, with errno set, if the mode cannot be kept.
bool keep_attributes(const descriptor& from, const descriptor& to) {
    struct stat old;
    if (fstat(from.get(), &old) != 0) return false;
    [[maybe_unused]] const bool kept =
        fchown(to.get(), old.st_uid, old.st_gid) == 0 || fchown(to.get(), static_cast<uid_t>(-1), old.st_gid) == 0;
    fremovexattr(to.get(), "system.posix_acl_access");  // the folder's default ACL for new files
    if (fchmod(to.get(), old.st_mode & 07777) != 0) return false;
    copy_extended_attributes(from, to);
    return true;
}

}  // namespace

void check_target(const std::string& path) {
    const descriptor target = open_target(path);
    check_folder(target.get() >= 0 ? resolve_links(path) : path, target);
}

descriptor::~descriptor() {
    if (number_ >= 0) close(number_);
}

temporary_name::~temporary_name() {
    if (!path.empty()) unlink(path.c_str());
}

// O_NONBLOCK: refuses a pipe at once, instead of waiting for its writer.
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
    if (errno == ENODATA) throw error(fmt::format("cannot read {}: the file became shorter while it was read", path_));
    files::fail("read", path_);
}

new_file::new_file(const std::string& path) : target_(path) {
    const descriptor replaced = open_target(path);
    const bool exists = replaced.get() >= 0;
    if (exists) target_ = resolve_links(path);
    check_folder(target_, replaced);
#if defined(O_TMPFILE)
    // commit() needs /proc to name the file.
    if (access("/proc/self/fd", X_OK) == 0)
        file_ = descriptor(open(folder_of(target_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
#endif
    if (file_.get() < 0) {  // the file system has no unnamed files, or an error that mkostemp() reports again
        std::string name = folder_of(target_) + kTemporary + "XXXXXX";
        file_ = descriptor(mkostemp(name.data(), O_CLOEXEC));
        if (file_.get() < 0) fail();
        partial_.path = name;
    }
    const mode_t mask = umask(0);
    umask(mask);
    if (!(exists ? keep_attributes(replaced, file_) : fchmod(file_.get(), 0666 & ~mask) == 0)) fail();
}

void new_file::fail() const { files::fail("write", target_); }

void new_file::reserve(std::int64_t bytes) {
    if (bytes == 0) return;
    // If the file system cannot reserve space, the writes will report a full disk. posix_fallocate() is no substitute,
    // because it would write the whole file.
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
    // No system call gives an unnamed file a name that is taken. So the file gets a temporary name first, and is
    // renamed.
    if (!partial_.path.empty() || !link_as(target_)) {
        for (int attempt = 0; partial_.path.empty(); ++attempt) {
            const std::string name = fmt::format("{}{}{}-{}", folder_of(target_), kTemporary, getpid(), attempt);
            if (link_as(name)) partial_.path = name;
        }
        if (std::rename(partial_.path.c_str(), target_.c_str()) != 0) fail();
        partial_.path.clear();
    }
    // Syncing the folder makes the name survive a crash. Some file systems cannot do this, so a failure is ignored.
    const descriptor folder(open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() >= 0) fsync(folder.get());
}

}  // namespace cornerturn::files
