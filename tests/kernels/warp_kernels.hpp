// Kernels of one warp or one block that exercise what the ladder does not. Each launches on the emulator.
#pragma once

#include <cstdint>

namespace cornerturn::tests {

// out[kind * 32 + lane] for kind 0..3: index (lane 5), up 3, down 3, xor 16; then kind 4: index in segments of 8.
void run_shuffles(const std::uint32_t* in, std::uint32_t* out, int lanes);

// The lower half-warp alone exchanges twice, then the whole warp once.
void run_partial_shuffles(const std::uint64_t* in, std::uint64_t* out);

// Lane 0 asks a lane that does not take part.
void run_shuffle_from_absent_lane(std::uint32_t* out);

// Lane 31 never reaches the others' __syncwarp.
void run_divergent_warp(std::uint32_t* out);

// Lanes of one warp pass values through shared memory, ordered by __syncwarp, or not.
void run_warp_exchange(std::uint32_t* out, bool with_barrier);

// Reverses n <= 1024 elements in dynamic shared memory.
void run_dynamic_shared(const std::uint16_t* in, std::uint16_t* out, int n);

// A neighbour's byte of the same word: no race; and the same byte: one.
void run_bytes_of_a_word(std::uint8_t* out, bool same_byte);

// A copy of 12 bytes.
void run_odd_copy(const void* in, void* out);

// Calls nested until the emulator's stack is full.
void run_deep_recursion(std::uint32_t* out);

// Each of two lanes reads back what it alone has written, the second by an instruction that the first skips.
void run_late_first_lane(std::uint32_t* out);

// One block of x * y * z threads writes its thread's linear index.
void run_indices(std::uint32_t* out, unsigned x, unsigned y, unsigned z);

// Sums the first in[0] elements: the load of the loop's bound, at a built-in index, need not be in the loop.
void run_loop_bound(const std::uint32_t* in, std::uint32_t* out);

// Each lane reads what it alone wrote, half of them by the two instructions in the other order.
void run_opposite_order(std::uint32_t* out);

// One instruction on static shared memory by some lanes and on dynamic by the others.
void run_both_shared(std::uint32_t* out);

// One instruction on shared memory by one warp and on global memory by the other.
void run_either_space(const std::uint32_t* in, std::uint32_t* out);

// Lanes shuffle from lanes that wait at a __syncwarp instead.
void run_shuffle_meets_barrier(std::uint32_t* out);

// `rounds` warp-level barriers between a write and a neighbour's read of it.
void run_many_warp_barriers(std::uint32_t* out, int rounds);

// A static array of 64 KiB, which CUDA does not allow.
void run_too_much_shared(std::uint32_t* out);

// Every vector type of the dialect, copied once: one access each of its own width.
void run_vector_copies(const void* in, void* out);

// Shared-memory loads and stores of one warp at the given byte offsets, `width` bytes each.
void run_shared_pattern(const std::uint32_t* offsets, std::uint32_t active, int width, void* out);

// A launch whose shape CUDA refuses.
void run_bad_launch(unsigned block_x, unsigned grid_y, std::size_t dynamic_shared_bytes);

}  // namespace cornerturn::tests
