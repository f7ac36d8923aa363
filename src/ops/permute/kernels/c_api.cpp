// The C functions for copies between tensors in a GPU's memory, and for plans.
#include <string>

#include "core/arguments.hpp"
#include "core/c_status.hpp"
#include "core/tensors.hpp"
#include "cornerturn/cornerturn.h"
#include "cornerturn/cuda/copy.hpp"
#include "ops/copy/kernels/c_plan.hpp"

namespace {

using cornerturn::detail::any_tensor;
using cornerturn::detail::axis_list;
using cornerturn::detail::status_of;

void require(const void* pointer, const char* name, int rank) {
    if (rank > 0 && pointer == nullptr) throw cornerturn::invalid_argument(std::string(name) + " is NULL");
}

// So many numbers, of any type.
template <class Number>
axis_list list(int rank, const Number* numbers, const char* name) {
    if (rank < 0 || rank > cornerturn::kMostAxes)
        cornerturn::refuse("rank", std::to_string(rank), "it must be 0 to 32");
    require(numbers, name, rank);
    axis_list all;
    for (int i = 0; i < rank; ++i) all.add(numbers[i]);
    return all;
}

// Strides, or those of a packed tensor where none are given.
axis_list strides_or_packed(int rank, const std::int64_t* strides, const axis_list& extents) {
    return strides == nullptr ? cornerturn::detail::packed_strides(extents) : list(rank, strides, "strides");
}

std::uintptr_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

struct permutation {
    axis_list source_extents, source_strides, destination_extents, destination_strides, axes;

    permutation(int rank, const std::int64_t* extents, const std::int64_t* strides, const int* order,
                const std::int64_t* to_strides)
        : source_extents(list(rank, extents, "extents")),
          source_strides(strides_or_packed(rank, strides, source_extents)) {
        axes = list(rank, order, "axes");
        destination_extents = cornerturn::permuted_tensor({0, source_extents, source_strides}, axes).extents;
        destination_strides = strides_or_packed(rank, to_strides, destination_extents);
    }
};

}  // namespace

cornerturn_status cornerturn_cuda_copy(int rank, const int64_t* extents, const void* source,
                                       const int64_t* source_strides, void* destination,
                                       const int64_t* destination_strides, int64_t element_size, CUstream_st* stream) {
    return status_of([&] {
        const axis_list n = list(rank, extents, "extents");
        const axis_list from = strides_or_packed(rank, source_strides, n);
        const axis_list to = strides_or_packed(rank, destination_strides, n);
        cornerturn::cuda::detail::copy(any_tensor{address_of(source), n, from},
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

cornerturn_status cornerturn_cuda_plan_create_copy(cornerturn_cuda_plan** plan, int rank, const int64_t* extents,
                                                   const int64_t* source_strides, const int64_t* destination_strides,
                                                   int64_t element_size) {
    return status_of([&] {
        cornerturn::detail::make_plan(plan, [&] {
            const axis_list n = list(rank, extents, "extents");
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
