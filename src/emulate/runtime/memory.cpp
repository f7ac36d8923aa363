#include "emulate/runtime/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "core/available_memory.hpp"
#include "emulate/runtime/device.hpp"
#include "emulate/runtime/errors.hpp"
#include "emulate/runtime/graph.hpp"
#include "emulate/runtime/pools.hpp"

namespace cornerturn::emulator {
namespace {

constexpr std::size_t kAlignment = 512;  // that of device allocations
// Allocations of at least this size are mapped. A mapping is zero, and takes memory only where it was touched.
constexpr std::size_t kMapped = std::size_t{1} << 20;

struct tracked_allocation {
    allocation is;
    unsigned flags = 0;
    std::size_t mapped = 0;  // bytes of the mapping; 0: the memory is from aligned_alloc(), or is not freed here
    std::shared_ptr<reserved_memory> reserved{};  // owner of the memory, if it belongs to a graph
};

struct registry {
    std::mutex mutex;
    std::map<std::uintptr_t, tracked_allocation> tracked;  // by first address; they do not overlap
    std::map<std::uintptr_t, allocation> freed_ones;  // by first address; none overlaps another or a later allocation
    std::map<std::uintptr_t, std::size_t> variables;  // device variables whose address the program asked for
    int counts[5] = {};
    std::size_t device_bytes = 0;       // of device and managed memory
    std::size_t all_bytes = 0;          // of device, managed and pinned memory
    std::uint64_t graph_bytes = 0;      // graphs' memory in use
    std::uint64_t graph_high = 0;       // its maximum since the program reset it
    std::uint64_t graph_held = 0;       // graphs' reserved memory: the maximum in use since the last trim
    std::uint64_t graph_held_high = 0;  // the maximum of graph_held since the program reset it
    std::int64_t machine_bytes = -1;

    tracked_allocation* find(const void* address) {
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        auto next = tracked.upper_bound(at);
        if (next == tracked.begin()) return nullptr;
        tracked_allocation& candidate = std::prev(next)->second;
        return at - candidate.is.begin < candidate.is.bytes ? &candidate : nullptr;
    }

    // The bytes from `address` to the end of its variable. 0: no known variable is there.
    std::size_t variable_left(const void* address) const {
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        auto next = variables.upper_bound(at);
        if (next == variables.begin()) return 0;
        const auto& [begin, bytes] = *std::prev(next);
        return at - begin < bytes ? bytes - (at - begin) : 0;
    }

    // Whether another allocation of this size fits on the device and on the host. The host's limit is read only once,
    // because the system does not count mapped memory as used before it is touched.
    bool fits(std::size_t bytes, allocation::kind_type kind) {
        if (machine_bytes < 0) machine_bytes = available_memory();
        const auto machine = static_cast<std::size_t>(machine_bytes);
        if (bytes > machine || all_bytes > machine - bytes) return false;
        return kind == allocation::pinned || (bytes <= kDeviceBytes && device_bytes <= kDeviceBytes - bytes);
    }

    void count(const tracked_allocation& one, bool more) {
        if (one.is.kind == allocation::registered) return;
        const std::size_t signed_bytes = more ? one.is.bytes : std::size_t{0} - one.is.bytes;
        all_bytes += signed_bytes;
        if (one.is.kind != allocation::pinned) device_bytes += signed_bytes;
        if (!one.reserved) return;
        graph_bytes += signed_bytes;
        graph_high = std::max(graph_high, graph_bytes);
        graph_held = std::max(graph_held, graph_bytes);
        graph_held_high = std::max(graph_held_high, graph_held);
    }

    void add(tracked_allocation one) {
        one.is.id = ++counts[one.is.kind];
        count(one, true);
        tracked.emplace(one.is.begin, one);
        forget_freed(one.is);
    }

