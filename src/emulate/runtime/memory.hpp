// The program's memory as CUDA sees it: what was allocated, of which kind, and which copies are allowed.
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
    enum kind { device, pinned, managed, registered, heap } what = device;  // heap: by a kernel's malloc
    int id = 0;  // counts the allocations of its kind, from 1

    std::string name() const;  // "cudaMalloc #3 (4096 bytes)"
};

std::vector<allocation> allocations();
std::optional<allocation> allocation_at(const void* address);  // the one that holds this byte
std::optional<allocation> freed_at(const void* address);       // the last that held it, if nothing does now

// Whether the address lies in device or managed memory, device variables that the program asked for included.
bool is_device_pointer(const void* address);

// For the rest of the runtime.
cudaError_t allocate(void** result, std::size_t bytes, allocation::kind what, unsigned flags = 0);
cudaError_t release(void* at, allocation::kind what);  // the begin of an allocation of this kind
void release_all();                                    // cudaDeviceReset
// A graph's memory: it has its address from the beginning, and is an allocation from activate() to release(). Whoever
// holds it keeps the address.
struct reserved_memory {
    void* at = nullptr;
    std::size_t bytes = 0, mapped = 0;
    reserved_memory() = default;
    ~reserved_memory();
    reserved_memory(const reserved_memory&) = delete;
    reserved_memory& operator=(const reserved_memory&) = delete;
};
std::shared_ptr<reserved_memory> reserve(std::size_t bytes);  // null: there is not so much
cudaError_t activate(const std::shared_ptr<reserved_memory>& memory);
void note_symbol(const void* address, std::size_t bytes);

// Whether `bytes` from `at` may be one side of a copy. A range that begins in an allocation must end in it.
bool device_range(const void* at, std::size_t bytes);
bool host_range(const void* at, std::size_t bytes);
bool any_range(const void* at, std::size_t bytes);

// Whether both sides of a copy are what its kind says: cudaSuccess, cudaErrorInvalidMemcpyDirection or
// cudaErrorInvalidValue.
cudaError_t check_copy(const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes,
                       cudaMemcpyKind kind);

}  // namespace cornerturn::emulator
