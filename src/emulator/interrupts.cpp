#include "emulator/interrupts.hpp"

#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>
#include <vector>

#include "cornerturn/error.hpp"
#include "emulator/divisions.hpp"
#include "emulator/symbols.hpp"
#include "emulator/worker.hpp"

namespace cornerturn::emulator {
namespace {

constexpr std::size_t kHandlersStack = 64 << 10;
constexpr int kTicks = 8;  // timer ticks until a block's time is over

struct sigaction trap_before, illegal_before, fault_before;
const std::vector<byte_range>* kernel_code = nullptr;  // in ascending order

// The timer of this OS thread.
struct clock_state {
    timer_t timer;
    double tick;          // seconds
    std::uint64_t block;  // the block at the last tick
    int ticks;            // in that block
};
thread_local constinit clock_state own_clock{};

int signal_of_timer() { return SIGRTMIN + 7; }

void set_timer(timer_t timer, double every) {
    const auto whole = static_cast<std::time_t>(every);
    const timespec time{whole, std::max(1L, static_cast<long>((every - static_cast<double>(whole)) * 1e9))};
    const itimerspec ticks{time, time};
    timer_settime(timer, 0, &ticks, nullptr);
}

// The registers with the interrupted code's next instruction and its stack pointer.
#if defined(__x86_64__)
auto& instruction_of(ucontext_t& context) { return context.uc_mcontext.gregs[REG_RIP]; }
auto& stack_of(ucontext_t& context) { return context.uc_mcontext.gregs[REG_RSP]; }
constexpr std::uintptr_t kPushedByCall = 8;
#elif defined(__aarch64__)
auto& instruction_of(ucontext_t& context) { return context.uc_mcontext.pc; }
auto& stack_of(ucontext_t& context) { return context.uc_mcontext.sp; }
constexpr std::uintptr_t kPushedByCall = 0;
#else
// Unknown for this processor: a division by zero ends the program, and the time limit ends a kernel at its next access.
std::uintptr_t unknown = 0;
auto& instruction_of(ucontext_t&) { return unknown; }
auto& stack_of(ucontext_t&) { return unknown; }
constexpr std::uintptr_t kPushedByCall = 0;
#endif

void leave_kernel() { current_worker->leave_kernel(); }

bool is_kernel(ucontext_t& context) {
    return current_worker != nullptr && current_worker->has_on_stack(static_cast<std::uintptr_t>(stack_of(context)));
}

// When the handler returns, leave_kernel() runs. The kernel never goes on, so its stack is used again from the top.
void leave(ucontext_t& context, hazard_kind kind) {
    current_worker->set_pending_hazard(kind, static_cast<std::uintptr_t>(instruction_of(context)));
    using word = std::remove_reference_t<decltype(instruction_of(context))>;
    instruction_of(context) = static_cast<word>(reinterpret_cast<std::uintptr_t>(&leave_kernel));
    stack_of(context) = static_cast<word>(current_worker->stack_top() - kPushedByCall);
}

void on_trap(int signal, siginfo_t*, void* context) {
    auto& interrupted = *static_cast<ucontext_t*>(context);
    if (!is_kernel(interrupted)) {
        sigaction(signal, &trap_before, nullptr);  // so that the instruction traps again
        return;
    }
    const auto pc = static_cast<std::uintptr_t>(instruction_of(interrupted));
    if (current_worker->keeps_going()) {
        if (const std::optional<bool> by_zero = finish_division(interrupted)) {
            if (*by_zero) current_worker->note_division(pc);
            return;
        }
    }
    leave(interrupted, hazard_kind::division);
}

// g++ compiles __builtin_trap() to an illegal instruction.
void on_illegal(int signal, siginfo_t*, void* context) {
    auto& interrupted = *static_cast<ucontext_t*>(context);
    if (is_kernel(interrupted))
        leave(interrupted, hazard_kind::trap);
    else
        sigaction(signal, &illegal_before, nullptr);
}

// A function with large local variables first touches each of their pages, from the top down. So it reaches the guard
// below all stacks.
void on_fault(int signal, siginfo_t* what, void* context) {
    const auto address = reinterpret_cast<std::uintptr_t>(what->si_addr);
    if (current_worker != nullptr && current_worker->is_in_guard(address))
        leave(*static_cast<ucontext_t*>(context), hazard_kind::stack_overflow);
    else
        sigaction(signal, &fault_before, nullptr);
}

bool in_kernel_code(std::uintptr_t pc) {
    const auto next = std::upper_bound(kernel_code->begin(), kernel_code->end(), pc,
                                       [](std::uintptr_t at, const byte_range& code) { return at < code.begin; });
    return next != kernel_code->begin() && pc - next[-1].begin < next[-1].bytes;
}

// If the signal interrupted the emulator or a library, that code may hold locks or have changed half of its data. Then
// the kernel goes on. It ends at its next access, or this handler tries again a millisecond later.
void on_tick(int, siginfo_t*, void* context) {
    if (current_worker == nullptr) return;
    clock_state& clock = own_clock;
    if (const std::uint64_t block = current_worker->blocks_begun(); block != clock.block) {
        if (clock.ticks >= kTicks) set_timer(clock.timer, clock.tick);
        clock.block = block;
        clock.ticks = 0;
        return;
    }
    if (++clock.ticks < kTicks) return;
    if (clock.ticks == kTicks) set_timer(clock.timer, 1e-3);
    current_worker->end_time();
    auto& interrupted = *static_cast<ucontext_t*>(context);
    if (is_kernel(interrupted) && in_kernel_code(static_cast<std::uintptr_t>(instruction_of(interrupted))))
        leave(interrupted, hazard_kind::endless_loop);
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction* before) {
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, before);
}

}  // namespace

signal_scope::signal_scope(worker& self, double block_seconds)
    : stack_(std::make_unique_for_overwrite<char[]>(kHandlersStack)), timed_(block_seconds > 0) {
    static std::once_flag once, once_timed;
    std::call_once(once, [] {
        handle(SIGFPE, on_trap, &trap_before);
        handle(SIGILL, on_illegal, &illegal_before);
        handle(SIGSEGV, on_fault, &fault_before);
    });
    const stack_t stack{.ss_sp = stack_.get(), .ss_flags = 0, .ss_size = kHandlersStack};
    sigaltstack(&stack, &stack_before_);
    if (!timed_) return;
    std::call_once(once_timed, [] {
        kernel_code = new std::vector<byte_range>(kernel_code_ranges());  // never destroyed: a handler may need it
        handle(signal_of_timer(), on_tick, nullptr);
    });
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = signal_of_timer();
    event._sigev_un._tid = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) {
        sigaltstack(&stack_before_, nullptr);
        throw error("the system provides no timer for the emulator: use --timeout 0");
    }
    own_clock = {timer_, block_seconds / kTicks, self.blocks_begun(), 0};
    set_timer(timer_, own_clock.tick);
}

signal_scope::~signal_scope() {
    if (timed_) timer_delete(timer_);
    sigaltstack(&stack_before_, nullptr);
}

}  // namespace cornerturn::emulator
