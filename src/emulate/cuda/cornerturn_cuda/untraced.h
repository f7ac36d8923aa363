// Words in memory that barriers count in. The emulator does not report accesses to them: the hardware has its own
// instructions for barriers, which are not among a kernel's loads and stores.
#pragma once

#include "base.h"
#include "cornerturn/emulator/kernel_calls.hpp"

// Each is a fence, too: what a thread did before it arrived is done for those that have seen it arrive.
// The compiler leaves such a function without callbacks. It must not be inlined into one that has them.
#define CT_UNTRACED inline __attribute__((noinline, no_sanitize("thread"), no_sanitize_coverage))

CT_UNTRACED unsigned long long ct_untraced_load(const unsigned long long* at) {
    ::cornerturn::emulator::fence();
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

CT_UNTRACED void ct_untraced_store(unsigned long long* at, unsigned long long value) {
    ::cornerturn::emulator::fence();
    __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

CT_UNTRACED unsigned long long ct_untraced_add(unsigned long long* at, unsigned long long value) {
    ::cornerturn::emulator::fence();
    return __atomic_fetch_add(at, value, __ATOMIC_ACQ_REL);
}

CT_UNTRACED bool ct_untraced_replace(unsigned long long* at, unsigned long long expected, unsigned long long value) {
    ::cornerturn::emulator::fence();
    return __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
