// cornerturn::cuda::transpose: checks the arguments, chooses the kernel, launches it.
#include <cuda_runtime.h>

#include <string>

#include "core/arguments.hpp"
#include "cornerturn/cuda/transpose.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_device.hpp"
#include "ops/transpose/kernels/dispatch.hpp"

namespace cornerturn::cuda {
namespace {

using device::check_reachable;
using device::check_stream;
using std::to_string;

std::uintptr_t address_of(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }

// The rest of a call, once the layout is known to be right and the device is the current one.
void run(const transpose_layout& l, std::uintptr_t source, std::uintptr_t destination, int on_device,
         cudaStream_t stream) {
    check_stream(stream, on_device);
    check_reachable("source", ".data", source, on_device);
    check_reachable("destination", ".data", destination, on_device);
    matrix_work work = work_of(l, source, destination);
    work.keeps_lines = device::keeps_lines();
    const device::stream_scope launches_go_to(stream, on_device);
    const gpu on = device::gpu_of(on_device);
    transposes::run_on_gpu(transposes::choose(work, on), work, on);
}

}  // namespace

transpose_plan::transpose_plan(const transpose_layout& layout) : layout_(layout) {
    check_layout(layout);
    device_ = device::current_device();
}

void transpose_plan::operator()(const void* source, void* destination, cudaStream_t stream) const {
    if (is_empty(layout_)) return;
    check_addresses(layout_, address_of(source), address_of(destination));
    if (const int current = device::current_device(); current != device_)
        refuse("the current device", to_string(current), "the plan was made for device " + to_string(device_));
    run(layout_, address_of(source), address_of(destination), device_, stream);
}

std::string transpose_plan::explain(const void* source, const void* destination) const {
    return transposes::explain(work_of(layout_, address_of(source), address_of(destination)), device::gpu_of(device_));
}

namespace detail {

void transpose(const cornerturn::detail::any_batch& source, const cornerturn::detail::any_batch& destination,
               std::int64_t element_size, std::int64_t element_alignment, cudaStream_t stream) {
    const transpose_layout layout = checked_layout(source.layout, destination.layout, element_size, element_alignment);
    if (is_empty(layout)) return;
    // Check the arguments first: they can be wrong even without a device.
    check_addresses(layout, source.data, destination.data);
    const int on_device = device::current_device();
    run(layout, source.data, destination.data, on_device, stream);
}

}  // namespace detail
}  // namespace cornerturn::cuda
