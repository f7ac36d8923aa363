// A function to call when the program ends.
#pragma once

namespace cornerturn::emulator {

// Calls f() when this process ends by exit(), quick_exit(), _exit(), _Exit(), abort() or a failed assert(). A signal
// from another process or the end of a forked child does not call f(). Call this once per program.
void at_process_end(void (*f)());

}  // namespace cornerturn::emulator
