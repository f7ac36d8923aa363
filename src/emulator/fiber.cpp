// The switch between fibers where fiber.hpp has none of our own: Boost.Context's.
#include "emulator/fiber.hpp"

#if !CORNERTURN_OWN_FIBERS
#include <boost/context/detail/fcontext.hpp>

#include <cstddef>

namespace cornerturn::emulator {
namespace {

// A fiber learns from the one that switches to it where that one stands.
void resumed(boost::context::detail::transfer_t by) { static_cast<handover*>(by.data)->from->stack_pointer = by.fctx; }

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

void switch_fibers(handover by) { resumed(boost::context::detail::jump_fcontext(by.to->stack_pointer, &by)); }

void resume(fiber& to) {
    fiber left{};
    switch_fibers({&left, &to});
}

}  // namespace cornerturn::emulator
#endif
