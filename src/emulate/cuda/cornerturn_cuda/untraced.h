// Accesses to the counters of barriers, which the emulator does not report. The hardware has special instructions for
// barriers, which are not among a kernel's loads and stores.
#pragma once

#include "base.h"
#include "cornerturn/emulator/kernel_calls.hpp"

// Each is also a fence: a thread that sees an arrival also sees what the arriving thread did before.
// The compiler adds no callbacks to such a function. It must not be inlined into a function with callbacks.
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
