#include "core/element.hpp"
#include "core/pattern.hpp"
#include "device/cuda_check.hpp"
#include "device/verifier_kernels.hpp"

namespace cornerturn::device {
namespace {

constexpr int kThreads = 256;

unsigned blocks_for(std::int64_t count) {
    const std::int64_t blocks = (count + kThreads - 1) / kThreads;
    return static_cast<unsigned>(blocks < 65536 ? blocks : 65536);
}

// Calls f(i) for 0 <= i < count, shared out among all threads of the grid.
template <class F>
__device__ void for_each_index(std::int64_t count, F f) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step) f(i);
}

// Elements and gaps; the last row has no gap.
__host__ __device__ std::int64_t places(const patterned_matrix& m) { return (m.rows - 1) * m.ld + m.cols; }

template <class T>
__device__ pattern_elements<T> values_of(const patterned_matrix& m) {
    return {m.source_cols, m.seed, m.transposed, m.numbers};
}

template <class T>
__global__ void verifier_fill(patterned_matrix m, bool fill_opposite) {
    const pattern_elements<T> values = values_of<T>(m);
    for_each_index(places(m), [&](std::int64_t i) {
        const std::int64_t row = i / m.ld, col = i % m.ld;
        if (col < m.cols) {
            const T value = values(row, col);
            reinterpret_cast<T*>(m.base)[i] = fill_opposite ? opposite(value) : value;
        } else {
            for (unsigned byte = 0; byte < sizeof(T); ++byte)
                m.base[i * sizeof(T) + byte] = guard_byte(i * sizeof(T) + byte);
        }
    });
}

template <class T>
__global__ void verifier_check(patterned_matrix m, wrong_places* wrong) {
    const pattern_elements<T> values = values_of<T>(m);
    for_each_index(places(m), [&](std::int64_t i) {
        const std::int64_t row = i / m.ld, col = i % m.ld;
        if (col < m.cols) {
            if (!(reinterpret_cast<const T*>(m.base)[i] == values(row, col))) {
                atomicMin(&wrong->element, static_cast<unsigned long long>(i));
            }
        } else {
            for (unsigned byte = 0; byte < sizeof(T); ++byte) {
                if (m.base[i * sizeof(T) + byte] != guard_byte(i * sizeof(T) + byte)) {
                    atomicMin(&wrong->gap, static_cast<unsigned long long>(i));
                }
            }
        }
    });
}

__global__ void verifier_fill_guard(unsigned char* bytes, std::int64_t count) {
    for_each_index(count, [&](std::int64_t i) { bytes[i] = guard_byte(i); });
}

}  // namespace

void fill_matrix(const patterned_matrix& m, bool fill_opposite, cudaStream_t stream) {
    with_element_type(m.element_size, [&]<class T>(T) {
        verifier_fill<T><<<blocks_for(places(m)), kThreads, 0, stream>>>(m, fill_opposite);
    });
    CORNERTURN_CUDA(cudaGetLastError());
}

void check_matrix(const patterned_matrix& m, wrong_places* on_device, cudaStream_t stream) {
    with_element_type(m.element_size, [&]<class T>(T) {
        verifier_check<T><<<blocks_for(places(m)), kThreads, 0, stream>>>(m, on_device);
    });
    CORNERTURN_CUDA(cudaGetLastError());
}

void fill_guard(unsigned char* bytes, std::int64_t count, cudaStream_t stream) {
    if (count == 0) return;
    verifier_fill_guard<<<blocks_for(count), kThreads, 0, stream>>>(bytes, count);
    CORNERTURN_CUDA(cudaGetLastError());
}

}  // namespace cornerturn::device
