// Another order for the bytes of a group, which lie close together on both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace cornerturn::host {

inline constexpr std::int64_t kMostShuffled = 1024;  // bytes of a group, and from the first to the last that it reads
inline constexpr std::int64_t kLeastSource = 16;     // of a block
inline constexpr unsigned char kMark = 0x80;

// How bytes are shuffled: a block of the destination takes some of its bytes from one block of the source with each
// step. Costs are in cycles.
struct shuffle_blocks {
    std::int64_t source, destination;
    bool marks_taken;                         // kMark marks bytes that a step takes; false: those that it leaves 0
    double step_cost, block_cost, part_cost;  // part: a group that is less than a block
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

// All blocks of the destination take as many steps: some find nothing. Blocks begin such that none lies outside its
// group, where the group is as large as a block: the last one begins earlier.
struct shuffle_order {
    std::ptrdiff_t begin = 0;            // from a group's first element to the first byte that is read
    std::int64_t bytes = 0, window = 0;  // written, and read, of a group
    int blocks = 0, steps = 0;           // of the destination, and of each of them
    std::vector<int> from;               // of each step: where its block of the source begins
    std::vector<unsigned char, allocator_of_lines<unsigned char>> places;  // for each step and byte: of that block
};

// Elements of `size` bytes, of which number i is at from[i], counted from the first one.
shuffle_order order_shuffle(const int* from, std::int64_t elements, std::int64_t size, const shuffle_blocks& by);

// What its groups take, about.
double cycles_of_shuffle(const int* from, std::int64_t elements, std::int64_t size, const shuffle_blocks& by);

}  // namespace cornerturn::host
