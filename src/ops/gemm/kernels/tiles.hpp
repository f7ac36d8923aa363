// A tile of C by a block: the kernel of the production multiplication.
#pragma once

#include "ops/gemm/fours.hpp"
#include "ops/gemm/kernels/product.hpp"

namespace CORNERTURN_KERNELS {

using production::gemm_path;

// kRows x kCols of C by a block, kDepth steps of k at a time, in kStages stages of shared memory. A warp's lanes lie
// kLanesDown x kLanesAcross; each has kDown x kAcross of C, in fours, so that lanes that are neighbours load
// neighbouring 16 bytes. kResident blocks at a time shall fit a multiprocessor. Sums of more than kChunk stages, or
// kPartChunk in parts, are added up in shared memory, chunk by chunk: a sum's rounding error grows with its length.
// kBFirst: B's registers are loaded before A's, which makes nvcc put them into other banks.
template <int kRows_, int kCols_, int kDepth_, int kStages_, int kWarpsDown_, int kWarpsAcross_, int kDown_,
          int kAcross_, int kResident_, int kChunk_, int kPartChunk_, bool kBFirst_>
struct gemm_tile_shape {
    static constexpr int kRows = kRows_, kCols = kCols_, kDepth = kDepth_, kStages = kStages_;
    static constexpr int kWarpsDown = kWarpsDown_, kDown = kDown_, kAcross = kAcross_, kResident = kResident_;
    static constexpr int kLanesDown = kRows / kWarpsDown / kDown, kLanesAcross = 32 / kLanesDown;
    static constexpr int kThreads = kWarpsDown * kWarpsAcross_ * 32;
    static constexpr int kChunk = kChunk_, kPartChunk = kPartChunk_;  // powers of two
    static constexpr bool kBFirst = kBFirst_;
    static_assert(kLanesDown == 4 || kLanesDown == 8);
    static_assert(kWarpsAcross_ * kLanesAcross * kAcross == kCols && kDown % 4 == 0 && kAcross % 4 == 0);
};

// One operand's way into shared memory, where its kExtent rows of C (A) or columns of C (B) are neighbours: kDepth rows
// of them, kPitch apart. Along k and along C it is padded: with zeros along k, at its beginning, so that the loop need
// not ask; with what lies at the edge along C, where nobody looks.
template <gemm_path kPath, int kExtent, int kDepth, int kThreads>
class gemm_loader {
public:
    static constexpr bool kAlongK = kPath == gemm_path::along_k;
    static constexpr int kPitch = kExtent + (kAlongK ? 4 : 0);  // a column's floats then go to different banks
    static constexpr int kFloats = kPitch * kDepth;

    // Begins with k's row `first_row`, which may lie before the matrix, and C's row or column `first`.
    __device__ __forceinline__ gemm_loader(const gemm_operand& operand, int product, std::int64_t first,
                                           std::int64_t first_row) {
        const int thread = static_cast<int>(threadIdx.x), last = operand.extent - kWidth;
        const float* const data = operand.data + product * operand.stride;
        const int x = kAlongK ? thread / kColumns : thread % kAcross * kWidth;
        row_ = kAlongK ? thread % kColumns : thread / kAcross;
        to_ = row_ * kPitch + x;
        step_ = kAlongK ? kDepth : operand.ld * kDepth;
        rows_ = operand.ld * kRowsAtOnce;
        CORNERTURN_UNROLL
        for (int i = 0; i < kPointers; ++i) {
            std::int64_t at = first + x + i * kColumnsAtOnce;
            if (at > last) at = last;
            from_[i] = data + (kAlongK ? at * operand.ld + first_row + row_ : at + (first_row + row_) * operand.ld);
        }
    }

