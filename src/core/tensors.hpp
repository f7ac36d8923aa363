// What a caller of a copy between tensors may get wrong: found before anything is done, and told in one sentence. For
// the GPU and the host alike.
#pragma once

#include <cstdint>

#include "core/strided.hpp"
#include "cornerturn/tensor_view.hpp"

namespace cornerturn {

// Extents, strides and the element's size, which hold for any addresses. Throws invalid_argument, and unsupported where
// it cannot be decided whether elements of the destination overlap.
// Messages call the source by that name.
void check_tensors(const detail::any_tensor& source, const detail::any_tensor& destination, std::int64_t element_size,
                   std::int64_t element_alignment, const char* source_name = "source");

// The addresses of checked tensors that are not empty. Throws invalid_argument where one is null or not aligned, or
// where the two share elements, unless each is copied to itself, and unsupported where that cannot be decided. `c` is
// their canonical form.
void check_tensor_addresses(const detail::any_tensor& source, const detail::any_tensor& destination,
                            std::int64_t element_alignment, const strided_copy& c, const char* source_name = "source");

bool is_empty(const detail::any_tensor& tensor);

// A copy to itself: nothing is to be done.
bool is_same(const strided_copy& c);

// The source with its axes as numpy.transpose orders them: strides and extents, at the same address. Throws
// invalid_argument where `axes` is no permutation of them.
struct permuted_tensor {
    detail::axis_list extents, strides;

    permuted_tensor(const detail::any_tensor& source, const detail::axis_list& axes);
};

}  // namespace cornerturn
