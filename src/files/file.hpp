// Files read and written by position, and one that replaces another only when it is whole.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace cornerturn::files {

// Closed where its scope ends.
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

// A name that goes where its scope ends.
struct temporary_name {
    std::string path = {};
    ~temporary_name();
};

// A file to be read. Throws error that names it.
class input_file {
public:
    explicit input_file(const std::string& path);

    const std::string& path() const { return path_; }
    std::int64_t size() const { return size_; }
    // All of these bytes, or an error.
    void read(void* to, std::int64_t bytes, std::int64_t offset) const;

private:
    std::string path_;
    descriptor file_;
    std::int64_t size_ = 0;
};

// That there is a regular file at `path` which may be written, or nothing, in a folder where it can be replaced. Throws
// error that names it: what is refused is refused before the work.
void check_target(const std::string& path);

// What will be the file at `path`, whether there is one or not. Until commit() it has no name, where the file system
// can do that, and nobody sees it; without commit() nothing is left of it. Throws error that names the target.
class new_file {
public:
    // As check_target(). Of a file that is there the owner, the mode, the ACL and the extended attributes are kept,
    // where the system allows it.
    explicit new_file(const std::string& path);

    // Asks for the space at once: a full disk is found out before the work.
    void reserve(std::int64_t bytes);
    void write(const void* from, std::int64_t bytes, std::int64_t offset);
    // These bytes will hardly be written again: the system may begin to bring them to the disk.
    void begin_sync(std::int64_t bytes, std::int64_t offset);
    void sync();  // until all is on the disk
    // Takes the name. To be called after sync().
    void commit();

private:
    [[noreturn]] void fail() const;

    std::string target_;      // behind links
    temporary_name partial_;  // its name until then, if it has one
    descriptor file_;
};

}  // namespace cornerturn::files
