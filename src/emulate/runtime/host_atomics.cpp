// In the device pass g++ compiles std::atomic into calls of these functions. Device code must not use std::atomic. Host
// functions may. The device's object file contains a copy of each host function; these copies never run, but they must
// link.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

[[noreturn]] void refuse() {
    std::fprintf(stderr, "cornerturn: device code uses std::atomic: use cuda::atomic or functions such as atomicAdd\n");
    std::abort();
}

}  // namespace

extern "C" {
#define CORNERTURN_ATOMICS(bits, type)                                                                     \
    type __tsan_atomic##bits##_load(const volatile type*, int) { refuse(); }                               \
    void __tsan_atomic##bits##_store(volatile type*, type, int) { refuse(); }                              \
    type __tsan_atomic##bits##_exchange(volatile type*, type, int) { refuse(); }                           \
    type __tsan_atomic##bits##_fetch_add(volatile type*, type, int) { refuse(); }                          \
    type __tsan_atomic##bits##_fetch_sub(volatile type*, type, int) { refuse(); }                          \
    type __tsan_atomic##bits##_fetch_and(volatile type*, type, int) { refuse(); }                          \
    type __tsan_atomic##bits##_fetch_or(volatile type*, type, int) { refuse(); }                           \
    type __tsan_atomic##bits##_fetch_xor(volatile type*, type, int) { refuse(); }                          \
    type __tsan_atomic##bits##_fetch_nand(volatile type*, type, int) { refuse(); }                         \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type*, type*, type, int, int) { refuse(); } \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type*, type*, type, int, int) { refuse(); }
CORNERTURN_ATOMICS(8, std::uint8_t)
CORNERTURN_ATOMICS(16, std::uint16_t)
CORNERTURN_ATOMICS(32, std::uint32_t)
CORNERTURN_ATOMICS(64, std::uint64_t)
void __tsan_atomic_thread_fence(int) { refuse(); }
void __tsan_atomic_signal_fence(int) { refuse(); }
}
