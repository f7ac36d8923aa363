#include "device/cuda_device.hpp"

#include <array>
#include <atomic>
#include <string>

#include "core/arguments.hpp"
#include "cornerturn/error.hpp"
#include "device/cuda_check.hpp"

namespace cornerturn::device {
namespace {

using std::to_string;

// Attributes never change, so CUDA is asked for each only once.
int attribute(cudaDeviceAttr which, int device, std::atomic<int>& known) {
    int value = known.load(std::memory_order_relaxed);
    if (value == 0) {
        CORNERTURN_CUDA(cudaDeviceGetAttribute(&value, which, device));
        known.store(++value, std::memory_order_relaxed);
    }
    return value - 1;
}

struct known_device {
    std::atomic<int> major = 0, minor = 0, reads_pageable = 0, multiprocessors = 0, shared_memory = 0,
                     shared_of_block = 0, l2 = 0, memory_clock = 0, memory_width = 0;
};
known_device& known(int device) {
    static std::array<known_device, kDevices> all;
    check_known(device);
    return all[static_cast<std::size_t>(device)];
}

}  // namespace

void check_known(int device) {
    if (device < 0 || device >= kDevices)
        throw unsupported("device " + to_string(device) + ": cornerturn supports only the first " +
                          to_string(kDevices));
}

int current_device() {
    int device = 0;
    CORNERTURN_CUDA(cudaGetDevice(&device));
    return device;
}

int compute_capability_of(int device) {
    known_device& k = known(device);
    return attribute(cudaDevAttrComputeCapabilityMajor, device, k.major) * 10 +
           attribute(cudaDevAttrComputeCapabilityMinor, device, k.minor);
}

int multiprocessors_of(int device) {
    return attribute(cudaDevAttrMultiProcessorCount, device, known(device).multiprocessors);
}

int shared_memory_of(int device) {
    return attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device, known(device).shared_memory);
}

gpu gpu_of(int device) {
    known_device& k = known(device);
    return {compute_capability_of(device), multiprocessors_of(device), shared_memory_of(device),
            attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device, k.shared_of_block),
            attribute(cudaDevAttrL2CacheSize, device, k.l2),
            // Two transfers a cycle: kHz times bits.
            static_cast<int>(std::int64_t{attribute(cudaDevAttrMemoryClockRate, device, k.memory_clock)} * 2 *
                             attribute(cudaDevAttrGlobalMemoryBusWidth, device, k.memory_width) / 8'000'000)};
}

void check_stream(cudaStream_t stream, int device) {
    if (stream == nullptr) return;  // the null stream belongs to the current device
    // CUDA cannot be asked about a stream in capture. If it belongs to another device, CUDA refuses the launch itself.
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    CORNERTURN_CUDA(cudaStreamIsCapturing(stream, &capture));
    if (capture != cudaStreamCaptureStatusNone) return;
    int of_stream = device;
    CORNERTURN_CUDA(cudaStreamGetDevice(stream, &of_stream));
    if (of_stream != device)
        refuse("stream", "of device " + to_string(of_stream), "the current device is " + to_string(device));
}

void check_reachable(const char* name, const char* word, std::uintptr_t address, int device) {
    cudaPointerAttributes found{};
    CORNERTURN_CUDA(cudaPointerGetAttributes(&found, reinterpret_cast<const void*>(address)));
    if (found.type == cudaMemoryTypeUnregistered &&
        attribute(cudaDevAttrPageableMemoryAccess, device, known(device).reads_pageable) == 0) {
        refuse(std::string(name) + word, hex(address),
               "device " + to_string(device) + " cannot reach it: CUDA did not allocate it (use cudaMalloc)");
    }
    if (found.type == cudaMemoryTypeDevice && found.device != device) {
        refuse(std::string(name) + word, hex(address),
               "it lies in the memory of device " + to_string(found.device) + ", and the work is for device " +
                   to_string(device));
    }
}

}  // namespace cornerturn::device
