// The memory that products take when the caller gives none: what is kept, how much, for how long, and that nobody
// else's work is touched, on many streams and threads, in graphs, where memory lacks and after the device is reset.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "cornerturn/cuda/gemm.hpp"
#include "cuda/gpu_test.hpp"

using namespace cornerturn;

namespace {

std::map<std::string, int> launches;

// A product of whole numbers, which is exact, and a few of whose elements are compared.
class product {
public:
    product(std::int64_t m, std::int64_t n, std::int64_t k, unsigned seed)
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
    tests::device_array<float> on_a_, on_b_, on_c_;
};

// A product in parts, and one whose A is transposed first.
constexpr std::int64_t kParts[] = {64, 64, 20000}, kPacked[] = {2048, 2048, 1024};

TEST(cuda_workspace, is_kept_until_it_is_given_back) {
    product in_parts(kParts[0], kParts[1], kParts[2], 1), packed(kPacked[0], kPacked[1], kPacked[2], 2);
    ASSERT_GT(in_parts.workspace(), 0);
    ASSERT_GT(packed.workspace(), 0);
    in_parts.call(nullptr);
    packed.call(nullptr);
    CORNERTURN_CUDA(cudaDeviceSynchronize());
    EXPECT_GT(cuda::kept_workspace_bytes(), 0);
    EXPECT_LE(cuda::kept_workspace_bytes(), in_parts.workspace() + packed.workspace() + (std::int64_t{64} << 20));
    in_parts.expect_right(nullptr);
    packed.expect_right(nullptr);
    cuda::give_back_workspace();
    EXPECT_EQ(cuda::kept_workspace_bytes(), 0);
    in_parts.call(nullptr);
    in_parts.expect_right(nullptr);
}

TEST(cuda_workspace, does_not_grow_over_a_hundred_thousand_calls) {
    product in_parts(kParts[0], kParts[1], kParts[2], 1), packed(300, 301, 64, 2), other(33, 500, 3000, 3);
    const auto all = [&] {
        in_parts.call(nullptr);
        packed.call(nullptr);
        other.call(nullptr);
    };
    for (int i = 0; i < 1000; ++i) all();
    CORNERTURN_CUDA(cudaDeviceSynchronize());
    const std::int64_t kept = cuda::kept_workspace_bytes();
    for (int i = 0; i < 33000; ++i) all();
    CORNERTURN_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(cuda::kept_workspace_bytes(), kept);
    launches["cornerturn::cuda::gemm"] += 102000;
    in_parts.expect_right(nullptr);
    packed.expect_right(nullptr);
    other.expect_right(nullptr);
}

TEST(cuda_workspace, serves_many_threads_and_streams) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t) {
        threads.emplace_back([t] {
            const tests::stream_owner owner;
            cudaStream_t const stream = owner.get;
            {
                product in_parts(64 + t, 64, 9000 + 100 * t, t), packed(500 + t, 600, 333, t);
                for (int i = 0; i < 300; ++i) {
                    in_parts.clear(stream);
                    in_parts.call(stream);
                    packed.call(stream);
                    if (i % 100 == 99) {
                        in_parts.expect_right(stream);
                        packed.expect_right(stream);
                    }
                }
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    launches["cornerturn::cuda::gemm"] += 4800;
}

// A captured graph has memory of its own, and replays run beside other calls.
TEST(cuda_workspace, belongs_to_the_graph_that_captures_a_call) {
    const tests::stream_owner of_graph, of_calls;
    cudaStream_t const one = of_graph.get, two = of_calls.get;
    {
        product captured(kParts[0], kParts[1], kParts[2], 5), beside(kParts[0], kParts[1], kParts[2], 9);
        cudaGraph_t graph = nullptr;
        CORNERTURN_CUDA(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
        captured.call(one);
        CORNERTURN_CUDA(cudaStreamEndCapture(one, &graph));
        cudaGraphExec_t replay = nullptr;
        CORNERTURN_CUDA(cudaGraphInstantiate(&replay, graph, 0));
        for (int i = 0; i < 200; ++i) {
            captured.clear(one);
            CORNERTURN_CUDA(cudaGraphLaunch(replay, one));
            beside.clear(two);
            beside.call(two);
            if (i % 50 == 0) {
                captured.expect_right(one);
                beside.expect_right(two);
            }
        }
        captured.expect_right(one);
        beside.expect_right(two);
        CORNERTURN_CUDA(cudaGraphExecDestroy(replay));
        CORNERTURN_CUDA(cudaGraphDestroy(graph));
        launches["cornerturn::cuda::gemm"] += 400;
    }
}

// The first call of a process may be one that is captured: nothing was made for it before. (The pool was given back.)
TEST(cuda_workspace, is_there_for_a_call_that_is_captured_first) {
    cuda::give_back_workspace();
    const tests::stream_owner owner;
    cudaStream_t const stream = owner.get;
    {
        product captured(kParts[0], kParts[1], kParts[2], 6);
        cudaGraph_t graph = nullptr;
        CORNERTURN_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        captured.call(stream);
        CORNERTURN_CUDA(cudaStreamEndCapture(stream, &graph));
        EXPECT_EQ(cuda::kept_workspace_bytes(), 0);
        cudaGraphExec_t replay = nullptr;
        CORNERTURN_CUDA(cudaGraphInstantiate(&replay, graph, 0));
        CORNERTURN_CUDA(cudaGraphLaunch(replay, stream));
        captured.expect_right(stream);
        CORNERTURN_CUDA(cudaGraphExecDestroy(replay));
        CORNERTURN_CUDA(cudaGraphDestroy(graph));
    }
}

TEST(cuda_workspace, a_product_is_right_where_there_is_no_memory_for_it) {
    product packed(kPacked[0], kPacked[1], kPacked[2], 7);
    CORNERTURN_CUDA(cudaDeviceSynchronize());
    cuda::give_back_workspace();
    std::vector<void*> taken;
    for (std::size_t bytes = std::size_t{1} << 36; bytes >= 1 << 20; bytes /= 2) {
        void* some = nullptr;
        while (cudaMalloc(&some, bytes) == cudaSuccess) taken.push_back(some);
        cudaGetLastError();
    }
    packed.clear(nullptr);
    packed.call(nullptr);
    CORNERTURN_CUDA(cudaDeviceSynchronize());
    const std::int64_t kept = cuda::kept_workspace_bytes();
    for (void* some : taken) CORNERTURN_CUDA(cudaFree(some));
    EXPECT_EQ(kept, 0);
    packed.expect_right(nullptr);
    packed.clear(nullptr);
    packed.call(nullptr);
    packed.expect_right(nullptr);
}

// The last one: what other tests hold is gone then.
TEST(cuda_workspace, products_are_right_after_the_device_is_reset) {
    for (int round = 0; round < 3; ++round) {
        {
            product in_parts(kParts[0], kParts[1], kParts[2], 1), packed(kPacked[0], kPacked[1], kPacked[2], 2);
            in_parts.call(nullptr);
            packed.call(nullptr);
            in_parts.expect_right(nullptr);
            packed.expect_right(nullptr);
            launches["cornerturn::cuda::gemm"] += 2;
        }
        CORNERTURN_CUDA(cudaDeviceReset());
        CORNERTURN_CUDA(cudaSetDevice(0));
        EXPECT_LE(cuda::kept_workspace_bytes(), std::int64_t{256} << 20);
    }
}

}  // namespace

int main(int argc, char** argv) { return tests::run_on_gpus(argc, argv, 1, launches); }
