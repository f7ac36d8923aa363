// Problems of moved elements, in a GPU's memory.
#if defined(CORNERTURN_WITH_CUDA)

#include <nlohmann/json.hpp>

#include "device/cuda_check.hpp"
#include "device/cuda_memory.hpp"
#include "device/cuda_problem.hpp"
#include "ops/copy/movement_problem.hpp"

namespace cornerturn {
namespace {

class cuda_movement final : public movement_problem<device::cuda_problem> {
public:
    cuda_movement(const std::vector<problem_shape>& shapes, bool with_yardstick)
        : movement_problem(backend::cuda, shapes.front(), device::current_stream(), shapes) {
        if (!with_yardstick) return;
        copied_ = moved();
        copy_ = std::make_unique<device::device_memory>(copied_);
    }

    bool take(const workload& work, const kernel& k) override {
        return movement_problem::take(work, k) && (copy_ == nullptr || moved() <= copied_);
    }
    void prepare() override { memory_.prepare(); }
    void prepare_outputs() override { memory_.prepare_destination(); }
    verdict check(nlohmann::ordered_json*) const override { return memory_.check(); }

    std::function<void()> bind_yardstick() const override {
        return [to = copy_->get, from = memory_.work().source, bytes = static_cast<std::size_t>(moved())] {
            CORNERTURN_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, device::current_stream()));
        };
    }

private:
    std::int64_t moved() const { return memory_.shape().elements() * memory_.shape().element_size; }

    // The position of matrices and their copy in memory changes memcpy's speed by a percent, and that of some kernels
    // by more. So all kernels of a ladder share them.
    std::unique_ptr<device::device_memory> copy_;
    std::int64_t copied_ = 0;  // bytes
};

}  // namespace

std::unique_ptr<problem> make_cuda_movement(const std::vector<problem_shape>& shapes, bool with_yardstick) {
    return std::make_unique<cuda_movement>(shapes, with_yardstick);
}

}  // namespace cornerturn

#else

#include "cornerturn/error.hpp"
#include "ops/copy/movement.hpp"

namespace cornerturn {
std::unique_ptr<problem> make_cuda_movement(const std::vector<problem_shape>&, bool) {
    throw unsupported("no GPU to run on: this program was built without CUDA");
}
}  // namespace cornerturn

#endif
