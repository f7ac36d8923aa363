// cornerturn::cuda::gemm: checks what the caller gave, chooses the kernels, launches them.
#include "cornerturn/cuda/gemm.hpp"

#include <cuda_runtime.h>

#include <string>

#include "core/arguments.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_device.hpp"
#include "ops/gemm/kernels/arguments.hpp"
#include "ops/gemm/kernels/multiply.hpp"

namespace cornerturn::cuda {
namespace {

using production::gemm_machine;
using production::gemm_plan;
using std::to_string;

constexpr std::int64_t kFloat = sizeof(float);

gemm_machine machine_of(int device) {
    return {device::compute_capability_of(device), device::multiprocessors_of(device)};
}

gemm_work product_of(const batch_view<const float>& a, const batch_view<const float>& b, const batch_view<float>& c,
                     const gemm_options& options) {
    using cornerturn::detail::any;
    return checked_product(any(a), options.a == op::transposed, any(b), options.b == op::transposed, any(c));
}

// The caller's workspace, or memory that is allocated and freed in the stream's order.
class workspace {
public:
    workspace(const gemm_options& options, const product_operands& operands, std::int64_t bytes, int on_device,
              cudaStream_t stream)
        : stream_(stream) {
        if (options.workspace == nullptr) {
            if (options.workspace_bytes != 0)
                refuse("options.workspace_bytes", to_string(options.workspace_bytes), "there is no workspace");
            if (bytes == 0) return;
            const cudaError_t status = cudaMallocAsync(&allocated_, static_cast<std::size_t>(bytes), stream);
            if (status == cudaErrorMemoryAllocation || status == cudaErrorNotSupported) {
                cudaGetLastError();  // what is told by lacking() is no error
                allocated_ = nullptr;
                lacking_ = true;
                return;
            }
            CORNERTURN_CUDA(status);
            floats_ = static_cast<float*>(allocated_);
            return;
        }
        const auto address = reinterpret_cast<std::uintptr_t>(options.workspace);
        if (address % 16 != 0) refuse("options.workspace", hex(address), "it must be aligned to 16 bytes");
        if (options.workspace_bytes < bytes) {
            refuse("options.workspace_bytes", to_string(options.workspace_bytes),
                   "this product takes " + to_string(bytes) + " (see gemm_workspace_bytes)");
        }
        operands.check_workspace_apart(address, bytes);
        device::check_reachable("options.workspace", "", address, on_device);
        floats_ = static_cast<float*>(options.workspace);
    }
    ~workspace() {
        if (allocated_ != nullptr) cudaFreeAsync(allocated_, stream_);
    }
    workspace(const workspace&) = delete;
    workspace& operator=(const workspace&) = delete;

    float* floats() const { return floats_; }
    bool lacking() const { return lacking_; }  // there was no memory, or the device allocates none in streams

private:
    cudaStream_t stream_;
    bool lacking_ = false;
    void* allocated_ = nullptr;
    float* floats_ = nullptr;
};

}  // namespace

void gemm(float alpha, batch_view<const float> a, batch_view<const float> b, float beta, batch_view<float> c,
          cudaStream_t stream, const gemm_options& options) {
    gemm_work work = product_of(a, b, c, options);
    if (work.m == 0 || work.n == 0 || work.count == 0) return;
    work.alpha = alpha;
    work.beta = beta;
    work = production::as_computed(work);
    // Arguments first: what is wrong with them is wrong without a device, too.
    const product_operands operands(work);
    operands.check_addresses();
    const int on_device = device::current_device();
    device::check_stream(stream, on_device);
    for (const product_operand& each : operands.read_or_written())
        device::check_reachable(each.matrix.name, ".data", each.address, on_device);
    const gemm_machine machine = machine_of(on_device);
    gemm_plan plan = production::plan_of(work, machine);
    const workspace space(options, operands, plan.space.floats * kFloat, on_device, stream);
    if (space.lacking()) plan = {plan.lie, production::choose_without_workspace(), {}};
    work.workspace = space.floats();
    const device::stream_scope launches_go_to(stream, on_device);
    if (!production::multiply_on_gpu(work, plan, machine))
        throw unsupported("no kernel is tuned as " + production::explain(work, machine));
}

std::int64_t gemm_workspace_bytes(batch_view<const float> a, batch_view<const float> b, batch_view<float> c,
                                  const gemm_options& options) {
    const gemm_work work = production::as_computed(product_of(a, b, c, options));
    if (work.m == 0 || work.n == 0 || work.count == 0) return 0;
    return production::most_workspace(work, machine_of(device::current_device())) * kFloat;
}

std::string explain_gemm(batch_view<const float> a, batch_view<const float> b, batch_view<float> c,
                         const gemm_options& options) {
    return production::explain(production::as_computed(product_of(a, b, c, options)),
                               machine_of(device::current_device()));
}

}  // namespace cornerturn::cuda
