// The main kernel of the library's multiplication: each block computes a tile of C.
#pragma once

#include "ops/gemm/fours.hpp"
#include "ops/gemm/kernels/product.hpp"

namespace CORNERTURN_KERNELS {

using products::operand_layout;

// A row of the table, from which a kernel is instantiated. A block's warps cover the tile kWarpsDown x kWarpsAcross,
// once for each slice of a stage's k. A warp's lanes lie kLanesDown x kLanesAcross. Each lane has kDown x kAcross of C,
// in fours: neighbouring lanes load neighbouring 16 bytes. Sums of more than kChunk stages, or kPartChunk in parts, are
// added up in shared memory, chunk by chunk, because a sum's rounding error grows with its length.
template <int kRow>
struct gemm_tile_shape {
    static constexpr products::gemm_kernel kOf = products::kGemmKernels[kRow];
    static constexpr int kRows = kOf.rows, kCols = kOf.cols, kDepth = kOf.depth(), kStages = kOf.stages,
                         kSlices = kOf.slices;
    static constexpr int kWarpsDown = kOf.warps_down, kWarps = kOf.warps_down * kOf.warps_across;  // of a slice
    static constexpr int kDown = kOf.down, kAcross = kOf.across;
    static constexpr int kLanesDown = kRows / kWarpsDown / kDown, kLanesAcross = 32 / kLanesDown;
    static constexpr int kThreads = kOf.threads(), kChunk = kOf.chunk, kPartChunk = kOf.part_chunk;
    static constexpr int kSliceDepth = kDepth / kSlices, kFours = kDown * kAcross / 4;

    // Arranges a warp's 32 lanes so that adjacent lanes, or lanes two apart, load the same 16 bytes of A or of B. Such
    // loads take half the wavefronts.
    __device__ __forceinline__ static int down_of(int lane) { return kLanesDown == 8 ? eighth(lane) : fourth(lane); }
    __device__ __forceinline__ static int across_of(int lane) { return kLanesDown == 8 ? fourth(lane) : eighth(lane); }

    static_assert(kLanesDown == 4 || kLanesDown == 8);
    static_assert(kOf.warps_across * kLanesAcross * kAcross == kCols && kDown % 4 == 0 && kAcross % 4 == 0);

private:
    __device__ __forceinline__ static int eighth(int lane) { return (lane & 1) | (lane >> 1 & 6); }
    __device__ __forceinline__ static int fourth(int lane) { return (lane >> 1 & 1) | (lane >> 3 & 2); }
};

// Brings one operand into shared memory, as kDepth rows of k, kPitch apart. In a row, the operand's kExtent rows of C
// (A) or columns of C (B) are neighbours. If it is copied 16 bytes along k at a time, kDepth elements along k are
// neighbours instead. Then 16 bytes of padding come after every fourth row of C: neighbouring lanes, which have four
// rows each, load from different banks. The first stage is padded with zeros along k, so the loop needs no test. Lanes
// beyond C's edge read other rows or columns, and their results are not stored. They must not all read one element:
// that takes 32 times as long.
template <operand_layout kLayout, int kExtent, int kDepth, int kThreads>
class gemm_loader {
public:
    static constexpr bool kAlongK = lies_along_k(kLayout);
    static constexpr bool kLiesAlongK = kLayout == operand_layout::fours_along_k;  // in shared memory too
    static constexpr int kPitch = kExtent + (kAlongK ? 4 : 0);  // a column's floats then go to different banks
    static constexpr int kFloats = kLiesAlongK ? kExtent * (kDepth + 1) : kPitch * kDepth;
    static constexpr int kWidth = kLayout == operand_layout::vectors ? 4 : 1, kOfK = kLiesAlongK ? 4 : 1;  // of a copy
    static constexpr int kAlong = kLiesAlongK ? kDepth / 4 : kAlongK ? 8 : 1;  // neighbouring threads
    static constexpr int kUnits = kExtent / kWidth, kAtOnce = kThreads / kAlong < kUnits ? kThreads / kAlong : kUnits;
    static constexpr int kRowsAtOnce = kThreads / kAtOnce * kOfK, kPointers = kUnits / kAtOnce;
    static constexpr bool kSomeIdle = kRowsAtOnce > kDepth;                             // threads that load nothing
    static constexpr int kCopies = kPointers * (kSomeIdle ? 1 : kDepth / kRowsAtOnce);  // of a thread

