// Products in a GPU's memory.
#if defined(CORNERTURN_WITH_CUDA)

#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

#include "cornerturn/error.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_device.hpp"
#include "device/cuda_memory.hpp"
#include "device/kept_memory.hpp"
#include "ops/gemm/cuda_problem.hpp"
#include "ops/gemm/kernels/multiply.hpp"
#include "ops/gemm/operation.hpp"

namespace cornerturn {
namespace {

constexpr std::int64_t kFloat = sizeof(float);

class cuda_product final : public problem {
public:
    cuda_product(const gemm_shape& shape, std::int64_t workspace, bool with_yardstick)
        : memory_(shape, workspace, device::current_stream()), workspace_(workspace) {
        device::give_back_kept_memory(device::launch_device());  // from plain calls on other shapes
        if (with_yardstick) beside_ = std::make_unique<device::device_memory>(shape.span(gemm_matrix::c) * kFloat);
    }

    bool take(const workload& work, const kernel& k) override {
        const auto* const product = dynamic_cast<const product_work*>(&work);
        return product != nullptr && product->shape().lies_as(memory_.shape()) &&
               memory_.use_workspace(product->workspace(backend::cuda, {&k})) && memory_.reshape(product->shape());
    }
    std::int64_t capacity() const override { return (memory_.shape().spans() + workspace_) * kFloat; }
    void prepare() override { memory_.prepare(); }
    void prepare_outputs() override { memory_.prepare_c(); }

    verdict check(nlohmann::ordered_json* more) const override {
        gemm_errors errors;
        const verdict found = memory_.check(&errors);
        if (more != nullptr) (*more)["error"] = {{"largest", errors.largest}, {"frobenius", errors.frobenius}};
        return found;
    }

    std::function<void()> bind(const kernel& k) const override {
        return [run = k.built_for<gemm_work>(backend::cuda)->run, work = memory_.work()] { run(work); };
    }
    std::function<void()> bind_yardstick() const override {
        gemm_work beside = memory_.work();
        beside.c = static_cast<float*>(beside_->get);
        const kernel& cublas = find_kernel("gemm/cublas");
        return [run = cublas.built_for<gemm_work>(backend::cuda)->run, beside] { run(beside); };
    }

    std::string choice() const override {
        const int device = device::launch_device();
        return find_kernel("gemm/production")
            .traits<gemm_work>()
            .explain(memory_.work(), device::compute_capability_of(device), device::multiprocessors_of(device));
    }

    // Candidates have their own workspace. Those that need more than a gigabyte get none.
    std::vector<candidate> candidates() const override {
        constexpr std::int64_t kMost = std::int64_t{1} << 28;  // floats
        const gpu on = device::gpu_of(device::launch_device());
        const gemm_work work = products::as_computed(memory_.work());
        std::vector<products::gemm_tuning> tunings = products::candidates(work, on);
        const products::gemm_tuning chosen = products::choose(work, on, true);
        std::erase(tunings, chosen);
        tunings.insert(tunings.begin(), chosen);
        std::vector<products::prepared_product> all_prepared;
        std::int64_t most = 0;
        for (const products::gemm_tuning& tuned : tunings) {
            const products::prepared_product prepared = products::prepare(work, tuned, on);
            if (!all_prepared.empty() && prepared.space.floats > kMost) continue;
            most = std::max(most, prepared.space.floats);
            all_prepared.push_back(prepared);
        }
        const auto space = std::make_shared<device::device_memory>(most * kFloat);
        std::vector<candidate> all;
        for (const products::prepared_product& prepared : all_prepared) {
            all.push_back({products::name_of(prepared.tuned), [prepared, space, on] {
                               if (!products::multiply_on_gpu(prepared, static_cast<float*>(space->get), on))
                                   throw unsupported("no kernel takes operands of this layout");
                           }});
        }
        return all;
    }

private:
    device::cuda_gemm memory_;
    std::int64_t workspace_;
    std::unique_ptr<device::device_memory> beside_;  // for what cuBLAS computes
};

}  // namespace

std::unique_ptr<problem> make_cuda_product(const gemm_shape& shape, std::int64_t workspace, bool with_yardstick) {
    return std::make_unique<cuda_product>(shape, workspace, with_yardstick);
}

}  // namespace cornerturn

#else

#include "cornerturn/error.hpp"
#include "ops/gemm/operation.hpp"

namespace cornerturn {
std::unique_ptr<problem> make_cuda_product(const gemm_shape&, std::int64_t, bool) {
    throw unsupported("no GPU to run on: this program was built without CUDA");
}
}  // namespace cornerturn

#endif
