// cornerturn::cuda::copy and permute: check the arguments, choose a kernel, launch it.
#include "cornerturn/cuda/copy.hpp"

#include <cuda_runtime.h>

#include <string>

#include "core/arguments.hpp"
#include "core/tensors.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_device.hpp"
#include "ops/permute/kernels/policy.hpp"
#include "ops/transpose/kernels/dispatch.hpp"

namespace cornerturn::cuda {
namespace {

using cornerturn::detail::any_tensor;
using std::to_string;

std::uintptr_t address_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

// The copy between tensors that are not empty and whose extents and strides are right. Checks its addresses.
strided_copy checked_copy(const any_tensor& source, const any_tensor& destination, std::int64_t element_size,
                          std::int64_t element_alignment, const char* source_name = "source") {
    const strided_copy c = canonical(source, destination, element_size);
    check_tensor_addresses(source, destination, element_alignment, c, source_name);
    return c;
}

// The current device must be `device`. The stream belongs to it, and it can reach both sides.
void launch(const strided_copy& c, int device, cudaStream_t stream) {
    if (is_same(c)) return;
    const device::stream_scope launches_go_to(stream, device);
    const auto by_matrices = [](const transposes::tuning& tuned, const matrix_work& work, const gpu& on) {
        matrix_work as_set = work;
        as_set.keeps_lines = device::keeps_lines();
        transposes::run_on_gpu(tuned, as_set, on);
    };
    tensor_copies::run(c, device::gpu_of(device), by_matrices, strided::run_on_gpu);
}

// The rest of a call, with the device current.
void run(const strided_copy& c, const any_tensor& source, const any_tensor& destination, int device,
         cudaStream_t stream) {
    device::check_stream(stream, device);
    device::check_reachable("source", ".data", source.data, device);
    device::check_reachable("destination", ".data", destination.data, device);
    launch(c, device, stream);
}

// Checks the arguments first: they can be wrong even without a device.
void check_and_run(const any_tensor& source, const any_tensor& destination, std::int64_t element_size,
                   std::int64_t element_alignment, cudaStream_t stream, const char* source_name) {
    check_tensors(source, destination, element_size, element_alignment, source_name);
    if (is_empty(destination)) return;
    const strided_copy c = checked_copy(source, destination, element_size, element_alignment, source_name);
    run(c, source, destination, device::current_device(), stream);
}

}  // namespace

copy_plan::copy_plan(const cornerturn::detail::axis_list& extents, const cornerturn::detail::axis_list& source_strides,
                     const cornerturn::detail::axis_list& destination_strides, std::int64_t element_size,
                     std::int64_t element_alignment)
    : extents_(extents),
      source_strides_(source_strides),
      destination_strides_(destination_strides),
      element_size_(element_size),
      element_alignment_(element_alignment) {
    check_tensors({0, extents_, source_strides_}, {0, extents_, destination_strides_}, element_size, element_alignment);
    device_ = device::current_device();
}

void copy_plan::operator()(const void* source, void* destination, cudaStream_t stream) const {
    const any_tensor from{address_of(source), extents_, source_strides_};
    const any_tensor to{address_of(destination), extents_, destination_strides_};
    if (is_empty(to)) return;
    const strided_copy c = checked_copy(from, to, element_size_, element_alignment_);
    if (const int current = device::current_device(); current != device_)
        refuse("the current device", to_string(current), "the plan was made for device " + to_string(device_));
    run(c, from, to, device_, stream);
}

std::string copy_plan::explain(const void* source, const void* destination) const {
    const any_tensor from{address_of(source), extents_, source_strides_};
    const any_tensor to{address_of(destination), extents_, destination_strides_};
    if (is_empty(to)) return "nothing: there is nothing to move";
    const strided_copy c = canonical(from, to, element_size_);
    if (is_same(c)) return "nothing: source and destination are the same";
    return tensor_copies::explain(c, device::gpu_of(device_));
}

namespace detail {

void copy(const any_tensor& source, const any_tensor& destination, std::int64_t element_size,
          std::int64_t element_alignment, cudaStream_t stream) {
    check_and_run(source, destination, element_size, element_alignment, stream, "source");
}

void copy_on(int device, const any_tensor& source, const any_tensor& destination, std::int64_t element_size,
             std::int64_t element_alignment, cudaStream_t stream) {
    check_tensors(source, destination, element_size, element_alignment);
    if (is_empty(destination)) return;
    launch(checked_copy(source, destination, element_size, element_alignment), device, stream);
}

void permute(const any_tensor& source, const cornerturn::detail::axis_list& axes, const any_tensor& destination,
             std::int64_t element_size, std::int64_t element_alignment, cudaStream_t stream) {
    const permuted_tensor permuted(source, axes);
    check_and_run({source.data, permuted.extents, permuted.strides}, destination, element_size, element_alignment,
                  stream, "permuted source");
}

}  // namespace detail
}  // namespace cornerturn::cuda
