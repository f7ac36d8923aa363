#include "device/cuda_problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/cuda_check.hpp"
#include "device/verifier_kernels.hpp"

namespace cornerturn::device {

std::int64_t broken_guard(const unsigned char* bytes, std::int64_t count, cudaStream_t stream) {
    std::vector<unsigned char> host(static_cast<std::size_t>(count));
    CORNERTURN_CUDA(cudaMemcpyAsync(host.data(), bytes, host.size(), cudaMemcpyDeviceToHost, stream));
    CORNERTURN_CUDA(cudaStreamSynchronize(stream));
    for (std::int64_t i = 0; i < count; ++i) {
        if (host[static_cast<std::size_t>(i)] != guard_byte(static_cast<std::uint64_t>(i))) return i;
    }
    return -1;
}

wrong_positions find_wrong(const std::function<void(wrong_positions*)>& check, cudaStream_t stream) {
    wrong_positions wrong{kNothingNoted, kNothingNoted};
    wrong_positions* on_device = nullptr;
    CORNERTURN_CUDA(cudaMallocAsync(&on_device, sizeof wrong, stream));
    CORNERTURN_CUDA(cudaMemcpyAsync(on_device, &wrong, sizeof wrong, cudaMemcpyHostToDevice, stream));
    check(on_device);
    CORNERTURN_CUDA(cudaMemcpyAsync(&wrong, on_device, sizeof wrong, cudaMemcpyDeviceToHost, stream));
    CORNERTURN_CUDA(cudaFreeAsync(on_device, stream));
    CORNERTURN_CUDA(cudaStreamSynchronize(stream));
    return wrong;
}

namespace {

// Fills the buffer for a run. The guards around the buffer are filled elsewhere.
void fill(const guarded_device_buffer& buffer, const patterned_batch& batch, cudaStream_t stream) {
    if (batch.empty()) return;
    fill_guard(buffer.data(), batch.offset * batch.element_size, stream);
    fill_batch(buffer.data(), batch, stream);
}

// Empty if all is right. Otherwise says what is wrong with the matrices, their gaps or the bytes before them.
std::string wrong_in(const guarded_device_buffer& buffer, const problem_shape& shape, side which, cudaStream_t stream) {
    const patterned_batch batch = shape.after(which);
    if (batch.empty()) return {};
    const wrong_positions wrong =
        find_wrong([&](wrong_positions* on_device) { check_batch(buffer.data(), batch, on_device, stream); }, stream);
    if (wrong.element != kNothingNoted) {
        const auto position = static_cast<std::int64_t>(wrong.element);
        std::vector<unsigned char> found(static_cast<std::size_t>(batch.element_size));
        CORNERTURN_CUDA(cudaMemcpy(found.data(), buffer.data() + (batch.offset + position) * batch.element_size,
                                   found.size(), cudaMemcpyDeviceToHost));
        return describe_wrong_element(shape, which, batch.coordinates_at(position), found.data());
    }
    if (wrong.gap != kNothingNoted) return describe_wrong_gap(shape, which, static_cast<std::int64_t>(wrong.gap));
    if (const std::int64_t before = batch.offset * batch.element_size;
        before > 0 && broken_guard(buffer.data(), before, stream) >= 0) {
        return fmt::format("bytes before the {} were overwritten", name_of(which));
    }
    return {};
}

}  // namespace

guarded_device_buffer::guarded_device_buffer(std::int64_t capacity)
    : capacity_(capacity), bytes_(capacity), lead_(capacity < kLarge ? kGuardBytes : kLarge) {
    CORNERTURN_CUDA(
        cudaMalloc(reinterpret_cast<void**>(&allocation_), static_cast<std::size_t>(lead_ + capacity + kGuardBytes)));
}

guarded_device_buffer::~guarded_device_buffer() { cudaFree(allocation_); }

void guarded_device_buffer::fill_guards(cudaStream_t stream) {
    fill_guard(data() - kGuardBytes, kGuardBytes, stream);
    fill_guard(data() + bytes_, kGuardBytes, stream);
}

std::string guarded_device_buffer::check_guards(const char* name, cudaStream_t stream) const {
    if (const std::int64_t at = broken_guard(data() + bytes_, kGuardBytes, stream); at >= 0) {
        return fmt::format("guard byte {} after the end of the {} was overwritten", at + 1, name);
    }
    if (const std::int64_t at = broken_guard(data() - kGuardBytes, kGuardBytes, stream); at >= 0) {
        return fmt::format("guard byte {} before the beginning of the {} was overwritten", kGuardBytes - at, name);
    }
    return {};
}

void cuda_problem::prepare() {
    source_.fill_guards(stream_);
    const patterned_batch source = shape_.before(side::source);
    fill(source_, source, stream_);
    fill_guard(source_.data() + source.bytes(), source_.size() - source.bytes(), stream_);  // read and dropped
    prepare_destination();
}

void cuda_problem::prepare_destination() {
    destination_.fill_guards(stream_);
    fill(destination_, shape_.before(side::destination), stream_);
}

verdict cuda_problem::check() const {
    verdict result{.elements = shape_.elements(), .fault = wrong_in(destination_, shape_, side::destination, stream_)};
    if (result.passed()) result.fault = wrong_in(source_, shape_, side::source, stream_);
    if (result.passed()) result.fault = destination_.check_guards("destination", stream_);
    if (result.passed()) result.fault = source_.check_guards("source", stream_);
    return result;
}

}  // namespace cornerturn::device
