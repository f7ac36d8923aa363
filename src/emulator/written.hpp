// The written elements of memory without a value before the run.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cornerturn::emulator {

// A byte for each element of a buffer: whether a thread has written any of it. Only pages with a written element use
// memory, so one block of each class of a huge matrix needs little.
class written_elements {
public:
    // Elements have 2^element_log2 bytes. Throws error if the system lacks the address space.
    written_elements(std::uintptr_t begin, std::size_t bytes, unsigned element_log2);
    ~written_elements();
    written_elements(const written_elements&) = delete;
    written_elements& operator=(const written_elements&) = delete;

    // Record a write of `bytes` bytes: at one address, or at the address of each active lane.
    void note_write(std::uintptr_t address, std::size_t bytes) {
        const std::size_t first = (address - begin_) >> element_log2_,
                          last = (address - begin_ + bytes - 1) >> element_log2_;
        std::memset(&marks_[first], 1, last - first + 1);
    }
    void note_writes(const std::uint64_t* addresses, std::uint32_t active, unsigned bytes) {
        // Local copies: for the compiler, a write to a mark may change these members.
        std::uint8_t* const marks = marks_;
        const std::uintptr_t begin = begin_;
        const unsigned element_log2 = element_log2_, elements = bytes >> element_log2;
        for (std::uint32_t rest = active; rest != 0; rest &= rest - 1) {
            std::uint8_t* const first = &marks[(addresses[std::countr_zero(rest)] - begin) >> element_log2];
            *first = 1;
            for (unsigned i = 1; i < elements; ++i) first[i] = 1;
        }
    }
    bool is_written(std::uintptr_t address, unsigned width) const {
        const std::uint8_t* const first = &marks_[(address - begin_) >> element_log2_];
        bool all = *first != 0;
        for (unsigned i = 1; i < width >> element_log2_; ++i) all &= first[i] != 0;
        return all;
    }

private:
    std::uintptr_t begin_;
    std::size_t bytes_;  // of the marks
    unsigned element_log2_;
    std::uint8_t* marks_;
};

}  // namespace cornerturn::emulator
