// The switch between fibers where fiber.hpp has none of our own: Boost.Context's.
#include "cornerturn/emulator/fiber.hpp"

#if !CORNERTURN_OWN_FIBERS
#include <boost/context/detail/fcontext.hpp>

#include <cstddef>

// What a fiber ends in never returns: a sanitizer's marks beside its variables would stay, where the next thread's
// kernel has its own.
#define CORNERTURN_LEFT_BEHIND __attribute__((no_sanitize("address")))

namespace cornerturn::emulator {
namespace {

// A fiber learns from the one that switches to it where that one stands.
CORNERTURN_LEFT_BEHIND void resumed(boost::context::detail::transfer_t by) {
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

CORNERTURN_LEFT_BEHIND void switch_fibers(handover by) {
    resumed(boost::context::detail::jump_fcontext(by.to->stack_pointer, &by));
}

CORNERTURN_LEFT_BEHIND void resume(fiber& to) {
    fiber left{};
    switch_fibers({&left, &to});
}

}  // namespace cornerturn::emulator
#endif
