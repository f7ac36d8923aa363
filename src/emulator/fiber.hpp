// A stack of its own for each emulated thread, and the switch between two of them.
//
// On x86-64 the switch is our own and inlined: 2 to 4 ns. Boost.Context's costs 15 there, since it saves the
// floating-point control words, which kernels never change, and since it leaves by a jump that its caller did not
// enter by, so that the processor mispredicts every return of the resumed thread. Elsewhere it is Boost's.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define CORNERTURN_ANNOUNCE_FIBERS 1
#else
#define CORNERTURN_ANNOUNCE_FIBERS 0
#endif

#if defined(__x86_64__) && !defined(CORNERTURN_BOOST_FIBERS)
#define CORNERTURN_OWN_FIBERS 1
#else
#define CORNERTURN_OWN_FIBERS 0
#include <boost/context/detail/fcontext.hpp>
#endif

namespace cornerturn::emulator {

class fiber {
public:
    // Makes the fiber start main() on [bottom, top) when it is first switched to. main never returns, and must call
    // arrived() first. A fiber that is made anew forgets where it stood; nothing is unwound.
    void make(char* bottom, char* top, void (*main)()) {
        bottom_ = bottom;
        top_ = top;
#if CORNERTURN_OWN_FIBERS
        // As if main had just been called from a frame at the top.
        void** const slot = reinterpret_cast<void**>((reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15}) - 16);
        *slot = reinterpret_cast<void*>(main);
        context_ = slot;
#else
        main_ = main;
        context_ = boost::context::detail::make_fcontext(top, static_cast<std::size_t>(top - bottom), &start);
#endif
    }

    void arrived() {
#if CORNERTURN_ANNOUNCE_FIBERS
        __sanitizer_finish_switch_fiber(fake_stack_, nullptr, nullptr);
#endif
    }

    // Leaves `from`, which is running, for `to`; returns when something switches to `from`.
    [[gnu::always_inline]] static inline void switch_to(fiber& from, fiber& to) {
#if CORNERTURN_ANNOUNCE_FIBERS
        __sanitizer_start_switch_fiber(&from.fake_stack_, to.bottom_, static_cast<std::size_t>(to.top_ - to.bottom_));
#endif
#if CORNERTURN_OWN_FIBERS
        void* save = &from.context_;
        void* target = to.context_;
        asm volatile(
            "leaq -128(%%rsp), %%rsp\n\t"  // spares the red zone
            "pushq %%rbp\n\t"
            "pushq %%rbx\n\t"
            "leaq 1f(%%rip), %%rax\n\t"
            "pushq %%rax\n\t"
            "movq %%rsp, (%0)\n\t"
            "movq %1, %%rsp\n\t"
            "popq %%rax\n\t"
            "jmp *%%rax\n"
            "1:\tpopq %%rbx\n\t"
            "popq %%rbp\n\t"
            "leaq 128(%%rsp), %%rsp"
            : "+D"(save), "+S"(target)
            :
            : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0", "xmm1",
              "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
              "xmm15");
#else
        handover message{&from, to.main_};
        resumed(boost::context::detail::jump_fcontext(to.context_, &message));
#endif
        from.arrived();
    }

    const char* bottom() const { return bottom_; }
    const void* stack_pointer() const { return context_; }

private:
    const char* bottom_ = nullptr;
    const char* top_ = nullptr;
    void* context_ = nullptr;
#if CORNERTURN_ANNOUNCE_FIBERS
    void* fake_stack_ = nullptr;
#endif
#if !CORNERTURN_OWN_FIBERS
    struct handover {
        fiber* from;
        void (*main)();
    };
    static void resumed(boost::context::detail::transfer_t by) {
        static_cast<const handover*>(by.data)->from->context_ = by.fctx;
    }
    static void start(boost::context::detail::transfer_t by) {
        void (*const main)() = static_cast<const handover*>(by.data)->main;
        resumed(by);
        main();
    }
    void (*main_)() = nullptr;
#endif
};

}  // namespace cornerturn::emulator
