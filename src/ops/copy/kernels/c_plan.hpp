// The plan of the C interface. It holds a plan of any operation.
#pragma once

#include <cuda_runtime.h>

#include <functional>

struct cornerturn_cuda_plan {
    std::function<void(const void* source, void* destination, cudaStream_t stream)> run;
};

namespace cornerturn::detail {

// Makes a plan of what make() returns. On failure, *plan is null.
template <class Make>
void make_plan(cornerturn_cuda_plan** plan, Make make) {
    if (plan == nullptr) throw invalid_argument("plan is NULL");
    *plan = nullptr;
    *plan = new cornerturn_cuda_plan{make()};
}

}  // namespace cornerturn::detail
