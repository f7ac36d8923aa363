// The C functions for a GPU's memory.
#include "core/c_status.hpp"
#include "cornerturn/cornerturn.h"
#include "cornerturn/cuda/transpose.hpp"
#include "ops/copy/kernels/c_plan.hpp"

namespace {

using cornerturn::transpose_layout;
using cornerturn::detail::any_batch;
using cornerturn::detail::status_of;

cornerturn_status make_plan(cornerturn_cuda_plan** plan, const transpose_layout& layout) {
    return status_of(
        [&] { cornerturn::detail::make_plan(plan, [&] { return cornerturn::cuda::transpose_plan(layout); }); });
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
