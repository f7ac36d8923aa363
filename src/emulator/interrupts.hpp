// Stopping a kernel where it stands: at an instruction that the processor refuses, or when its time is over.
#pragma once

#include <csignal>
#include <ctime>
#include <memory>

namespace cornerturn::emulator {

class worker;

// While one is alive, kernels that the worker runs on this OS thread end in a hazard where they divide an integer by
// zero, unless the worker keeps going; where they trap; where their local variables are larger than all stacks; or
// where one block has taken so many seconds (0: as many as it likes). Signals do that: SIGFPE, SIGILL, SIGSEGV, and one
// of a timer.
class interruptible {
public:
    interruptible(worker& self, double block_seconds);
    ~interruptible();
    interruptible(const interruptible&) = delete;
    interruptible& operator=(const interruptible&) = delete;

private:
    std::unique_ptr<char[]> stack_;  // for the handlers: a fiber's own is too small
    stack_t stack_before_{};
    bool timed_;
    timer_t timer_{};
};

}  // namespace cornerturn::emulator
