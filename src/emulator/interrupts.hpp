// Stops a kernel at an instruction that traps, or when its time is over.
#pragma once

#include <csignal>
#include <ctime>
#include <memory>

namespace cornerturn::emulator {

class worker;

// While one is alive, a kernel that the worker runs on this OS thread ends in a hazard in these cases: it divides an
// integer by zero (unless the worker keeps going); it traps; its local variables are larger than all stacks; one block
// takes more than `block_seconds` (0: no limit). This uses the signals SIGFPE, SIGILL, SIGSEGV, and that of a timer.
class signal_scope {
public:
    signal_scope(worker& self, double block_seconds);
    ~signal_scope();
    signal_scope(const signal_scope&) = delete;
    signal_scope& operator=(const signal_scope&) = delete;

private:
    std::unique_ptr<char[]> stack_;  // for the handlers: a fiber's stack is too small
    stack_t stack_before_{};
    bool timed_;
    timer_t timer_{};
};

}  // namespace cornerturn::emulator
