// Object files: what is in them, and how the two passes' become one.
//
// The device's code is compiled with every function of the file, as the host's is, so all that it defines gets names of
// its own: "ct.<file's tag>.<name>". A table joins each kernel and variable of the host's code to the device's.
#pragma once

#include <string>

#include "emulate/rewrite.hpp"

namespace cornerturn::emulate {

// Makes `joined` of the two. `tag`: letters and digits that no other file of the program has, or one for all files of
// a program whose device code calls functions of other files.
void join_objects(const std::string& host, const std::string& device, const rewritten& names, const std::string& tag,
                  const std::string& joined);

}  // namespace cornerturn::emulate
