// cooperative_groups::memcpy_async: each thread of a group copies a part. wait() waits for all copies.
#pragma once

#include <cooperative_groups.h>

#include <cstddef>

#include "../cornerturn_cuda/async_copy.h"

namespace cooperative_groups {

namespace ct_lanes {

template <class Group>
CT_INLINE void copy(const Group& group, void* to, const void* from, size_t bytes, unsigned width) {
    ct_copy_async_by(group.thread_rank(), group.num_threads(), to, from, bytes, width);
    ct_end_of_copies();
}

}  // namespace ct_lanes

// A plain number of bytes promises no alignment, so the addresses decide the width of an access.
template <class Group, class To, class From>
CT_INLINE void memcpy_async(const Group& group, To* to, const From* from, const size_t& bytes) {
    ct_lanes::copy(group, to, from, bytes, ct_copy_width(to, from, bytes));
}

template <class Group, class To, class From, size_t Alignment>
CT_INLINE void memcpy_async(const Group& group, To* to, const From* from,
                            const cuda::aligned_size_t<Alignment>& bytes) {
    constexpr unsigned width = ct_promised_width<Alignment>;
    ct_lanes::copy(group, to, from, bytes, width > 1 ? width : ct_copy_width(to, from, bytes));
}

// The overload that counts elements. It copies as many elements as the smaller layout has.
template <class Group, class Element, class ToLayout, class FromLayout>
CT_INLINE void memcpy_async(const Group& group, Element* to, const ToLayout& to_layout, const Element* from,
                            const FromLayout& from_layout) {
    const size_t to_elements = to_layout;
    const size_t from_elements = from_layout;
    const size_t bytes = (to_elements < from_elements ? to_elements : from_elements) * sizeof(Element);
    ct_lanes::copy(group, to, from, bytes, ct_copy_width(to, from, bytes));
}

template <class Group>
CT_INLINE void wait(const Group& group) {
    ct_wait_for_copies(0);
    group.sync();
}

template <unsigned Later, class Group>
CT_INLINE void wait_prior(const Group& group) {
    ct_wait_for_copies(Later);
    group.sync();
}

}  // namespace cooperative_groups
