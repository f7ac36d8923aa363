// quick_exit() asks who wants to know. exit() calls the destructors of the program last, of which one is ours. Of the
// other ways the program has our own functions, which the linker takes before the C library's.
#include "emulate/runtime/endings.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>

namespace cornerturn::emulator {
namespace {

std::atomic<void (*)()> wanted{nullptr};
std::atomic<pid_t> process{0};

// In the process that asked alone: what a child did is no part of its record.
void tell() {
    if (void (*const f)() = wanted; f != nullptr && process == getpid()) f();
}

// Behind all that atexit() knows, destructors of objects among them, and behind the program's own functions of this
// kind: all of these launch kernels. Lower numbers come later; up to 100 they are the C library's.
[[gnu::destructor(101)]] void tell_last() { tell(); }

[[noreturn]] void end(int status) {
    tell();
    for (;;) syscall(SYS_exit_group, status);
}

}  // namespace

void at_every_end(void (*f)()) {
    process = getpid();
    wanted = f;
    std::at_quick_exit(&tell);
}

}  // namespace cornerturn::emulator

extern "C" {

[[noreturn]] void _exit(int status) { cornerturn::emulator::end(status); }
[[noreturn]] void _Exit(int status) noexcept { cornerturn::emulator::end(status); }

// As C has it: who handles SIGABRT is asked first, and may not return from it to go on.
[[noreturn]] void abort() noexcept {
    cornerturn::emulator::tell();
    std::raise(SIGABRT);
    std::signal(SIGABRT, SIG_DFL);
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGABRT);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    for (;;) std::raise(SIGABRT);
}

// The C library's calls its own abort().
[[noreturn]] void __assert_fail(const char* expression, const char* file, unsigned line,
                                const char* function) noexcept {
    cornerturn::emulator::tell();
    using real = void (*)(const char*, const char*, unsigned, const char*);
    if (const auto theirs = reinterpret_cast<real>(dlsym(RTLD_NEXT, "__assert_fail")); theirs != nullptr)
        theirs(expression, file, line, function);
    std::abort();
}
}
