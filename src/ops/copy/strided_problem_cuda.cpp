// Copies between tensors in a GPU's memory, and conversions, which are verified there.
#if defined(CORNERTURN_WITH_CUDA)

#include <algorithm>

#include "device/cuda_check.hpp"
#include "device/cuda_device.hpp"
#include "device/cuda_memory.hpp"
#include "device/cuda_problem.hpp"
#include "device/verifier_kernels.hpp"
#include "ops/copy/strided_problem.hpp"
#include "ops/copy/ways.hpp"

namespace cornerturn {
namespace {

struct cuda_memory {
    using buffer = device::guarded_device_buffer;
    cudaStream_t stream;

    void reserve(buffer&, buffer&) {}
    void fill_guards(buffer& b) { b.fill_guards(stream); }
    void fill(buffer& b, const patterned_tensor& tensor) { device::fill_tensor(b.data(), tensor, stream); }
    wrong_positions find_wrong(const buffer& b, const patterned_tensor& tensor) const {
        return device::find_wrong(
            [&](wrong_positions* on_device) { device::check_tensor(b.data(), tensor, on_device, stream); }, stream);
    }
    std::vector<unsigned char> read(const buffer& b, std::int64_t at, std::int64_t bytes) const {
        std::vector<unsigned char> found(static_cast<std::size_t>(bytes));
        CORNERTURN_CUDA(cudaMemcpy(found.data(), b.data() + at, found.size(), cudaMemcpyDeviceToHost));
        return found;
    }
    void write(buffer& b, const std::vector<float>& numbers) {
        if (numbers.empty()) return;
        // Waits for the copy: the numbers do not live longer than this call.
        CORNERTURN_CUDA(
            cudaMemcpyAsync(b.data(), numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice, stream));
        CORNERTURN_CUDA(cudaStreamSynchronize(stream));
    }
    std::string check_guards(const buffer& b, const char* name) const { return b.check_guards(name, stream); }
};

class cuda_tensors final : public strided_problem<cuda_memory> {
public:
    cuda_tensors(const std::vector<strided_shape>& shapes, std::uint64_t seed, bool with_yardstick)
        : strided_problem(backend::cuda, {device::current_stream()}, shapes, seed) {
        if (!with_yardstick) return;
        for (const strided_shape& s : shapes) copied_ = std::max(copied_, s.moved_bytes() / 2);
        // What is moved may be more than either tensor, if the source repeats its elements and the destination's are
        // narrower. Then memcpy has a source of its own.
        has_source_ = copied_ > std::max<std::int64_t>(source_.size(), destination_.size());
        copy_ = std::make_unique<device::device_memory>(has_source_ ? 2 * copied_ : copied_);
    }

    bool take(const workload& work, const kernel& k) override {
        return strided_problem::take(work, k) && (copy_ == nullptr || moved() <= copied_);
    }

    std::function<void()> bind_yardstick() const override {
        // A source that repeats elements is smaller than what is moved, and so is one of narrower elements.
        const void* const tensor = source_.size() >= moved() ? source_.data() : destination_.data();
        return [to = copy_->get, from = has_source_ ? static_cast<const unsigned char*>(copy_->get) + copied_ : tensor,
                bytes = static_cast<std::size_t>(moved())] {
            CORNERTURN_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, device::current_stream()));
        };
    }

    std::vector<candidate> candidates() const override {
        if (shape().elements() == 0) return {};
        return ways_of(shape().copy(source_.data(), destination_.data(), numbers()),
                       device::gpu_of(device::current_device()), moves::run_on_gpu);
    }

private:
    std::int64_t moved() const { return shape().moved_bytes() / 2; }

    // The position of tensors and their copy in memory changes memcpy's speed by a percent. So all kernels of a ladder
    // share them.
    std::unique_ptr<device::device_memory> copy_;
    std::int64_t copied_ = 0;  // bytes
    bool has_source_ = false;
};

}  // namespace

std::unique_ptr<problem> make_cuda_tensors(const std::vector<strided_shape>& shapes, std::uint64_t seed,
                                           bool with_yardstick) {
    return std::make_unique<cuda_tensors>(shapes, seed, with_yardstick);
}

}  // namespace cornerturn

#else

#include "cornerturn/error.hpp"
#include "ops/copy/strided_problem.hpp"

namespace cornerturn {
std::unique_ptr<problem> make_cuda_tensors(const std::vector<strided_shape>&, std::uint64_t, bool) {
    throw unsupported("no GPU to run on: this program was built without CUDA");
}
}  // namespace cornerturn

#endif
