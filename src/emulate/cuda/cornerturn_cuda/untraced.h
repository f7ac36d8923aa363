// Words in memory that barriers count in. The emulator does not report accesses to them: the hardware has its own
// instructions for barriers, which are not among a kernel's loads and stores.
#pragma once

#include "base.h"

// The compiler leaves such a function without callbacks. It must not be inlined into one that has them.
#define CT_UNTRACED inline __attribute__((noinline, no_sanitize("thread")))

CT_UNTRACED unsigned long long ct_untraced_load(const unsigned long long* at) {
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

CT_UNTRACED void ct_untraced_store(unsigned long long* at, unsigned long long value) {
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

CT_UNTRACED unsigned long long ct_untraced_add(unsigned long long* at, unsigned long long value) {
    return __atomic_fetch_add(at, value, __ATOMIC_ACQ_REL);
}

CT_UNTRACED bool ct_untraced_replace(unsigned long long* at, unsigned long long expected, unsigned long long value) {
    return __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

// All threads that a barrier waits for have arrived: what they did before is done for those that wait. The last one to
// arrive calls it.
CT_WORD void ct_phase_ends() {}