    // The position of an element in a stage.
    __device__ __forceinline__ static constexpr int at(int k, int x) {
        return kLiesAlongK ? x * kDepth + x / 4 * 4 + k : k * kPitch + x;
    }

    // Begins with row `first_row` of k, which may be before the matrix, and with C's row or column `first`.
    __device__ __forceinline__ gemm_loader(const gemm_operand& operand, int product, std::int64_t first,
                                           std::int64_t first_row) {
        const int thread = static_cast<int>(threadIdx.x), last = operand.extent - kWidth;
        const float* const data = operand.data + product * operand.stride;
        const int x = thread / kAlong % kAtOnce * kWidth;
        row_ = (thread % kAlong + thread / (kAlong * kAtOnce) * kAlong) * kOfK;
        to_ = at(row_, x);
        step_ = kAlongK ? kDepth : operand.ld * kDepth;
        rows_ = operand.ld * kRowsAtOnce;
        CORNERTURN_UNROLL
        for (int i = 0; i < kPointers; ++i) {
            std::int64_t from = first + x + i * kAtOnce * kWidth;
            if (from > last) from = first > 0 ? from - kExtent : static_cast<int>(from) % operand.extent;
            from_[i] = data + (kAlongK ? from * operand.ld + first_row + row_ : from + (first_row + row_) * operand.ld);
        }
    }

    // Loads the next kDepth rows. The first `absent` of them do not exist.
    __device__ __forceinline__ void load_first(shared_address to, int absent) { load<true>(to, absent, true, 0, 1); }
    // Loads the next kDepth rows if they are wanted, share by share. The last share moves on to the next stage.
    __device__ __forceinline__ void load(shared_address to, bool wanted, int share, int shares) {
        load<false>(to, 0, wanted, share, shares);
    }

private:
    static_assert(kUnits % kAtOnce == 0 && (kSomeIdle || kDepth % kRowsAtOnce == 0));
    static_assert(!kLiesAlongK || kAtOnce % 4 == 0);

    template <bool kFirst>
    __device__ __forceinline__ void load(shared_address to, int absent, bool wanted, int share, int shares) {
        if (kSomeIdle && row_ >= kDepth) wanted = false;
        CORNERTURN_UNROLL
        for (int i = 0; i < kCopies; ++i) {
            if (i * shares / kCopies != share) continue;
            const int row = i / kPointers * kRowsAtOnce, pointer = i % kPointers;
            const float* const from = from_[pointer] + (kAlongK ? row : i / kPointers * rows_);
            const shared_address there = to + to_ + at(row, pointer * kAtOnce * kWidth);
            if constexpr (!kFirst)
                copy_async_if<kWidth * kOfK, kAlongK>(wanted, there, from);
            else if (wanted)
                copy_async_or_zero<kWidth * kOfK, kAlongK>(there, from, row_ + row >= absent);
        }
        if (share < shares - 1) return;
        CORNERTURN_UNROLL
        for (int i = 0; i < kPointers; ++i) from_[i] += step_;
    }

