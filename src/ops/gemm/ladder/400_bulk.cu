#include "ops/gemm/gemm_rung.hpp"
#if !defined(CORNERTURN_EMULATED)
#include <cuda.h>
#endif

namespace CORNERTURN_KERNELS {

constexpr rung_notes kBulk{
    .id = "gemm/bulk",
    .idea =
        "Tensor copies (TMA): one thread requests whole tiles and the hardware brings them. Barriers in shared memory "
        "say when a tile has arrived and when all warps have read it.",
    .change =
        "From warps: no thread computes addresses or waits for all others. Tiles are 128 x 256, with 16 steps of k at "
        "a time, in six stages. At 4096 on an H200, 0.96 -> 0.91 of cublasSgemm's speed.",
    .contract =
        "Any m, n, k below 2^31, leading dimensions, alpha and beta; where beta is 0, C is not read. B is copied first "
        "unless it is aligned to 16 bytes and its leading dimension is a multiple of 4.",
    .bytes = "4 * (3 * m * n * k / 256 + m * n + 2 * m * k)",
    .limit = "Warps wait for copies that arrive late. One thread of each block waits until all warps have read a tile.",
    .source = "Tensor copies: CUDA C++ Programming Guide, Tensor Memory Access.",
};

std::int64_t bulk_floats(const gemm_work& work) { return transposed_a_floats(work) + (work.n + 3) / 4 * 4 * work.k; }

#if defined(CORNERTURN_EMULATED)

constexpr void (*run_bulk)(const gemm_work&) = nullptr;

#else

constexpr int kBulkRows = 128, kBulkCols = 256, kBulkDepth = 16, kBulkStages = 6, kBulkThreads = 256;
[[maybe_unused]] constexpr int kBulkDown = 16, kBulkAcross = 8,
                               kBulkSide = 64;  // of C: a thread's part, and the side of a warp's
constexpr int kBulkStage = (kBulkRows + kBulkCols) * kBulkDepth;
[[maybe_unused]] constexpr int kBulkWarps = kBulkThreads / 32;  // for sm_90 and later

// A barrier in shared memory. A phase ends when all announced arrivals have come, bytes included.
struct bulk_barrier {
    unsigned address;

    __device__ void begin(int arrivals) const {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(arrivals) : "memory");
    }
    __device__ void arrive() const {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address) : "memory");
    }
    __device__ void arrive_and_expect(int bytes) const {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes) : "memory");
    }
    __device__ void wait(unsigned phase) const {
        unsigned over = 0;
        while (over == 0) {
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                         : "=r"(over)
                         : "r"(address), "r"(phase)
                         : "memory");
        }
    }
};

__device__ __forceinline__ void copy_box(shared_address to, const CUtensorMap& from, int col, int row,
                                         bulk_barrier there) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
        "[%4];" ::"r"(to.address),
        "l"(&from), "r"(col), "r"(row), "r"(there.address)
        : "memory");
}

