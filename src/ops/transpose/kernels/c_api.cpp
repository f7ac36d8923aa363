// The C ABI: the C++ API with its exceptions turned into codes, and their messages kept for the thread.
#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include "cornerturn/cornerturn.h"
#include "cornerturn/cuda/transpose.hpp"
#include "cornerturn/error.hpp"

struct cornerturn_cuda_plan {
    cornerturn::cuda::transpose_plan plan;
};

namespace {

using cornerturn::transpose_layout;
using cornerturn::detail::any_batch;

// Of fixed size: keeping a message cannot fail. Longer ones are cut off.
thread_local char last_error[1024] = "";

cornerturn_status fail(cornerturn_status status, const char* message) {
    const std::size_t length = std::min(std::strlen(message), sizeof last_error - 1);
    std::memcpy(last_error, message, length);
    last_error[length] = '\0';
    return status;
}

template <class Work>
cornerturn_status status_of(Work work) noexcept {
    try {
        work();
        return CORNERTURN_OK;
    } catch (const cornerturn::invalid_argument& e) {
        return fail(CORNERTURN_INVALID_ARGUMENT, e.what());
    } catch (const cornerturn::unsupported& e) {
        return fail(CORNERTURN_UNSUPPORTED, e.what());
    } catch (const cornerturn::cuda_error& e) {
        return fail(CORNERTURN_CUDA_ERROR, e.what());
    } catch (const std::bad_alloc&) {
        return fail(CORNERTURN_INTERNAL_ERROR, "out of host memory");
    } catch (const std::exception& e) {
        return fail(CORNERTURN_INTERNAL_ERROR, e.what());
    } catch (...) {
        return fail(CORNERTURN_INTERNAL_ERROR, "an exception of an unknown type");
    }
}

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

const char* cornerturn_last_error() { return last_error; }

const char* cornerturn_status_name(cornerturn_status status) {
    switch (status) {
        case CORNERTURN_OK: return "ok";
        case CORNERTURN_INVALID_ARGUMENT: return "invalid_argument";
        case CORNERTURN_UNSUPPORTED: return "unsupported";
        case CORNERTURN_CUDA_ERROR: return "cuda_error";
        case CORNERTURN_INTERNAL_ERROR: return "internal_error";
    }
    return "unknown";
}

int cornerturn_version_number() { return CORNERTURN_VERSION_NUMBER; }

#define CORNERTURN_TEXT_OF(value) #value
#define CORNERTURN_DOTTED(major, minor, patch) \
    CORNERTURN_TEXT_OF(major) "." CORNERTURN_TEXT_OF(minor) "." CORNERTURN_TEXT_OF(patch)
const char* cornerturn_version_string() {
    return CORNERTURN_DOTTED(CORNERTURN_VERSION_MAJOR, CORNERTURN_VERSION_MINOR, CORNERTURN_VERSION_PATCH);
}

cornerturn_status cornerturn_cuda_transpose_batch(const void* source, int64_t rows, int64_t cols, int64_t source_ld,
                                                  int64_t source_stride, void* destination, int64_t destination_ld,
                                                  int64_t destination_stride, int64_t count, int64_t element_size,
                                                  CUstream_st* stream) {
    return status_of([&] {
        const auto address = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
        cornerturn::cuda::detail::transpose(
            any_batch{address(source), rows, cols, source_ld, count, source_stride},
            any_batch{address(destination), cols, rows, destination_ld, count, destination_stride}, element_size,
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