    // The next kDepth rows, the first `absent` of which are not there.
    __device__ __forceinline__ void load_first(shared_address to, int absent) { load<true>(to, absent); }
    __device__ __forceinline__ void load(shared_address to) { load<false>(to, 0); }

private:
    static constexpr int kWidth = kPath == gemm_path::vectors ? 4 : 1;
    static constexpr int kAcross = kExtent / kWidth, kRowsAtOnce = kAlongK ? 1 : kThreads / kAcross;
    static constexpr int kColumns = 8, kColumnsAtOnce = kThreads / kColumns;  // along k: a sector at a time
    static constexpr int kPointers = kAlongK ? kExtent / kColumnsAtOnce : 1;
    static constexpr int kTimes = kAlongK ? kPointers * kDepth / kColumns : kDepth / kRowsAtOnce;

    template <bool kFirst>
    __device__ __forceinline__ void load(shared_address to, int absent) {
        CORNERTURN_UNROLL
        for (int i = 0; i < kTimes; ++i) {
            const int row = kAlongK ? i / kPointers * kColumns : i * kRowsAtOnce, pointer = i % kPointers;
            const float* const from = kAlongK ? from_[pointer] + row : from_[0] + i * rows_;
            const shared_address there = to + to_ + (row * kPitch + (kAlongK ? pointer * kColumnsAtOnce : 0));
            if constexpr (kFirst)
                copy_async_or_zero<kWidth>(there, from, row_ + row >= absent);
            else
                copy_async<kWidth>(there, from);
        }
        CORNERTURN_UNROLL
        for (int i = 0; i < kPointers; ++i) from_[i] += step_;
    }

