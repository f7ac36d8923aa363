// A graph may capture the first product of a process that takes its workspace from the library. This is a separate
// program, because no earlier product may have made the memory pool.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <map>

#include "cornerturn/cuda/gemm.hpp"
#include "cuda/exact_product.hpp"
#include "cuda/gpu_test.hpp"

using namespace cornerturn;

namespace {

std::map<std::string, int> launches;

TEST(cuda_first_call, can_be_captured_in_a_graph) {
    const tests::stream_owner stream;
    tests::exact_product captured(64, 64, 20000, 6);
    cudaGraph_t graph = nullptr;
    CORNERTURN_CUDA(cudaStreamBeginCapture(stream.get, cudaStreamCaptureModeGlobal));
    EXPECT_EQ(cuda::kept_workspace_bytes(), 0);
    captured.call(stream.get);
    EXPECT_EQ(cuda::kept_workspace_bytes(), 0);  // the graph owns its memory
    cuda::give_back_workspace();
    CORNERTURN_CUDA(cudaStreamEndCapture(stream.get, &graph));
    cudaGraphExec_t replay = nullptr;
    CORNERTURN_CUDA(cudaGraphInstantiate(&replay, graph, 0));
    for (int i = 0; i < 3; ++i) {
        captured.clear(stream.get);
        CORNERTURN_CUDA(cudaGraphLaunch(replay, stream.get));
        captured.expect_right(stream.get);
        ++launches["cornerturn::cuda::gemm"];
    }
    CORNERTURN_CUDA(cudaGraphExecDestroy(replay));
    CORNERTURN_CUDA(cudaGraphDestroy(graph));
}

}  // namespace

int main(int argc, char** argv) { return tests::run_on_gpus(argc, argv, 1, launches); }
