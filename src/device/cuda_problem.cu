#include <fmt/format.h>

#include <limits>
#include <vector>

#include "core/element.hpp"
#include "core/pattern.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_problem.hpp"

namespace cornerturn::device {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

// A matrix in its buffer, with its gaps.
struct place {
    unsigned char* base;
    std::int64_t rows, cols, ld;
};

unsigned blocks_for(std::int64_t count) {
    const std::int64_t blocks = (count + kThreads - 1) / kThreads;
    return static_cast<unsigned>(blocks < 65536 ? blocks : 65536);
}

// Calls f(row, col) for every element and every gap of the matrix: col >= cols in a gap. The last row has none.
template <class F>
__device__ void for_each_place(const place& m, F f) {
    const std::int64_t count = (m.rows - 1) * m.ld + m.cols;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step) {
        f(i / m.ld, i % m.ld);
    }
}

template <class T, bool kOpposite>
__global__ void verifier_fill(place m, pattern_elements<T> values) {
    for_each_place(m, [&](std::int64_t row, std::int64_t col) {
        const std::int64_t index = row * m.ld + col;
        if (col < m.cols) {
            const T value = values(row, col);
            reinterpret_cast<T*>(m.base)[index] = kOpposite ? opposite(value) : value;
        } else {
            for (std::int64_t i = index * sizeof(T); i < (index + 1) * static_cast<std::int64_t>(sizeof(T)); ++i) {
                m.base[i] = guard_byte(i);
            }
        }
    });
}

// wrong[0], wrong[1]: the lowest index of a wrong element, and of a gap that was written to.
template <class T>
__global__ void verifier_check(place m, pattern_elements<T> values, unsigned long long* wrong) {
    for_each_place(m, [&](std::int64_t row, std::int64_t col) {
        const std::int64_t index = row * m.ld + col;
        if (col < m.cols) {
            if (!(reinterpret_cast<const T*>(m.base)[index] == values(row, col))) atomicMin(&wrong[0], static_cast<unsigned long long>(index));
        } else {
            for (std::int64_t i = index * sizeof(T); i < (index + 1) * static_cast<std::int64_t>(sizeof(T)); ++i) {
                if (m.base[i] != guard_byte(i)) atomicMin(&wrong[1], static_cast<unsigned long long>(index));
            }
        }
    });
}

// Bytes outside the matrix: bytes[i] must be guard_byte(first + i).
__global__ void verifier_fill_guard(unsigned char* bytes, std::int64_t count) {
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += static_cast<std::int64_t>(gridDim.x) * kThreads) {
        bytes[i] = guard_byte(i);
    }
}

void fill_guard(unsigned char* bytes, std::int64_t count, cudaStream_t stream) {
    if (count == 0) return;
    verifier_fill_guard<<<blocks_for(count), kThreads, 0, stream>>>(bytes, count);
    CORNERTURN_CUDA(cudaGetLastError());
}

// The first of `count` bytes that is not its guard's; -1 if all are.
std::int64_t broken_guard(const unsigned char* bytes, std::int64_t count, cudaStream_t stream) {
    std::vector<unsigned char> host(static_cast<std::size_t>(count));
    CORNERTURN_CUDA(cudaMemcpyAsync(host.data(), bytes, host.size(), cudaMemcpyDeviceToHost, stream));
    CORNERTURN_CUDA(cudaStreamSynchronize(stream));
    for (std::int64_t i = 0; i < count; ++i) {
        if (host[static_cast<std::size_t>(i)] != guard_byte(i)) return i;
    }
    return -1;
}

place source_place(const problem_shape& s, const guarded_device_buffer& buffer) {
    return {buffer.data() + s.source_offset * s.element_size, s.rows, s.cols, s.source_ld};
}
place destination_place(const problem_shape& s, const guarded_device_buffer& buffer) {
    return {buffer.data() + s.destination_offset * s.element_size, s.destination_rows(), s.destination_cols(), s.destination_ld};
}

}  // namespace

guarded_device_buffer::guarded_device_buffer(std::int64_t bytes) : bytes_(bytes) {
    CORNERTURN_CUDA(cudaMalloc(&allocation_, static_cast<std::size_t>(bytes + 2 * kGuardBytes)));
}

guarded_device_buffer::~guarded_device_buffer() { cudaFree(allocation_); }

void guarded_device_buffer::fill_guards(cudaStream_t stream) {
    fill_guard(allocation_, kGuardBytes, stream);
    fill_guard(data() + bytes_, kGuardBytes, stream);
}