    const float* from_[kPointers];
    std::int64_t step_, rows_;
    int row_, to_;
};

template <class Tile, gemm_path kA, gemm_path kB>
struct gemm_stages {
    using a_loader = gemm_loader<kA, Tile::kRows, Tile::kDepth, Tile::kThreads>;
    using b_loader = gemm_loader<kB, Tile::kCols, Tile::kDepth, Tile::kThreads>;
    static constexpr int kFloats = a_loader::kFloats + b_loader::kFloats, kAll = kFloats * Tile::kStages;
};

// While the multiply-adds of a step run, the next step's operands come from shared memory into registers, and those of
// three stages on from memory into shared memory.
template <class Tile, gemm_path kA, gemm_path kB>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kResident) gemm_tiles(gemm_launch w) {
    using stages = gemm_stages<Tile, kA, kB>;
    constexpr int kDown = Tile::kDown, kAcross = Tile::kAcross, kDepth = Tile::kDepth, kStages = Tile::kStages;
    CORNERTURN_DYNAMIC_SHARED(float, shared);
    // Neighbouring lanes, or every second one's neighbours, load the same 16 bytes of A, or of B: such loads take half
    // the wavefronts.
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    const int of_eight = (lane & 1) | (lane >> 1 & 6), of_four = (lane >> 1 & 1) | (lane >> 3 & 2);
    const int lane_down = Tile::kLanesDown == 8 ? of_eight : of_four;
    const int lane_across = Tile::kLanesDown == 8 ? of_four : of_eight;
    const int row0 = warp % Tile::kWarpsDown * Tile::kLanesDown * kDown + lane_down * 4;
    const int col0 = warp / Tile::kWarpsDown * Tile::kLanesAcross * kAcross + lane_across * 4;

    // The block's tile, and its part of the steps along k.
    const std::int64_t steps = w.k > 0 ? (w.k + kDepth - 1) / kDepth : 1;
    const int padding = static_cast<int>(steps * kDepth - w.k);
    int tile = static_cast<int>(blockIdx.x), count = static_cast<int>(steps), part = -1;
    std::int64_t first = 0;
    if (tile >= w.whole) {
        part = tile - w.whole;
        tile = w.whole + part / w.parts;
        const int of_tile = part % w.parts;
        first = steps * of_tile / w.parts;
        count = static_cast<int>(steps * (of_tile + 1) / w.parts - first);
    }
    const gemm_tile_at at = gemm_tile_at::of(tile, w);
    wait_for_work_ahead();

    typename stages::a_loader a(w.a, at.product, std::int64_t{at.row} * Tile::kRows, first * kDepth - padding);
    typename stages::b_loader b(w.b, at.product, std::int64_t{at.col} * Tile::kCols, first * kDepth - padding);
    const shared_address begin = as_shared(shared), end = begin + stages::kAll;
    shared_address filled = begin;
    int absent = first == 0 ? padding : 0;
    CORNERTURN_UNROLL
    for (int stage = 0; stage < kStages - 1; ++stage) {
        if (stage < count) {
            a.load_first(filled, absent);
            b.load_first(filled + stages::a_loader::kFloats, absent);
        }
        absent = 0;
        end_of_copies();
        filled = filled + stages::kFloats;
    }

    float sums[kDown][kAcross] = {};
    const auto for_each_four = [&](auto f) {
        float4* const mine = reinterpret_cast<float4*>(shared + stages::kAll) + thread;
        CORNERTURN_UNROLL
        for (int i = 0; i < kDown; ++i) {
            CORNERTURN_UNROLL
            for (int j = 0; j < kAcross; j += 4) f(mine[(i * kAcross + j) / 4 * Tile::kThreads], &sums[i][j]);
        }
    };
    const int chunk = part < 0 ? Tile::kChunk : Tile::kPartChunk;
    const bool chunks = count > chunk;
    if (chunks) for_each_four([](float4& all, float*) { all = make_float4(0, 0, 0, 0); });
    float of_a[2][kDown], of_b[2][kAcross];
    const float* used = shared;
    constexpr int kBehind = stages::a_loader::kFloats;  // B lies behind A
    const auto fetch = [&](int step) {
        const float* const a_row = used + step * stages::a_loader::kPitch + row0;
        const float* const b_row = used + kBehind + step * stages::b_loader::kPitch + col0;
        const auto of_b_fours = [&] {
            CORNERTURN_UNROLL
            for (int j = 0; j < kAcross; j += 4) load_four(&of_b[step % 2][j], b_row + j * Tile::kLanesAcross);
        };
        if (Tile::kBFirst) of_b_fours();
        CORNERTURN_UNROLL
        for (int i = 0; i < kDown; i += 4) load_four(&of_a[step % 2][i], a_row + i * Tile::kLanesDown);
        if (!Tile::kBFirst) of_b_fours();
    };
    wait_for_copies<kStages - 2>();
    __syncthreads();
    fetch(0);
    CORNERTURN_UNROLL_BY(1)
    for (int left = count; left > 0; --left) {
        CORNERTURN_UNROLL
        for (int step = 0; step < kDepth; ++step) {
            if (step == kDepth - 1) {
                wait_for_copies<kStages - 2>();
                __syncthreads();
                used += stages::kFloats;
                if (used == shared + stages::kAll) used = shared;
            }
            // The last of all fetches what nobody uses. To ask costs more; the emulator would call it a mistake.
            if (!kEmulated || step < kDepth - 1 || left > 1) fetch((step + 1) % kDepth);
            if (step == 0) {
                if (left >= kStages) {
                    a.load(filled);
                    b.load(filled + kBehind);
                }
                end_of_copies();
                filled = filled + stages::kFloats;
                if (filled == end) filled = begin;
            }
            // To and fro, so that each multiply-add shares an operand with the one before, which then need not be
            // read again; along the shorter side.
            constexpr bool kRowByRow = kDown > kAcross;
            constexpr int kOuter = kRowByRow ? kDown : kAcross, kInner = kRowByRow ? kAcross : kDown;
            CORNERTURN_UNROLL
            for (int outer = 0; outer < kOuter; ++outer) {
                CORNERTURN_UNROLL
                for (int along = 0; along < kInner; ++along) {
                    const int inner = outer % 2 == 0 ? along : kInner - 1 - along;
                    const int i = kRowByRow ? outer : inner, j = kRowByRow ? inner : outer;
                    sums[i][j] += of_a[step % 2][i] * of_b[step % 2][j];
                }
            }
        }
        if ((left & (chunk - 1)) == 1 && left > 1) {
            for_each_four([](float4& all, float* sum) {
                const float4 before = all;
                all = make_float4(before.x + sum[0], before.y + sum[1], before.z + sum[2], before.w + sum[3]);
                sum[0] = sum[1] = sum[2] = sum[3] = 0;
            });
        }
    }
    wait_for_copies<0>();
    if (chunks) {
        for_each_four([](const float4& all, float* sum) {
            const float4 before = all;
            sum[0] += before.x, sum[1] += before.y, sum[2] += before.z, sum[3] += before.w;
        });
    }

    const std::int64_t tile_row = std::int64_t{at.row} * Tile::kRows, tile_col = std::int64_t{at.col} * Tile::kCols;
    const bool in_parts = part >= 0;
    float* const to = in_parts ? w.partial + std::int64_t{part} * Tile::kRows * Tile::kCols
                               : w.c + at.product * w.c_stride + tile_row * w.ldc + tile_col;
    const std::int64_t ld = in_parts ? Tile::kCols : w.ldc;
    const float alpha = in_parts ? 1 : w.alpha, beta = in_parts ? 0 : w.beta;
    // A part's tile is whole, so that whoever gathers reads nothing that was not written.
    const std::int64_t rows = in_parts ? Tile::kRows : w.m - tile_row, cols = in_parts ? Tile::kCols : w.n - tile_col;
    const bool vectors = in_parts || (reinterpret_cast<std::uintptr_t>(to) % 16 == 0 && w.ldc % 4 == 0);
    CORNERTURN_UNROLL
    for (int i = 0; i < kDown; ++i) {
        const int row = row0 + i / 4 * Tile::kLanesDown * 4 + i % 4;
        if (row >= rows) continue;
        float* const of_row = to + row * ld;
        CORNERTURN_UNROLL
        for (int j = 0; j < kAcross; j += 4) {
            const int col = col0 + j * Tile::kLanesAcross;
            store_four(of_row + col, &sums[i][j], cols - col, alpha, beta, vectors);
        }
    }
}

