// A product whose sums are exact, in a GPU's memory.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "cornerturn/cuda/gemm.hpp"
#include "cuda/gpu_test.hpp"

namespace cornerturn::tests {

// A product of whole numbers, which is exact, and a few of whose elements are compared.
class exact_product {
public:
    exact_product(std::int64_t m, std::int64_t n, std::int64_t k, unsigned seed)
        : m_(m),
          n_(n),
          k_(k),
          a_(some(m * k, seed)),
          b_(some(k * n, seed + 1)),
          on_a_(a_.size()),
          on_b_(b_.size()),
          on_c_(static_cast<std::size_t>(m * n)) {
        CORNERTURN_CUDA(cudaMemcpy(on_a_.data, a_.data(), a_.size() * 4, cudaMemcpyHostToDevice));
        CORNERTURN_CUDA(cudaMemcpy(on_b_.data, b_.data(), b_.size() * 4, cudaMemcpyHostToDevice));
        CORNERTURN_CUDA(cudaDeviceSynchronize());  // before other streams read it
    }

    std::int64_t workspace() const {
        return cuda::gemm_workspace_bytes(matrix_view<const float>{on_a_.data, m_, k_, k_},
                                          matrix_view<const float>{on_b_.data, k_, n_, n_},
                                          matrix_view<float>{on_c_.data, m_, n_, n_});
    }
    void call(cudaStream_t stream) {
        cuda::gemm(1, matrix_view<const float>{on_a_.data, m_, k_, k_},
                   matrix_view<const float>{on_b_.data, k_, n_, n_}, 0, matrix_view<float>{on_c_.data, m_, n_, n_},
                   stream);
    }
    void clear(cudaStream_t stream) {
        CORNERTURN_CUDA(cudaMemsetAsync(on_c_.data, 0xff, static_cast<std::size_t>(m_ * n_) * 4, stream));
    }
    void expect_right(cudaStream_t stream) {
        std::vector<float> c(static_cast<std::size_t>(m_ * n_));
        CORNERTURN_CUDA(cudaMemcpyAsync(c.data(), on_c_.data, c.size() * 4, cudaMemcpyDeviceToHost, stream));
        CORNERTURN_CUDA(cudaStreamSynchronize(stream));
        for (std::int64_t i = 0; i < 64; ++i) {
            const std::int64_t row = i * 7919 % m_, col = i * 104729 % n_;
            double sum = 0;
            for (std::int64_t l = 0; l < k_; ++l) {
                sum += static_cast<double>(a_[static_cast<std::size_t>(row * k_ + l)]) *
                       b_[static_cast<std::size_t>(l * n_ + col)];
            }
            ASSERT_EQ(c[static_cast<std::size_t>(row * n_ + col)], sum) << m_ << " x " << n_ << " x " << k_;
        }
    }

private:
    static std::vector<float> some(std::int64_t count, unsigned seed) {
        std::mt19937 random(seed);
        std::vector<float> values(static_cast<std::size_t>(count));
        for (float& x : values) x = static_cast<float>(static_cast<int>(random() % 9) - 4);
        return values;
    }

    std::int64_t m_, n_, k_;
    std::vector<float> a_, b_;
    device_array<float> on_a_, on_b_, on_c_;
};

}  // namespace cornerturn::tests
