// Whatever way a program ends by itself.
#pragma once

namespace cornerturn::emulator {

// Calls f() when this process ends by exit(), quick_exit(), _exit(), _Exit(), abort() or a failed assert(), not a child
// that it forks. Not where a signal from elsewhere ends it. Once a program.
void at_every_end(void (*f)());

}  // namespace cornerturn::emulator
