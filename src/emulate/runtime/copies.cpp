// Copies and memsets. Each is complete when its call returns, asynchronous ones included.
#include <cstring>

#include "emulate/runtime/errors.hpp"
#include "emulate/runtime/graph.hpp"
#include "emulate/runtime/kernels.hpp"
#include "emulate/runtime/memory.hpp"
#include "emulate/runtime/streams.hpp"

namespace cornerturn::emulator {
namespace {

// A box of bytes in pitched memory.
struct box {
    char* at = nullptr;
    std::size_t pitch = 0;
    std::size_t slice = 0;  // bytes from one slice to the next

    std::size_t span(const cudaExtent& extent) const {
        return (extent.depth - 1) * slice + (extent.height - 1) * pitch + extent.width;
    }
    char* row(std::size_t y, std::size_t z) const { return at + z * slice + y * pitch; }
};

bool empty(const cudaExtent& extent) { return !extent.width || !extent.height || !extent.depth; }

cudaError_t copy_box(const box& to, const box& from, const cudaExtent& extent, cudaMemcpyKind kind) {
    if (empty(extent)) return cudaSuccess;
    if (const cudaError_t error = check_copy(to.at, to.span(extent), from.at, from.span(extent), kind)) return error;
    for (std::size_t z = 0; z < extent.depth; ++z)
        for (std::size_t y = 0; y < extent.height; ++y) std::memmove(to.row(y, z), from.row(y, z), extent.width);
    return cudaSuccess;
}

cudaError_t set_box(const box& to, int value, const cudaExtent& extent) {
    if (empty(extent)) return cudaSuccess;
    if (!device_range(to.at, to.span(extent))) return cudaErrorInvalidValue;
    for (std::size_t z = 0; z < extent.depth; ++z)
        for (std::size_t y = 0; y < extent.height; ++y) std::memset(to.row(y, z), value, extent.width);
    return cudaSuccess;
}

box flat(const void* at, std::size_t pitch = 0) { return {static_cast<char*>(const_cast<void*>(at)), pitch, 0}; }

// The stream of a call that takes no stream. The call works in the default stream and cannot be captured.
struct no_stream {};

template <class Body>
cudaError_t in_stream(cudaStream_t stream, Body&& body) {
    return api_call([&] { return stream_exists(stream) ? body() : cudaErrorInvalidResourceHandle; });
}
template <class Body>
cudaError_t in_stream(no_stream, Body&& body) {
    return api_call([&] {
        const cudaError_t error = refuse_in_capture(nullptr);
        return error ? error : body();
    });
}

// Runs now(), or adds work() as a node to the graph that the stream is captured into.
template <class Work, class Do>
cudaError_t run_or_capture(cudaStream_t stream, Work&& work, Do&& now) {
    return capture_or_do(
        stream, [&] { return submit(stream, work()); }, now);
}
template <class Work, class Do>
cudaError_t run_or_capture(no_stream, Work&&, Do&& now) {
    return now();
}

template <class Stream>
cudaError_t copy(Stream stream, void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    return run_or_capture(
        stream, [&] { return copy_work{flat_copy(to, from, bytes, kind)}; },
        [&] {
            return copy_box(flat(to), flat(from), {bytes, 1, 1}, kind);
        });
}

template <class Stream>
cudaError_t copy_rows(Stream stream, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind) {
    if (width && height && (!to || !from)) return cudaErrorInvalidValue;
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    return run_or_capture(
        stream,
        [&] {
            cudaMemcpy3DParms params = flat_copy(to, from, width, kind);
            params.dstPtr.pitch = to_pitch;
            params.srcPtr.pitch = from_pitch;
            params.dstPtr.ysize = params.srcPtr.ysize = params.extent.height = height;
            return copy_work{params};
        },
        [&] {
            return copy_box(flat(to, to_pitch), flat(from, from_pitch), {width, height, 1}, kind);
        });
}

box box_of(const cudaPitchedPtr& memory, const cudaPos& position = {0, 0, 0}) {
    const std::size_t slice = memory.pitch * memory.ysize;
    return {static_cast<char*>(memory.ptr) + position.z * slice + position.y * memory.pitch + position.x, memory.pitch,
            slice};
}

cudaError_t copy_3d(const cudaMemcpy3DParms* params) {
    if (!params) return cudaErrorInvalidValue;
    if (params->srcArray || params->dstArray) return cudaErrorNotSupported;
    if (empty(params->extent)) return cudaSuccess;
    if (!params->srcPtr.ptr || !params->dstPtr.ptr) return cudaErrorInvalidValue;
    for (const auto& [memory, position] :
         {std::pair(params->dstPtr, params->dstPos), {params->srcPtr, params->srcPos}}) {
        if (position.x + params->extent.width > memory.pitch) return cudaErrorInvalidPitchValue;
        if (params->extent.depth > 1 && position.y + params->extent.height > memory.ysize) return cudaErrorInvalidValue;
    }
    return copy_box(box_of(params->dstPtr, params->dstPos), box_of(params->srcPtr, params->srcPos), params->extent,
                    params->kind);
}

cudaError_t set_3d(const cudaPitchedPtr& memory, int value, const cudaExtent& extent) {
    if (empty(extent)) return cudaSuccess;
    if (!memory.ptr || extent.width > memory.pitch) return cudaErrorInvalidValue;
    return set_box(box_of(memory), value, extent);
}

cudaError_t set_rows(cudaStream_t stream, void* to, std::size_t pitch, int value, std::size_t width,
                     std::size_t height) {
    return run_or_capture(
        stream,
        [&] {
            return set_work{{to, pitch, static_cast<unsigned>(value), 1, width, height}};
        },
        [&] {
            return set_box(flat(to, pitch), value, {width, height, 1});
        });
}

// Finds the variable's byte at `offset`. The variable must have `bytes` from there on.
cudaError_t find_symbol(const void* symbol, std::size_t offset, std::size_t bytes, char** at) {
    const device_symbol* const found = symbol ? symbol_of(symbol) : nullptr;
    if (!found) return cudaErrorInvalidSymbol;
    if (offset > found->bytes || bytes > found->bytes - offset) return cudaErrorInvalidValue;
    note_symbol(found->address, found->bytes);
    *at = static_cast<char*>(found->address) + offset;
    return cudaSuccess;
}

template <class Stream>
cudaError_t copy_to_symbol(Stream stream, const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                           cudaMemcpyKind kind) {
    char* at = nullptr;
    const cudaError_t error = find_symbol_for_copy(symbol, bytes, offset, kind, cudaMemcpyHostToDevice, &at);
    return error ? error : copy(stream, at, from, bytes, kind);
}

template <class Stream>
cudaError_t copy_from_symbol(Stream stream, void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                             cudaMemcpyKind kind) {
    char* at = nullptr;
    const cudaError_t error = find_symbol_for_copy(symbol, bytes, offset, kind, cudaMemcpyDeviceToHost, &at);
    return error ? error : copy(stream, to, at, bytes, kind);
}

// Prefetches and advice have no effect here. Only their arguments are checked.
cudaError_t check_managed(const void* at, std::size_t bytes, const cudaMemLocation& location) {
    const auto one = allocation_at(at);
    if (!bytes || !one || one->kind != allocation::managed || !any_range(at, bytes)) return cudaErrorInvalidValue;
    if (location.type < cudaMemLocationTypeInvalid || location.type > cudaMemLocationTypeHostNumaCurrent) {
        return cudaErrorInvalidValue;
    }
    const bool absent = location.type == cudaMemLocationTypeDevice && location.id != 0;
    return absent ? cudaErrorInvalidDevice : cudaSuccess;
}

}  // namespace

cudaError_t find_symbol_for_copy(const void* symbol, std::size_t bytes, std::size_t offset, cudaMemcpyKind kind,
                                 cudaMemcpyKind kind_with_host, char** at) {
    if (const cudaError_t error = find_symbol(symbol, offset, bytes, at)) return error;
    const bool fits = kind == kind_with_host || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
    return fits ? cudaSuccess : cudaErrorInvalidMemcpyDirection;
}

cudaError_t copy_memory(const cudaMemcpy3DParms& params) { return copy_3d(&params); }

cudaError_t set_memory(const cudaMemsetParams& params) {
    if (params.elementSize == 1)
        return set_box(flat(params.dst, params.pitch), static_cast<int>(params.value),
                       {params.width, params.height, 1});
    const std::size_t bytes = params.width * params.elementSize;
    const box to = flat(params.dst, params.pitch);
    if (!bytes || !params.height) return cudaSuccess;
    if (!device_range(to.at, to.span({bytes, params.height, 1}))) return cudaErrorInvalidValue;
    for (std::size_t y = 0; y < params.height; ++y)
        for (std::size_t i = 0; i < bytes; i += params.elementSize)
            std::memcpy(to.row(y, 0) + i, &params.value, params.elementSize);
    return cudaSuccess;
}

}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind) {
    return in_stream(no_stream{}, [&] { return copy(no_stream{}, dst, src, count, kind); });
}

cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream) {
    return in_stream(stream, [&] { return copy(stream, dst, src, count, kind); });
}

cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind) {
    return in_stream(no_stream{},
                     [&] { return copy_rows(no_stream{}, dst, dpitch, src, spitch, width, height, kind); });
}

cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind, cudaStream_t stream) {
    return in_stream(stream, [&] { return copy_rows(stream, dst, dpitch, src, spitch, width, height, kind); });
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms* p) {
    return in_stream(no_stream{}, [&] { return copy_3d(p); });
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms* p, cudaStream_t stream) {
    return in_stream(stream, [&] {
        if (!p) return cudaErrorInvalidValue;
        return run_or_capture(
            stream, [&] { return copy_work{*p}; }, [&] { return copy_3d(p); });
    });
}

cudaError_t cudaMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice, size_t count) {
    return cudaMemcpyPeerAsync(dst, dstDevice, src, srcDevice, count, nullptr);
}

cudaError_t cudaMemcpyPeerAsync(void* dst, int dstDevice, const void* src, int srcDevice, size_t count,
                                cudaStream_t stream) {
    return in_stream(stream, [&] {
        if (dstDevice || srcDevice) return cudaErrorInvalidDevice;
        return copy(stream, dst, src, count, cudaMemcpyDeviceToDevice);
    });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset,
                               enum cudaMemcpyKind kind) {
    return in_stream(no_stream{}, [&] { return copy_to_symbol(no_stream{}, symbol, src, count, offset, kind); });
}

cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t count, size_t offset, enum cudaMemcpyKind kind) {
    return in_stream(no_stream{}, [&] { return copy_from_symbol(no_stream{}, dst, symbol, count, offset, kind); });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream) {
    return in_stream(stream, [&] { return copy_to_symbol(stream, symbol, src, count, offset, kind); });
}

cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t count, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream) {
    return in_stream(stream, [&] { return copy_from_symbol(stream, dst, symbol, count, offset, kind); });
}

cudaError_t cudaGetSymbolAddress(void** devPtr, const void* symbol) {
    return api_call([&] {
        char* at = nullptr;
        if (!devPtr) return cudaErrorInvalidValue;
        const cudaError_t error = find_symbol(symbol, 0, 0, &at);
        if (error == cudaSuccess) *devPtr = at;
        return error;
    });
}

cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
    return api_call([&] {
        const device_symbol* const found = symbol ? symbol_of(symbol) : nullptr;
        if (!size) return cudaErrorInvalidValue;
        if (!found) return cudaErrorInvalidSymbol;
        *size = found->bytes;
        return cudaSuccess;
    });
}

cudaError_t cudaMemset(void* devPtr, int value, size_t count) {
    return in_stream(no_stream{}, [&] { return set_box(flat(devPtr), value, {count, 1, 1}); });
}

cudaError_t cudaMemsetAsync(void* devPtr, int value, size_t count, cudaStream_t stream) {
    return in_stream(stream, [&] { return set_rows(stream, devPtr, count, value, count, 1); });
}

cudaError_t cudaMemset2D(void* devPtr, size_t pitch, int value, size_t width, size_t height) {
    return cudaMemset2DAsync(devPtr, pitch, value, width, height, nullptr);
}

cudaError_t cudaMemset2DAsync(void* devPtr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
    return in_stream(stream, [&] {
        if (height > 1 && width > pitch) return cudaErrorInvalidValue;
        return set_rows(stream, devPtr, pitch, value, width, height);
    });
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent) {
    return in_stream(no_stream{}, [&] { return set_3d(pitchedDevPtr, value, extent); });
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
                              cudaStream_t stream) {
    return in_stream(stream, [&] {
        // A node sets rows. Slices with no gap between them form one sequence of rows.
        const cudaError_t error = is_capturing(stream) && extent.depth > 1 && extent.height != pitchedDevPtr.ysize
                                      ? refuse_in_capture(stream)
                                      : cudaSuccess;
        if (error) return error;
        return run_or_capture(
            stream,
            [&] {
                return set_work{{pitchedDevPtr.ptr, pitchedDevPtr.pitch, static_cast<unsigned>(value), 1, extent.width,
                                 extent.height * extent.depth}};
            },
            [&] { return set_3d(pitchedDevPtr, value, extent); });
    });
}

cudaError_t cudaMemPrefetchAsync(const void* devPtr, size_t count, struct cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream) {
    return in_stream(stream, [&] { return flags ? cudaErrorInvalidValue : check_managed(devPtr, count, location); });
}

cudaError_t cudaMemAdvise(const void* devPtr, size_t count, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location) {
    return api_call([&] {
        if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy) return cudaErrorInvalidValue;
        return check_managed(devPtr, count, location);
    });
}

cudaError_t cudaMemRangeGetAttribute(void*, size_t, enum cudaMemRangeAttribute, const void*, size_t) {
    return ct_not_supported();
}

// CUDA arrays hold textures, which the emulator does not support.
cudaError_t cudaMallocArray(cudaArray_t*, const struct cudaChannelFormatDesc*, size_t, size_t, unsigned int) {
    return ct_not_supported();
}
cudaError_t cudaMalloc3DArray(cudaArray_t*, const struct cudaChannelFormatDesc*, struct cudaExtent, unsigned int) {
    return ct_not_supported();
}
cudaError_t cudaFreeArray(cudaArray_t array) { return array ? ct_not_supported() : cudaSuccess; }
cudaError_t cudaMemcpy2DToArray(cudaArray_t, size_t, size_t, const void*, size_t, size_t, size_t, enum cudaMemcpyKind) {
    return ct_not_supported();
}
cudaError_t cudaMemcpy2DFromArray(void*, size_t, cudaArray_const_t, size_t, size_t, size_t, size_t,
                                  enum cudaMemcpyKind) {
    return ct_not_supported();
}
cudaError_t cudaMemcpyToArray(cudaArray_t, size_t, size_t, const void*, size_t, enum cudaMemcpyKind) {
    return ct_not_supported();
}

}  // extern "C"
