// Where the program's output goes.
#pragma once

#include <optional>
#include <string>

namespace cornerturn::cli {

// Throws error where a file could not be written there, before anything else is done.
void check_writable(const std::string& path);

// Prints to the terminal, or to a file if there is a path. A file appears, or is replaced, only once it is
// whole; what is no regular file, such as a pipe or a device, is written to. Throws error that names the target.
void write_out(const std::optional<std::string>& path, const std::string& text);

}  // namespace cornerturn::cli
