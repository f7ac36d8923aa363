// Limits of the emulated device: those that cudaDeviceGetAttribute returns on an H200.
#pragma once

#include <cstddef>

namespace cornerturn::emulator {

inline constexpr std::size_t kDeviceBytes = 150109880320;
inline constexpr int kMultiprocessors = 132;
inline constexpr int kMaxBlockThreads = 1024;
inline constexpr int kMultiprocessorThreads = 2048;
inline constexpr int kMultiprocessorBlocks = 32;
inline constexpr int kWarpThreads = 32;
inline constexpr std::size_t kBlockShared = 48 << 10;        // without cudaFuncSetAttribute
inline constexpr std::size_t kBlockSharedOptin = 227 << 10;  // with cudaFuncSetAttribute
inline constexpr std::size_t kMultiprocessorShared = 228 << 10;
inline constexpr std::size_t kReservedShared = 1 << 10;  // per block, for the system

}  // namespace cornerturn::emulator
