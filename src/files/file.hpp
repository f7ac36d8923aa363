// Files that are read and written at offsets, and a new file that replaces an old one only when it is complete.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace cornerturn::files {

// Closes the file at the end of its scope.
class descriptor {
public:
    explicit descriptor(int number = -1) : number_(number) {}
    ~descriptor();
    descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    int get() const { return number_; }

private:
    int number_;
};

// Removes the name at the end of its scope.
struct temporary_name {
    std::string path = {};
    ~temporary_name();
};

// A file to read. Errors name the file.
class input_file {
public:
    explicit input_file(const std::string& path);

    const std::string& path() const { return path_; }
    std::int64_t size() const { return size_; }
    // Reads all of these bytes, or throws error.
    void read(void* to, std::int64_t bytes, std::int64_t offset) const;

private:
    std::string path_;
    descriptor file_;
    std::int64_t size_ = 0;
};

// Checks, before the work starts, that a file at `path` can be created or replaced: there is no file or a regular file
// that may be written, and its folder allows a replacement. Throws error, which names the file.
void check_target(const std::string& path);

// The new content of the file at `path`, whether that file exists or not. If the file system supports unnamed files, it
// has no name before commit(). Without commit(), nothing remains of it. Errors name the target.
class new_file {
public:
    // Throws like check_target(). The new file keeps the owner, the mode, the ACL and the extended attributes of an
    // existing file, as far as the system allows.
    explicit new_file(const std::string& path);

    // Reserves the space, so that a full disk is reported before the work.
    void reserve(std::int64_t bytes);
    void write(const void* from, std::int64_t bytes, std::int64_t offset);
    // These bytes are complete, so the system may start to write them to the disk.
    void begin_sync(std::int64_t bytes, std::int64_t offset);
    void sync();  // returns when all bytes are on the disk
    // Gives the file its name. Call it after sync().
    void commit();

private:
    [[noreturn]] void fail() const;

    std::string target_;      // with links resolved
    temporary_name partial_;  // the name before commit(); empty if the file has none
    descriptor file_;
};

}  // namespace cornerturn::files