    const float* from_[kPointers];
    std::int64_t step_, rows_;
    int row_, to_;
};

// A thread's part of an operand in registers, for this step and the next: kCount rows or columns, in fours that are
// 4 * kLanes apart. If elements along k are neighbours in shared memory, it is for four steps and the next four.
template <class Loader, int kCount, int kLanes, int kSteps>
class gemm_registers {
public:
    // Loads step `step` of a stage. `from` is a position in the stage.
    __device__ __forceinline__ void fetch(const float* from, int step) {
        if (step % kSpan != 0) return;
        CORNERTURN_UNROLL
        for (int i = 0; i < kCount; i += 4 / kSpan)
            load_four(&at_[step / kSpan % 2][i * kSpan], from + Loader::at(step, i / 4 * kLanes * 4 + i % 4));
    }
    __device__ __forceinline__ float at(int step, int i) const {
        return at_[step / kSpan % 2][i * kSpan + step % kSpan];
    }

private:
    static constexpr int kSpan = Loader::kLiesAlongK ? 4 : 1;
    static_assert(kSteps / kSpan % 2 == 0);
    float at_[2][kCount * kSpan];
};

template <class Tile, operand_layout kA, operand_layout kB>
struct gemm_stages {
    using a_loader = gemm_loader<kA, Tile::kRows, Tile::kDepth, Tile::kThreads>;
    using b_loader = gemm_loader<kB, Tile::kCols, Tile::kDepth, Tile::kThreads>;
    static constexpr int kFloats = a_loader::kFloats + b_loader::kFloats, kAll = kFloats * Tile::kStages;
    static constexpr int kSums = Tile::kRows * Tile::kCols * Tile::kSlices;  // of all threads, after the stages
    // Slices' sums overwrite the stages and the chunks' sums. Their rows are padded against bank conflicts.
    static constexpr int kSumsPitch = Tile::kCols + 4, kOfSlices = Tile::kRows * kSumsPitch * Tile::kSlices;
    // Dynamic shared memory, with or without chunks of sums.
    static constexpr int shared(bool chunks) {
        const int in_loop = kAll + (chunks ? kSums : 0);
        return Tile::kSlices > 1 && kOfSlices > in_loop ? kOfSlices : in_loop;
    }
};

// Stores kLines rows of a tile, of kLength elements each, from the shared memory of kSlices slices. Neighbouring lanes
// store neighbours, and warps alternate.
template <int kLength, int kLines, int kSlices>
struct gemm_lines {
    static constexpr int kAcross = kLength < 32 ? kLength : 32, kLinesAtOnce = 32 / kAcross;

