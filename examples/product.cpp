// A product of two matrices in single precision. The second matrix is given as its transpose, like the weights of many
// layers. Then the same product with a workspace of the caller.
#include "cornerturn/cuda/gemm.hpp"
#include "example.hpp"

static bool product() {
    const std::int64_t m = 300, n = 200, k = 500;
    std::vector<float> x(m * k), weights(n * k);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i % 7);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = float(i % 5) - 2;
    float* from = to_device(x);
    float* by = to_device(weights);
    float* to = to_device(std::vector<float>(m * n));

    using cornerturn::matrix_view;
    const matrix_view<const float> a{from, m, k}, b{by, n, k};  // b: n x k
    const matrix_view<float> c{to, m, n};
    cornerturn::cuda::gemm_options options{.b = cornerturn::cuda::op::transposed};
    cudaStream_t stream = nullptr;
    cornerturn::cuda::gemm(1, a, b, 0, c, stream, options);  // c = a b'. Returns at once

    options.workspace_bytes = cornerturn::cuda::gemm_workspace_bytes(a, b, c, options);
    check(cudaMalloc(&options.workspace, options.workspace_bytes + 1));
    cornerturn::cuda::gemm(2, a, b, -1, c, stream, options);  // c = 2 a b' - c, which is a b' again
    check(cudaStreamSynchronize(stream));
    check(cudaFree(options.workspace));

    const std::vector<float> out = to_host(to, m * n);
    for (std::int64_t row = 0; row < m; ++row) {
        for (std::int64_t col = 0; col < n; ++col) {
            float sum = 0;
            for (std::int64_t i = 0; i < k; ++i) sum += x[row * k + i] * weights[col * k + i];
            if (out[row * n + col] != sum) return false;
        }
    }
    return true;
}

int main() { return run_example(product); }
