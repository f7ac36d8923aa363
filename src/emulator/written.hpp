// What has been written of memory that held nothing before the run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cornerturn::emulator {

// A byte for each element of a buffer, which says whether a thread has written any of it. It takes the system's memory
// only where something was written, so that one block of each class of a huge matrix needs little.
class written_elements {
public:
    // Elements of a power of two of bytes. Throws error where the system has no such address space.
    written_elements(std::uintptr_t begin, std::size_t bytes, unsigned element_log2);
    ~written_elements();
    written_elements(const written_elements&) = delete;
    written_elements& operator=(const written_elements&) = delete;

    void note_write(std::uintptr_t address, unsigned width) {
        std::uint8_t* const first = &marks_[(address - begin_) >> element_log2_];
        *first = 1;
        for (unsigned i = 1; i < width >> element_log2_; ++i) first[i] = 1;
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
