// What is at an address that no memory of the device's holds.
#pragma once

#include <cstdint>
#include <string>

namespace cornerturn::emulator {

// In words that go on after "makes a 4-byte write at file.cu:12".
std::string describe_stray(std::uintptr_t address);

}  // namespace cornerturn::emulator
