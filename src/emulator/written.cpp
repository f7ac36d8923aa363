#include "emulator/written.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include "cornerturn/error.hpp"

namespace cornerturn::emulator {

written_elements::written_elements(std::uintptr_t begin, std::size_t bytes, unsigned element_log2)
    : begin_(begin), bytes_((bytes >> element_log2) + 1), element_log2_(element_log2) {
    void* const memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        throw error(fmt::format("the system does not have {} bytes of memory to record what a kernel writes", bytes_));
    marks_ = static_cast<std::uint8_t*>(memory);
}

written_elements::~written_elements() { munmap(marks_, bytes_); }

}  // namespace cornerturn::emulator
