// Checks of the arguments of copies between tensors, for the GPU and the host. They run before any work starts, and
// report an error in one sentence.
#pragma once

#include <cstdint>

#include "core/strided.hpp"
#include "cornerturn/tensor_view.hpp"

namespace cornerturn {

// Checks everything except the addresses: extents, strides, the element's size and alignment. Throws invalid_argument,
// or unsupported if it cannot decide whether elements of the destination overlap. Messages call the source
// `source_name`.
void check_tensors(const detail::any_tensor& source, const detail::any_tensor& destination, std::int64_t element_size,
                   std::int64_t element_alignment, const char* source_name = "source");

// The same without the element's size and alignment. The sides may have elements of different sizes.
void check_sides(const detail::any_tensor& source, std::int64_t source_size, const detail::any_tensor& destination,
                 std::int64_t destination_size, const char* source_name = "source");

// Checks the addresses of checked tensors that are not empty. `c` is the canonical form of the copy. Throws
// invalid_argument if an address is null or not aligned, or if the tensors share elements (a copy of a tensor to itself
// may). Throws unsupported if it cannot decide whether they share elements.
void check_tensor_addresses(const detail::any_tensor& source, const detail::any_tensor& destination,
                            std::int64_t element_alignment, const strided_copy& c, const char* source_name = "source");

// The part of this that looks for shared elements.
void check_sharing(const detail::any_tensor& source, const detail::any_tensor& destination, const strided_copy& c,
                   const char* source_name);

bool is_empty(const detail::any_tensor& tensor);

// A copy of a tensor to itself, which needs no work.
bool is_same(const strided_copy& c);
// The same, or a conversion of every element where it lies.
bool is_onto_itself(const strided_copy& c);

// The source's extents and strides with the axes in a new order, as numpy.transpose(source, axes) has them. The address
// stays the same. Throws invalid_argument if `axes` is not a permutation of the source's axes.
struct permuted_tensor {
    detail::axis_list extents, strides;

    permuted_tensor(const detail::any_tensor& source, const detail::axis_list& axes);
};

}  // namespace cornerturn
