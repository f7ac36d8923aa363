// cornerturn::cuda::gemm: checks the arguments, chooses the kernels, launches them.
#include "cornerturn/cuda/gemm.hpp"

#include <cuda_runtime.h>

#include <string>

#include "core/arguments.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_device.hpp"
#include "device/kept_memory.hpp"
#include "ops/gemm/kernels/arguments.hpp"
#include "ops/gemm/kernels/multiply.hpp"

namespace cornerturn::cuda {
namespace {

using products::prepared_product;
using std::to_string;

constexpr std::int64_t kFloat = sizeof(float);

gemm_work product_of(const batch_view<const float>& a, const batch_view<const float>& b, const batch_view<float>& c,
                     const gemm_options& options) {
    using cornerturn::detail::any;
    return checked_product(any(a), options.a == op::transposed, any(b), options.b == op::transposed, any(c));
}

// The caller's workspace, which must hold `bytes` bytes.
float* checked_workspace(const gemm_options& options, const product_operands& operands, std::int64_t bytes,
                         int on_device) {
    const auto address = reinterpret_cast<std::uintptr_t>(options.workspace);
    if (address % 16 != 0) refuse("options.workspace", hex(address), "it must be aligned to 16 bytes");
    if (options.workspace_bytes < bytes) {
        refuse("options.workspace_bytes", to_string(options.workspace_bytes),
               "this product takes " + to_string(bytes) + " (see gemm_workspace_bytes)");
    }
    operands.check_workspace_apart(address, bytes);
    device::check_reachable("options.workspace", "", address, on_device);
    return static_cast<float*>(options.workspace);
}

}  // namespace

void gemm(float alpha, batch_view<const float> a, batch_view<const float> b, float beta, batch_view<float> c,
          cudaStream_t stream, const gemm_options& options) {
    gemm_work work = product_of(a, b, c, options);
    if (work.m == 0 || work.n == 0 || work.count == 0) return;
    work.alpha = alpha;
    work.beta = beta;
    work = products::as_computed(work);
    // Check the arguments first: they can be wrong even without a device.
    const product_operands operands(work);
    operands.check_addresses();
    const int on_device = device::current_device();
    device::check_stream(stream, on_device);
    for (const product_operand& each : operands.read_or_written())
        device::check_reachable(each.matrix.name, ".data", each.address, on_device);
    const gpu on = device::gpu_of(on_device);
    const bool given = options.workspace != nullptr;
    if (!given && options.workspace_bytes != 0)
        refuse("options.workspace_bytes", to_string(options.workspace_bytes), "there is no workspace");
    prepared_product prepared = products::prepare(work, on, given);
    const std::int64_t bytes = prepared.space.floats * kFloat;
    float* workspace = given ? checked_workspace(options, operands, bytes, on_device) : nullptr;
    const device::kept_memory kept(given ? 0 : bytes, stream, on_device);
    if (!given) workspace = static_cast<float*>(kept.get());
    if (bytes > 0 && workspace == nullptr) prepared = products::prepare(work, products::choose_without_workspace(), on);
    const device::stream_scope launches_go_to(stream, on_device);
    if (!products::multiply_on_gpu(prepared, workspace, on))
        throw unsupported("no kernel is tuned as " + products::name_of(prepared.tuned));
}

std::int64_t gemm_workspace_bytes(batch_view<const float> a, batch_view<const float> b, batch_view<float> c,
                                  const gemm_options& options) {
    const gemm_work work = products::as_computed(product_of(a, b, c, options));
    if (work.m == 0 || work.n == 0 || work.count == 0) return 0;
    return products::most_workspace(work, device::gpu_of(device::current_device())) * kFloat;
}

std::string explain_gemm(batch_view<const float> a, batch_view<const float> b, batch_view<float> c,
                         const gemm_options& options) {
    return products::explain(products::as_computed(product_of(a, b, c, options)),
                             device::gpu_of(device::current_device()), options.workspace != nullptr);
}

std::int64_t kept_workspace_bytes() { return device::kept_bytes(device::current_device()); }

void give_back_workspace() { device::give_back_kept_memory(device::current_device()); }

}  // namespace cornerturn::cuda
