// A launch in the emulator.
//
// Instrumented files include this header: kernel_calls.hpp says what it may contain.
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
    std::int64_t outer = 0;  // the matrix, counted over the outer axes: for example a batch element
};

// One matrix on which a block's addresses depend: the address of tile (0, 0), and the distances in bytes to the tile in
// the next row and in the next column of the tile grid. A pitch is 0 if the operand does not move.
struct operand {
    const void* base;
    std::int64_t row_pitch, col_pitch;
};

inline constexpr int kMaxOperands = 4;

// An axis outside the tiled matrix: its number of matrices, and the distance in bytes to each operand's next matrix.
struct outer_axis {
    std::int64_t extent;
    std::int64_t pitches[kMaxOperands];
};

inline constexpr int kMaxOuter = 33;

// How a launch cuts a rows x cols matrix, or each of many, into tiles: one for each block. It tells the emulator which
// blocks must have equal counters: those whose operands begin at the same offset in a 32-byte sector and whose tile has
// the same valid extent.
struct tiling {
    std::int64_t rows, cols;            // elements
    std::int64_t tile_rows, tile_cols;  // elements
    int operand_count;
    operand operands[kMaxOperands];
    // The same function that the kernel calls, and its inverse. Null: blockIdx.x counts columns of tiles first, then
    // rows, then the outer axes.
    tile_index (*tile_of)(extent3 block, extent3 grid);
    extent3 (*block_of)(tile_index tile, extent3 grid);
    int outer_count = 0;
    const outer_axis* outer = nullptr;  // the fastest axis first
    std::int64_t depth = 1;             // elements of a tile at each of its rows and columns
};

struct launch_config {
    extent3 grid, block;
    std::size_t dynamic_shared_bytes = 0;
    const void* kernel = nullptr;   // the kernel function's address, for its name in messages
    const tiling* tiles = nullptr;  // null: every block must run, unless classes are guessed
    bool cooperative = false;       // all blocks are resident together and may wait for one another
};

// The main function of a fiber. It calls the kernel for lane after lane, as long as end_lane() returns true. Then it
// leaves the fiber for good by resume(leave_fiber()), in a function called from the same place as the kernel: the next
// fiber is about to return from its kernel to that address, so the processor predicts the return.
using kernel_entry = void (*)(const void* arguments);

bool end_lane();  // the kernel returned; true: call it again, for the next lane
fiber& leave_fiber();

// Runs the kernel for every block, or for one block of each class, in the emulation that is active on the calling
// thread (emulation.hpp). Throws hazard if the kernel breaks a rule of the machine. Synchronous.
void launch(const launch_config& config, kernel_entry entry, const void* arguments);

// While an object of this class exists, this thread's launches prepare a later launch. All of their blocks run, and the
// report shows the later launch's grid.
class preparation_scope {
public:
    preparation_scope();
    ~preparation_scope();
    preparation_scope(const preparation_scope&) = delete;
    preparation_scope& operator=(const preparation_scope&) = delete;
};

}  // namespace cornerturn::emulator
