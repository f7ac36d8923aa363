// Joins the object files of the host pass and the device pass.
//
// Both passes compile every function of the file. So each symbol that the device's object file defines is renamed to
// "ct.<tag of the file>.<name>". A table maps each kernel and variable of the host's code to the device's.
#pragma once

#include <string>

#include "emulate/rewrite.hpp"

namespace cornerturn::emulate {

// Writes `joined`. `tag` has letters and digits only. It differs between the files of a program, unless device code
// calls functions of other files (-rdc): then all files share one tag.
void join_objects(const std::string& host, const std::string& device, const rewritten& names, const std::string& tag,
                  const std::string& joined);

}  // namespace cornerturn::emulate
