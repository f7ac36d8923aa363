#include "device/cuda_check.hpp"
#include "device/each_index.hpp"
#include "ops/gemm/verifier_kernels.hpp"

namespace cornerturn::device {
namespace {

__global__ void verifier_fill_gemm_input(float* first, gemm_matrix which, patterned_batch lies, bool transposed,
                                         gemm_filler filler) {
    for_each_index(lies.positions(), [&](std::int64_t i) {
        const coordinates at = lies.coordinates_at(i);
        first[i] = at.col < lies.cols ? filler.of_product(at.matrix).value(which, transposed ? at.col : at.row,
                                                                           transposed ? at.row : at.col)
                                      : __int_as_float(0x7fffffff);
    });
}

__global__ void verifier_fill_gemm_c(float* first, patterned_batch lies, gemm_filler filler, bool is_read) {
    for_each_index(lies.positions(), [&](std::int64_t i) {
        const coordinates at = lies.coordinates_at(i);
        if (at.col < lies.cols) {
            first[i] = is_read ? filler.of_product(at.matrix).value(gemm_matrix::c, at.row, at.col)
                               : __int_as_float(0x7fffffff);
        } else {
            auto* const bytes = reinterpret_cast<unsigned char*>(first + i);
            for (int b = 0; b < 4; ++b) bytes[b] = guard_byte((lies.offset + i) * 4 + b);
        }
    });
}

// Products in double precision. A block of 16 x 16 threads computes a tile of 64 x 64 of one product in shared memory.
constexpr int kGemmTile = 64, kGemmDepth = 16, kGemmEach = 4, kGemmSide = kGemmTile / kGemmEach;

__global__ void verifier_check_gemm(gemm_work w, patterned_batch lies, gemm_filler first_filler,
                                    std::int64_t tiles_across, std::int64_t tiles_each, gemm_findings* found) {
    __shared__ float a[kGemmDepth][kGemmTile + 1], b[kGemmDepth][kGemmTile];
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y), thread = y * kGemmSide + x;
    const std::int64_t matrix = blockIdx.x / tiles_each, in_matrix = blockIdx.x % tiles_each;
    const std::int64_t row0 = in_matrix / tiles_across * kGemmTile, col0 = in_matrix % tiles_across * kGemmTile;
    const gemm_filler filler = first_filler.of_product(matrix);
    w.a += matrix * w.a_stride;
    w.b += matrix * w.b_stride;
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
            const std::int64_t at = lies.position({matrix, row, col});
            const float is = w.c[at];
            if (!right.holds(is)) atomicMin(&found->wrong.element, static_cast<unsigned long long>(at));
            const double error = fabs(is - right.wanted);
            if (right.magnitude > 0 && error / right.magnitude > largest) largest = error / right.magnitude;
            errors += error * error;
            all += right.magnitude * right.magnitude;
        }
    }
    // The bits of non-negative numbers have the same order as the numbers.
    atomicMax(reinterpret_cast<unsigned long long*>(&found->largest),
              static_cast<unsigned long long>(__double_as_longlong(largest)));
    atomicAdd(&found->errors, errors);
    atomicAdd(&found->magnitudes, all);
}

__global__ void verifier_check_gemm_gaps(const float* first, patterned_batch lies, wrong_positions* wrong) {
    for_each_index(lies.positions(), [&](std::int64_t i) {
        if (lies.coordinates_at(i).col < lies.cols) return;
        const auto* const bytes = reinterpret_cast<const unsigned char*>(first + i);
        for (int b = 0; b < 4; ++b) {
            if (bytes[b] != guard_byte((lies.offset + i) * 4 + b))
                atomicMin(&wrong->gap, static_cast<unsigned long long>(i));
        }
    });
}

}  // namespace

void fill_gemm_input(float* first, gemm_matrix which, const gemm_shape& s, cudaStream_t stream) {
    const patterned_batch lies = s.placed(which);
    if (lies.empty()) return;
    verifier_fill_gemm_input<<<blocks_for(lies.positions()), kThreads, 0, stream>>>(first, which, lies,
                                                                                    s.is_transposed(which), s.filler());
    CORNERTURN_CUDA(cudaGetLastError());
}

void fill_gemm_c(float* first, const gemm_shape& s, cudaStream_t stream) {
    const patterned_batch lies = s.placed(gemm_matrix::c);
    if (lies.empty()) return;
    verifier_fill_gemm_c<<<blocks_for(lies.positions()), kThreads, 0, stream>>>(first, lies, s.filler(), s.beta != 0);
    CORNERTURN_CUDA(cudaGetLastError());
}

void check_gemm(const gemm_work& w, const gemm_shape& s, gemm_findings* on_device, cudaStream_t stream) {
    const patterned_batch lies = s.placed(gemm_matrix::c);
    if (lies.empty()) return;
    const std::int64_t across = (w.n + kGemmTile - 1) / kGemmTile, down = (w.m + kGemmTile - 1) / kGemmTile;
    verifier_check_gemm<<<static_cast<unsigned>(across * down * w.count), dim3(kGemmSide, kGemmSide), 0, stream>>>(
        w, lies, s.filler(), across, across * down, on_device);
    CORNERTURN_CUDA(cudaGetLastError());
    if (lies.positions() == s.elements()) return;
    verifier_check_gemm_gaps<<<blocks_for(lies.positions()), kThreads, 0, stream>>>(w.c, lies, &on_device->wrong);
    CORNERTURN_CUDA(cudaGetLastError());
}

}  // namespace cornerturn::device
