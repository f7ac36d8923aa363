// Where the program's output goes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cornerturn::cli {

// Call this first. It fills closed descriptors 0 to 2, so that no file opened later gets their number.
void open_standard_files();

// A line on standard error, after the program's name. Where it cannot be written, nothing is said.
void say(std::string_view message) noexcept;

// Throws error where nothing could be written there, to a file or to standard output, before anything else is done.
void check_writable(const std::optional<std::string>& path);

// Prints to the terminal, or to a file if there is a path. A file appears, or is replaced, only once it is
// whole; what is no regular file, such as a pipe or a device, is written to. Throws error that names the target.
void write_out(const std::optional<std::string>& path, const std::string& text);

}  // namespace cornerturn::cli
