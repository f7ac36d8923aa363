// The C functions for a GPU's memory.
#include <algorithm>

#include "core/c_status.hpp"
#include "cornerturn/cornerturn.h"
#include "cornerturn/cuda/transpose.hpp"

struct cornerturn_cuda_plan {
    cornerturn::cuda::transpose_plan plan;
};

namespace {

using cornerturn::transpose_layout;
using cornerturn::detail::any_batch;
using cornerturn::detail::status_of;

void require_plan(const void* plan) {
    if (plan == nullptr) throw cornerturn::invalid_argument("plan is NULL");
}

// C tells no alignment: that of C's own types of this size, where there are any. The core refuses sizes below 1.
std::int64_t alignment_of(std::int64_t element_size) {
    return element_size < 1 ? 1 : std::min<std::int64_t>(element_size & -element_size, 8);
}

cornerturn_status make_plan(cornerturn_cuda_plan** plan, transpose_layout layout) {
    return status_of([&] {
        require_plan(plan);
        *plan = nullptr;
        layout.element_alignment = alignment_of(layout.element_size);
        *plan = new cornerturn_cuda_plan{cornerturn::cuda::transpose_plan(layout)};
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
            any_batch{address(destination), {cols, rows, destination_ld, count, destination_stride}}, element_size,
            alignment_of(element_size), stream);
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
    return make_plan(plan, {.rows = rows,
                            .cols = cols,
                            .source_ld = source_ld,
                            .destination_ld = destination_ld,
                            .element_size = element_size,
                            .count = count,
                            .source_stride = source_stride,
                            .destination_stride = destination_stride});
}

cornerturn_status cornerturn_cuda_plan_create(cornerturn_cuda_plan** plan, int64_t rows, int64_t cols,
                                              int64_t source_ld, int64_t destination_ld, int64_t element_size) {
    return cornerturn_cuda_plan_create_batch(plan, rows, cols, source_ld, 0, destination_ld, 0, 1, element_size);
}

cornerturn_status cornerturn_cuda_plan_execute(const cornerturn_cuda_plan* plan, const void* source, void* destination,
                                               CUstream_st* stream) {
    return status_of([&] {
        require_plan(plan);
        plan->plan(source, destination, stream);
    });
}

void cornerturn_cuda_plan_destroy(cornerturn_cuda_plan* plan) { delete plan; }
