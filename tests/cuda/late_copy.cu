#include "cuda/late_copy.hpp"
#include "device/device.hpp"

namespace cornerturn::tests {
namespace {

// One block, so that there is room for what follows.
__global__ void copy(const uint4* from, uint4* to, std::int64_t count, bool late) {
    if (late) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        asm volatile("griddepcontrol.launch_dependents;");
#endif
#if defined(__CUDA_ARCH__)
        for (int i = 0; i < 200; ++i) __nanosleep(1000);
#endif
    }
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) to[i] = from[i];
}

void start(const void* from, void* to, std::int64_t bytes, bool late, cudaStream_t stream) {
    const device::stream_scope launches_go_to(stream);
    dialect::launch_shape shape{dim3(1), dim3(1024)};
    shape.early = !late;
    dialect::launch(shape, copy, static_cast<const uint4*>(from), static_cast<uint4*>(to), bytes / 16, late);
}

}  // namespace

void copy_late(const void* from, void* to, std::int64_t bytes, cudaStream_t stream) {
    start(from, to, bytes, true, stream);
}
void copy_early(const void* from, void* to, std::int64_t bytes, cudaStream_t stream) {
    start(from, to, bytes, false, stream);
}

}  // namespace cornerturn::tests
