// Adds up the parts of C's tiles, and copies operands into the workspace.
#include "ops/gemm/kernels/product.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kThreads = 256, kMostGroups = 64, kPartsEach = 8;  // of a thread, approximately

// A block adds up kThreads / groups fours of a tile. Each group of threads takes some parts, always in the same order.
__global__ void gemm_gather(gemm_launch w, int rows, int cols, int groups) {
    __shared__ float4 sums[kThreads];
    const int thread = static_cast<int>(threadIdx.x), lanes = kThreads / groups;
    const int lane = thread % lanes, group = thread / lanes, floats = rows * cols;
    const int left = static_cast<int>(blockIdx.x), in_tile = (static_cast<int>(blockIdx.y) * lanes + lane) * 4;
    const gemm_share whole{gemm_tile_at::of(w.whole + left, w), -1, 0, 0};
    const gemm_target target = gemm_target::of(whole, rows, cols, w);
    wait_for_work_ahead();
    const float* const first = w.partial + std::int64_t{left} * w.parts * floats + in_tile;
    float4 sum = make_float4(0, 0, 0, 0);
    CORNERTURN_UNROLL_BY(4)
    for (int part = group; part < w.parts && in_tile < floats; part += groups) {
        const float4 of_part = *reinterpret_cast<const float4*>(first + std::int64_t{part} * floats);
        sum.x += of_part.x, sum.y += of_part.y, sum.z += of_part.z, sum.w += of_part.w;
    }
    if (groups > 1) {
        sums[thread] = sum;
        __syncthreads();
        if (group > 0) return;
        for (int other = 1; other < groups; ++other) {
            const float4 of_group = sums[other * lanes + lane];
            sum.x += of_group.x, sum.y += of_group.y, sum.z += of_group.z, sum.w += of_group.w;
        }
    }
    if (in_tile >= floats) return;
    const float four[4] = {sum.x, sum.y, sum.z, sum.w};
    CORNERTURN_UNROLL
    for (int i = 0; i < 4; ++i) target.store((in_tile + i) / cols, (in_tile + i) % cols, four[i]);
}

// Writes zeros after the columns of packed rows, up to a multiple of four. Their results are not used.
__global__ void gemm_clear_ends(float* to, std::int64_t to_ld, std::int64_t rows, std::int64_t cols) {
    wait_for_work_ahead();
    for (std::int64_t row = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; row < rows;
         row += std::int64_t{gridDim.x} * kThreads) {
        for (std::int64_t col = cols; col < to_ld; ++col) to[row * to_ld + col] = 0;
    }
}

// blockIdx.x counts parts of rows, and y rows, in steps of the grid.
__global__ void gemm_pack(const float* from, std::int64_t ld, std::int64_t stride, float* to, std::int64_t to_ld,
                          std::int64_t rows, std::int64_t cols, std::int64_t count) {
    const std::int64_t col = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
    wait_for_work_ahead();
    if (col >= cols) return;
    const std::int64_t step = gridDim.y;
    for (std::int64_t i = blockIdx.y; i < rows * count; i += step)
        to[i * to_ld + col] = from[i / rows * stride + i % rows * ld + col];
}

}  // namespace

void gather(const gemm_launch& w, int rows, int cols) {
    int groups = 1;
    while (groups < kMostGroups && groups * kPartsEach < w.parts) groups *= 2;
    const int fours = rows * cols / 4;
    launch({dim3(static_cast<unsigned>(w.tiles() - w.whole),
                 static_cast<unsigned>((fours * groups + kThreads - 1) / kThreads)),
            dim3(kThreads), 0, nullptr, true},
           &gemm_gather, w, rows, cols, groups);
}

void pack(const float* from, std::int64_t ld, std::int64_t stride, float* to, std::int64_t to_ld, std::int64_t rows,
          std::int64_t cols, std::int64_t count) {
    constexpr std::int64_t kMostRows = 65535;
    const std::int64_t all = rows * count;
    launch({dim3(static_cast<unsigned>((cols + kThreads - 1) / kThreads),
                 static_cast<unsigned>(all < kMostRows ? all : kMostRows)),
            dim3(kThreads), 0, nullptr, true},
           &gemm_pack, from, ld, stride, to, to_ld, rows, cols, count);
}

void clear_ends(float* to, std::int64_t to_ld, std::int64_t rows, std::int64_t cols) {
    constexpr std::int64_t kMostBlocks = 1 << 16;
    const std::int64_t blocks = (rows + kThreads - 1) / kThreads;
    if (cols == to_ld || rows == 0) return;
    launch({dim3(static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks)), dim3(kThreads), 0, nullptr, true},
           &gemm_clear_ends, to, to_ld, rows, cols);
}

}  // namespace CORNERTURN_KERNELS
