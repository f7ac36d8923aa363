// Another order for the bytes of a group. The bytes are close together on both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace cornerturn::host {

inline constexpr std::int64_t kMostShuffled = 1024;  // bytes of a group, and from the first to the last that it reads
inline constexpr std::int64_t kLeastSource = 16;     // of a block
inline constexpr unsigned char kMark = 0x80;

// How bytes are shuffled. With each step, a block of the destination takes some of its bytes from one block of the
// source. Costs are in cycles.
struct shuffle_blocks {
    std::int64_t source, destination;
    bool marks_taken;                         // kMark marks bytes that a step takes; false: those that it leaves 0
    double step_cost, block_cost, part_cost;  // part: a group smaller than a block
};

template <class T>
struct allocator_of_lines {
    using value_type = T;
    static constexpr std::align_val_t kLine{64};
    allocator_of_lines() = default;
    template <class Other>
    explicit allocator_of_lines(const allocator_of_lines<Other>&) {}
    T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
    void deallocate(T* all, std::size_t) { ::operator delete(all, kLine); }
    friend bool operator==(const allocator_of_lines&, const allocator_of_lines&) { return true; }
};

// All blocks of the destination take the same number of steps; some steps find nothing. If a group is at least as large
// as a block, no block goes beyond the group: the last block begins earlier.
struct shuffle_order {
    std::ptrdiff_t begin = 0;            // from a group's first element to the first byte that is read
    std::int64_t bytes = 0, window = 0;  // bytes that a group writes, and reads
    int blocks = 0, steps = 0;           // of the destination; of each block
    std::vector<int> from;               // for each step: where its block of the source begins
    std::vector<unsigned char, allocator_of_lines<unsigned char>> places;  // for each step and byte: in that block
};

// For elements of `size` bytes. Element i is at from[i], counted from the first one.
shuffle_order order_shuffle(const int* from, std::int64_t elements, std::int64_t size, const shuffle_blocks& by);

// The approximate cost of its groups.
double cycles_of_shuffle(const int* from, std::int64_t elements, std::int64_t size, const shuffle_blocks& by);

}  // namespace cornerturn::host
