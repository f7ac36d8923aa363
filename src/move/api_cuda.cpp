// cornerturn::cuda::transpose, copy and permute: check the arguments, choose a kernel, launch it.

#include <cuda_runtime.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "core/arguments.hpp"
#include "core/conversions.hpp"
#include "core/tensors.hpp"
#include "cornerturn/cuda/convert.hpp"
#include "cornerturn/cuda/copy.hpp"
#include "cornerturn/cuda/transpose.hpp"
#include "device/cuda_check.hpp"
#include "device/cuda_device.hpp"
#include "device/cuda_memory.hpp"
#include "move/measure.hpp"
#include "move/policy.hpp"
#include "move/policy_measured.hpp"

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
    const device::stream_scope launches_go_to(stream, device);
    moves::run_on_gpu(c, device::gpu_of(device));
}

// The addresses are those that the caller gave.
void check_device(std::uintptr_t source, std::uintptr_t destination, int device, cudaStream_t stream) {
    device::check_stream(stream, device);
    device::check_reachable("source", ".data", source, device);
    device::check_reachable("destination", ".data", destination, device);
}

// The rest of a call, with the device current.
void run(const strided_copy& c, std::uintptr_t source, std::uintptr_t destination, int device, cudaStream_t stream) {
    check_device(source, destination, device, stream);
    launch(c, device, stream);
}

// Device memory for a tensor, on a multiple of 256 bytes.
class memory_of_tensor {
public:
    memory_of_tensor(const any_tensor& tensor, std::int64_t element_size) {
        std::int64_t last = 0;
        for (std::size_t i = 0; i < tensor.extents.count; ++i) {
            const std::int64_t reach = (tensor.extents.values[i] - 1) * tensor.strides.values[i];
            (reach < 0 ? before_ : last) += reach < 0 ? -reach : reach;
        }
        // A tensor whose strides are negative begins later: at a multiple of 256 bytes too.
        before_ = (before_ * element_size + kBoundary - 1) / kBoundary * kBoundary;
        memory_.emplace(before_ + (last + 1) * element_size);
    }
    // The address of element (0, 0, ...).
    std::uintptr_t first() const { return address_of(memory_->get) + static_cast<std::uintptr_t>(before_); }

private:
    static constexpr std::int64_t kBoundary = 256;
    std::int64_t before_ = 0;  // bytes
    std::optional<device::device_memory> memory_;
};

void check_same_device(int current, int planned) {
    if (current != planned)
        refuse("the current device", to_string(current), "the plan was made for device " + to_string(planned));
}

// Checks the arguments first: they can be wrong even without a device.
void check_and_run(const any_tensor& source, const any_tensor& destination, std::int64_t element_size,
                   std::int64_t element_alignment, cudaStream_t stream, const char* source_name) {
    check_tensors(source, destination, element_size, element_alignment, source_name);
    if (is_empty(destination)) return;
    const strided_copy c = checked_copy(source, destination, element_size, element_alignment, source_name);
    run(c, source.data, destination.data, device::current_device(), stream);
}

}  // namespace

transpose_plan::transpose_plan(const transpose_layout& layout) : layout_(layout) {
    check_layout(layout);
    device_ = device::current_device();
}

void transpose_plan::operator()(const void* source, void* destination, cudaStream_t stream) const {
    if (is_empty(layout_)) return;
    const std::uintptr_t from = address_of(source), to = address_of(destination);
    check_addresses(layout_, from, to);
    check_same_device(device::current_device(), device_);
    run(canonical(work_of(layout_, from, to)), from, to, device_, stream);
}

std::string transpose_plan::explain(const void* source, const void* destination) const {
    strided_copy c = canonical(work_of(layout_, address_of(source), address_of(destination)));
    if (c.source == c.destination && !has_equal_squares(layout_)) c.destination += std::uintptr_t{1} << 48;
    return moves::explain(c, device::gpu_of(device_));
}

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

copy_plan::copy_plan(const cornerturn::detail::axis_list& extents, const cornerturn::detail::axis_list& source_strides,
                     const cornerturn::detail::axis_list& destination_strides, std::int64_t element_size,
                     std::int64_t element_alignment, choice how, const void* source, void* destination,
                     cudaStream_t stream)
    : copy_plan(extents, source_strides, destination_strides, element_size, element_alignment) {
    any_tensor from{address_of(source), extents_, source_strides_};
    any_tensor to{address_of(destination), extents_, destination_strides_};
    if (how == choice::predicted || is_empty(to)) return;
    device::check_stream(stream, device_);
    moves::check_not_captured(stream);
    std::optional<memory_of_tensor> own_source, own_destination;
    if (source == nullptr || destination == nullptr) {
        from.data = own_source.emplace(from, element_size).first();
        to.data = own_destination.emplace(to, element_size).first();
    }
    const strided_copy c = checked_copy(from, to, element_size, element_alignment);
    check_device(from.data, to.data, device_, stream);
    moves::measure(c, device_, stream);
}

