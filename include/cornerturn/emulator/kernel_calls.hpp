/// @file
/// What a kernel that is compiled for the emulator calls: barriers, exchanges between lanes, atomics. Compiled kernels
/// use this header; programs do not.
///
/// Many functions return a handover. The caller then calls switch_fibers() with it, and goes on when the barrier has
/// opened. No basic block may begin between such a call and the switch, because each basic block calls the emulator
/// when it begins. So these functions are noexcept: after a call that may throw, a new basic block begins.
///
/// Instrumented files include this header, so it contains plain data and declarations only. With an
/// inline function or a standard container, the linker could replace the emulator's own copy by an instrumented one.
/// The emulator would then count its own accesses, or call itself without end. A function that is always inlined and
/// touches no variable in memory is safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cornerturn/emulator/fiber.hpp"

namespace cornerturn::emulator {

/// A built-in index: threadIdx, blockIdx, blockDim or gridDim.
///
/// To kernels, the indices of the running thread are thread-local constants. The assembler calls them
/// "cornerturn_thread_index", "..._block_index", "..._block_dim" and "..._grid_dim". So the compiler reads them as
/// seldom as it likes, and moves code that depends on them alone out of loops, as nvcc does. It does not report them as
/// memory accesses of the kernel. To the emulator the same memory is variables (worker.hpp). It sets them before a
/// thread goes on.
struct index3 {
    unsigned x,  ///< The first component.
        y,       ///< The second component.
        z;       ///< The third component.
};

/// __syncthreads().
/// @return The switch to make.
handover sync_threads() noexcept;
/// __syncthreads_count(), and the like. After the handover, received() is the number of threads whose value is true.
/// @param value The value of this thread.
/// @return The switch to make.
handover sync_threads_count(bool value) noexcept;
/// __syncwarp().
/// @param mask The lanes that wait for each other.
/// @return The switch to make.
handover sync_warp(unsigned mask) noexcept;
/// A barrier of all blocks of a cooperative launch. In other launches the blocks run one after another, and cannot wait
/// for each other.
/// @return The switch to make.
handover sync_grid() noexcept;
/// @return Whether the launch is cooperative.
bool is_cooperative() noexcept;

/// What the lanes of a mask compute together. Each lane gives a value.
enum class exchange_kind {
    index,         ///< A shuffle: the value of the lane that the operand names, within segments of `width` lanes.
    up,            ///< A shuffle: the value of the lane that is lower by the operand.
    down,          ///< A shuffle: the value of the lane that is higher by the operand.
    exclusive_or,  ///< A shuffle: the value of the lane whose number is this lane's number xor the operand.
    ballot,        ///< The mask of the lanes whose value is not 0.
    match_any,     ///< The mask of the lanes that have the value of this lane.
    match_all,     ///< The mask if all lanes have the same value, else 0.
    add,           ///< The sum. It has 32 bits, as have all that follow.
    least,         ///< The least value.
    least_signed,  ///< The least value of signed integers.
    most,          ///< The greatest value.
    most_signed,   ///< The greatest value of signed integers.
    bit_and,       ///< The bitwise and.
    bit_or,        ///< The bitwise or.
    bit_xor        ///< The bitwise exclusive or.
};
/// Exchanges values between the lanes of a mask. After the handover, received() has the result.
/// @param mask The lanes.
/// @param value The value of this lane.
/// @param kind What to compute.
/// @param operand The operand of a shuffle.
/// @param width The lanes of a segment of a shuffle.
/// @return The switch to make.
handover exchange(unsigned mask, std::uint64_t value, exchange_kind kind, int operand, int width) noexcept;
/// @return What the last barrier or exchange gave to this thread.
std::uint64_t received() noexcept;

/// __activemask(). After the handover, received() is the mask of the lanes that are at this call together. These are
/// all lanes of the warp that have come here by the time that no lane can go on elsewhere.
/// @return The switch to make.
handover active_lanes() noexcept;

/// Lets the other threads of the block run. A thread that waits for another one calls it.
/// @return The switch to make.
handover yield() noexcept;

/// Atomic operations, on any memory of the kernel.
enum class atomic_kind {
    add,           ///< Adds an integer.
    add_f32,       ///< Adds a float.
    add_f64,       ///< Adds a double.
    add_f16x2,     ///< Adds two values of 16 bits (half), each by itself.
    add_bf16x2,    ///< Adds two values of 16 bits (bfloat16), each by itself.
    add_f16,       ///< Adds a half.
    add_bf16,      ///< Adds a bfloat16.
    exchange,      ///< Stores the value.
    compare,       ///< Stores the value if the old value is the expected one.
    least,         ///< Stores the lesser of the old value and the value.
    least_signed,  ///< The same for signed integers.
    most,          ///< Stores the greater of the old value and the value.
    most_signed,   ///< The same for signed integers.
    increment,     ///< Adds 1, or stores 0 if the old value is the value or greater.
    decrement,     ///< Subtracts 1, or stores the value if the old value is 0 or greater than the value.
    bit_and,       ///< The bitwise and.
    bit_or,        ///< The bitwise or.
    bit_xor        ///< The bitwise exclusive or.
};
/// Makes an atomic operation.
/// @param kind The operation.
/// @param address The address.
/// @param bytes The size: 1, 2, 4 or 8.
/// @param value The operand.
/// @param expected The expected value of `compare`.
void atomic(atomic_kind kind, void* address, unsigned bytes, std::uint64_t value, std::uint64_t expected);
/// The value before the last atomic of this thread.
///
/// A GPU does less for a kernel that does not ask for it. The function is pure, so the compiler removes the call if
/// nobody uses the result.
/// @return The old value.
[[gnu::pure]] std::uint64_t atomic_old() noexcept;
/// Adds 2 or 4 floats by one instruction. Each addition is atomic by itself.
/// @param address The address of the first float.
/// @param count 2 or 4.
/// @param first The first two operands.
/// @param second The last two operands.
void atomic_add_floats(float* address, unsigned count, std::uint64_t first, std::uint64_t second) noexcept;
/// The values before the last atomic_add_floats() of this thread.
/// @param pair 0 for the first two floats, 1 for the last two.
/// @return Two floats.
[[gnu::pure]] std::uint64_t atomic_old_floats(unsigned pair) noexcept;
/// __threadfence(), and the like.
void fence();

/// @return The dynamic shared memory of the block.
void* dynamic_shared();

/// Copies asynchronously into shared memory. The bytes are there when the thread has waited for the group of the copy.
/// Until then, all bits there are set.
/// @param to The address in shared memory.
/// @param value The bytes.
/// @param bytes How many: 4, 8 or 16.
void store_copied(void* to, const void* value, unsigned bytes);
/// Ends a group: it is all copies of the thread since the group before.
void end_of_copies();
/// Waits for the groups of the thread.
/// @param later How many of the last groups not to wait for.
void wait_for_copies(unsigned later);

/// @param pointer A pointer of the kernel.
/// @return Whether it points into shared memory.
bool is_shared(const void* pointer);
/// @param pointer A pointer of the kernel.
/// @return Whether it points into global memory.
bool is_global(const void* pointer);

/// Ends the launch, as an illegal instruction does.
[[noreturn]] void trap() noexcept;

/// Ends the launch with an error that names a feature and the place of its use.
/// @param feature The feature, which the emulator lacks.
[[noreturn]] void unsupported_feature(const char* feature);

}  // namespace cornerturn::emulator
