// Files on their way to what is made.
#pragma once

#include <filesystem>
#include <string>

namespace cornerturn::emulate {

// A folder of its own for what is in the making, gone at the end.
class workshop {
public:
    workshop();
    ~workshop();
    workshop(const workshop&) = delete;
    workshop& operator=(const workshop&) = delete;
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

// Both throw error.
std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);
// Also to another file system; whole or not at all.
void move_file(const std::string& from, const std::string& to);

}  // namespace cornerturn::emulate
