// cornerturn::cuda::transpose: checks what the caller gave, chooses the kernel, launches it.
#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <string>

#include "core/arguments.hpp"
#include "cornerturn/cuda/transpose.hpp"
#include "device/cuda_check.hpp"
#include "transpose/production/dispatch.hpp"

namespace cornerturn::cuda {
namespace {

using std::to_string;

// What never changes of a device is asked once.
int attribute(cudaDeviceAttr which, int device, std::atomic<int>& known) {
    int value = known.load(std::memory_order_relaxed);
    if (value == 0) {
        CORNERTURN_CUDA(cudaDeviceGetAttribute(&value, which, device));
        known.store(++value, std::memory_order_relaxed);
    }
    return value - 1;
}

constexpr int kDevices = 64;
struct known_device {
    std::atomic<int> major = 0, minor = 0, reads_pageable = 0;
};
known_device& known(int device) {
    static std::array<known_device, kDevices> all;
    if (device >= kDevices) throw unsupported("device " + to_string(device) + ": cornerturn knows the first 64");
    return all[static_cast<std::size_t>(device)];
}

int current_device() {
    int device = 0;
    CORNERTURN_CUDA(cudaGetDevice(&device));
    return device;
}

int architecture_of(int device) {
    known_device& k = known(device);
    return attribute(cudaDevAttrComputeCapabilityMajor, device, k.major) * 10 +
           attribute(cudaDevAttrComputeCapabilityMinor, device, k.minor);
}

void check_stream(cudaStream_t stream, int device) {
    if (stream == nullptr) return;  // the current device's
    // A stream that is being captured cannot be asked; CUDA refuses the launch itself where it is another device's.
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    CORNERTURN_CUDA(cudaStreamIsCapturing(stream, &capture));
    if (capture != cudaStreamCaptureStatusNone) return;
    int of_stream = device;
    CORNERTURN_CUDA(cudaStreamGetDevice(stream, &of_stream));
    if (of_stream != device)
        refuse("stream", "of device " + to_string(of_stream), "the current device is " + to_string(device));
}

void check_reachable(const char* name, std::uintptr_t address, int device) {
    cudaPointerAttributes found{};
    CORNERTURN_CUDA(cudaPointerGetAttributes(&found, reinterpret_cast<const void*>(address)));
    const auto argument = [&] { return std::string(name) + ".data"; };
    if (found.type == cudaMemoryTypeUnregistered &&
        attribute(cudaDevAttrPageableMemoryAccess, device, known(device).reads_pageable) == 0) {
        refuse(argument(), hex(address),
               "device " + to_string(device) + " cannot reach it: CUDA did not allocate it (use cudaMalloc)");
    }
    if (found.type == cudaMemoryTypeDevice && found.device != device) {
        refuse(argument(), hex(address),
               "it lies in the memory of device " + to_string(found.device) + ", and the work is for device " +
                   to_string(device));
    }
}

std::uintptr_t address_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

// All that a call does once the layout is known to be right, and the device the current one.
void run(const transpose_layout& l, std::uintptr_t source, std::uintptr_t destination, int device, int architecture,
         cudaStream_t stream) {
    check_stream(stream, device);
    check_reachable("source", source, device);
    check_reachable("destination", destination, device);
    const matrix_work work = work_of(l, source, destination);
    const device::stream_scope launches_go_to(stream);
    const production::tuning use = production::choose(work, architecture);
    if (!production::run_on_gpu(use, work))
        throw unsupported("no kernel is tuned as " + production::explain(work, architecture));
}

}  // namespace

transpose_plan::transpose_plan(const transpose_layout& layout) : layout_(layout) {
    check_layout(layout);
    device_ = current_device();
    architecture_ = architecture_of(device_);
}

void transpose_plan::operator()(const void* source, void* destination, cudaStream_t stream) const {
    if (is_empty(layout_)) return;
    check_addresses(layout_, address_of(source), address_of(destination));
    if (const int current = current_device(); current != device_)
        refuse("the current device", to_string(current), "the plan was made for device " + to_string(device_));
    run(layout_, address_of(source), address_of(destination), device_, architecture_, stream);
}

std::string transpose_plan::explain(const void* source, const void* destination) const {
    return production::explain(work_of(layout_, address_of(source), address_of(destination)), architecture_);
}

namespace detail {

void transpose(const cornerturn::detail::any_batch& source, const cornerturn::detail::any_batch& destination,
               std::int64_t element_size, std::int64_t element_alignment, cudaStream_t stream) {
    const transpose_layout layout = checked_layout(source, destination, element_size, element_alignment);
    if (is_empty(layout)) return;
    // Arguments first: what is wrong with them is wrong without a device, too.
    check_addresses(layout, source.data, destination.data);
    const int device = current_device();
    run(layout, source.data, destination.data, device, architecture_of(device), stream);
}

}  // namespace detail
}  // namespace cornerturn::cuda
