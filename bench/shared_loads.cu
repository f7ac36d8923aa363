// Runs random loads from shared memory, by one warp, with 8 or 16 bytes per lane. Some lanes are active. Their
// addresses conflict, or form equal pairs, or neither. A profiler reads the wavefronts of each load:
//   scripts/measure.py shared --program build/device/bench/shared_loads --commit ID --out results/shared/ --seed S
// Prints a line for each launch: the bytes per lane, the mask of active lanes, and each lane's address.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

constexpr unsigned kBytes = 16 << 10;

struct load {
    unsigned width = 8;
    std::uint32_t active = ~0u;
    std::uint16_t addresses[32] = {};
};

template <class T>
__global__ void shared_loads(load l, T* out) {
    __shared__ __align__(128) unsigned char bytes[kBytes];
    for (unsigned i = threadIdx.x; i < kBytes; i += 32) bytes[i] = static_cast<unsigned char>(i);
    __syncthreads();
    const unsigned address = l.addresses[threadIdx.x];
    if ((l.active >> threadIdx.x & 1) != 0) out[threadIdx.x] = *reinterpret_cast<const T*>(bytes + address);
}

load draw(std::mt19937& random) {
    load l;
    const auto below = [&](unsigned n) { return random() % n; };
    l.width = below(2) == 0 ? 8 : 16;
    const std::uint32_t any = random();
    switch (below(6)) {
        case 0: break;
        case 1: l.active = any; break;
        case 2: l.active = any & random(); break;
        case 3: l.active = ~0u >> below(32); break;
        case 4: l.active = below(2) == 0 ? 0x33333333u : 0x55555555u; break;
        default: l.active = (below(2) == 0 ? 0xffffu : 0xffff0000u) & any; break;
    }
    if (l.active == 0) l.active = 1;
    const unsigned words = kBytes / l.width, near = below(words - 64), step = 1 + below(33), kind = below(4);
    for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned word = kind == 0   ? below(words)
                              : kind == 1 ? near + below(64)
                              : kind == 2 ? lane * step
                                          : lane * (256 / l.width);
        l.addresses[lane] = static_cast<std::uint16_t>(word % words * l.width);
    }
    // 1 or 2: lanes at this distance load the same address. At most one lane differs.
    const unsigned distance = below(3);
    if (distance == 0) return l;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if ((lane & distance) != 0) l.addresses[lane] = l.addresses[lane ^ distance];
    }
    if (below(3) == 0) l.addresses[below(32)] = static_cast<std::uint16_t>(below(words) * l.width);
    return l;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: shared_loads SEED COUNT\n");
        return 2;
    }
    std::mt19937 random(static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)));
    void* out = nullptr;
    cudaMalloc(&out, 1 << 10);
    for (long i = std::strtol(argv[2], nullptr, 10); i > 0; --i) {
        const load l = draw(random);
        std::printf("%u %u", l.width, l.active);
        for (const std::uint16_t address : l.addresses) std::printf(" %u", address);
        std::printf("\n");
        if (l.width == 8)
            shared_loads<<<1, 32>>>(l, static_cast<uint2*>(out));
        else
            shared_loads<<<1, 32>>>(l, static_cast<uint4*>(out));
    }
    const cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) std::fprintf(stderr, "shared_loads: %s\n", cudaGetErrorString(status));
    return status == cudaSuccess ? 0 : 1;
}
