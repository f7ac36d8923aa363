// The verifier of products on the GPU: ops/gemm/problem.hpp's host_gemm with its matrices in device memory.
#pragma once

#include "device/cuda_problem.hpp"
#include "ops/gemm/problem.hpp"

namespace cornerturn::device {

// All calls are ordered after earlier work on the stream; check() waits for it.
class cuda_gemm {
public:
    cuda_gemm(const gemm_shape& shape, std::int64_t workspace, cudaStream_t stream);  // of so many floats

    const gemm_shape& shape() const { return shape_; }
    gemm_work work() const;
    // Other values and factors in the same places; prepare() comes next. False, and nothing done, where they lie
    // elsewhere.
    bool reshape(const gemm_shape& shape);
    // So many floats, with guards right behind them; prepare() comes next. False where there is no room.
    bool use_workspace(std::int64_t floats);

    void prepare();
    void prepare_c();  // alone, for another run on the same A and B
    // Tells the errors, too, if asked.
    verdict check(gemm_errors* errors = nullptr) const;

private:
    gemm_shape shape_;
    cudaStream_t stream_;
    guarded_device_buffer a_, b_, c_, workspace_;
};

}  // namespace cornerturn::device
