// The stacks on which a block's threads run, one for each, and the fibers that begin there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cornerturn/emulator/fiber.hpp"
#include "emulator/counters.hpp"

// A sanitizer has to be told of each switch to another stack.
#if defined(__SANITIZE_ADDRESS__)
#define CORNERTURN_ANNOUNCE_FIBERS 1
#else
#define CORNERTURN_ANNOUNCE_FIBERS 0
#endif

namespace cornerturn::emulator {

inline constexpr unsigned kMaxThreads = 1024, kMaxWarps = kMaxThreads / kWarpSize;
// A lane that waits has filled about five cache lines at the top of its stack. Stacks a power of two apart would put
// those of all lanes into a few sets of the cache; these follow one another through all of its sets.
inline constexpr std::size_t kLineBytes = 64, kLinesFilled = 5;
inline constexpr unsigned kStacksInCache = 64;  // what waits on so many stacks stays in the nearest cache
// What is kept on each stack for the emulator's own calls, beside what the kernel has: a sanitizer's are large.
inline constexpr std::size_t kStackReserve = CORNERTURN_ANNOUNCE_FIBERS ? 114 << 10 : 2 << 10;

// A stack is known by the fiber that begins there.
class kernel_stacks {
public:
    explicit kernel_stacks(void (*main)()) : main_(main) {}
    ~kernel_stacks();
    kernel_stacks(const kernel_stacks&) = delete;
    kernel_stacks& operator=(const kernel_stacks&) = delete;

    // Makes room on each for so many bytes of a kernel's local variables. True: they are new. Throws error.
    bool resize(std::size_t kernel_bytes);

    fiber* first() { return beginnings_.data(); }
    fiber& beginning_on(fiber* stack) const {
#if !CORNERTURN_OWN_FIBERS
        make_fiber(*stack, bottom_of(stack), bottom_of(stack) + bytes_, main_);
#endif
        return *stack;
    }
    std::size_t bytes() const { return bytes_; }  // of each
    char* bottom_of(const fiber* stack) const { return lowest_ + bytes_ * number_of(stack); }
    bool hold(std::uintptr_t address) const {
        return address - reinterpret_cast<std::uintptr_t>(lowest_) < bytes_ * kMaxThreads;
    }
    // Whether that is memory below all stacks that nobody can touch.
    bool is_guard(std::uintptr_t address) const {
        return address - (reinterpret_cast<std::uintptr_t>(lowest_) - kHeadroom - kGuard) < kGuard;
    }

    // Takes a sanitizer's marks off them: of fibers that were left midway, or of what comes to lie there.
    void unmark();
#if CORNERTURN_ANNOUNCE_FIBERS
    // That the next to run is on that stack, or, if it is null, on the thread's own.
    void announce(const fiber* stack);
#endif

private:
    // Memory below all stacks, so that a kernel whose local variables are too large can still be told of; and below
    // that, some that nobody can touch.
    static constexpr std::size_t kHeadroom = 1 << 20, kGuard = 64 << 10;

    std::size_t number_of(const fiber* stack) const { return static_cast<std::size_t>(stack - beginnings_.data()); }
    void unmap();

    void (*main_)();
    char* lowest_ = nullptr;
    std::size_t bytes_ = 0;
    std::array<fiber, kMaxThreads> beginnings_{};  // our own fibers stay as they were made
#if CORNERTURN_ANNOUNCE_FIBERS
    struct announced {
        void* fake_stack = nullptr;
        const void* bottom = nullptr;
        std::size_t bytes = 0;
    };
    std::array<announced, kMaxThreads + 1> announced_;  // the last: the thread's own
    std::size_t running_on_ = kMaxThreads;
#endif
};

}  // namespace cornerturn::emulator
