// The C functions for host memory.
#include "core/c_status.hpp"
#include "cornerturn/cornerturn.h"
#include "cornerturn/transpose.hpp"

using cornerturn::detail::any_batch;

cornerturn_status cornerturn_transpose_batch(const void* source, int64_t rows, int64_t cols, int64_t source_ld,
                                             int64_t source_stride, void* destination, int64_t destination_ld,
                                             int64_t destination_stride, int64_t count, int64_t element_size,
                                             int threads) {
    return cornerturn::detail::status_of([&] {
        const auto address = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
        cornerturn::detail::transpose(
            any_batch{address(source), {rows, cols, source_ld, count, source_stride}},
            any_batch{address(destination), {cols, rows, destination_ld, count, destination_stride}}, element_size, 1,
            {.threads = threads});
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
