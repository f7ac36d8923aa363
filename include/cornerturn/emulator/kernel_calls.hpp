/// @file
/// The functions that compiled kernels call in the emulator: barriers, exchanges between lanes, atomics. Compiled
/// kernels include this header; programs do not.
///
/// Many functions return a handover. The caller passes it to switch_fibers(), which returns when the thread may
/// continue. No basic block may begin between the call and the switch, because each basic block begins with a call of
/// the emulator. So these functions are noexcept: a new basic block begins after a call that may throw.
///
/// Instrumented files include this header, so it contains plain data and declarations only. If it had an inline
/// function or a standard container, the linker could replace the emulator's copy by an instrumented one. The emulator
/// would then count its own accesses, or call itself without end. A function that is always inlined and touches no
/// variable in memory is safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cornerturn/emulator/fiber.hpp"

namespace cornerturn::emulator {

/// The value of threadIdx, blockIdx, blockDim or gridDim.
///
/// Kernels see the values of the running thread as thread-local constants. Their names in assembler are
/// "cornerturn_thread_index", "..._block_index", "..._block_dim" and "..._grid_dim". Because they are constants, the
/// compiler reads them rarely and moves code that depends only on them out of loops, as nvcc does. It does not report
/// them as memory accesses of the kernel. The emulator sees the same memory as variables (worker.hpp). It sets them
/// before a thread continues.
struct index3 {
    unsigned x,  ///< The first component.
        y,       ///< The second component.
        z;       ///< The third component.
};

/// __syncthreads().
/// @return The switch to make.
handover sync_threads() noexcept;
/// __syncthreads_count(), __syncthreads_or() and __syncthreads_and(). After the switch, received() returns the number
/// of threads whose value is true.
/// @param value The value of this thread.
/// @return The switch to make.
handover sync_threads_count(bool value) noexcept;
/// __syncwarp().
/// @param mask The lanes that wait for each other.
/// @return The switch to make.
handover sync_warp(unsigned mask) noexcept;
/// A barrier of all blocks of a cooperative launch. In other launches, blocks run one after another and cannot wait for
/// each other.
/// @return The switch to make.
handover sync_grid() noexcept;
/// @return Whether the launch is cooperative.
bool is_cooperative() noexcept;

/// Operations on the values of the lanes of a mask, one value per lane.
enum class exchange_kind {
    index,         ///< A shuffle: the value of the lane that the operand names, within segments of `width` lanes.
    up,            ///< A shuffle: the value of the lane whose number is this lane's number minus the operand.
    down,          ///< A shuffle: the value of the lane whose number is this lane's number plus the operand.
    exclusive_or,  ///< A shuffle: the value of the lane whose number is this lane's number xor the operand.
    ballot,        ///< The mask of the lanes whose value is not 0.
    match_any,     ///< The mask of the lanes that have the value of this lane.
    match_all,     ///< The mask if all lanes have the same value, else 0.
    add,           ///< The sum. This and all following operations have 32 bits.
    least,         ///< The least value.
    least_signed,  ///< The least value of signed integers.
    most,          ///< The greatest value.
    most_signed,   ///< The greatest value of signed integers.
    bit_and,       ///< The bitwise and.
    bit_or,        ///< The bitwise or.
    bit_xor        ///< The bitwise exclusive or.
};
/// Exchanges values between the lanes of a mask. After the switch, received() returns the result.
/// @param mask The lanes.
/// @param value The value of this lane.
/// @param kind The operation.
/// @param operand The operand of a shuffle.
/// @param width The number of lanes in a segment of a shuffle.
/// @return The switch to make.
handover exchange(unsigned mask, std::uint64_t value, exchange_kind kind, int operand, int width) noexcept;
/// @return The result of this thread's last barrier or exchange.
std::uint64_t received() noexcept;

/// __activemask(). After the switch, received() returns the mask of the lanes that make this call together. These are
/// all lanes of the warp that have reached the call when no other lane can continue.
/// @return The switch to make.
handover active_lanes() noexcept;

/// Lets the other threads of the block run. A thread calls it while it waits for another thread.
/// @return The switch to make.
handover yield() noexcept;

/// Atomic operations, on any memory that the kernel may access.
enum class atomic_kind {
    add,           ///< Adds an integer.
    add_f32,       ///< Adds a float.
    add_f64,       ///< Adds a double.
    add_f16x2,     ///< Adds two values of 16 bits (half) separately.
    add_bf16x2,    ///< Adds two values of 16 bits (bfloat16) separately.
    add_f16,       ///< Adds a half.
    add_bf16,      ///< Adds a bfloat16.
    exchange,      ///< Stores the operand.
    compare,       ///< Stores the operand if the old value is the expected one.
    least,         ///< Stores the lesser of the old value and the operand.
    least_signed,  ///< The same for signed integers.
    most,          ///< Stores the greater of the old value and the operand.
    most_signed,   ///< The same for signed integers.
    increment,     ///< Adds 1, or stores 0 if the old value is equal to the operand or greater.
    decrement,     ///< Subtracts 1, or stores the operand if the old value is 0 or greater than the operand.
    bit_and,       ///< The bitwise and.
    bit_or,        ///< The bitwise or.
    bit_xor        ///< The bitwise exclusive or.
};
/// Performs an atomic operation.
/// @param kind The operation.
/// @param address The address.
/// @param bytes The size: 1, 2, 4 or 8.
/// @param value The operand.
/// @param expected The expected value of `compare`.
void atomic(atomic_kind kind, void* address, unsigned bytes, std::uint64_t value, std::uint64_t expected);
/// The value before the last atomic operation of this thread.
///
/// An atomic operation costs a GPU less if the kernel does not use this value. The function is pure, so the compiler
/// removes the call if the result is unused.
/// @return The old value.
[[gnu::pure]] std::uint64_t atomic_old() noexcept;
/// Adds 2 or 4 floats by one instruction. Each addition is a separate atomic operation.
/// @param address The address of the first float.
/// @param count 2 or 4.
/// @param first The first two operands.
/// @param second The last two operands.
void atomic_add_floats(float* address, unsigned count, std::uint64_t first, std::uint64_t second) noexcept;
/// The values before the last atomic_add_floats() of this thread.
/// @param pair 0 for the first two floats, 1 for the last two.
/// @return Two floats.
[[gnu::pure]] std::uint64_t atomic_old_floats(unsigned pair) noexcept;
/// __threadfence(), __threadfence_block() and __threadfence_system().
void fence();

/// @return The dynamic shared memory of the block.
void* dynamic_shared();

/// Copies asynchronously into shared memory. The bytes arrive when the thread has waited for the copy's group. Until
/// then, all bits of the destination are set.
/// @param to The address in shared memory.
/// @param value The bytes.
/// @param bytes The number of bytes: 4, 8 or 16.
void store_copied(void* to, const void* value, unsigned bytes);
/// Ends a group. A group is all copies of the thread since its previous group.
void end_of_copies();
/// Waits for the groups of the thread, except the latest ones.
/// @param later The number of latest groups that it does not wait for.
void wait_for_copies(unsigned later);

/// @param pointer A pointer of the kernel.
/// @return Whether it points into shared memory.
bool is_shared(const void* pointer);
/// @param pointer A pointer of the kernel.
/// @return Whether it points into global memory.
bool is_global(const void* pointer);

/// Ends the launch, as an illegal instruction does.
[[noreturn]] void trap() noexcept;

/// Ends the launch with an error that names a feature and the line that uses it.
/// @param feature The feature that the emulator lacks.
[[noreturn]] void unsupported_feature(const char* feature);

}  // namespace cornerturn::emulator