void copy_plan::operator()(const void* source, void* destination, cudaStream_t stream) const {
    const any_tensor from{address_of(source), extents_, source_strides_};
    const any_tensor to{address_of(destination), extents_, destination_strides_};
    if (is_empty(to)) return;
    const strided_copy c = checked_copy(from, to, element_size_, element_alignment_);
    check_same_device(device::current_device(), device_);
    run(c, from.data, to.data, device_, stream);
}

std::string copy_plan::explain(const void* source, const void* destination) const {
    const any_tensor from{address_of(source), extents_, source_strides_};
    const any_tensor to{address_of(destination), extents_, destination_strides_};
    strided_copy c = canonical(from, to, element_size_);
    // Both addresses may be null, for example. A copy is never in place.
    if (c.source == c.destination && !is_same(c)) c.destination += std::uintptr_t{1} << 48;
    return moves::explain(c, device::gpu_of(device_));
}

void save_choices(const std::string& file) {
    const auto failed = [&] {
        return invalid_argument("the choices cannot be written to " + file + ": " + std::strerror(errno));
    };
    // Others see the old file or the whole new one, also if several threads or processes save at once.
    static std::atomic<unsigned> count = 0;
    std::string written;
    int made;
    do {
        written = file + "." + to_string(::getpid()) + "-" + to_string(count++);
        made = ::open(written.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (made < 0 && errno == EEXIST);
    if (made < 0) throw failed();
    ::close(made);
    std::ofstream to(written);
    to << moves::measured_text();
    to.close();
    if (!to || std::rename(written.c_str(), file.c_str()) != 0) {
        const invalid_argument why = failed();
        std::remove(written.c_str());
        throw why;
    }
}

int load_choices(const std::string& file) {
    std::ifstream from(file);
    if (!from) throw invalid_argument("the choices cannot be read from " + file + ": " + std::strerror(errno));
    std::ostringstream text;
    text << from.rdbuf();
    try {
        return moves::read_measured(text.str());
    } catch (const invalid_argument& wrong) {
        throw invalid_argument(file + ": " + wrong.what());
    }
}

namespace detail {

void transpose(const cornerturn::detail::any_batch& source, const cornerturn::detail::any_batch& destination,
               std::int64_t element_size, std::int64_t element_alignment, cudaStream_t stream) {
    // Checks the arguments first: they can be wrong even without a device.
    const transpose_layout layout = checked_layout(source.layout, destination.layout, element_size, element_alignment);
    if (is_empty(layout)) return;
    check_addresses(layout, source.data, destination.data);
    run(canonical(work_of(layout, source.data, destination.data)), source.data, destination.data,
        device::current_device(), stream);
}

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

void convert(const cornerturn::detail::typed_tensor& source, const cornerturn::detail::axis_list& axes,
             const cornerturn::detail::typed_tensor& destination, const conversion& how, cudaStream_t stream) {
    const strided_copy c = checked_conversion(source, axes, destination, how);
    if (c.is_empty()) return;
    const int device = device::current_device();
    check_device(source.tensor.data, destination.tensor.data, device, stream);
    if (c.by.scales.address != 0) device::check_reachable("scale", ".data()", c.by.scales.address, device);
    if (c.by.biases.address != 0) device::check_reachable("bias", ".data()", c.by.biases.address, device);
    launch(c, device, stream);
}

void convert_on(int device, const cornerturn::detail::typed_tensor& source, const cornerturn::detail::axis_list& axes,
                const cornerturn::detail::typed_tensor& destination, const conversion& how, cudaStream_t stream) {
    const strided_copy c = checked_conversion(source, axes, destination, how);
    if (!c.is_empty()) launch(c, device, stream);
}

std::string explain_convert(const cornerturn::detail::typed_tensor& source, const cornerturn::detail::axis_list& axes,
                            const cornerturn::detail::typed_tensor& destination, const conversion& how) {
    return moves::explain(checked_conversion(source, axes, destination, how), device::gpu_of(device::current_device()));
}

}  // namespace detail
}  // namespace cornerturn::cuda
