// The blocks of a cooperative launch: all are there at once, and wait for one another at the grid's barrier.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "emulator/worker.hpp"

namespace cornerturn::emulator {

// Runs blocks 0 <= index < blocks on so many OS threads, or fewer where the system gives no more. Each block has a
// worker of its own: `begin` gives one that has begun the launch on the calling OS thread, and `end` takes it back on
// the same. A block runs to the grid's barrier, then the next block of that OS thread does; when all have, all go on.
// Throws the error of the lowest block that fails first.
void run_together(std::uint64_t blocks, std::uint64_t threads, double block_seconds,
                  const std::function<std::unique_ptr<worker>()>& begin,
                  const std::function<void(std::unique_ptr<worker>)>& end);

}  // namespace cornerturn::emulator
