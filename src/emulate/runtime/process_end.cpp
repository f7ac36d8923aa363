// quick_exit() calls our registered function, and exit() calls our destructor last. This file replaces _exit(),
// _Exit(), abort() and __assert_fail(): the linker prefers its functions to those of the C library.
#include "emulate/runtime/process_end.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace cornerturn::emulator {
namespace {

std::atomic<void (*)()> at_end{nullptr};
std::atomic<pid_t> process{0};

// Not in a forked child, whose launches are no part of the record.
void call_at_end() {
    if (void (*const f)() = at_end; f != nullptr && process == getpid()) f();
}

// Runs after all functions registered with atexit(), destructors of objects, and the program's own [[gnu::destructor]]
// functions, because all of them may launch kernels. Lower numbers run later. Numbers up to 100 are reserved.
[[gnu::destructor(101)]] void call_at_end_last() { call_at_end(); }

[[noreturn]] void end(int status) {
    call_at_end();
    for (;;) syscall(SYS_exit_group, status);
}

}  // namespace

void at_process_end(void (*f)()) {
    process = getpid();
    at_end = f;
    std::at_quick_exit(&call_at_end);
}

}  // namespace cornerturn::emulator

extern "C" {

[[noreturn]] void _exit(int status) { cornerturn::emulator::end(status); }
[[noreturn]] void _Exit(int status) noexcept { cornerturn::emulator::end(status); }

// As in standard C: a handler of SIGABRT runs first, and the program ends even if it returns.
[[noreturn]] void abort() noexcept {
    cornerturn::emulator::call_at_end();
    std::raise(SIGABRT);
    std::signal(SIGABRT, SIG_DFL);
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGABRT);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    for (;;) std::raise(SIGABRT);
}

// Replaced too, because the C library's __assert_fail() calls its own abort(), not ours.
[[noreturn]] void __assert_fail(const char* expression, const char* file, unsigned line,
                                const char* function) noexcept {
    cornerturn::emulator::call_at_end();
    using real = void (*)(const char*, const char*, unsigned, const char*);
    if (const auto theirs = reinterpret_cast<real>(dlsym(RTLD_NEXT, "__assert_fail")); theirs != nullptr)
        theirs(expression, file, line, function);
    std::abort();
}
}
