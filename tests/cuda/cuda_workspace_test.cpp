// The workspace that the library allocates for products: how much it keeps and how long, and that no product overwrites
// another's. On many streams and threads, in graphs, without free memory, and after a reset of the device.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <thread>
#include <vector>

#include "cornerturn/cuda/gemm.hpp"
#include "cuda/exact_product.hpp"
#include "cuda/gpu_test.hpp"

using namespace cornerturn;

namespace {

std::map<std::string, int> launches;

// m, n, k: a product that is computed in parts, and one whose A is transposed first.
constexpr std::int64_t kParts[] = {64, 64, 20000}, kPacked[] = {2048, 2048, 1024};

TEST(cuda_workspace, is_kept_until_it_is_given_back) {
    tests::exact_product in_parts(kParts[0], kParts[1], kParts[2], 1), packed(kPacked[0], kPacked[1], kPacked[2], 2);
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
    tests::exact_product in_parts(kParts[0], kParts[1], kParts[2], 1), packed(kPacked[0], kPacked[1], kPacked[2], 2),
        other(33, 500, 3000, 3);
    ASSERT_GT(in_parts.workspace(), 0);
    ASSERT_GT(packed.workspace(), 0);
    const auto call_all = [&] {
        in_parts.call(nullptr);
        packed.call(nullptr);
        other.call(nullptr);
    };
    cuda::give_back_workspace();
    const auto print_kept = [](const char* when) {
        CORNERTURN_CUDA(cudaDeviceSynchronize());
        std::size_t free = 0, all_bytes = 0;
        CORNERTURN_CUDA(cudaMemGetInfo(&free, &all_bytes));
        const std::int64_t kept = cuda::kept_workspace_bytes();
        std::printf("%s: %lld bytes are kept, %lld of the device are in use\n", when, static_cast<long long>(kept),
                    static_cast<long long>(all_bytes - free));
        return kept;
    };
    EXPECT_EQ(print_kept("before any call"), 0);
    for (int i = 0; i < 1000; ++i) call_all();
    const std::int64_t kept = print_kept("after 3000 calls");
    for (int i = 0; i < 33000; ++i) call_all();
    EXPECT_EQ(print_kept("after 102000 calls"), kept);
    launches["cornerturn::cuda::gemm"] += 102000;
    in_parts.expect_right(nullptr);
    packed.expect_right(nullptr);
    other.expect_right(nullptr);
    cuda::give_back_workspace();
    EXPECT_EQ(print_kept("given back"), 0);
}

TEST(cuda_workspace, serves_many_threads_and_streams) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 8; ++t) {
        threads.emplace_back([t] {
            const tests::stream_owner owner;
            cudaStream_t const stream = owner.get;
            {
                tests::exact_product in_parts(64 + t, 64, 9000 + 100 * t, t),
                    packed(kPacked[0] + 4 * t, kPacked[1], kPacked[2], t);
                ASSERT_GT(in_parts.workspace(), 0);
                ASSERT_GT(packed.workspace(), 0);
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

// A captured graph owns its memory, and its replays run at the same time as other calls.
TEST(cuda_workspace, belongs_to_the_graph_that_captures_a_call) {
    const tests::stream_owner of_graph, of_calls;
    cudaStream_t const one = of_graph.get, two = of_calls.get;
    {
        tests::exact_product captured(kParts[0], kParts[1], kParts[2], 5), beside(kParts[0], kParts[1], kParts[2], 9);
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

TEST(cuda_workspace, products_are_right_without_free_memory) {
    tests::exact_product packed(kPacked[0], kPacked[1], kPacked[2], 7);
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

// This test is last, because the reset frees all memory of the device.
TEST(cuda_workspace, products_are_right_after_the_device_is_reset) {
    for (int round = 0; round < 3; ++round) {
        {
            tests::exact_product in_parts(kParts[0], kParts[1], kParts[2], 1),
                packed(kPacked[0], kPacked[1], kPacked[2], 2);
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
