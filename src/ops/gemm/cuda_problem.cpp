#if defined(CORNERTURN_WITH_CUDA)

#include "ops/gemm/cuda_problem.hpp"

#include <utility>

#include "device/cuda_check.hpp"
#include "device/verifier_kernels.hpp"
#include "ops/gemm/verifier_kernels.hpp"

namespace cornerturn::device {
namespace {

constexpr std::int64_t kSize = sizeof(float);

float* floats(const guarded_device_buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }

// The right value of an element of C, from a sum on the host.
gemm_element right_at(const gemm_shape& s, coordinates at) {
    const gemm_filler of_a = s.filler().of_product(s.a_shared ? 0 : at.matrix),
                      of_b = s.filler().of_product(s.b_shared ? 0 : at.matrix);
    double sum = 0, magnitudes = 0;
    for (std::int64_t i = 0; i < s.k && s.alpha != 0; ++i) {
        const double product = double{of_a.value(gemm_matrix::a, at.row, i)} * of_b.value(gemm_matrix::b, i, at.col);
        sum += product;
        magnitudes += product < 0 ? -product : product;
    }
    return {sum, magnitudes, s.k, s.alpha, s.beta, s.before(at), s.values};
}

}  // namespace

cuda_gemm::cuda_gemm(const gemm_shape& shape, std::int64_t workspace, cudaStream_t stream)
    : shape_(shape.checked()),
      stream_(stream),
      a_(shape_.span(gemm_matrix::a) * kSize),
      b_(shape_.span(gemm_matrix::b) * kSize),
      c_(shape_.span(gemm_matrix::c) * kSize),
      workspace_(workspace * kSize) {}

bool cuda_gemm::reshape(const gemm_shape& shape) {
    const gemm_shape next = shape.checked();
    if (!next.lies_as(shape_)) return false;
    shape_ = next;
    return true;
}

bool cuda_gemm::use_workspace(std::int64_t floats) {
    if (floats * kSize > workspace_.capacity()) return false;
    workspace_.use(floats * kSize);
    return true;
}

gemm_work cuda_gemm::work() const { return shape_.work(floats(a_), floats(b_), floats(c_), floats(workspace_)); }

void cuda_gemm::prepare() {
    const gemm_shape& s = shape_;
    for (guarded_device_buffer* buffer : {&a_, &b_, &workspace_}) buffer->fill_guards(stream_);
    // NaN before A and B: a kernel that reads it gives a wrong product.
    const auto before = [&](const guarded_device_buffer& of, std::int64_t floats_there) {
        CORNERTURN_CUDA(cudaMemsetAsync(of.data(), 0xff, static_cast<std::size_t>(floats_there * kSize), stream_));
    };
    before(a_, s.a_offset);
    before(b_, s.b_offset);
    fill_gemm_input(floats(a_) + s.a_offset, gemm_matrix::a, s, stream_);
    fill_gemm_input(floats(b_) + s.b_offset, gemm_matrix::b, s, stream_);
    CORNERTURN_CUDA(cudaMemsetAsync(workspace_.data(), 0xff, static_cast<std::size_t>(workspace_.size()), stream_));
    prepare_c();
}

void cuda_gemm::prepare_c() {
    c_.fill_guards(stream_);
    fill_guard(c_.data(), shape_.c_offset * kSize, stream_);
    fill_gemm_c(floats(c_) + shape_.c_offset, shape_, stream_);
}

verdict cuda_gemm::check(gemm_errors* errors) const {
    verdict result{.elements = shape_.elements(), .fault = {}};
    gemm_findings found{{kNothingNoted, kNothingNoted}};
    gemm_findings* on_device = nullptr;
    CORNERTURN_CUDA(cudaMallocAsync(&on_device, sizeof found, stream_));
    CORNERTURN_CUDA(cudaMemcpyAsync(on_device, &found, sizeof found, cudaMemcpyHostToDevice, stream_));
    check_gemm(work(), shape_, on_device, stream_);
    CORNERTURN_CUDA(cudaMemcpyAsync(&found, on_device, sizeof found, cudaMemcpyDeviceToHost, stream_));
    CORNERTURN_CUDA(cudaFreeAsync(on_device, stream_));
    CORNERTURN_CUDA(cudaStreamSynchronize(stream_));
    const wrong_positions& wrong = found.wrong;
    const gemm_squares sums{found.errors, found.magnitudes, shape_.elements()};
    if (errors != nullptr) *errors = {found.largest, sums.frobenius()};
    const auto at = [&](unsigned long long position) {
        return shape_.placed(gemm_matrix::c).coordinates_at(static_cast<std::int64_t>(position));
    };
    if (wrong.element != kNothingNoted) {
        float value = 0;
        CORNERTURN_CUDA(cudaMemcpy(&value, work().c + wrong.element, sizeof value, cudaMemcpyDeviceToHost));
        result.fault = describe_wrong_product(shape_, at(wrong.element), value, right_at(shape_, at(wrong.element)));
    } else if (wrong.gap != kNothingNoted) {
        result.fault = describe_wrong_product_gap(shape_, at(wrong.gap));
    }
    if (result.passed()) result.fault = low_precision(shape_, sums);
    if (result.passed() && shape_.c_offset > 0 && broken_guard(c_.data(), shape_.c_offset * kSize, stream_) >= 0)
        result.fault = "the memory before C was overwritten";
    for (const auto& [name, buffer] : {std::pair{"A", &a_}, {"B", &b_}, {"C", &c_}, {"the workspace", &workspace_}}) {
        if (result.passed()) result.fault = buffer->check_guards(name, stream_);
    }
    return result;
}

}  // namespace cornerturn::device

#endif
