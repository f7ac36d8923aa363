// The verifier of products on the GPU: like host_gemm of ops/gemm/problem.hpp, but its matrices are in device memory.
#pragma once

#include "device/cuda_problem.hpp"
#include "ops/gemm/problem.hpp"

namespace cornerturn::device {

// All calls come after earlier work on the stream. check() waits for it.
class cuda_gemm {
public:
    cuda_gemm(const gemm_shape& shape, std::int64_t workspace, cudaStream_t stream);  // in floats

    const gemm_shape& shape() const { return shape_; }
    gemm_work work() const;
    // Switches to other values and factors in the same layout. Call prepare() next. If the layout differs, returns
    // false and does nothing.
    bool reshape(const gemm_shape& shape);
    // Uses `floats` floats, with guards right after them. Call prepare() next. False if there is no room.
    bool use_workspace(std::int64_t floats);

    void prepare();
    void prepare_c();  // only C, for another run on the same A and B
    // Reports the errors too, if asked.
    verdict check(gemm_errors* errors = nullptr) const;

private:
    gemm_shape shape_;
    cudaStream_t stream_;
    guarded_device_buffer a_, b_, c_, workspace_;
};

}  // namespace cornerturn::device
