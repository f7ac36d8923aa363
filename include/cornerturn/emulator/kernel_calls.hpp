// What a kernel compiled for the emulator calls: the indices, the barriers, what a warp exchanges, atomics.
//
// Instrumented files include this header, so it holds plain data and declarations only: an inline function or
// a standard container here could be merged with an instrumented copy of itself and be traced, or trace itself. What is
// always inlined and touches no variable in memory is safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cornerturn/emulator/fiber.hpp"

namespace cornerturn::emulator {

// The built-in indices of the thread that runs are thread-local constants to kernels, called "cornerturn_thread_index",
// "..._block_index", "..._block_dim" and "..._grid_dim" by the assembler: the compiler reads them as seldom as it
// likes, moves what depends on them alone out of loops, as nvcc does, and does not report them as accesses of the
// kernel's. The emulator knows the same memory as variables (worker.hpp), and sets it before a thread goes on.
struct index3 {
    unsigned x, y, z;
};

// Nothing is thrown through kernels: between a call here and the handover that it returns, no block of code may begin.

// Barriers: the caller then makes the handover, and goes on once the barrier has opened. Of the block's, received() is
// how many of its threads gave a value that is not 0.
handover sync_threads() noexcept;
handover sync_threads_count(bool value) noexcept;
handover sync_warp(unsigned mask) noexcept;
// Of all blocks of a cooperative launch: the blocks of others run one after another, and cannot wait for each other.
handover sync_grid() noexcept;
bool is_cooperative() noexcept;

// What the lanes of a mask compute together, each from a value of its own: after the handover, received() has it.
enum class exchange_kind {
    index,  // shuffles: the value of the lane that the operand names, in segments of so many lanes
    up,
    down,
    exclusive_or,
    ballot,     // the mask of the lanes whose value is not 0
    match_any,  // the mask of the lanes whose value is this lane's
    match_all,  // the mask, if all lanes have the same value; else 0
    add,        // of 32 bits, as the next six
    least,
    least_signed,
    most,
    most_signed,
    bit_and,
    bit_or,
    bit_xor
};
handover exchange(unsigned mask, std::uint64_t value, exchange_kind kind, int operand, int width) noexcept;
std::uint64_t received() noexcept;

// After the handover received() is the mask of the lanes that are at this call together: all of the warp that have come
// here when no lane can go on elsewhere.
handover active_lanes() noexcept;

// Lets the block's other threads run: for those that wait for something that another one does.
handover yield() noexcept;

// Atomic operations on 1 to 16 bytes, on any memory of the kernel's.
enum class atomic_kind {
    add,
    add_f32,
    add_f64,
    add_f16x2,  // each of the values apart
    add_bf16x2,
    add_f16,
    add_bf16,
    exchange,
    compare,  // and exchange
    least,
    least_signed,
    most,
    most_signed,
    increment,
    decrement,
    bit_and,
    bit_or,
    bit_xor
};
// The operation, for 1, 2, 4 or 8 bytes. `expected` is compare's.
void atomic(atomic_kind kind, void* address, unsigned bytes, std::uint64_t value, std::uint64_t expected);
// The value that was there before this thread's last atomic. A kernel that never asks has the GPU do less: pure, so
// that the compiler takes out the call where nobody uses what it gives.
[[gnu::pure]] std::uint64_t atomic_old() noexcept;
// Adds 2 or 4 floats, two in a value, to those at the address by one instruction; each is atomic by itself. And what
// two of them were.
void atomic_add_floats(float* address, unsigned count, std::uint64_t first, std::uint64_t second) noexcept;
[[gnu::pure]] std::uint64_t atomic_old_floats(unsigned pair) noexcept;
void fence();

void* dynamic_shared();

// An asynchronous copy of 4, 8 or 16 bytes into shared memory, where they are when the thread has waited for their
// group; until then all bits there are set. The thread's copies up to end_of_copies() are a group; wait_for_copies()
// waits for all of its groups but the last `later`.
void store_copied(void* to, const void* value, unsigned bytes);
void end_of_copies();
void wait_for_copies(unsigned later);

// What a pointer of the kernel's points into.
bool is_shared(const void* pointer);
bool is_global(const void* pointer);

// Ends the launch, as an instruction does that there is not.
[[noreturn]] void trap() noexcept;

// Ends the launch with an error that names the feature and where it is used.
[[noreturn]] void unsupported_feature(const char* feature);

}  // namespace cornerturn::emulator
