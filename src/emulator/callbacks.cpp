// The functions that code compiled with -fsanitize=thread calls before each memory access. The program is not linked
// with ThreadSanitizer's runtime: these functions replace it.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "emulator/launch.hpp"
#include "emulator/worker.hpp"

using cornerturn::emulator::current_worker;
using cornerturn::emulator::kCopied;
using cornerturn::emulator::kLoad;
using cornerturn::emulator::kStore;
using cornerturn::emulator::worker;

#define CORNERTURN_RETURN_ADDRESS reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))
#define CORNERTURN_ACCESS(name, width, op)                                                               \
    void name(void* address) {                                                                           \
        worker::access(reinterpret_cast<std::uintptr_t>(address), width, op, CORNERTURN_RETURN_ADDRESS); \
    }
#define CORNERTURN_UNALIGNED(name, width, op)                                                  \
    void name(void* address) {                                                                 \
        if (current_worker == nullptr) return;                                                 \
        current_worker->access_unaligned(reinterpret_cast<std::uintptr_t>(address), width, op, \
                                         CORNERTURN_RETURN_ADDRESS);                           \
    }
#define CORNERTURN_VOLATILE(name, width, op)                                                  \
    void name(void* address) {                                                                \
        if (current_worker == nullptr) return;                                                \
        current_worker->access_volatile(reinterpret_cast<std::uintptr_t>(address), width, op, \
                                        CORNERTURN_RETURN_ADDRESS);                           \
    }
