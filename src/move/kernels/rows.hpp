// Runs that are contiguous on both sides, for copies and for conversions: see kernels/work.hpp.
//
// A thread writes a vector of 16 bytes of the destination. What it reads for that may have any alignment. What limits
// it: DRAM; and for short runs that begin anywhere, the vectors that they fill only in part.
//
// A Move loads the source of a vector, and makes the vector or a unit of it with a scale and bias. A thread loads
// Move::kAtOnce vectors before it writes the first.
#pragma once

#include "move/kernels/places.hpp"
#include "move/kernels/unaligned.hpp"

namespace CORNERTURN_KERNELS {

// Copies. kApart: the alignment of a vector's source.
template <int kBytes, int kApart>
struct moved_run {
    struct work {};
    using loaded = uint4;
    static constexpr int kUnit = kBytes, kSourceUnit = kBytes, kResident = 2048, kAtOnce = 1;
    static constexpr int kAround = kApart < 4 ? 3 : 0;

    __device__ __forceinline__ explicit moved_run(work) {}
    static __device__ __forceinline__ std::int64_t factor_of_run(work, int, unsigned) { return 0; }
    static __device__ __forceinline__ std::int64_t factor_in_run(work) { return 0; }
    static __device__ __forceinline__ void load(const byte* from, read_policy read, uint4& vector) {
        vector = load_vector<kApart>(from, read);
    }
    static __device__ __forceinline__ void load_within(const byte* from, const byte*, const byte*, uint4& vector) {
        storage_t<kBytes> units[kVectorBytes / kBytes];
        CORNERTURN_UNROLL
        for (int u = 0; u < kVectorBytes / kBytes; ++u) units[u] = value_at<storage_t<kBytes>>(from + u * kBytes);
        __builtin_memcpy(&vector, units, sizeof vector);
    }
    static __device__ __forceinline__ uint4 vector_of_run(const uint4& vector, std::int64_t) { return vector; }
    static __device__ __forceinline__ storage_t<kBytes> unit_of_run(const byte* from, std::int64_t) {
        return value_at<storage_t<kBytes>>(from);
    }
};

template <class Move>
__global__ void CORNERTURN_RESIDENT(moves::kMostThreads, Move::kResident)
    copy_rows(moves::rows_work w, typename Move::work by, result_policy result, bool keeps_lines) {
    constexpr int kUnit = Move::kUnit, kSourceUnit = Move::kSourceUnit;
    const unsigned thread = threadIdx.x, threads = blockDim.x;
    const unsigned group = w.by_pieces.quotient(blockIdx.x), piece = blockIdx.x - group * w.by_pieces.d;
    const std::int64_t first_vector = static_cast<std::int64_t>(piece) * w.vectors;
    const unsigned first_row = group * w.rows_of_block;
    const unsigned rows = w.rows - first_row < w.rows_of_block ? w.rows - first_row : w.rows_of_block;
    const read_policy read(keeps_lines);
    wait_for_work_ahead();
    constexpr int kAtOnce = Move::kAtOnce;
    CORNERTURN_UNROLL_BY(1)
    for (unsigned i0 = thread; i0 < rows * w.vectors; i0 += threads * kAtOnce) {
        typename Move::loaded sources[kAtOnce];
        byte* to[kAtOnce];     // null: a vector that is not whole
        int factors[kAtOnce];  // the numbers of their first scales and biases: a launch has fewer than 2^31 units
        CORNERTURN_UNROLL
        for (int n = 0; n < kAtOnce; ++n) {
            const unsigned i = i0 + static_cast<unsigned>(n) * threads;
            to[n] = nullptr;
            if (n > 0 && i >= rows * w.vectors) continue;
            const unsigned in_block = w.by_vectors.quotient(i), vector = i - in_block * w.vectors;
            std::int64_t factor = 0;
            const place_of_index place(w.runs, first_row + in_block,
                                       [&](int axis, unsigned at) { factor += Move::factor_of_run(by, axis, at); });
            byte* const run = w.destination + place.destination;
            const auto past = static_cast<int>(reinterpret_cast<std::uintptr_t>(run) % kVectorBytes);
            const std::int64_t at = (first_vector + vector) * kVectorBytes - past;
            if (kUnit < kVectorBytes && (at < 0 || at + kVectorBytes > w.run)) continue;
            if (kUnit == kVectorBytes && at >= w.run) continue;
            const std::int64_t nth = at / kUnit;
            const byte* const from = w.source + place.source + (kUnit == kSourceUnit ? at : nth * kSourceUnit);
            factors[n] = static_cast<int>(factor + nth * Move::factor_in_run(by));
            // Whole words are read, which may begin before the vector and end after it.
            constexpr int kAround = Move::kAround, kRead = kVectorBytes / kUnit * kSourceUnit;
            to[n] = run + at;
            if (kAround == 0 || (from - kAround >= w.first && from + kRead + kAround <= w.last)) {
                Move::load(from, read, sources[n]);
            } else {
                Move::load_within(from, w.first, w.last, sources[n]);
            }
        }
        CORNERTURN_UNROLL
        for (int n = 0; n < kAtOnce; ++n) {
            if (to[n] != nullptr)
                result.store(reinterpret_cast<uint4*>(to[n]), Move{by}.vector_of_run(sources[n], factors[n]));
        }
    }
    // The ends of runs, shorter than a vector. Each thread writes one unit.
    if (kUnit == kVectorBytes || w.whole_vectors || (piece > 0 && piece + 1 < w.by_pieces.d)) return;
    constexpr unsigned kPerVector = kVectorBytes / kUnit, kEnds = 2 * kPerVector;
    CORNERTURN_UNROLL_BY(1)
    for (unsigned i = thread; i < rows * kEnds; i += threads) {
        std::int64_t factor = 0;
        const place_of_index place(w.runs, first_row + i / kEnds,
                                   [&](int axis, unsigned at) { factor += Move::factor_of_run(by, axis, at); });
        const bool at_end = i % kEnds >= kPerVector;
        if (at_end ? piece + 1 < w.by_pieces.d : piece > 0) continue;
        byte* const run = w.destination + place.destination;
        const auto past = static_cast<int>(reinterpret_cast<std::uintptr_t>(run) % kVectorBytes);
        const std::int64_t whole = past > 0 ? kVectorBytes - past : 0;  // the first whole vector, if there is one
        const std::int64_t behind = w.run - (past + w.run) % kVectorBytes;
        const std::int64_t at = (at_end ? behind : 0) + static_cast<int>(i % kPerVector) * kUnit;
        if (at >= w.run || (at_end ? behind < whole : at >= whole)) continue;
        const std::int64_t nth = at / kUnit;
        *reinterpret_cast<storage_t<kUnit>*>(run + at) =
            Move{by}.unit_of_run(w.source + place.source + nth * kSourceUnit, factor + nth * Move::factor_in_run(by));
    }
}

}  // namespace CORNERTURN_KERNELS
