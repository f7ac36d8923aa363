// The runtime API's basics: the device and its properties, copies there and back, a launch, limits.
#include <cuda_runtime.h>

#include <cstring>
#include <vector>

#include "expect.h"

__global__ void add_index(int* values, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] += i;
}

static void device_facts() {
    int count = 0, device = -1;
    EXPECT_SUCCESS(cudaGetDeviceCount(&count));
    EXPECT(count >= 1);
    EXPECT_SUCCESS(cudaSetDevice(0));
    EXPECT_SUCCESS(cudaGetDevice(&device));
    EXPECT(device == 0);

    cudaDeviceProp properties;
    EXPECT_SUCCESS(cudaGetDeviceProperties(&properties, 0));
    EXPECT(std::strlen(properties.name) > 0);
    EXPECT(properties.warpSize == 32);
    EXPECT(properties.maxThreadsPerBlock == 1024);
    EXPECT(properties.maxThreadsDim[2] == 64);
    EXPECT(properties.maxGridSize[0] == 2147483647 && properties.maxGridSize[1] == 65535);
    EXPECT(properties.totalGlobalMem > (std::size_t{1} << 30));
    EXPECT(properties.sharedMemPerBlock == 48 * 1024);

    int value = 0;
    EXPECT_SUCCESS(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(value == properties.multiProcessorCount);
    EXPECT_SUCCESS(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
    EXPECT(value == properties.major);
    EXPECT_SUCCESS(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    EXPECT(static_cast<std::size_t>(value) == properties.sharedMemPerBlockOptin);

    int runtime = 0, driver = 0;
    EXPECT_SUCCESS(cudaRuntimeGetVersion(&runtime));
    EXPECT_SUCCESS(cudaDriverGetVersion(&driver));
    EXPECT(runtime >= 12000 && driver >= runtime);

    char bus[32] = "";
    EXPECT_SUCCESS(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    EXPECT_SUCCESS(cudaDeviceGetByPCIBusId(&device, bus));
    EXPECT(device == 0);

    std::size_t stack = 0;
    EXPECT_SUCCESS(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
    EXPECT_SUCCESS(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
    EXPECT(stack >= 8192);
}

static void copies_and_launch() {
    const int count = 1000;
    std::vector<int> host(count, 7), back(count);
    int* device = nullptr;
    EXPECT_SUCCESS(cudaMalloc(&device, count * sizeof(int)));
    EXPECT_SUCCESS(cudaMemcpy(device, host.data(), count * sizeof(int), cudaMemcpyHostToDevice));
    add_index<<<(count + 255) / 256, 256>>>(device, count);
    EXPECT_SUCCESS(cudaGetLastError());
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    EXPECT_SUCCESS(cudaMemcpy(back.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < count; ++i) right = right && back[i] == 7 + i;
    EXPECT(right);

    // The same by function and array of arguments.
    int arguments_count = count;
    void* arguments[] = {&device, &arguments_count};
    EXPECT_SUCCESS(cudaLaunchKernel(add_index, dim3(4), dim3(256), arguments));
    EXPECT_SUCCESS(cudaMemcpy(back.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(back[10] == 27 && back[999] == 7 + 2 * 999);

    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(4);
    config.blockDim = dim3(256);
    EXPECT_SUCCESS(cudaLaunchKernelEx(&config, add_index, device, count));
    EXPECT_SUCCESS(cudaMemcpy(back.data(), device, count * sizeof(int), cudaMemcpyDefault));
    EXPECT(back[10] == 37);

    EXPECT_SUCCESS(cudaMemset(device, 0xff, 8));
    EXPECT_SUCCESS(cudaMemcpy(back.data(), device, 12, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == -1 && back[1] == -1 && back[2] == 7 + 3 * 2);
    EXPECT_SUCCESS(cudaFree(device));
}

static void rows() {
    const std::size_t width = 100, height = 5;
    char source[height][width], back[height][width];
    for (std::size_t i = 0; i < height * width; ++i) (&source[0][0])[i] = static_cast<char>(i);
    char* device = nullptr;
    std::size_t pitch = 0;
    EXPECT_SUCCESS(cudaMallocPitch(&device, &pitch, width, height));
    EXPECT(pitch >= width);
    EXPECT_SUCCESS(cudaMemcpy2D(device, pitch, source, width, width, height, cudaMemcpyHostToDevice));
    EXPECT_SUCCESS(cudaMemset2D(device + pitch, pitch, 9, 10, 2));
    EXPECT_SUCCESS(cudaMemcpy2D(back, width, device, pitch, width, height, cudaMemcpyDeviceToHost));
    EXPECT(back[1][9] == 9 && back[2][0] == 9 && back[3][0] == source[3][0] && back[1][10] == source[1][10]);
    EXPECT(std::memcmp(back[4], source[4], width) == 0);
    EXPECT_SUCCESS(cudaFree(device));

    cudaPitchedPtr box;
    const cudaExtent extent = make_cudaExtent(50, 2, 5);
    EXPECT_SUCCESS(cudaMalloc3D(&box, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(source, 50, 50, 2);
    copy.dstPtr = box;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    EXPECT_SUCCESS(cudaMemcpy3D(&copy));
    std::memset(back, 0, sizeof back);
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(back, 50, 50, 2);
    copy.kind = cudaMemcpyDeviceToHost;
    EXPECT_SUCCESS(cudaMemcpy3D(&copy));
    EXPECT(std::memcmp(back, source, sizeof back) == 0);
    EXPECT_SUCCESS(cudaFree(box.ptr));
}

int main() {
    device_facts();
    copies_and_launch();
    rows();
    return finish();
}
