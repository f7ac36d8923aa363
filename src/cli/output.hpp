// The program's output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cornerturn::cli {

// Call this first. It opens closed descriptors 0 to 2, so that no file gets their number later.
void open_standard_files();

// Prints a line on standard error, after the program's name. Failures are ignored.
void say(std::string_view message) noexcept;

// Checks before any work that the file, or standard output, can be written. Throws an error if not.
void check_writable(const std::optional<std::string>& path);

// Prints to standard output, or to a file if there is a path. A file appears, or is replaced, only when it is complete.
// Pipes and devices are written to directly. Throws an error that names the target.
void write_out(const std::optional<std::string>& path, const std::string& text);

}  // namespace cornerturn::cli