// `work.a` is A's transpose. The maps cover all of it and of B; the work's own addresses say where this part begins.
__global__ void __launch_bounds__(kBulkThreads)
    gemm_bulk(gemm_work work, bool vector_c, const float* all_a, const float* all_b,
              const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b) {
#if __CUDA_ARCH__ >= 900
    CORNERTURN_DYNAMIC_SHARED(float, shared);
    const shared_address stages = as_shared(shared);
    const auto full = [&](int stage) { return bulk_barrier{(stages + kBulkStages * kBulkStage + stage * 4).address}; };
    const auto used = [&](int stage) { return bulk_barrier{full(stage).address + 8}; };
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    const int row_in = warp % 2 * kBulkSide + ((lane >> 1 & 1) | (lane >> 3 & 2)) * 4;
    const int col_in = warp / 2 * kBulkSide + ((lane & 1) | (lane >> 1 & 6)) * 4;
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const std::int64_t row0 = at.row * kBulkRows, col0 = at.col * kBulkCols;
    const auto map_row = static_cast<int>(work.a - all_a + row0), map_col = static_cast<int>(work.b - all_b + col0);
    const auto tiles = static_cast<int>((work.k + kBulkDepth - 1) / kBulkDepth);
    const auto load = [&](int tile) {
        const int stage = tile % kBulkStages;
        full(stage).arrive_and_expect(kBulkStage * 4);
        copy_box(stages + stage * kBulkStage, map_a, map_row, tile * kBulkDepth, full(stage));
        copy_box(stages + stage * kBulkStage + kBulkRows * kBulkDepth, map_b, map_col, tile * kBulkDepth, full(stage));
    };
    if (thread == 0) {
        for (int stage = 0; stage < kBulkStages; ++stage) {
            full(stage).begin(1);
            used(stage).begin(kBulkWarps);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        for (int tile = 0; tile < kBulkStages - 1 && tile < tiles; ++tile) load(tile);
    }
    __syncthreads();
    float sums[kBulkDown][kBulkAcross] = {}, of_a[2][kBulkDown], of_b[2][kBulkAcross];
    for (int tile = 0; tile < tiles; ++tile) {
        const int stage = tile % kBulkStages;
        const unsigned phase = tile / kBulkStages % 2;
        const float* const a = shared + stage * kBulkStage + row_in;
        const float* const b = shared + stage * kBulkStage + kBulkRows * kBulkDepth + col_in;
        const auto fetch = [&](int step) {
            CORNERTURN_UNROLL
            for (int i = 0; i < kBulkDown; i += 4) load_four(&of_a[step % 2][i], a + step * kBulkRows + i * 4);
            CORNERTURN_UNROLL
            for (int j = 0; j < kBulkAcross; j += 4) load_four(&of_b[step % 2][j], b + step * kBulkCols + j * 8);
        };
        full(stage).wait(phase);
        fetch(0);
        // When all warps have read the tile before, its stage receives the tile furthest ahead.
        if (thread == 0 && tile + kBulkStages - 1 < tiles) {
            if (tile > 0) used((tile - 1) % kBulkStages).wait((tile - 1) / kBulkStages % 2);
            load(tile + kBulkStages - 1);
        }
        CORNERTURN_UNROLL
        for (int step = 0; step < kBulkDepth; ++step) {
            if (step + 1 < kBulkDepth) fetch(step + 1);
            CORNERTURN_UNROLL
            for (int i = 0; i < kBulkDown; ++i) {
                CORNERTURN_UNROLL
                for (int j = 0; j < kBulkAcross; ++j) sums[i][j] += of_a[step % 2][i] * of_b[step % 2][j];
            }
        }
        __syncwarp();
        if (lane == 0) used(stage).arrive();
    }
    CORNERTURN_UNROLL
    for (int i = 0; i < kBulkDown; ++i) {
        const std::int64_t at_row = row0 + row_in + i / 4 * 16 + i % 4;
        CORNERTURN_UNROLL
        for (int j = 0; j < kBulkAcross && at_row < work.m; j += 4) {
            const std::int64_t first = col0 + col_in + j * 8;
            store_four(work.c + at_row * work.ldc + first, &sums[i][j], work.n - first, work.alpha, work.beta,
                       vector_c);
        }
    }
#endif
}

// Boxes of kBulkDepth x box_cols of a matrix. Elements outside the matrix arrive as zeros.
CUtensorMap map_of(const float* data, std::int64_t rows, std::int64_t cols, std::int64_t ld, int box_cols) {
    void* encode = nullptr;
    cudaDriverEntryPointQueryResult found{};
    CORNERTURN_CUDA(
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess) decline("needs a driver of CUDA 12 or later");
    const cuuint64_t sizes[] = {static_cast<cuuint64_t>(cols), static_cast<cuuint64_t>(rows)};
    const cuuint64_t pitch[] = {static_cast<cuuint64_t>(ld) * sizeof(float)};
    const cuuint32_t box[] = {static_cast<cuuint32_t>(box_cols), kBulkDepth}, steps[] = {1, 1};
    CUtensorMap map{};
    const CUresult status = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float*>(data), sizes, pitch, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status != CUDA_SUCCESS) decline("cannot describe matrices so large to the hardware");
    return map;
}

void run_bulk(const gemm_work& given) {
    if (given.m == 0 || given.n == 0) return;
    for (std::int64_t size : {given.m, given.n, given.k}) {
        if (size >= std::int64_t{1} << 31) decline("takes sizes below 2^31, as tensor copies count");
    }
    gemm_work work = transpose_a(given);
    CUtensorMap map_a{}, map_b{};
    if (work.k > 0 && work.alpha != 0) {
        if (!rows_of_fours(work.b, work.ldb)) {
            float* const to = work.workspace + transposed_a_floats(work);
            const std::int64_t ld = (work.n + 3) / 4 * 4, size = sizeof(float);
            const auto bytes = [&](std::int64_t floats) { return static_cast<std::size_t>(floats * size); };
            CORNERTURN_CUDA(cudaMemcpy2DAsync(to, bytes(ld), work.b, bytes(work.ldb), bytes(work.n),
                                              static_cast<std::size_t>(work.k), cudaMemcpyDeviceToDevice,
                                              device::current_stream()));
            work.b = to;
            work.ldb = ld;
        }
        map_a = map_of(work.a, work.k, work.m, work.lda, kBulkRows);
        map_b = map_of(work.b, work.k, work.n, work.ldb, kBulkCols);
    }
    constexpr int kShared = (kBulkStages * kBulkStage + kBulkStages * 4) * static_cast<int>(sizeof(float));
    launch_gemm<true>(gemm_bulk, work, {kBulkRows, kBulkCols}, dim3(kBulkThreads), kShared,
                      rows_of_fours(work.c, work.ldc), work.a, work.b, map_a, map_b);
}

#endif

CORNERTURN_RUNG(kBulk, gemm_operation(),
                multiplying("", "-", run_bulk, &bulk_floats, 0, {.feature = "tensor copies", .compute_capability = 90}))

}  // namespace CORNERTURN_KERNELS
