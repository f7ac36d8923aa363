// The C functions for moves in a GPU's memory, and for plans.
#include <cuda_runtime.h>

#include <functional>

#include "core/c_status.hpp"
#include "core/c_tensors.hpp"
#include "cornerturn/cornerturn.h"
#include "cornerturn/cuda/convert.hpp"
#include "cornerturn/cuda/copy.hpp"
#include "cornerturn/cuda/transpose.hpp"

using cornerturn::transpose_layout;
using cornerturn::detail::address_of;
using cornerturn::detail::any_batch;
using cornerturn::detail::any_tensor;
using cornerturn::detail::axis_list;
using cornerturn::detail::axis_list_of;
using cornerturn::detail::c_conversion;
using cornerturn::detail::permutation;
using cornerturn::detail::status_of;
using cornerturn::detail::strides_or_packed;

// A plan of any operation.
struct cornerturn_cuda_plan {
    std::function<void(const void* source, void* destination, cudaStream_t stream)> run;
};

namespace {

const char* checked_path(const char* file) {
    if (file == nullptr) throw cornerturn::invalid_argument("file is NULL");
    return file;
}

// Makes a plan of what make() returns. On failure, *plan is null.
template <class Make>
cornerturn_status make_plan(cornerturn_cuda_plan** plan, Make make) {
    return status_of([&] {
        if (plan == nullptr) throw cornerturn::invalid_argument("plan is NULL");
        *plan = nullptr;
        *plan = new cornerturn_cuda_plan{make()};
    });
}

}  // namespace

cornerturn_status cornerturn_cuda_transpose_batch(const void* source, int64_t rows, int64_t cols, int64_t source_ld,
                                                  int64_t source_stride, void* destination, int64_t destination_ld,
                                                  int64_t destination_stride, int64_t count, int64_t element_size,
                                                  CUstream_st* stream) {
    return status_of([&] {
        const auto address = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
        cornerturn::cuda::detail::transpose(
            any_batch{address(source), {rows, cols, source_ld, count, source_stride}},
            any_batch{address(destination), {cols, rows, destination_ld, count, destination_stride}}, element_size, 1,
            stream);
    });
}

cornerturn_status cornerturn_cuda_transpose(const void* source, int64_t rows, int64_t cols, int64_t source_ld,
                                            void* destination, int64_t destination_ld, int64_t element_size,
                                            CUstream_st* stream) {
    return cornerturn_cuda_transpose_batch(source, rows, cols, source_ld, 0, destination, destination_ld, 0, 1,
                                           element_size, stream);
}

cornerturn_status cornerturn_cuda_transpose_in_place(void* matrix, int64_t n, int64_t ld, int64_t element_size,
                                                     CUstream_st* stream) {
    return cornerturn_cuda_transpose(matrix, n, n, ld, matrix, ld, element_size, stream);
}

cornerturn_status cornerturn_cuda_plan_create_batch(cornerturn_cuda_plan** plan, int64_t rows, int64_t cols,
                                                    int64_t source_ld, int64_t source_stride, int64_t destination_ld,
                                                    int64_t destination_stride, int64_t count, int64_t element_size) {
    return make_plan(plan, [&] {
        return cornerturn::cuda::transpose_plan(transpose_layout{.rows = rows,
                                                                 .cols = cols,
                                                                 .source_ld = source_ld,
                                                                 .destination_ld = destination_ld,
                                                                 .element_size = element_size,
                                                                 .count = count,
                                                                 .source_stride = source_stride,
                                                                 .destination_stride = destination_stride});
    });
}

cornerturn_status cornerturn_cuda_plan_create(cornerturn_cuda_plan** plan, int64_t rows, int64_t cols,
                                              int64_t source_ld, int64_t destination_ld, int64_t element_size) {
    return cornerturn_cuda_plan_create_batch(plan, rows, cols, source_ld, 0, destination_ld, 0, 1, element_size);
}

cornerturn_status cornerturn_cuda_copy(int rank, const int64_t* extents, const void* source,
                                       const int64_t* source_strides, void* destination,
                                       const int64_t* destination_strides, int64_t element_size, CUstream_st* stream) {
    return status_of([&] {
        const axis_list n = axis_list_of(rank, extents, "extents");
        const axis_list from = strides_or_packed(rank, source_strides, n);
        const axis_list to = strides_or_packed(rank, destination_strides, n);
        cornerturn::cuda::detail::copy(any_tensor{address_of(source), n, from},
                                       any_tensor{address_of(destination), n, to}, element_size, 1, stream);
    });
}

cornerturn_status cornerturn_cuda_copy_on(int device, int rank, const int64_t* extents, const void* source,
                                          const int64_t* source_strides, void* destination,
                                          const int64_t* destination_strides, int64_t element_size,
                                          CUstream_st* stream) {
    return status_of([&] {
        const axis_list n = axis_list_of(rank, extents, "extents");
        const axis_list from = strides_or_packed(rank, source_strides, n);
        const axis_list to = strides_or_packed(rank, destination_strides, n);
        cornerturn::cuda::detail::copy_on(device, any_tensor{address_of(source), n, from},
                                          any_tensor{address_of(destination), n, to}, element_size, 1, stream);
    });
}