std::string guarded_device_buffer::check_guards(const char* name, cudaStream_t stream) const {
    if (const std::int64_t at = broken_guard(data() + bytes_, kGuardBytes, stream); at >= 0) {
        return fmt::format("the byte {} behind the end of the {} was overwritten", at, name);
    }
    if (const std::int64_t at = broken_guard(allocation_, kGuardBytes, stream); at >= 0) {
        return fmt::format("the byte {} before the beginning of the {} was overwritten", kGuardBytes - at, name);
    }
    return {};
}

cuda_problem::cuda_problem(const problem_shape& shape, cudaStream_t stream)
    : shape_(shape.checked()), stream_(stream), source_(shape_.source_bytes()), destination_(shape_.destination_bytes()) {}

matrix_work cuda_problem::work() const {
    return {source_place(shape_, source_).base, destination_place(shape_, destination_).base, shape_.rows, shape_.cols,
            shape_.source_ld, shape_.destination_ld, shape_.element_size};
}

void cuda_problem::prepare() {
    source_.fill_guards(stream_);
    fill_guard(source_.data(), shape_.elements() > 0 ? shape_.source_offset * shape_.element_size : 0, stream_);
    with_element_type(shape_.element_size, [&]<class T>(T) {
        if (shape_.elements() == 0) return;
        const place m = source_place(shape_, source_);
        verifier_fill<T, false><<<blocks_for(m.rows * m.ld), kThreads, 0, stream_>>>(m, pattern_elements<T>{shape_.cols, shape_.seed, false});
        CORNERTURN_CUDA(cudaGetLastError());
    });
    prepare_destination();
}

void cuda_problem::prepare_destination() {
    destination_.fill_guards(stream_);
    fill_guard(destination_.data(), shape_.elements() > 0 ? shape_.destination_offset * shape_.element_size : 0, stream_);
    with_element_type(shape_.element_size, [&]<class T>(T) {
        if (shape_.elements() == 0) return;
        const place m = destination_place(shape_, destination_);
        const bool transposed = shape_.does == operation::transpose;
        verifier_fill<T, true><<<blocks_for(m.rows * m.ld), kThreads, 0, stream_>>>(m, pattern_elements<T>{shape_.cols, shape_.seed, transposed});
        CORNERTURN_CUDA(cudaGetLastError());
    });
}

verdict cuda_problem::check() const {
    verdict result;
    result.elements = shape_.elements();
    with_element_type(shape_.element_size, [&]<class T>(T) {
        const auto wrong_in = [&](const place& m, const guarded_device_buffer& buffer, const char* name, bool is_destination) -> std::string {
            if (shape_.elements() == 0) return {};
            unsigned long long host[2] = {kNone, kNone};
            unsigned long long* wrong = nullptr;
            CORNERTURN_CUDA(cudaMallocAsync(&wrong, sizeof host, stream_));
            CORNERTURN_CUDA(cudaMemcpyAsync(wrong, host, sizeof host, cudaMemcpyHostToDevice, stream_));
            const bool transposed = is_destination && shape_.does == operation::transpose;
            verifier_check<T><<<blocks_for(m.rows * m.ld), kThreads, 0, stream_>>>(m, pattern_elements<T>{shape_.cols, shape_.seed, transposed}, wrong);
            CORNERTURN_CUDA(cudaGetLastError());
            CORNERTURN_CUDA(cudaMemcpyAsync(host, wrong, sizeof host, cudaMemcpyDeviceToHost, stream_));
            CORNERTURN_CUDA(cudaFreeAsync(wrong, stream_));
            CORNERTURN_CUDA(cudaStreamSynchronize(stream_));
            if (const auto index = static_cast<std::int64_t>(host[0]); index != kNone) {
                T found;
                CORNERTURN_CUDA(cudaMemcpy(&found, m.base + index * sizeof(T), sizeof found, cudaMemcpyDeviceToHost));
                if (is_destination) return describe_wrong_element(shape_, index / m.ld, index % m.ld, &found);
                return fmt::format("the source was changed at row {}, column {}", index / m.ld, index % m.ld);
            }
            if (const auto index = static_cast<std::int64_t>(host[1]); index != kNone) {
                return fmt::format("the gap behind row {} of the {} was overwritten", index / m.ld, name);
            }
            const std::int64_t before = m.base - buffer.data();
            if (before > 0 && broken_guard(buffer.data(), before, stream_) >= 0) return fmt::format("bytes before the {} were overwritten", name);
            return buffer.check_guards(name, stream_);
        };
        result.fault = wrong_in(destination_place(shape_, destination_), destination_, "destination", true);
        if (result.passed()) result.fault = wrong_in(source_place(shape_, source_), source_, "source", false);
    });
    return result;
}

}  // namespace cornerturn::device
