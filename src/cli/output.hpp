// Where the program's output goes.
#pragma once

#include <string>

namespace cornerturn::cli {

// Prints to the terminal, or to the file `path` if it is not empty. A file appears, or is replaced, only once it is
// whole; what is no regular file, such as a pipe or a device, is written to. Throws error that names the target.
void write_out(const std::string& path, const std::string& text);

}  // namespace cornerturn::cli
