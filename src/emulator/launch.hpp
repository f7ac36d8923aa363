// A launch in the emulator.
//
// Instrumented files include this header: see kernel_calls.hpp on what it may hold.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cornerturn/emulator/kernel_calls.hpp"

namespace cornerturn::emulator {

struct extent3 {
    unsigned x = 1, y = 1, z = 1;
};

struct tile_index {
    std::int64_t row, col;
    std::int64_t outer = 0;  // counts what lies outside a matrix: the matrices of a batch
};

// One matrix that a block's addresses depend on: where tile (0, 0) begins in it, and how far, in bytes, the next
// tile along the tile grid's rows and columns lies. A step is 0 where the operand does not move.
struct operand {
    const void* base;
    std::int64_t row_step, col_step;
};

inline constexpr int kMaxOperands = 4;

// An axis outside the matrix that is cut into tiles: so many matrices, and how far, in bytes, each operand's next is.
struct outer_axis {
    std::int64_t extent;
    std::int64_t steps[kMaxOperands];
};

inline constexpr int kMaxOuter = 33;

// How a launch cuts a rows x cols matrix, or each of many, into tiles, one a block. It lets the emulator tell which
// blocks must count alike: those whose operands begin at the same offset in a 32-byte sector and whose tile has the
// same valid extent.
struct tiling {
    std::int64_t rows, cols;            // elements
    std::int64_t tile_rows, tile_cols;  // elements
    int operand_count;
    operand operands[kMaxOperands];
    // The very function that the kernel calls, and its inverse. Null: blockIdx.x counts columns of tiles first, then
    // rows, then the outer axes.
    tile_index (*tile_of)(extent3 block, extent3 grid);
    extent3 (*block_of)(tile_index tile, extent3 grid);
    int outer_count = 0;
    const outer_axis* outer = nullptr;  // the fastest first
    std::int64_t depth = 1;             // elements that a tile has at each of its rows and columns
};

struct launch_config {
    extent3 grid, block;
    std::size_t dynamic_shared_bytes = 0;
    const void* kernel = nullptr;   // the kernel function's address: names it in messages
    const tiling* tiles = nullptr;  // without it only every block can run
    bool cooperative = false;       // the blocks are there together, and may wait for one another
};

// What a fiber runs: calls the kernel, for lane after lane, for as long as end_lane() says so. Then it leaves the fiber
// for good by resume(leave_fiber()), out of a function called from where the kernel is: the fiber that goes on is about
// to return from the kernel to that same address, and the processor then predicts its return.
using kernel_entry = void (*)(const void* arguments);

bool end_lane();  // the kernel returned; true: call it again, for the next lane
fiber& leave_fiber();

// Runs the kernel for every block, or for one block of each class, within the emulation that is active on the calling
// thread (emulation.hpp). Throws hazard where the kernel breaks a rule of the machine. Synchronous.
void launch(const launch_config& config, kernel_entry entry, const void* arguments);

// While one is alive, launches on this thread are a step of what is launched after it: every block runs, where
// otherwise one of each class would, and the report's grid is not theirs.
class step_scope {
public:
    step_scope();
    ~step_scope();
    step_scope(const step_scope&) = delete;
    step_scope& operator=(const step_scope&) = delete;
};

}  // namespace cornerturn::emulator
