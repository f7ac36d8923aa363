/// @file
/// The fibers of the emulator. Each emulated thread has a fiber, and each fiber has its own stack. Compiled kernels
/// include this header; programs do not.
///
/// On x86-64, a switch of fibers is inline code in this header, not a call. A processor predicts that a return goes
/// back to the latest call. After a switch inside a called function, the latest calls are those of another fiber, so
/// the processor would mispredict every return that follows. Elsewhere the switch is Boost.Context, which is slower.
///
/// Instrumented files include this header. kernel_calls.hpp says what such a header may contain.
#pragma once

#if defined(__x86_64__) && !defined(CORNERTURN_BOOST_FIBERS)
/// 1 if the switch is the code in this header, 0 if it is Boost.Context.
#define CORNERTURN_OWN_FIBERS 1
#else
/// 1 if the switch is the code in this header, 0 if it is Boost.Context.
#define CORNERTURN_OWN_FIBERS 0
#endif

namespace cornerturn::emulator {

/// The saved state of a fiber. The fiber continues from this state when another one switches to it.
struct fiber {
#if CORNERTURN_OWN_FIBERS
    void* stack_pointer;  ///< The stack pointer.
    void* frame_pointer;  ///< The frame pointer, rbp.
    /// The register rbx. Compilers may keep a base pointer in it, so the switch cannot declare it overwritten.
    void* rbx;
    void* next_instruction;  ///< The address at which the fiber continues.
#else
    void* stack_pointer;  ///< The context of Boost.Context.
    void (*main)();       ///< The function that the fiber starts.
#endif
};

/// Makes a fiber start a function at the next switch to it.
///
/// This overwrites the saved state and unwinds nothing. The stack begins at the second argument and ends at `top`.
/// @param made The fiber.
/// @param top The end of its stack, a multiple of 16.
/// @param main The function. It must never return.
#if CORNERTURN_OWN_FIBERS
[[gnu::always_inline]] inline void make_fiber(fiber& made, char*, char* top, void (*main)()) {
    made.stack_pointer = top - 8;  // as if a call had just pushed a return address
    made.next_instruction = reinterpret_cast<void*>(main);
}
#else
void make_fiber(fiber& made, char* bottom, char* top, void (*main)());
#endif

/// A switch that the caller still has to make.
struct handover {
    fiber* from;  ///< The fiber that runs now.
    fiber* to;    ///< The fiber that continues.
};

/// Switches from one fiber to another. It returns when a fiber switches back.
/// @param by The switch.
#if CORNERTURN_OWN_FIBERS
[[gnu::always_inline]] inline void switch_fibers(handover by) {
    fiber* from = by.from;
    fiber* to = by.to;
    asm volatile(
        "leaq 1f(%%rip), %%rax\n\t"
        "movq %%rsp, (%0)\n\t"
        "movq %%rbp, 8(%0)\n\t"
        "movq %%rbx, 16(%0)\n\t"
        "movq %%rax, 24(%0)\n\t"
        "movq (%1), %%rsp\n\t"
        "movq 8(%1), %%rbp\n\t"
        "movq 16(%1), %%rbx\n\t"
        "jmp *24(%1)\n"
        "1:"
        : "+D"(from), "+S"(to)
        :
        : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0", "xmm1",
          "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
          "xmm15");
}

/// Switches to another fiber for good: nothing may switch back to the running fiber.
/// @param to The fiber that continues.
[[gnu::always_inline]] inline void resume(fiber& to) {
    asm volatile(
        "movq (%0), %%rsp\n\t"
        "movq 8(%0), %%rbp\n\t"
        "movq 16(%0), %%rbx\n\t"
        "jmp *24(%0)"
        :
        : "S"(&to)
        : "memory");
    __builtin_unreachable();
}
#else
void switch_fibers(handover by);
void resume(fiber& to);
#endif

}  // namespace cornerturn::emulator
