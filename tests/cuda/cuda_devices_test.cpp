// cornerturn::cuda::transpose where there are several GPUs: what belongs to one is not for another.
#include "cornerturn/cuda/transpose.hpp"
#include "cuda/gpu_test.hpp"

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
    EXPECT_NE(refused([&] { first(here.data, also_here.data, nullptr); }).find("current device is 1"),
              std::string::npos);
    const cuda::transpose_plan second(first.layout());
    EXPECT_EQ(second.device(), 1);
    second(there.data, also_there.data, other.get);
    EXPECT_EQ(cudaStreamSynchronize(other.get), cudaSuccess);
    EXPECT_NE(refused([&] { second(here.data, also_there.data, other.get); }).find("memory of device 0"),
              std::string::npos);
    CORNERTURN_CUDA(cudaSetDevice(0));
    EXPECT_NE(refused([&] { first(here.data, also_here.data, other.get); }).find("stream is of device 1"),
              std::string::npos);
}

}  // namespace

int main(int argc, char** argv) { return tests::run_on_gpus(argc, argv, 2, {}); }
