// cornerturn::copy and permute: check the arguments and share out the work.
#include "cornerturn/copy.hpp"

#include "core/arguments.hpp"
#include "core/tensors.hpp"
#include "host/choice.hpp"
#include "host/team.hpp"

namespace cornerturn::detail {
namespace {

// The copy that must be done, with its checks. It has no elements if there is nothing to do.
strided_copy checked_copy(const any_tensor& source, const any_tensor& destination, std::int64_t element_size,
                          std::int64_t element_alignment, const char* source_name) {
    check_tensors(source, destination, element_size, element_alignment, source_name);
    if (cornerturn::is_empty(destination)) return {source.data, destination.data, 0, 0, {}};
    const strided_copy c = canonical(source, destination, element_size);
    check_tensor_addresses(source, destination, element_alignment, c, source_name);
    return c;
}

void check_and_run(const any_tensor& source, const any_tensor& destination, std::int64_t element_size,
                   std::int64_t element_alignment, host_options options, const char* source_name) {
    const strided_copy c = checked_copy(source, destination, element_size, element_alignment, source_name);
    host::check_options(options);
    if (c.is_empty() || is_same(c)) return;
    host::run(c, host::team(options));
}

}  // namespace

void copy(const any_tensor& source, const any_tensor& destination, std::int64_t element_size,
          std::int64_t element_alignment, host_options options) {
    check_and_run(source, destination, element_size, element_alignment, options, "source");
}

void permute(const any_tensor& source, const axis_list& axes, const any_tensor& destination, std::int64_t element_size,
             std::int64_t element_alignment, host_options options) {
    const permuted_tensor permuted(source, axes);
    check_and_run({source.data, permuted.extents, permuted.strides}, destination, element_size, element_alignment,
                  options, "permuted source");
}

std::string explain_copy(const any_tensor& source, const any_tensor& destination, std::int64_t element_size,
                         std::int64_t element_alignment) {
    const strided_copy c = checked_copy(source, destination, element_size, element_alignment, "source");
    if (c.is_empty()) return "nothing: there is nothing to move";
    if (is_same(c)) return "nothing: source and destination are the same";
    return host::explain(c);
}

}  // namespace cornerturn::detail
