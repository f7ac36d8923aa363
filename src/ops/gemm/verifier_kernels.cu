#include <utility>

#include "device/cuda_check.hpp"
#include "device/each_index.hpp"
#include "ops/gemm/verifier_kernels.hpp"

namespace cornerturn::device {
namespace {

__global__ void verifier_fill_gemm_input(float* matrix, gemm_matrix which, std::int64_t rows, std::int64_t cols,
                                         bool transposed, std::int64_t ld, gemm_filler filler) {
    for_each_index((rows - 1) * ld + cols, [&](std::int64_t i) {
        const std::int64_t row = i / ld, col = i % ld;
        matrix[i] = col < cols ? filler.value(which, transposed ? col : row, transposed ? row : col)
                               : __int_as_float(0x7fffffff);
    });
}

__global__ void verifier_fill_gemm_c(float* c, gemm_filler filler, std::int64_t m, std::int64_t n, std::int64_t ldc,
                                     bool is_read, std::int64_t offset) {
    for_each_index((m - 1) * ldc + n, [&](std::int64_t i) {
        const std::int64_t row = i / ldc, col = i % ldc;
        if (col < n) {
            c[i] = is_read ? filler.value(gemm_matrix::c, row, col) : __int_as_float(0x7fffffff);
        } else {
            auto* const bytes = reinterpret_cast<unsigned char*>(c + i);
            for (int b = 0; b < 4; ++b) bytes[b] = guard_byte((offset + i) * 4 + b);
        }
    });
}

// Products in double precision: a block of 16 x 16 threads has a tile of 64 x 64, out of shared memory.
constexpr int kGemmTile = 64, kGemmDepth = 16, kGemmEach = 4, kGemmSide = kGemmTile / kGemmEach;

__global__ void verifier_check_gemm(gemm_work w, gemm_filler filler, std::int64_t tiles_across, gemm_findings* found) {
    __shared__ float a[kGemmDepth][kGemmTile + 1], b[kGemmDepth][kGemmTile];
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y), thread = y * kGemmSide + x;
    const std::int64_t row0 = blockIdx.x / tiles_across * kGemmTile, col0 = blockIdx.x % tiles_across * kGemmTile;
    double sums[kGemmEach][kGemmEach] = {}, magnitudes[kGemmEach][kGemmEach] = {};
    for (std::int64_t step = 0; step < w.k && w.alpha != 0; step += kGemmDepth) {
        for (int i = thread; i < kGemmTile * kGemmDepth; i += kGemmSide * kGemmSide) {
            const std::int64_t row = row0 + i / kGemmDepth, of_a = step + i % kGemmDepth;
            a[i % kGemmDepth][i / kGemmDepth] =
                row < w.m && of_a < w.k ? w.a[w.a_transposed ? of_a * w.lda + row : row * w.lda + of_a] : 0;
            const std::int64_t of_b = step + i / kGemmTile, col = col0 + i % kGemmTile;
            b[i / kGemmTile][i % kGemmTile] =
                of_b < w.k && col < w.n ? w.b[w.b_transposed ? col * w.ldb + of_b : of_b * w.ldb + col] : 0;
        }
        __syncthreads();
        for (int i = 0; i < kGemmDepth; ++i) {
            for (int r = 0; r < kGemmEach; ++r) {
                const double of_a = a[i][r * kGemmSide + y];
                for (int c = 0; c < kGemmEach; ++c) {
                    const double product = of_a * b[i][c * kGemmSide + x];
                    sums[r][c] += product;
                    magnitudes[r][c] += fabs(product);
                }
            }
        }
        __syncthreads();
    }
    double largest = 0, errors = 0, all = 0;
    for (int r = 0; r < kGemmEach; ++r) {
        for (int c = 0; c < kGemmEach; ++c) {
            const std::int64_t row = row0 + r * kGemmSide + y, col = col0 + c * kGemmSide + x;
            if (row >= w.m || col >= w.n) continue;
            const float before = w.beta == 0 ? 0 : filler.value(gemm_matrix::c, row, col);
            const gemm_element right(sums[r][c], magnitudes[r][c], w.k, w.alpha, w.beta, before, filler.values);
            const float is = w.c[row * w.ldc + col];
            if (!right.holds(is)) atomicMin(&found->wrong.element, static_cast<unsigned long long>(row * w.n + col));
            const double magnitude =
                fabs(static_cast<double>(w.alpha)) * magnitudes[r][c] + fabs(double{w.beta} * before);
            const double error = fabs(is - right.wanted);
            if (magnitude > 0 && error / magnitude > largest) largest = error / magnitude;
            errors += error * error;
            all += magnitude * magnitude;
        }
    }
    // Of numbers that are not negative, the bits are in order, too.
    atomicMax(reinterpret_cast<unsigned long long*>(&found->largest),
              static_cast<unsigned long long>(__double_as_longlong(largest)));
    atomicAdd(&found->errors, errors);
    atomicAdd(&found->magnitudes, all);
}

__global__ void verifier_check_gemm_gaps(const float* c, std::int64_t m, std::int64_t n, std::int64_t ldc,
                                         std::int64_t offset, wrong_positions* wrong) {
    for_each_index((m - 1) * (ldc - n), [&](std::int64_t i) {
        const std::int64_t at = i / (ldc - n) * ldc + n + i % (ldc - n);
        const auto* const bytes = reinterpret_cast<const unsigned char*>(c + at);
        for (int b = 0; b < 4; ++b) {
            if (bytes[b] != guard_byte((offset + at) * 4 + b))
                atomicMin(&wrong->gap, static_cast<unsigned long long>(at / ldc));
        }
    });
}

}  // namespace

void fill_gemm_input(float* matrix, gemm_matrix which, std::int64_t rows, std::int64_t cols, bool transposed,
                     std::int64_t ld, gemm_filler filler, cudaStream_t stream) {
    if (rows == 0 || cols == 0) return;
    if (transposed) std::swap(rows, cols);
    verifier_fill_gemm_input<<<blocks_for(rows * ld), kThreads, 0, stream>>>(matrix, which, rows, cols, transposed, ld,
                                                                             filler);
    CORNERTURN_CUDA(cudaGetLastError());
}

void fill_gemm_c(float* c, const gemm_shape& s, cudaStream_t stream) {
    if (s.elements() == 0) return;
    verifier_fill_gemm_c<<<blocks_for(s.m * s.ldc), kThreads, 0, stream>>>(c, s.filler(), s.m, s.n, s.ldc, s.beta != 0,
                                                                           s.c_offset);
    CORNERTURN_CUDA(cudaGetLastError());
}

void check_gemm(const gemm_work& w, const gemm_shape& s, gemm_findings* on_device, cudaStream_t stream) {
    if (w.m == 0 || w.n == 0) return;
    const std::int64_t across = (w.n + kGemmTile - 1) / kGemmTile, down = (w.m + kGemmTile - 1) / kGemmTile;
    verifier_check_gemm<<<static_cast<unsigned>(across * down), dim3(kGemmSide, kGemmSide), 0, stream>>>(
        w, s.filler(), across, on_device);
    CORNERTURN_CUDA(cudaGetLastError());
    if (w.ldc == w.n || w.m == 1) return;
    verifier_check_gemm_gaps<<<blocks_for(w.m * (w.ldc - w.n)), kThreads, 0, stream>>>(w.c, w.m, w.n, w.ldc, s.c_offset,
                                                                                       &on_device->wrong);
    CORNERTURN_CUDA(cudaGetLastError());
}

}  // namespace cornerturn::device
