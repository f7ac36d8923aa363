#include "device/cuda_problem.hpp"

#include <fmt/format.h>

#include <vector>

#include "core/pattern.hpp"
#include "device/cuda_check.hpp"
#include "device/verifier_kernels.hpp"

namespace cornerturn::device {
namespace {

// The first of `count` bytes that is not its guard's; -1 if all are.
std::int64_t broken_guard(const unsigned char* bytes, std::int64_t count, cudaStream_t stream) {
    std::vector<unsigned char> host(static_cast<std::size_t>(count));
    CORNERTURN_CUDA(cudaMemcpyAsync(host.data(), bytes, host.size(), cudaMemcpyDeviceToHost, stream));
    CORNERTURN_CUDA(cudaStreamSynchronize(stream));
    for (std::int64_t i = 0; i < count; ++i) {
        if (host[static_cast<std::size_t>(i)] != guard_byte(static_cast<std::uint64_t>(i))) return i;
    }
    return -1;
}

patterned_matrix source_of(const problem_shape& s, const guarded_device_buffer& buffer) {
    return {buffer.data() + s.source_offset * s.element_size,
            s.rows,
            s.cols,
            s.source_ld,
            s.element_size,
            s.cols,
            s.seed,
            false,
            s.numbers};
}

patterned_matrix destination_of(const problem_shape& s, const guarded_device_buffer& buffer) {
    return {buffer.data() + s.destination_offset * s.element_size,
            s.destination_rows(),
            s.destination_cols(),
            s.destination_ld,
            s.element_size,
            s.cols,
            s.seed,
            s.does == operation::transpose,
            s.numbers};
}

// Empty, or what is wrong with the matrix, its gaps or what lies around it.
std::string wrong_in(const patterned_matrix& m, const guarded_device_buffer& buffer, const char* name,
                     const problem_shape& shape, bool is_source, cudaStream_t stream) {
    wrong_places wrong{kNothingWrong, kNothingWrong};
    wrong_places* on_device = nullptr;
    CORNERTURN_CUDA(cudaMallocAsync(&on_device, sizeof wrong, stream));
    CORNERTURN_CUDA(cudaMemcpyAsync(on_device, &wrong, sizeof wrong, cudaMemcpyHostToDevice, stream));
    check_matrix(m, on_device, stream);
    CORNERTURN_CUDA(cudaMemcpyAsync(&wrong, on_device, sizeof wrong, cudaMemcpyDeviceToHost, stream));
    CORNERTURN_CUDA(cudaFreeAsync(on_device, stream));
    CORNERTURN_CUDA(cudaStreamSynchronize(stream));
    if (wrong.element != kNothingWrong) {
        const auto index = static_cast<std::int64_t>(wrong.element);
        if (is_source) return fmt::format("the source was changed at row {}, column {}", index / m.ld, index % m.ld);
        unsigned char found[16];
        CORNERTURN_CUDA(cudaMemcpy(found, m.base + index * m.element_size, static_cast<std::size_t>(m.element_size),
                                   cudaMemcpyDeviceToHost));
        return describe_wrong_element(shape, index / m.ld, index % m.ld, found);
    }
    if (wrong.gap != kNothingWrong) {
        return fmt::format("the gap behind row {} of the {} was overwritten",
                           static_cast<std::int64_t>(wrong.gap) / m.ld, name);
    }
    if (const std::int64_t before = m.base - buffer.data();
        before > 0 && broken_guard(buffer.data(), before, stream) >= 0) {
        return fmt::format("bytes before the {} were overwritten", name);
    }
    return {};
}

}  // namespace

guarded_device_buffer::guarded_device_buffer(std::int64_t bytes) : bytes_(bytes) {
    CORNERTURN_CUDA(
        cudaMalloc(reinterpret_cast<void**>(&allocation_), static_cast<std::size_t>(bytes + 2 * kGuardBytes)));
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
    : shape_(shape.checked()),
      stream_(stream),
      source_(shape_.source_bytes()),
      destination_(shape_.destination_bytes()) {}

matrix_work cuda_problem::work() const {
    return {source_of(shape_, source_).base,
            destination_of(shape_, destination_).base,
            shape_.rows,
            shape_.cols,
            shape_.source_ld,
            shape_.destination_ld,
            shape_.element_size};
}

void cuda_problem::prepare() {
    source_.fill_guards(stream_);
    if (shape_.elements() > 0) {
        fill_guard(source_.data(), shape_.source_offset * shape_.element_size, stream_);
        fill_matrix(source_of(shape_, source_), false, stream_);
    }
    prepare_destination();
}

void cuda_problem::prepare_destination() {
    destination_.fill_guards(stream_);
    if (shape_.elements() > 0) {
        fill_guard(destination_.data(), shape_.destination_offset * shape_.element_size, stream_);
        fill_matrix(destination_of(shape_, destination_), true, stream_);
    }
}

verdict cuda_problem::check() const {
    verdict result;
    result.elements = shape_.elements();
    if (result.elements > 0) {
        result.fault =
            wrong_in(destination_of(shape_, destination_), destination_, "destination", shape_, false, stream_);
        if (result.passed())
            result.fault = wrong_in(source_of(shape_, source_), source_, "source", shape_, true, stream_);
    }
    if (result.passed()) result.fault = destination_.check_guards("destination", stream_);
    if (result.passed()) result.fault = source_.check_guards("source", stream_);
    return result;
}

}  // namespace cornerturn::device
