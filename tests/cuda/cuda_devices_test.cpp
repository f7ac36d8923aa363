// cornerturn::cuda::transpose with several GPUs: plans, streams and memory of one GPU are refused by another.
#include "cornerturn/cuda/transpose.hpp"
#include "cuda/gpu_test.hpp"
#include "message.hpp"

using namespace cornerturn;
using tests::device_array;
using tests::refused;

namespace {

TEST(cuda_devices, are_not_mixed_up) {
    const cuda::transpose_plan first({.rows = 4, .cols = 4, .source_ld = 4, .destination_ld = 4, .element_size = 4});
    device_array<float> here(16), also_here(16);
    CORNERTURN_CUDA(cudaSetDevice(1));
    const tests::stream_owner other;
    device_array<float> there(16), also_there(16);
    EXPECT_NAMES(refused([&] { first(here.data, also_here.data, nullptr); }), "device", 1, "device", 0);
    const cuda::transpose_plan second(first.layout());
    EXPECT_EQ(second.device(), 1);
    second(there.data, also_there.data, other.get);
    EXPECT_EQ(cudaStreamSynchronize(other.get), cudaSuccess);
    EXPECT_NAMES(refused([&] { second(here.data, also_there.data, other.get); }), "source.data", here.data, "device", 0,
                 "device", 1);
    CORNERTURN_CUDA(cudaSetDevice(0));
    EXPECT_NAMES(refused([&] { first(here.data, also_here.data, other.get); }), "stream", "device", 1, "device", 0);
}

}  // namespace

int main(int argc, char** argv) { return tests::run_on_gpus(argc, argv, 2, {}); }
