// A cooperative launch: all blocks are resident at once, and wait for one another at the grid's barrier.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "emulator/worker.hpp"

namespace cornerturn::emulator {

// Runs blocks 0 <= index < blocks on `threads` OS threads, or on fewer if the system starts no more. Each block has its
// own worker: `begin` returns one that has begun the launch on the calling OS thread, and `end` takes it back on the
// same OS thread. Each OS thread runs its blocks in turn up to the grid's barrier. When all blocks have reached it, all
// go on. Throws the error of the lowest block that fails first.
void run_together(std::uint64_t blocks, std::uint64_t threads, double block_seconds,
                  const std::function<std::unique_ptr<worker>()>& begin,
                  const std::function<void(std::unique_ptr<worker>)>& end);

}  // namespace cornerturn::emulator