    // from_row, from_element, from_slice: distances in `from`. The first row and element go to (row, col) of the
    // target, whose columns are neighbours.
    __device__ __forceinline__ static void store(const float* from, int from_row, int from_element, int from_slice,
                                                 const gemm_target& target, int row, int col, int thread, int warps) {
        const int lane = thread % kAcross, first = thread / kAcross, step = warps * kLinesAtOnce;
        const int there = at_most(target.cols - col, kLength), lines = at_most(target.rows - row, kLines);
        float* to = target.to + (row + first) * target.row + col;
        const std::int64_t to_step = step * target.row;
        from += first * from_row + lane * from_element;
        const auto sum_of = [&](int x) {
            float sum = 0;
            CORNERTURN_UNROLL
            for (int i = 0; i < kSlices; ++i) sum += from[x * from_element + i * from_slice];
            return sum;
        };
        if (there == kLength && target.beta == 0) {
            to += lane;
            CORNERTURN_UNROLL_BY(8)
            for (int line = first; line < lines; line += step) {
                CORNERTURN_UNROLL
                for (int x = 0; x < kLength; x += kAcross) to[x] = target.alpha * sum_of(x);
                from += step * from_row;
                to += to_step;
            }
            return;
        }
        CORNERTURN_UNROLL_BY(2)
        for (int line = first; line < lines; line += step) {
            CORNERTURN_UNROLL
            for (int x = 0; x < kLength; x += kAcross) {
                if (x + lane >= there) continue;
                float* const one = to + x + lane;
                *one = target.beta == 0 ? target.alpha * sum_of(x) : target.alpha * sum_of(x) + target.beta * *one;
            }
            from += step * from_row;
            to += to_step;
        }
    }

private:
    __device__ __forceinline__ static int at_most(std::int64_t value, int most) {
        return value < most ? static_cast<int>(value) : most;
    }
};

template <class Tile, operand_layout kA, operand_layout kB>
constexpr int kGemmResident = products::resident_by_registers(Tile::kOf, products::operand_layouts{kA, kB});

// While the multiply-adds of a step run, the next step's operands move from shared memory into registers. Operands of
// later stages move from memory into shared memory.
template <class Tile, operand_layout kA, operand_layout kB, bool kStoresFours>
__global__ void __launch_bounds__(Tile::kThreads, kGemmResident<Tile, kA, kB>) gemm_tiles(gemm_launch w) {
    using stages = gemm_stages<Tile, kA, kB>;
    constexpr int kDown = Tile::kDown, kAcross = Tile::kAcross, kDepth = Tile::kDepth, kStages = Tile::kStages;
    constexpr int kSteps = Tile::kSliceDepth;
    // Copies are issued among the multiply-adds of half of the steps. Issued all at once, they would delay the loads of
    // these steps from shared memory. Two cases issue them at once. Tiles of few sums end so soon that copies cannot
    // wait. With few copies, spreading them made large tiles slower (docs/experiments/products.md, 139).
    constexpr bool kAllAtOnce = kDown * kAcross <= 32 || stages::a_loader::kCopies + stages::b_loader::kCopies <= 4;
    constexpr int kShares = kAllAtOnce ? 1 : kSteps / 2;
    // B's registers are loaded before A's if nvcc then puts them into different register banks.
    constexpr bool kBFirst = kDown == 16 && (kA == operand_layout::vectors || kB == operand_layout::vectors);
    CORNERTURN_DYNAMIC_SHARED(float, shared);
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32,
              slice = Tile::kSlices == 1 ? 0 : thread / 32 / Tile::kWarps;
    const int warp = thread / 32 % Tile::kWarps;
    const int lane_down = Tile::down_of(lane), lane_across = Tile::across_of(lane);
    const int row0 = warp % Tile::kWarpsDown * Tile::kLanesDown * kDown + lane_down * 4;
    const int col0 = warp / Tile::kWarpsDown * Tile::kLanesAcross * kAcross + lane_across * 4;

    // The block's tile, and its part of the steps along k.
    const std::int64_t steps = w.k > 0 ? (w.k + kDepth - 1) / kDepth : 1;
    const int padding = static_cast<int>(steps * kDepth - w.k);
    const gemm_share share = gemm_share::of(static_cast<int>(blockIdx.x), static_cast<int>(steps), w);
    const std::int64_t first = share.first;
    const int count = share.count;
    const gemm_tile_at at = share.at;
    wait_for_work_ahead();
    if (share.part >= 0) let_work_behind_begin();

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
    const int chunk = share.part < 0 ? Tile::kChunk : Tile::kPartChunk;
    const bool chunks = count > chunk;
    if (chunks) for_each_four([](float4& all, float*) { all = make_float4(0, 0, 0, 0); });
    gemm_registers<typename stages::a_loader, kDown, Tile::kLanesDown, kSteps> of_a;
    gemm_registers<typename stages::b_loader, kAcross, Tile::kLanesAcross, kSteps> of_b;
    const float* used = shared;
    constexpr int kBehind = stages::a_loader::kFloats;  // B comes after A
    const int in_a = stages::a_loader::at(slice * kSteps, row0);
    const int in_b = stages::b_loader::at(slice * kSteps, col0) + kBehind;
    const auto fetch = [&](int step) {
        if (kBFirst) of_b.fetch(used + in_b, step);
        of_a.fetch(used + in_a, step);
        if (!kBFirst) of_b.fetch(used + in_b, step);
    };
    wait_for_copies<kStages - 2>();
    __syncthreads();
    fetch(0);
    CORNERTURN_UNROLL_BY(1)
    for (int left = count; left > 0; --left) {
        CORNERTURN_UNROLL
        for (int step = 0; step < kSteps; ++step) {
            if (step == kSteps - 1) {
                wait_for_copies<kStages - 2>();
                __syncthreads();
                used += stages::kFloats;
                if (used == shared + stages::kAll) used = shared;
            }
            // Nothing uses what the very last fetch loads. On a GPU a test to skip it would cost more. In the
            // emulator the fetch would be an error.
            if (!kEmulated || step < kSteps - 1 || left > 1) fetch((step + 1) % kSteps);
            // Either a branch around all copies, or a predicate on each.
            const bool wanted = left >= kStages;
            if (step < kShares && (!kAllAtOnce || wanted)) {
                a.load(filled, kAllAtOnce || wanted, step, kShares);
                b.load(filled + kBehind, kAllAtOnce || wanted, step, kShares);
            }
            if (step == kShares - 1) {
                end_of_copies();
                filled = filled + stages::kFloats;
                if (filled == end) filled = begin;
            }
            // Go across and back, along the shorter side: each multiply-add shares an operand with the one before,
            // which need not be read again.
            constexpr bool kRowByRow = kDown > kAcross;
            constexpr int kOuter = kRowByRow ? kDown : kAcross, kInner = kRowByRow ? kAcross : kDown;
            CORNERTURN_UNROLL
            for (int outer = 0; outer < kOuter; ++outer) {
                CORNERTURN_UNROLL
                for (int along = 0; along < kInner; ++along) {
                    const int inner = outer % 2 == 0 ? along : kInner - 1 - along;
                    const int i = kRowByRow ? outer : inner, j = kRowByRow ? inner : outer;
                    sums[i][j] += of_a.at(step, i) * of_b.at(step, j);
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

    const gemm_target target = gemm_target::of(share, Tile::kRows, Tile::kCols, w);
    const auto store = [&](int row, int col, const float* sum) {
        if (row >= target.rows) return;
        store_four(target.to + row * target.row + col, sum, target.cols - col, target.alpha, target.beta, true);
    };
    if constexpr (Tile::kSlices == 1 && kStoresFours) {
        CORNERTURN_UNROLL
        for (int four = 0; four < Tile::kFours; ++four) {
            const int i = four * 4 / kAcross, j = four * 4 % kAcross;
            store(row0 + i / 4 * Tile::kLanesDown * 4 + i % 4, col0 + j * Tile::kLanesAcross, &sums[i][j]);
        }
    } else if constexpr (Tile::kSlices == 1) {
        // Otherwise the sums go through the stages' shared memory. Each thread puts four of its rows of C there at a
        // time, or four columns if C is transposed. Neighbouring lanes then store neighbours.
        constexpr int kWide = Tile::kLanesAcross * kAcross, kHigh = Tile::kLanesDown * kDown;
        constexpr int kInRows = kWide * Tile::kLanesDown * 4, kInCols = kHigh * Tile::kLanesAcross * 4;
        constexpr int kOfWarp = kInRows > kInCols ? kInRows : kInCols;
        static_assert(Tile::kWarps * kOfWarp <= stages::kAll);
        float* const mine = shared + warp * kOfWarp;
        const int warp_row = row0 - lane_down * 4, warp_col = col0 - lane_across * 4;
        __syncthreads();
        if (target.col == 1) {
            CORNERTURN_UNROLL
            for (int i = 0; i < kDown; i += 4) {
                CORNERTURN_UNROLL
                for (int j = 0; j < kAcross; j += 4) {
                    float* const to = mine + lane_down * 4 * kWide + j * Tile::kLanesAcross + lane_across * 4;
                    CORNERTURN_UNROLL
                    for (int of_four = 0; of_four < 4; ++of_four)
                        put_four(to + of_four * kWide, &sums[i + of_four][j], 1);
                }
                __syncwarp();
                const int row = warp_row + i * Tile::kLanesDown;
                gemm_lines<kWide, Tile::kLanesDown * 4, 1>::store(mine, kWide, 1, 0, target, row, warp_col, lane, 1);
                __syncwarp();
            }
        } else {
            CORNERTURN_UNROLL
            for (int j = 0; j < kAcross; j += 4) {
                CORNERTURN_UNROLL
                for (int i = 0; i < kDown; i += 4) {
                    float* const to = mine + lane_across * 4 * kHigh + i * Tile::kLanesDown + lane_down * 4;
                    CORNERTURN_UNROLL
                    for (int of_four = 0; of_four < 4; ++of_four)
                        put_four(to + of_four * kHigh, &sums[i][j + of_four], kAcross);
                }
                __syncwarp();
                const int col = warp_col + j * Tile::kLanesAcross;
                gemm_lines<kHigh, Tile::kLanesAcross * 4, 1>::store(mine, kHigh, 1, 0, target.transposed(), col,
                                                                    warp_row, lane, 1);
                __syncwarp();
            }
        }
    } else {
        // The sums of each slice overwrite the stages and the chunks' sums, row by row. They are added up in order.
        // Neighbouring threads store neighbours.
        constexpr int kPitch = stages::kSumsPitch, kOfSlice = Tile::kRows * kPitch, kAllWarps = Tile::kThreads / 32;
        __syncthreads();
        CORNERTURN_UNROLL
        for (int four = 0; four < Tile::kFours; ++four) {
            const int i = four * 4 / kAcross, j = four * 4 % kAcross;
            const int row = row0 + i / 4 * Tile::kLanesDown * 4 + i % 4, col = col0 + j * Tile::kLanesAcross;
            put_four(shared + slice * kOfSlice + row * kPitch + col, &sums[i][j], 1);
        }
        __syncthreads();
        if constexpr (kStoresFours) {
            constexpr int kFoursAcross = Tile::kCols / 4;
            CORNERTURN_UNROLL_BY(4)
            for (int at = thread; at < Tile::kRows * kFoursAcross; at += Tile::kThreads) {
                const int row = at / kFoursAcross, col = at % kFoursAcross * 4;
                float sum[4] = {};
                CORNERTURN_UNROLL
                for (int i = 0; i < Tile::kSlices; ++i) {
                    float of[4];
                    load_four(of, shared + i * kOfSlice + row * kPitch + col);
                    sum[0] += of[0], sum[1] += of[1], sum[2] += of[2], sum[3] += of[3];
                }
                store(row, col, sum);
            }
        } else if (target.col == 1) {
            gemm_lines<Tile::kCols, Tile::kRows, Tile::kSlices>::store(shared, kPitch, 1, kOfSlice, target, 0, 0,
                                                                       thread, kAllWarps);
        } else {
            gemm_lines<Tile::kRows, Tile::kCols, Tile::kSlices>::store(shared, 1, kPitch, kOfSlice, target.transposed(),
                                                                       0, 0, thread, kAllWarps);
        }
    }
}

// The kernel of a row of the table for these layouts.
template <int kRow, operand_layout kA, operand_layout kB>
gemm_tiles_kernel find_gemm_tiles(bool fours) {
    using tile = gemm_tile_shape<kRow>;
    using stages = gemm_stages<tile, kA, kB>;
    constexpr int kFloat = sizeof(float);
    return {.run = fours ? &gemm_tiles<tile, kA, kB, true> : &gemm_tiles<tile, kA, kB, false>,
            .shared_bytes = stages::shared(false) * kFloat,
            .with_chunks_bytes = stages::shared(true) * kFloat};
}
template <int kRow, operand_layout kA>
gemm_tiles_kernel find_gemm_tiles(operand_layout b, bool fours) {
    if constexpr (products::kGemmKernels[kRow].takes_fours_along_k()) {
        if (b == operand_layout::fours_along_k) return find_gemm_tiles<kRow, kA, operand_layout::fours_along_k>(fours);
    }
    if (lies_along_k(b)) return find_gemm_tiles<kRow, kA, operand_layout::along_k>(fours);
    if (b == operand_layout::words) return find_gemm_tiles<kRow, kA, operand_layout::words>(fours);
    return find_gemm_tiles<kRow, kA, operand_layout::vectors>(fours);
}
template <int kRow>
gemm_tiles_kernel tiles_kernel_of(const products::operand_layouts& layouts, bool fours) {
    if constexpr (products::kGemmKernels[kRow].takes_fours_along_k()) {
        if (layouts.a == operand_layout::fours_along_k)
            return find_gemm_tiles<kRow, operand_layout::fours_along_k>(layouts.b, fours);
    }
    if (lies_along_k(layouts.a)) return find_gemm_tiles<kRow, operand_layout::along_k>(layouts.b, fours);
    if (layouts.a == operand_layout::words) return find_gemm_tiles<kRow, operand_layout::words>(layouts.b, fours);
    return find_gemm_tiles<kRow, operand_layout::vectors>(layouts.b, fours);
}

}  // namespace CORNERTURN_KERNELS
