// The C functions for copies between tensors in a GPU's memory, and for plans.
#include "core/c_status.hpp"
#include "core/c_tensors.hpp"
#include "cornerturn/cornerturn.h"
#include "cornerturn/cuda/copy.hpp"
#include "ops/copy/kernels/c_plan.hpp"

using cornerturn::detail::address_of;
using cornerturn::detail::any_tensor;
using cornerturn::detail::axis_list;
using cornerturn::detail::axis_list_of;
using cornerturn::detail::permutation;
using cornerturn::detail::status_of;
using cornerturn::detail::strides_or_packed;

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
    return status_of([&] {
        cornerturn::detail::make_plan(plan, [&] {
            const axis_list n = axis_list_of(rank, extents, "extents");
            return cornerturn::cuda::copy_plan(n, strides_or_packed(rank, source_strides, n),
                                               strides_or_packed(rank, destination_strides, n), element_size);
        });
    });
}

cornerturn_status cornerturn_cuda_plan_create_permutation(cornerturn_cuda_plan** plan, int rank, const int64_t* extents,
                                                          const int64_t* source_strides, const int* axes,
                                                          const int64_t* destination_strides, int64_t element_size) {
    return status_of([&] {
        cornerturn::detail::make_plan(plan, [&] {
            const permutation p(rank, extents, source_strides, axes, destination_strides);
            const cornerturn::permuted_tensor from({0, p.source_extents, p.source_strides}, p.axes);
            return cornerturn::cuda::copy_plan(from.extents, from.strides, p.destination_strides, element_size);
        });
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
