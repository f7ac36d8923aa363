// Description of an address outside of device memory.
#pragma once

#include <cstdint>
#include <string>

namespace cornerturn::emulator {

// The text that follows "makes a 4-byte write at file.cu:12".
std::string describe_stray(std::uintptr_t address);

}  // namespace cornerturn::emulator