// Finds the kernel for operands that lie so. Of says which ways its tiles take, and has the tile for two of them.
template <class Of>
struct gemm_kernels {
    static gemm_tiles_kernel find(const production::gemm_paths& paths) {
        switch (paths.a) {
            case gemm_path::vectors: return find<gemm_path::vectors>(paths.b);
            case gemm_path::words: return find<gemm_path::words>(paths.b);
            case gemm_path::along_k: return find<gemm_path::along_k>(paths.b);
        }
        return {};
    }

private:
    template <gemm_path kA>
    static gemm_tiles_kernel find(gemm_path b) {
        switch (b) {
            case gemm_path::vectors: return find<kA, gemm_path::vectors>();
            case gemm_path::words: return find<kA, gemm_path::words>();
            case gemm_path::along_k: return find<kA, gemm_path::along_k>();
        }
        return {};
    }
    template <gemm_path kA, gemm_path kB>
    static gemm_tiles_kernel find() {
        if constexpr (Of::takes(kA) && Of::takes(kB)) {
            using tile = typename Of::template tile<kA, kB>;
            constexpr int kFloat = sizeof(float);
            return {.run = &gemm_tiles<tile, kA, kB>,
                    .chunk = tile::kChunk,
                    .part_chunk = tile::kPartChunk,
                    .stages_bytes = gemm_stages<tile, kA, kB>::kAll * kFloat,
                    .sums_bytes = tile::kRows * tile::kCols * kFloat};
        } else {
            return {};
        }
    }
};

}  // namespace CORNERTURN_KERNELS
