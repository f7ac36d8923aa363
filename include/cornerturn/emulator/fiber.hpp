// A fiber for each emulated thread, with a stack of its own, and the switch between two of them.
//
// Kernels include this header and switch by themselves, inlined, since the processor predicts a return by the call that
// came last: a switch inside a called function leaves it with another fiber's calls, and every return that follows is
// mispredicted. So on x86-64 the switch is our own; elsewhere it is Boost.Context's, and slower.
//
// Instrumented files include this header: see launch.hpp on what it may hold.
#pragma once

#if defined(__x86_64__) && !defined(CORNERTURN_BOOST_FIBERS)
#define CORNERTURN_OWN_FIBERS 1
#else
#define CORNERTURN_OWN_FIBERS 0
#endif

namespace cornerturn::emulator {

// Where a fiber goes on when something switches to it.
struct fiber {
#if CORNERTURN_OWN_FIBERS
    void* stack_pointer;
    void* frame_pointer;
    void* rbx;  // compilers may keep a base pointer there, so it cannot be declared overwritten
    void* next_instruction;
#else
    void* stack_pointer;
    void (*main)();
#endif
};

// Makes the fiber start main(), which must never return, on the stack [bottom, top) when it is next switched to.
// Wherever it stood before is forgotten; nothing is unwound.
#if CORNERTURN_OWN_FIBERS
[[gnu::always_inline]] inline void make_fiber(fiber& made, char*, char* top, void (*main)()) {
    made.stack_pointer = top - 8;  // as if main had just been called: `top` is a multiple of 16
    made.next_instruction = reinterpret_cast<void*>(main);
}
#else
void make_fiber(fiber& made, char* bottom, char* top, void (*main)());
#endif

struct handover {
    fiber* from;  // that is running
    fiber* to;
};

// Leaves one fiber for another; returns when something switches back.
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

// The same where nothing will ever switch back.
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