cornerturn_status cornerturn_cuda_permute(int rank, const int64_t* extents, const void* source,
                                          const int64_t* source_strides, const int* axes, void* destination,
                                          const int64_t* destination_strides, int64_t element_size,
                                          CUstream_st* stream) {
    return status_of([&] {
        const permutation p(rank, extents, source_strides, axes, destination_strides);
        cornerturn::cuda::detail::permute(
            any_tensor{address_of(source), p.source_extents, p.source_strides}, p.axes,
            any_tensor{address_of(destination), p.destination_extents, p.destination_strides}, element_size, 1, stream);
    });
}

cornerturn_status cornerturn_cuda_explain_copy(int rank, const int64_t* extents, const void* source,
                                               const int64_t* source_strides, const void* destination,
                                               const int64_t* destination_strides, int64_t element_size, char* text,
                                               size_t text_size) {
    return status_of([&] {
        const axis_list n = axis_list_of(rank, extents, "extents");
        const cornerturn::cuda::copy_plan plan(n, strides_or_packed(rank, source_strides, n),
                                               strides_or_packed(rank, destination_strides, n), element_size);
        cornerturn::detail::copy_text(plan.explain(source, destination), text, text_size);
    });
}

cornerturn_status cornerturn_cuda_plan_create_copy(cornerturn_cuda_plan** plan, int rank, const int64_t* extents,
                                                   const int64_t* source_strides, const int64_t* destination_strides,
                                                   int64_t element_size) {
    return make_plan(plan, [&] {
        const axis_list n = axis_list_of(rank, extents, "extents");
        return cornerturn::cuda::copy_plan(n, strides_or_packed(rank, source_strides, n),
                                           strides_or_packed(rank, destination_strides, n), element_size);
    });
}

cornerturn_status cornerturn_cuda_plan_create_measured(cornerturn_cuda_plan** plan, int rank, const int64_t* extents,
                                                       const void* source, const int64_t* source_strides,
                                                       void* destination, const int64_t* destination_strides,
                                                       int64_t element_size, CUstream_st* stream) {
    return make_plan(plan, [&] {
        const axis_list n = axis_list_of(rank, extents, "extents");
        return cornerturn::cuda::copy_plan(n, strides_or_packed(rank, source_strides, n),
                                           strides_or_packed(rank, destination_strides, n), element_size, 1,
                                           cornerturn::cuda::choice::measured, source, destination, stream);
    });
}

cornerturn_status cornerturn_cuda_save_choices(const char* file) {
    return status_of([&] { cornerturn::cuda::save_choices(checked_path(file)); });
}

cornerturn_status cornerturn_cuda_load_choices(const char* file, int* count) {
    return status_of([&] {
        const int added = cornerturn::cuda::load_choices(checked_path(file));
        if (count != nullptr) *count = added;
    });
}

cornerturn_status cornerturn_cuda_plan_create_permutation(cornerturn_cuda_plan** plan, int rank, const int64_t* extents,
                                                          const int64_t* source_strides, const int* axes,
                                                          const int64_t* destination_strides, int64_t element_size) {
    return make_plan(plan, [&] {
        const permutation p(rank, extents, source_strides, axes, destination_strides);
        const cornerturn::permuted_tensor from({0, p.source_extents, p.source_strides}, p.axes);
        return cornerturn::cuda::copy_plan(from.extents, from.strides, p.destination_strides, element_size);
    });
}

cornerturn_status cornerturn_cuda_convert(int rank, const int64_t* extents, const void* source,
                                          cornerturn_element source_type, const int64_t* source_strides,
                                          const int* axes, void* destination, cornerturn_element destination_type,
                                          const int64_t* destination_strides, const cornerturn_conversion* how,
                                          CUstream_st* stream) {
    return status_of([&] {
        const c_conversion c(rank, extents, source, source_type, source_strides, axes, destination, destination_type,
                             destination_strides, how);
        cornerturn::cuda::detail::convert(c.source, c.tensors.axes, c.destination, c.how, stream);
    });
}

cornerturn_status cornerturn_cuda_convert_on(int device, int rank, const int64_t* extents, const void* source,
                                             cornerturn_element source_type, const int64_t* source_strides,
                                             const int* axes, void* destination, cornerturn_element destination_type,
                                             const int64_t* destination_strides, const cornerturn_conversion* how,
                                             CUstream_st* stream) {
    return status_of([&] {
        const c_conversion c(rank, extents, source, source_type, source_strides, axes, destination, destination_type,
                             destination_strides, how);
        cornerturn::cuda::detail::convert_on(device, c.source, c.tensors.axes, c.destination, c.how, stream);
    });
}

cornerturn_status cornerturn_cuda_explain_convert(int rank, const int64_t* extents, const void* source,
                                                  cornerturn_element source_type, const int64_t* source_strides,
                                                  const int* axes, const void* destination,
                                                  cornerturn_element destination_type,
                                                  const int64_t* destination_strides, const cornerturn_conversion* how,
                                                  char* text, size_t text_size) {
    return status_of([&] {
        const c_conversion c(rank, extents, source, source_type, source_strides, axes, destination, destination_type,
                             destination_strides, how);
        cornerturn::detail::copy_text(
            cornerturn::cuda::detail::explain_convert(c.source, c.tensors.axes, c.destination, c.how), text, text_size);
    });
}

cornerturn_status cornerturn_cuda_plan_execute(const cornerturn_cuda_plan* plan, const void* source, void* destination,
                                               CUstream_st* stream) {
    return status_of([&] {
        if (plan == nullptr) throw cornerturn::invalid_argument("plan is NULL");
        plan->run(source, destination, stream);
    });
}

void cornerturn_cuda_plan_destroy(cornerturn_cuda_plan* plan) { delete plan; }
