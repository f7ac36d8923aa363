#include "emulator/stacks.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include "cornerturn/error.hpp"
#include "emulator/emulation.hpp"

#if CORNERTURN_ANNOUNCE_FIBERS
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace cornerturn::emulator {

kernel_stacks::~kernel_stacks() { unmap(); }

void kernel_stacks::unmap() {
    if (lowest_ == nullptr) return;
    unmark();
    munmap(lowest_ - kHeadroom - kGuard, bytes_ * kMaxThreads + kHeadroom + kGuard);
}

bool kernel_stacks::resize(std::size_t kernel_bytes) {
    const std::size_t bytes = (kernel_bytes + kLineBytes - 1) / kLineBytes * kLineBytes + kStackReserve +
                              kLinesFilled * kLineBytes;  // stacks must be aligned
    if (bytes == bytes_) return false;
    const std::size_t all = bytes * kMaxThreads + kHeadroom + kGuard;
    void* memory = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw error(
            fmt::format("the system does not have enough memory for the emulator's stacks ({} MiB for each core)",
                        (all >> 20) + 1));
    }
    if (kernel_bytes == kKernelStackBytes) madvise(memory, all, MADV_HUGEPAGE);
    mprotect(memory, kGuard, PROT_NONE);
    unmap();
    lowest_ = static_cast<char*>(memory) + kGuard + kHeadroom;
    bytes_ = bytes;
#if CORNERTURN_OWN_FIBERS
    for (fiber& f : beginnings_) make_fiber(f, bottom_of(&f), bottom_of(&f) + bytes_, main_);
#endif
    return true;
}

void kernel_stacks::unmark() {
#if CORNERTURN_ANNOUNCE_FIBERS
    __asan_unpoison_memory_region(lowest_, bytes_ * kMaxThreads);
#endif
}

#if CORNERTURN_ANNOUNCE_FIBERS
void kernel_stacks::announce(const fiber* stack) {
    announced& left = announced_[running_on_];
    running_on_ = stack == nullptr ? kMaxThreads : number_of(stack);
    announced& next = announced_[running_on_];
    if (stack != nullptr) {
        next.bottom = bottom_of(stack);
        next.bytes = bytes_;
    }
    __sanitizer_start_switch_fiber(&left.fake_stack, next.bottom, next.bytes);
    __sanitizer_finish_switch_fiber(next.fake_stack, &left.bottom, &left.bytes);
}
#endif

}  // namespace cornerturn::emulator
