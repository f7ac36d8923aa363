#include "device/cuda_check.hpp"
#include "device/each_index.hpp"
#include "device/verifier_kernels.hpp"

namespace cornerturn::device {
namespace {

// Calls on_element(coordinates, address, position) for each element of the batch at `base`, and on_gap(address, index)
// for each byte of its gaps.
template <class Byte, class OnElement, class OnGap>
__device__ void for_each_position(Byte* base, const patterned_batch& batch, OnElement on_element, OnGap on_gap) {
    for_each_index(batch.positions(), [&](std::int64_t position) {
        const coordinates at = batch.coordinates_at(position);
        const std::int64_t begin = position * batch.element_size;
        if (at.col < batch.cols) return on_element(at, base + begin, position);
        for (std::int64_t i = begin; i < begin + batch.element_size; ++i) on_gap(base + i, i);
    });
}

template <class Elements>
__global__ void verifier_fill(unsigned char* base, patterned_batch batch, Elements elements) {
    for_each_position(
        base, batch,
        [&](coordinates at, unsigned char* element, std::int64_t) { elements.put(element, batch.index(at)); },
        [](unsigned char* byte, std::int64_t i) { *byte = guard_byte(i); });
}

template <class Elements>
__global__ void verifier_check(const unsigned char* base, patterned_batch batch, Elements elements,
                               wrong_positions* wrong) {
    for_each_position(
        base, batch,
        [&](coordinates at, const unsigned char* element, std::int64_t position) {
            if (!elements.holds(element, batch.index(at)))
                atomicMin(&wrong->element, static_cast<unsigned long long>(position));
        },
        [&](const unsigned char* byte, std::int64_t i) {
            if (*byte != guard_byte(i)) atomicMin(&wrong->gap, static_cast<unsigned long long>(i));
        });
}

// The same for a tensor. on_gap gets the position of the byte in the buffer.
template <class OnElement, class OnGap>
__device__ void for_each_position(const patterned_tensor& tensor, OnElement on_element, OnGap on_gap) {
    for_each_index(tensor.positions(), [&](std::int64_t position) {
        const patterned_tensor::stretch here = tensor.at(position);
        if (!here.is_gap) return on_element(position, static_cast<std::uint64_t>(here.index), here.factor);
        const std::int64_t begin = position * tensor.element_size;
        for (std::int64_t i = begin; i < begin + tensor.element_size; ++i) on_gap(i);
    });
}

template <class Elements>
__global__ void verifier_fill_tensor(unsigned char* buffer, patterned_tensor tensor, Elements elements) {
    for_each_position(
        tensor,
        [&](std::int64_t position, std::uint64_t index, std::int64_t factor) {
            elements.put(buffer + position * elements.size(), index, factor);
        },
        [&](std::int64_t byte) { buffer[byte] = guard_byte(static_cast<std::uint64_t>(byte)); });
}

template <class Elements>
__global__ void verifier_check_tensor(const unsigned char* buffer, patterned_tensor tensor, Elements elements,
                                      wrong_positions* wrong) {
    for_each_position(
        tensor,
        [&](std::int64_t position, std::uint64_t index, std::int64_t factor) {
            if (!elements.holds(buffer + position * elements.size(), index, factor))
                atomicMin(&wrong->element, static_cast<unsigned long long>(position));
        },
        [&](std::int64_t byte) {
            if (buffer[byte] != guard_byte(static_cast<std::uint64_t>(byte)))
                atomicMin(&wrong->gap, static_cast<unsigned long long>(byte));
        });
}

__global__ void verifier_fill_guard(unsigned char* bytes, std::int64_t count) {
    for_each_index(count, [&](std::int64_t i) { bytes[i] = guard_byte(i); });
}

}  // namespace

void fill_batch(unsigned char* buffer, const patterned_batch& batch, cudaStream_t stream) {
    if (batch.empty()) return;
    unsigned char* const base = buffer + batch.offset * batch.element_size;
    with_elements(batch, [&](auto elements) {
        verifier_fill<<<blocks_for(batch.positions()), kThreads, 0, stream>>>(base, batch, elements);
    });
    CORNERTURN_CUDA(cudaGetLastError());
}

void check_batch(const unsigned char* buffer, const patterned_batch& batch, wrong_positions* on_device,
                 cudaStream_t stream) {
    if (batch.empty()) return;
    const unsigned char* const base = buffer + batch.offset * batch.element_size;
    with_elements(batch, [&](auto elements) {
        verifier_check<<<blocks_for(batch.positions()), kThreads, 0, stream>>>(base, batch, elements, on_device);
    });
    CORNERTURN_CUDA(cudaGetLastError());
}

void fill_tensor(unsigned char* buffer, const patterned_tensor& tensor, cudaStream_t stream) {
    if (tensor.empty()) return;
    with_tensor_elements(tensor, [&](auto elements) {
        verifier_fill_tensor<<<blocks_for(tensor.positions()), kThreads, 0, stream>>>(buffer, tensor, elements);
    });
    CORNERTURN_CUDA(cudaGetLastError());
}

void check_tensor(const unsigned char* buffer, const patterned_tensor& tensor, wrong_positions* on_device,
                  cudaStream_t stream) {
    if (tensor.empty()) return;
    with_tensor_elements(tensor, [&](auto elements) {
        verifier_check_tensor<<<blocks_for(tensor.positions()), kThreads, 0, stream>>>(buffer, tensor, elements,
                                                                                       on_device);
    });
    CORNERTURN_CUDA(cudaGetLastError());
}

void fill_guard(unsigned char* bytes, std::int64_t count, cudaStream_t stream) {
    if (count == 0) return;
    verifier_fill_guard<<<blocks_for(count), kThreads, 0, stream>>>(bytes, count);
    CORNERTURN_CUDA(cudaGetLastError());
}

}  // namespace cornerturn::device