#define CORNERTURN_ACCESSES(width)                                     \
    CORNERTURN_ACCESS(__tsan_read##width, width, kLoad)                \
    CORNERTURN_ACCESS(__tsan_write##width, width, kStore)              \
    CORNERTURN_UNALIGNED(__tsan_unaligned_read##width, width, kLoad)   \
    CORNERTURN_UNALIGNED(__tsan_unaligned_write##width, width, kStore) \
    CORNERTURN_VOLATILE(__tsan_volatile_read##width, width, kLoad)     \
    CORNERTURN_VOLATILE(__tsan_volatile_write##width, width, kStore)

extern "C" {

// -fsanitize-coverage=trace-pc calls this at the beginning of each basic block.
void __sanitizer_cov_trace_pc() { worker::begin_basic_block(CORNERTURN_RETURN_ADDRESS); }

void __tsan_init() {}
// Called at the beginning and the end of each function that is not inlined.
void __tsan_func_entry(void*) { ++cornerturn::emulator::running.depth; }
void __tsan_func_exit() { --cornerturn::emulator::running.depth; }
// Accesses to an object's pointer to its table of virtual functions.
void __tsan_vptr_update(void** address, void*) {
    worker::access(reinterpret_cast<std::uintptr_t>(address), sizeof(void*), kStore, CORNERTURN_RETURN_ADDRESS);
}
void __tsan_vptr_read(void** address) {
    worker::access(reinterpret_cast<std::uintptr_t>(address), sizeof(void*), kLoad, CORNERTURN_RETURN_ADDRESS);
}

CORNERTURN_ACCESSES(1)
CORNERTURN_ACCESSES(2)
CORNERTURN_ACCESSES(4)
CORNERTURN_ACCESSES(8)
CORNERTURN_ACCESSES(16)

void __tsan_read_range(void* address, std::size_t bytes) {
    if (auto* self = current_worker) {
        self->access_range(reinterpret_cast<std::uintptr_t>(address), bytes, kLoad, CORNERTURN_RETURN_ADDRESS);
    }
}
void __tsan_write_range(void* address, std::size_t bytes) {
    if (auto* self = current_worker) {
        self->access_range(reinterpret_cast<std::uintptr_t>(address), bytes, kStore, CORNERTURN_RETURN_ADDRESS);
    }
}

// -fsanitize=bounds calls __ubsan_handle_out_of_bounds() before it indexes an array out of bounds. The types have
// libubsan's layout.
struct cornerturn_type {
    std::uint16_t kind, info;  // info of an integer type: 2 * log2(its bits), plus 1 if it is signed
    char name[1];              // "'float [4]'"
};
struct cornerturn_index {
    const char* file;
    std::uint32_t line, column;
    const cornerturn_type *array, *index;
};
void __ubsan_handle_out_of_bounds(cornerturn_index* used, std::uint64_t value) {
    auto* const self = current_worker;
    if (self == nullptr) return;
    const unsigned info = used->index->info, unused = 64 - (1u << (info >> 1));
    const bool is_signed = (info & 1) != 0;
    const auto index = is_signed ? static_cast<std::int64_t>(value << unused) >> unused
                                 : static_cast<std::int64_t>(value << unused >> unused);
    self->index_outside(index, used->array->name, CORNERTURN_RETURN_ADDRESS);
}

// The name of `printf` in kernel files.
int cornerturn_kernel_printf(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    auto* const self = current_worker;
    const int result = self != nullptr ? self->print(format, arguments) : std::vprintf(format, arguments);
    va_end(arguments);
    return result;
}
}

namespace cornerturn::emulator {

bool end_lane() { return current_worker->end_lane(); }
fiber& leave_fiber() { return current_worker->leave_fiber(); }
handover sync_threads() noexcept { return current_worker->sync_threads(CORNERTURN_RETURN_ADDRESS); }
handover sync_warp(unsigned mask) noexcept { return current_worker->sync_warp(mask, CORNERTURN_RETURN_ADDRESS); }
handover sync_grid() noexcept { return current_worker->sync_grid(CORNERTURN_RETURN_ADDRESS); }
bool is_cooperative() noexcept { return current_worker->is_cooperative(); }
handover sync_threads_count(bool value) noexcept {
    return current_worker->sync_threads_count(value, CORNERTURN_RETURN_ADDRESS);
}
handover exchange(unsigned mask, std::uint64_t value, exchange_kind kind, int operand, int width) noexcept {
    return current_worker->exchange(mask, value, kind, operand, width, CORNERTURN_RETURN_ADDRESS);
}
std::uint64_t received() noexcept { return current_worker->received(); }
handover active_lanes() noexcept { return current_worker->active_lanes(CORNERTURN_RETURN_ADDRESS); }
handover yield() noexcept { return current_worker->yield(CORNERTURN_RETURN_ADDRESS); }
void store_copied(void* to, const void* value, unsigned bytes) {
    worker::access(reinterpret_cast<std::uintptr_t>(to), bytes, kCopied, CORNERTURN_RETURN_ADDRESS);
    current_worker->copies().hold(to, value, bytes);
}
void end_of_copies() { current_worker->copies().end_group(); }
void wait_for_copies(unsigned later) { current_worker->copies().arrive(later); }
void* dynamic_shared() { return current_worker->dynamic_shared(); }
void atomic(atomic_kind kind, void* address, unsigned bytes, std::uint64_t value, std::uint64_t expected) {
    current_worker->atomic(kind, address, bytes, value, expected, CORNERTURN_RETURN_ADDRESS);
}
std::uint64_t atomic_old() noexcept { return current_worker->atomic_old(); }
void fence() {
    if (current_worker != nullptr) current_worker->fence();  // null in host code, which has atomics, too
}
void atomic_add_floats(float* address, unsigned count, std::uint64_t first, std::uint64_t second) noexcept {
    current_worker->atomic_add_floats(address, count, {first, second}, CORNERTURN_RETURN_ADDRESS);
}
std::uint64_t atomic_old_floats(unsigned pair) noexcept { return current_worker->atomic_old_floats(pair); }
bool is_shared(const void* pointer) {
    return current_worker->is_in(region::shared, reinterpret_cast<std::uintptr_t>(pointer));
}
bool is_global(const void* pointer) {
    return current_worker->is_in(region::global, reinterpret_cast<std::uintptr_t>(pointer));
}
void trap() noexcept { current_worker->trap(CORNERTURN_RETURN_ADDRESS); }
void unsupported_feature(const char* feature) {
    if (current_worker == nullptr) {
        std::fprintf(stderr,
                     "cornerturn: host code calls a device function that uses %s: the emulator does not support this\n",
                     feature);
        std::abort();
    }
    current_worker->refuse(feature, CORNERTURN_RETURN_ADDRESS);
}

}  // namespace cornerturn::emulator
