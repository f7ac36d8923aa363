// Runs kernels of a library and of its own, and checks their counters.
#include <cornerturn/emulator/session.hpp>
#include <cuda_runtime.h>
#include <kernels.hpp>

#include <cstdio>

int main() {
    int* values = nullptr;
    if (cudaMallocManaged(&values, 256) != cudaSuccess) return 1;
    for (int i = 0; i < 64; ++i) values[i] = i;
    cornerturn::emulator::session session;
    run_scale(values, 64);
    run_more(values);
    if (cudaDeviceSynchronize() != cudaSuccess || values[0] != 32 || values[63] != kFactor * 63) return 2;
    const auto report = session.report();
    if (report["scale"].load_requests != 2 || report["more"].reduction_requests != 1) return 3;
    if (!session.hazards().empty()) return 4;
    std::printf("factor %d: %zu launches\n", kFactor, report.launches().size());
    cudaFree(values);
}
