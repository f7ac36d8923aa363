// The program's memory in CUDA's view: allocations, their kinds, and the copies that are allowed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cornerturn::emulator {

struct allocation {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    enum kind_type {
        device,
        pinned,
        managed,
        registered,
        kernel_heap  // malloc in a kernel
    } kind = device;
    int id = 0;  // number among the allocations of its kind, from 1

    std::string name() const;  // "cudaMalloc #3 (4096 bytes)"
};

std::vector<allocation> allocations();
std::optional<allocation> allocation_at(const void* address);  // the allocation that contains this byte
std::optional<allocation> freed_at(const void* address);       // the last one that contained it, if none does now

// Whether the address is in device or managed memory. This includes device variables whose address the program asked
// for.
bool is_device_pointer(const void* address);

// For the rest of the runtime.
cudaError_t allocate(void** result, std::size_t bytes, allocation::kind_type kind, unsigned flags = 0);
cudaError_t release(void* at, allocation::kind_type kind);  // `at`: the first byte of an allocation of this kind
void release_all();                                         // cudaDeviceReset
// Memory of a graph. Its address is reserved for the lifetime of this object. It is an allocation from activate() to
// release().
struct reserved_memory {
    void* at = nullptr;
    std::size_t bytes = 0, mapped = 0;
    reserved_memory() = default;
    ~reserved_memory();
    reserved_memory(const reserved_memory&) = delete;
    reserved_memory& operator=(const reserved_memory&) = delete;
};
std::shared_ptr<reserved_memory> reserve(std::size_t bytes);  // null: not enough memory
cudaError_t activate(const std::shared_ptr<reserved_memory>& memory);
void note_symbol(const void* address, std::size_t bytes);

// Whether the `bytes` at `at` may be the source or destination of a copy. A range that begins in an allocation must end
// in it.
bool device_range(const void* at, std::size_t bytes);
bool host_range(const void* at, std::size_t bytes);
bool any_range(const void* at, std::size_t bytes);

// Whether source and destination of a copy agree with its kind. Returns cudaSuccess, cudaErrorInvalidMemcpyDirection or
// cudaErrorInvalidValue.
cudaError_t check_copy(const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes,
                       cudaMemcpyKind kind);

}  // namespace cornerturn::emulator
