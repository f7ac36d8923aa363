// Temporary folders, and files that are read or written whole.
#pragma once

#include <filesystem>
#include <string>

namespace cornerturn::emulate {

// A new empty folder. The destructor deletes it.
class temporary_folder {
public:
    temporary_folder();
    ~temporary_folder();
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

// Both throw error on failure.
std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);
// Copies `from` to `to`, also to another file system. `to` appears only when it is complete.
void install_file(const std::string& from, const std::string& to);

}  // namespace cornerturn::emulate
