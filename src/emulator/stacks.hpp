// The stacks of a block's threads, one for each, and the fibers that begin on them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cornerturn/emulator/fiber.hpp"
#include "emulator/counters.hpp"

// A sanitizer must be notified of each switch to another stack.
#if defined(__SANITIZE_ADDRESS__)
#define CORNERTURN_ANNOUNCE_FIBERS 1
#else
#define CORNERTURN_ANNOUNCE_FIBERS 0
#endif

namespace cornerturn::emulator {

inline constexpr unsigned kMaxThreads = 1024, kMaxWarps = kMaxThreads / kWarpSize;
// A waiting lane has filled about five cache lines at the top of its stack. If the stacks were a power of two apart,
// those lines of all lanes would share a few sets of the cache. At this distance they use all of its sets.
inline constexpr std::size_t kLineBytes = 64, kLinesFilled = 5;
inline constexpr unsigned kStacksInCache = 64;  // the filled lines of so many stacks fit in the nearest cache
// Reserved on each stack for the emulator's own calls, beyond the kernel's part. A sanitizer's calls need much.
inline constexpr std::size_t kStackReserve = CORNERTURN_ANNOUNCE_FIBERS ? 114 << 10 : 2 << 10;

// A stack is identified by the fiber that begins on it.
class kernel_stacks {
public:
    explicit kernel_stacks(void (*main)()) : main_(main) {}
    ~kernel_stacks();
    kernel_stacks(const kernel_stacks&) = delete;
    kernel_stacks& operator=(const kernel_stacks&) = delete;

    // Gives each stack room for `kernel_bytes` of a kernel's local variables. Returns whether the stacks are new.
    // Throws error.
    bool resize(std::size_t kernel_bytes);

    fiber* first() { return beginnings_.data(); }
    fiber& beginning_on(fiber* stack) const {
#if !CORNERTURN_OWN_FIBERS
        make_fiber(*stack, bottom_of(stack), bottom_of(stack) + bytes_, main_);
#endif
        return *stack;
    }
    std::size_t bytes() const { return bytes_; }  // of each stack
    char* bottom_of(const fiber* stack) const { return lowest_ + bytes_ * number_of(stack); }
    bool hold(std::uintptr_t address) const {
        return address - reinterpret_cast<std::uintptr_t>(lowest_) < bytes_ * kMaxThreads;
    }
    // Whether the address is in the guard: inaccessible memory below all stacks.
    bool is_in_guard(std::uintptr_t address) const {
        return address - (reinterpret_cast<std::uintptr_t>(lowest_) - kHeadroom - kGuard) < kGuard;
    }

    // Fibers that were abandoned leave a sanitizer's marks on the stacks. This removes them, because the memory is used
    // again.
    void unmark();
#if CORNERTURN_ANNOUNCE_FIBERS
    // Announces that the next code runs on this stack; null: on the OS thread's own stack.
    void announce(const fiber* stack);
#endif

private:
    // kHeadroom: memory below all stacks, so that too large local variables can still be reported. kGuard: inaccessible
    // memory below it.
    static constexpr std::size_t kHeadroom = 1 << 20, kGuard = 64 << 10;

    std::size_t number_of(const fiber* stack) const { return static_cast<std::size_t>(stack - beginnings_.data()); }
    void unmap();

    void (*main_)();
    char* lowest_ = nullptr;
    std::size_t bytes_ = 0;
    std::array<fiber, kMaxThreads> beginnings_{};  // our own fibers stay as make_fiber() made them
#if CORNERTURN_ANNOUNCE_FIBERS
    struct announced {
        void* fake_stack = nullptr;
        const void* bottom = nullptr;
        std::size_t bytes = 0;
    };
    std::array<announced, kMaxThreads + 1> announced_;  // the last: the OS thread's own
    std::size_t running_on_ = kMaxThreads;
#endif
};

}  // namespace cornerturn::emulator