    // Not for registered memory, which the host may go on using.
    void note_freed(const allocation& one) {
        constexpr std::size_t kMost = 1 << 16;
        forget_freed(one);
        if (one.kind != allocation::registered && freed_ones.size() < kMost) freed_ones.emplace(one.begin, one);
    }
    void forget_freed(const allocation& one) {
        auto next = freed_ones.lower_bound(one.begin);
        if (next != freed_ones.begin() && one.begin - std::prev(next)->first < std::prev(next)->second.bytes) --next;
        while (next != freed_ones.end() && next->first < one.begin + one.bytes) next = freed_ones.erase(next);
    }
};

// Never destroyed, because programs free memory in destructors of global variables.
registry& state() {
    static registry* const one = new registry;
    return *one;
}

std::size_t page_bytes() {
    static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

// `mapped`: the bytes of the mapping; 0: the memory is from aligned_alloc(). Each mapping ends with an inaccessible
// page, so that no two are adjacent.
void* obtain(std::size_t bytes, std::size_t& mapped) {
    mapped = 0;
    if (bytes >= kMapped) {
        const std::size_t page = page_bytes(), whole = (bytes + page - 1) / page * page, total = whole + page;
        void* const at = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) return nullptr;
        if (mprotect(at, whole, PROT_READ | PROT_WRITE) == 0) {
            mapped = total;
            return at;
        }
        munmap(at, total);
        return nullptr;
    }
    const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* const at = std::aligned_alloc(kAlignment, whole);
    if (at) std::memset(at, 0, whole);  // like memory that a GPU gives to a process for the first time
    return at;
}

void free_memory(void* at, std::size_t mapped) {
    if (mapped) {
        munmap(at, mapped);
    } else {
        std::free(at);
    }
}

void free_memory(const tracked_allocation& one) {
    if (one.is.kind == allocation::registered || one.reserved) return;
    free_memory(reinterpret_cast<void*>(one.is.begin), one.mapped);
}

}  // namespace

std::string allocation::name() const {
    static constexpr const char* kCalls[] = {"cudaMalloc", "cudaMallocHost", "cudaMallocManaged", "cudaHostRegister",
                                             "a kernel's malloc"};
    return std::string(kCalls[kind]) + " #" + std::to_string(id) + " (" + std::to_string(bytes) + " bytes)";
}

std::vector<allocation> allocations() {
    const std::lock_guard lock(state().mutex);
    std::vector<allocation> list;
    for (const auto& [begin, one] : state().tracked) list.push_back(one.is);
    return list;
}

std::optional<allocation> allocation_at(const void* address) {
    const std::lock_guard lock(state().mutex);
    const tracked_allocation* const one = state().find(address);
    return one ? std::optional(one->is) : std::nullopt;
}

std::optional<allocation> freed_at(const void* address) {
    const std::lock_guard lock(state().mutex);
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    auto next = state().freed_ones.upper_bound(at);
    if (next == state().freed_ones.begin()) return {};
    const allocation& one = std::prev(next)->second;
    return at - one.begin < one.bytes ? std::optional(one) : std::nullopt;
}

bool is_device_pointer(const void* address) {
    const std::lock_guard lock(state().mutex);
    const tracked_allocation* const one = state().find(address);
    if (one) return one->is.kind == allocation::device || one->is.kind == allocation::managed;
    return state().variable_left(address) > 0;
}

void note_symbol(const void* address, std::size_t bytes) {
    const std::lock_guard lock(state().mutex);
    state().variables[reinterpret_cast<std::uintptr_t>(address)] = bytes;
}

cudaError_t allocate(void** result, std::size_t bytes, allocation::kind_type kind, unsigned flags) {
    if (!result) return cudaErrorInvalidValue;
    *result = nullptr;
    if (bytes == 0) return cudaSuccess;
    const std::lock_guard lock(state().mutex);
    if (!state().fits(bytes, kind)) return cudaErrorMemoryAllocation;
    tracked_allocation one;
    void* const at = obtain(bytes, one.mapped);
    if (!at) return cudaErrorMemoryAllocation;
    one.is.begin = reinterpret_cast<std::uintptr_t>(at);
    one.is.bytes = bytes;
    one.is.kind = kind;
    one.flags = flags;
    state().add(one);
    *result = at;
    return cudaSuccess;
}

reserved_memory::~reserved_memory() { free_memory(at, mapped); }

std::shared_ptr<reserved_memory> reserve(std::size_t bytes) {
    const std::lock_guard lock(state().mutex);
    if (!state().fits(bytes, allocation::device)) return nullptr;
    auto made = std::make_shared<reserved_memory>();
    made->at = obtain(bytes, made->mapped);
    made->bytes = bytes;
    return made->at ? made : nullptr;
}

cudaError_t activate(const std::shared_ptr<reserved_memory>& memory) {
    const std::lock_guard lock(state().mutex);
    if (state().find(memory->at)) return cudaErrorInvalidValue;
    if (!state().fits(memory->bytes, allocation::device)) return cudaErrorMemoryAllocation;
    tracked_allocation one;
    one.is.begin = reinterpret_cast<std::uintptr_t>(memory->at);
    one.is.bytes = memory->bytes;
    one.reserved = memory;
    state().add(one);
    return cudaSuccess;
}

cudaError_t release(void* at, allocation::kind_type kind) {
    tracked_allocation one;
    {
        const std::lock_guard lock(state().mutex);
        const tracked_allocation* const found = state().find(at);
        if (!found || found->is.begin != reinterpret_cast<std::uintptr_t>(at)) return cudaErrorInvalidValue;
        const bool frees_managed = kind == allocation::device && found->is.kind == allocation::managed;
        if (found->is.kind != kind && !frees_managed) return cudaErrorInvalidValue;
        one = *found;
        state().tracked.erase(one.is.begin);
        state().note_freed(one.is);
        state().count(one, false);
    }
    if (one.is.kind == allocation::device) pool_forgets(at);
    free_memory(one);
    return cudaSuccess;
}

void release_all() {
    std::map<std::uintptr_t, tracked_allocation> gone;
    {
        const std::lock_guard lock(state().mutex);
        gone.swap(state().tracked);
        for (const auto& [begin, one] : gone) {
            state().count(one, false);
            state().note_freed(one.is);
        }
    }
    for (const auto& [begin, one] : gone) {
        pool_forgets(reinterpret_cast<void*>(begin));
        free_memory(one);
    }
}

bool device_range(const void* at, std::size_t bytes) {
    const std::lock_guard lock(state().mutex);
    const tracked_allocation* const one = state().find(at);
    if (!one) return state().variable_left(at) >= std::max<std::size_t>(bytes, 1);
    return bytes <= one->is.begin + one->is.bytes - reinterpret_cast<std::uintptr_t>(at);
}

bool any_range(const void* at, std::size_t bytes) {
    const std::lock_guard lock(state().mutex);
    if (const tracked_allocation* const one = state().find(at)) {
        return bytes <= one->is.begin + one->is.bytes - reinterpret_cast<std::uintptr_t>(at);
    }
    const std::size_t left = state().variable_left(at);
    return at && (left == 0 || bytes <= left);
}

// False for a pointer to device memory. The caller allows copies from device memory to device memory.
bool host_range(const void* at, std::size_t bytes) {
    {
        const std::lock_guard lock(state().mutex);
        const tracked_allocation* const one = state().find(at);
        if (one ? one->is.kind == allocation::device : state().variable_left(at) > 0) return false;
    }
    return any_range(at, bytes);
}

cudaError_t check_copy(const void* to, std::size_t to_bytes, const void* from, std::size_t from_bytes,
                       cudaMemcpyKind kind) {
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (!to || !from || !any_range(to, to_bytes) || !any_range(from, from_bytes)) return cudaErrorInvalidValue;
    // An H200 with CUDA 13 accepts every kind for a copy from device memory to device memory.
    const bool to_device = device_range(to, to_bytes), from_device = device_range(from, from_bytes);
    if (kind == cudaMemcpyDefault || (to_device && from_device)) return cudaSuccess;
    const bool wants_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool wants_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    const bool right =
        (wants_to ? to_device : host_range(to, to_bytes)) && (wants_from ? from_device : host_range(from, from_bytes));
    return right ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

cudaError_t cudaMalloc(void** devPtr, size_t size) {
    return api_call([&] {
        const cudaError_t error = refuse_in_any_capture();
        return error ? error : allocate(devPtr, size, allocation::device);
    });
}

cudaError_t cudaMallocManaged(void** devPtr, size_t size, unsigned int flags) {
    return api_call([&] {
        if (const cudaError_t error = refuse_in_any_capture()) return error;
        if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
        return allocate(devPtr, size, allocation::managed, flags);
    });
}

cudaError_t cudaHostAlloc(void** pHost, size_t size, unsigned int flags) {
    return api_call([&] {
        if (const cudaError_t error = refuse_in_any_capture()) return error;
        if (flags & ~(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined)) {
            return cudaErrorInvalidValue;
        }
        return allocate(pHost, size, allocation::pinned, flags | cudaHostAllocMapped);  // always mapped, as on an H200
    });
}

cudaError_t cudaMallocHost(void** ptr, size_t size) { return cudaHostAlloc(ptr, size, cudaHostAllocDefault); }

cudaError_t cudaMallocPitch(void** devPtr, size_t* pitch, size_t width, size_t height) {
    return api_call([&] {
        if (const cudaError_t error = refuse_in_any_capture()) return error;
        if (!devPtr || !pitch) return cudaErrorInvalidValue;
        size_t bytes = 0;
        if (width > SIZE_MAX - kAlignment) return cudaErrorMemoryAllocation;
        *pitch = (width + kAlignment - 1) / kAlignment * kAlignment;
        if (__builtin_mul_overflow(*pitch, height, &bytes)) return cudaErrorMemoryAllocation;
        return allocate(devPtr, bytes, allocation::device);
    });
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr* pitchedDevPtr, struct cudaExtent extent) {
    if (!pitchedDevPtr) return fail(cudaErrorInvalidValue);
    size_t rows = 0;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return fail(cudaErrorMemoryAllocation);
    pitchedDevPtr->xsize = extent.width;
    pitchedDevPtr->ysize = extent.height;
    return cudaMallocPitch(&pitchedDevPtr->ptr, &pitchedDevPtr->pitch, extent.width, rows);
}

cudaError_t cudaFree(void* devPtr) {
    return api_call([&] {
        if (const cudaError_t error = refuse_in_any_capture()) return error;
        return devPtr ? release(devPtr, allocation::device) : cudaSuccess;
    });
}

cudaError_t cudaFreeHost(void* ptr) {
    return api_call([&] {
        if (const cudaError_t error = refuse_in_any_capture()) return error;
        return ptr ? release(ptr, allocation::pinned) : cudaSuccess;
    });
}

cudaError_t cudaHostRegister(void* ptr, size_t size, unsigned int flags) {
    return api_call([&] {
        if (!ptr || !size || flags > 0x0fu) return cudaErrorInvalidValue;
        const std::lock_guard lock(state().mutex);
        const auto begin = reinterpret_cast<std::uintptr_t>(ptr);
        const tracked_allocation* overlapping = state().find(ptr);
        const auto next = state().tracked.upper_bound(begin);
        if (!overlapping && next != state().tracked.end() && next->first - begin < size) overlapping = &next->second;
        if (overlapping) {
            return overlapping->is.kind == allocation::registered ? cudaErrorHostMemoryAlreadyRegistered
                                                                  : cudaErrorInvalidValue;
        }
        tracked_allocation one;
        one.is.begin = begin;
        one.is.bytes = size;
        one.is.kind = allocation::registered;
        one.flags = flags | cudaHostRegisterMapped;
        state().add(one);
        return cudaSuccess;
    });
}

cudaError_t cudaHostUnregister(void* ptr) {
    return api_call([&] {
        if (!ptr) return cudaErrorInvalidValue;
        if (!allocation_at(ptr)) return cudaErrorHostMemoryNotRegistered;
        return release(ptr, allocation::registered);
    });
}

cudaError_t cudaHostGetDevicePointer(void** pDevice, void* pHost, unsigned int flags) {
    return api_call([&] {
        if (!pDevice || flags) return cudaErrorInvalidValue;
        const auto one = allocation_at(pHost);
        if (!one || one->kind == allocation::device || one->kind == allocation::kernel_heap)
            return cudaErrorInvalidValue;
        *pDevice = pHost;
        return cudaSuccess;
    });
}

cudaError_t cudaHostGetFlags(unsigned int* pFlags, void* pHost) {
    return api_call([&] {
        const std::lock_guard lock(state().mutex);
        const tracked_allocation* const one = state().find(pHost);
        if (!pFlags || !one || one->is.kind == allocation::device || one->is.kind == allocation::kernel_heap)
            return cudaErrorInvalidValue;
        *pFlags = one->flags;
        return cudaSuccess;
    });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    return api_call([&] {
        if (!free || !total) return cudaErrorInvalidValue;
        const std::lock_guard lock(state().mutex);
        if (state().machine_bytes < 0) state().machine_bytes = cornerturn::available_memory();
        const auto machine = static_cast<std::size_t>(state().machine_bytes);
        *total = kDeviceBytes;
        *free = std::min(kDeviceBytes - state().device_bytes, machine - std::min(machine, state().all_bytes));
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
    return api_call([&] {
        if (device) return cudaErrorInvalidDevice;
        const std::lock_guard lock(state().mutex);
        state().graph_held = state().graph_bytes;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void* value) {
    return api_call([&] {
        if (device) return cudaErrorInvalidDevice;
        if (!value || attr > cudaGraphMemAttrReservedMemHigh) return cudaErrorInvalidValue;
        const std::lock_guard lock(state().mutex);
        const std::uint64_t known[] = {state().graph_bytes, state().graph_high, state().graph_held,
                                       state().graph_held_high};
        *static_cast<std::uint64_t*>(value) = known[attr];
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr, void* value) {
    return api_call([&] {
        if (device) return cudaErrorInvalidDevice;
        const bool is_high = attr == cudaGraphMemAttrUsedMemHigh || attr == cudaGraphMemAttrReservedMemHigh;
        if (!value || !is_high || *static_cast<std::uint64_t*>(value) != 0) return cudaErrorInvalidValue;
        const std::lock_guard lock(state().mutex);
        if (attr == cudaGraphMemAttrUsedMemHigh)
            state().graph_high = state().graph_bytes;
        else
            state().graph_held_high = state().graph_held;
        return cudaSuccess;
    });
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* attributes, const void* ptr) {
    return api_call([&] {
        if (!attributes) return cudaErrorInvalidValue;
        void* const at = const_cast<void*>(ptr);
        const auto one = allocation_at(ptr);
        *attributes = {cudaMemoryTypeHost, 0, at, at};
        if (one ? one->kind == allocation::device || one->kind == allocation::kernel_heap : is_device_pointer(ptr)) {
            *attributes = {cudaMemoryTypeDevice, 0, at, nullptr};
        } else if (!one) {
            *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, at};
        } else if (one->kind == allocation::managed) {
            attributes->type = cudaMemoryTypeManaged;
        }
        return cudaSuccess;
    });
}

}  // extern "C"
