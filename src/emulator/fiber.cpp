// The switch between fibers by Boost.Context, for processors for which fiber.hpp has no switch.
#include "cornerturn/emulator/fiber.hpp"

#if !CORNERTURN_OWN_FIBERS
#include <boost/context/detail/fcontext.hpp>

#include <cstddef>

// The last function of a fiber never returns. A sanitizer's marks beside its variables would stay on the stack, where
// the next thread's kernel has its own variables.
#define CORNERTURN_NO_STACK_MARKS __attribute__((no_sanitize("address")))

namespace cornerturn::emulator {
namespace {

// Stores the stack pointer of the fiber that switched to this one.
CORNERTURN_NO_STACK_MARKS void resumed(boost::context::detail::transfer_t by) {
    static_cast<handover*>(by.data)->from->stack_pointer = by.fctx;
}

void start(boost::context::detail::transfer_t by) {
    void (*const main)() = static_cast<handover*>(by.data)->to->main;
    resumed(by);
    main();
}

}  // namespace

void make_fiber(fiber& made, char* bottom, char* top, void (*main)()) {
    made.stack_pointer = boost::context::detail::make_fcontext(top, static_cast<std::size_t>(top - bottom), &start);
    made.main = main;
}

CORNERTURN_NO_STACK_MARKS void switch_fibers(handover by) {
    resumed(boost::context::detail::jump_fcontext(by.to->stack_pointer, &by));
}

CORNERTURN_NO_STACK_MARKS void resume(fiber& to) {
    fiber left{};
    switch_fibers({&left, &to});
}

}  // namespace cornerturn::emulator
#endif
