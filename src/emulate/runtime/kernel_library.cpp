// The C library in kernels. objects.cpp makes device code call these functions for malloc, memcpy, assert and others.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "emulate/runtime/memory.hpp"
#include "emulator/worker.hpp"

namespace cornerturn::emulator {
namespace {

// Byte by byte, like CUDA's memcpy and memset if the compiler does not know the size.
void access_bytes(const void* at, std::size_t bytes, direction op, std::uintptr_t return_address) {
    for (std::size_t i = 0; i < bytes; ++i)
        worker::access(reinterpret_cast<std::uintptr_t>(at) + i, 1, op, return_address);
}

}  // namespace
}  // namespace cornerturn::emulator

extern "C" void __assert_fail(const char*, const char*, unsigned, const char*) noexcept;

using namespace cornerturn::emulator;

#define CORNERTURN_RETURN_ADDRESS reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))

extern "C" {

void* cornerturn_kernel_malloc(std::size_t bytes) {
    if (current_worker == nullptr) return std::malloc(bytes);
    void* made = nullptr;
    current_worker->on_large_stack([&] {
        if (allocate(&made, bytes, allocation::kernel_heap) != cudaSuccess) made = nullptr;
    });
    return made;
}

void cornerturn_kernel_free(void* memory) {
    if (current_worker == nullptr) return std::free(memory);
    if (memory != nullptr) current_worker->on_large_stack([&] { release(memory, allocation::kernel_heap); });
}

void* cornerturn_kernel_memcpy(void* to, const void* from, std::size_t bytes) {
    access_bytes(from, bytes, kLoad, CORNERTURN_RETURN_ADDRESS);
    access_bytes(to, bytes, kStore, CORNERTURN_RETURN_ADDRESS + 1);
    return std::memmove(to, from, bytes);
}

void* cornerturn_kernel_memmove(void* to, const void* from, std::size_t bytes)
    __attribute__((alias("cornerturn_kernel_memcpy")));
void* cornerturn_kernel__Znwm(std::size_t bytes) __attribute__((alias("cornerturn_kernel_malloc")));
void* cornerturn_kernel__Znam(std::size_t bytes) __attribute__((alias("cornerturn_kernel_malloc")));
void cornerturn_kernel__ZdlPv(void* memory) __attribute__((alias("cornerturn_kernel_free")));
void cornerturn_kernel__ZdaPv(void* memory) __attribute__((alias("cornerturn_kernel_free")));
void cornerturn_kernel__ZdlPvm(void* memory, std::size_t) { cornerturn_kernel_free(memory); }
void cornerturn_kernel__ZdaPvm(void* memory, std::size_t) { cornerturn_kernel_free(memory); }

void* cornerturn_kernel_memset(void* to, int value, std::size_t bytes) {
    access_bytes(to, bytes, kStore, CORNERTURN_RETURN_ADDRESS);
    return std::memset(to, value, bytes);
}

[[noreturn]] void cornerturn_kernel___assert_fail(const char* expression, const char* file, unsigned line,
                                                  const char* function) {
    if (current_worker == nullptr) ::__assert_fail(expression, file, line, function);
    worker& self = *current_worker;
    self.on_large_stack([&] {
        const index3 thread = self.running_thread();
        const extent3 block = self.running_block();
        std::fflush(stdout);
        std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line,
                     function, block.x, block.y, block.z, thread.x, thread.y, thread.z, expression);
    });
    self.fail_assertion(CORNERTURN_RETURN_ADDRESS);
}

// Ticks of the host's processor. They have no relation to a GPU's clock.
std::clock_t cornerturn_kernel_clock() { return static_cast<std::clock_t>(__builtin_ia32_rdtsc()); }

[[noreturn]] void cornerturn_kernel_abort() {
    if (current_worker == nullptr) std::abort();
    current_worker->fail_assertion(CORNERTURN_RETURN_ADDRESS);
}
}
