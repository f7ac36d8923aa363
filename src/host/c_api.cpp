// The C functions for host memory.
#include "core/c_status.hpp"
#include "core/c_tensors.hpp"
#include "cornerturn/copy.hpp"
#include "cornerturn/cornerturn.h"
#include "cornerturn/transpose.hpp"

using cornerturn::detail::address_of;
using cornerturn::detail::any_batch;
using cornerturn::detail::any_tensor;
using cornerturn::detail::axis_list;
using cornerturn::detail::axis_list_of;
using cornerturn::detail::c_conversion;
using cornerturn::detail::permutation;
using cornerturn::detail::strides_or_packed;

cornerturn_status cornerturn_transpose_batch(const void* source, int64_t rows, int64_t cols, int64_t source_ld,
                                             int64_t source_stride, void* destination, int64_t destination_ld,
                                             int64_t destination_stride, int64_t count, int64_t element_size,
                                             int threads) {
    return cornerturn::detail::status_of([&] {
        cornerturn::detail::transpose(
            any_batch{address_of(source), {rows, cols, source_ld, count, source_stride}},
            any_batch{address_of(destination), {cols, rows, destination_ld, count, destination_stride}}, element_size,
            1, {.threads = threads});
    });
}

cornerturn_status cornerturn_transpose(const void* source, int64_t rows, int64_t cols, int64_t source_ld,
                                       void* destination, int64_t destination_ld, int64_t element_size, int threads) {
    return cornerturn_transpose_batch(source, rows, cols, source_ld, 0, destination, destination_ld, 0, 1, element_size,
                                      threads);
}

cornerturn_status cornerturn_transpose_in_place(void* matrix, int64_t n, int64_t ld, int64_t element_size,
                                                int threads) {
    return cornerturn_transpose(matrix, n, n, ld, matrix, ld, element_size, threads);
}

cornerturn_status cornerturn_copy(int rank, const int64_t* extents, const void* source, const int64_t* source_strides,
                                  void* destination, const int64_t* destination_strides, int64_t element_size,
                                  int threads) {
    return cornerturn::detail::status_of([&] {
        const axis_list n = axis_list_of(rank, extents, "extents");
        const axis_list from = strides_or_packed(rank, source_strides, n);
        const axis_list to = strides_or_packed(rank, destination_strides, n);
        cornerturn::detail::copy(any_tensor{address_of(source), n, from}, any_tensor{address_of(destination), n, to},
                                 element_size, 1, {.threads = threads});
    });
}

cornerturn_status cornerturn_permute(int rank, const int64_t* extents, const void* source,
                                     const int64_t* source_strides, const int* axes, void* destination,
                                     const int64_t* destination_strides, int64_t element_size, int threads) {
    return cornerturn::detail::status_of([&] {
        const permutation p(rank, extents, source_strides, axes, destination_strides);
        cornerturn::detail::permute(any_tensor{address_of(source), p.source_extents, p.source_strides}, p.axes,
                                    any_tensor{address_of(destination), p.destination_extents, p.destination_strides},
                                    element_size, 1, {.threads = threads});
    });
}

cornerturn_status cornerturn_explain_copy(int rank, const int64_t* extents, const void* source,
                                          const int64_t* source_strides, const void* destination,
                                          const int64_t* destination_strides, int64_t element_size, char* text,
                                          size_t text_size) {
    return cornerturn::detail::status_of([&] {
        const axis_list n = axis_list_of(rank, extents, "extents");
        const axis_list from = strides_or_packed(rank, source_strides, n);
        const axis_list to = strides_or_packed(rank, destination_strides, n);
        const any_tensor source_tensor{address_of(source), n, from}, destination_tensor{address_of(destination), n, to};
        cornerturn::detail::copy_text(
            cornerturn::detail::explain_copy(source_tensor, destination_tensor, element_size, 1), text, text_size);
    });
}

cornerturn_status cornerturn_convert(int rank, const int64_t* extents, const void* source,
                                     cornerturn_element source_type, const int64_t* source_strides, const int* axes,
                                     void* destination, cornerturn_element destination_type,
                                     const int64_t* destination_strides, const cornerturn_conversion* how,
                                     int threads) {
    return cornerturn::detail::status_of([&] {
        const c_conversion c(rank, extents, source, source_type, source_strides, axes, destination, destination_type,
                             destination_strides, how);
        cornerturn::detail::convert(c.source, c.tensors.axes, c.destination, c.how, {.threads = threads});
    });
}
