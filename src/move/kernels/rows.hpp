// Runs that are contiguous on both sides, for copies and for conversions: see kernels/work.hpp.
//
// A thread writes a vector of 16 bytes of the destination. What it reads for that may have any alignment. What limits
// it: DRAM; and for short runs that begin anywhere, the vectors that they fill only in part.
//
// A thread takes up to Move::kAtOnce vectors of a run, so that it works out only once where they are, and loads all of
// them before it writes the first. A Move loads the source of a vector, and makes the vector or a unit of it with a
// scale and bias.
#pragma once

#include "move/kernels/places.hpp"
#include "move/kernels/unaligned.hpp"

namespace CORNERTURN_KERNELS {

// Copies. kApart: the alignment of a vector's source. It is known when the kernel is compiled, so all vectors count as
// aligned.
template <int kBytes, int kApart>
struct moved_run {
    struct work {};
    struct factors {};
    using loaded = uint4;
    static constexpr int kUnit = kBytes, kSourceUnit = kBytes, kAtOnce = 1;
    static constexpr int kResident = moves::resident_threads_of_rows(false);
    static constexpr int kAround = kApart < 4 ? 3 : 0;

    __device__ __forceinline__ explicit moved_run(work) {}
    static __device__ __forceinline__ std::int64_t factor_of_run(work, int, unsigned) { return 0; }
    static __device__ __forceinline__ int factor_in_run(work) { return 0; }
    static __device__ __forceinline__ bool is_aligned(const byte*) { return true; }
    static __device__ __forceinline__ void load_aligned(const byte* from, read_policy read, uint4& vector) {
        vector = load_vector<kApart>(from, read);
    }
    static __device__ __forceinline__ void load_apart(const byte*, read_policy, uint4&) {}
    static __device__ __forceinline__ void load_within(const byte* from, const byte*, const byte*, uint4& vector) {
        storage_t<kBytes> units[kVectorBytes / kBytes];
        CORNERTURN_UNROLL
        for (int u = 0; u < kVectorBytes / kBytes; ++u) units[u] = value_at<storage_t<kBytes>>(from + u * kBytes);
        __builtin_memcpy(&vector, units, sizeof vector);
    }
    static __device__ __forceinline__ factors factors_at(std::int64_t) { return {}; }
    static __device__ __forceinline__ uint4 vector_of_run(const uint4& vector, factors) { return vector; }
    static __device__ __forceinline__ uint4 vector_along_run(const uint4& vector, std::int64_t) { return vector; }
    static __device__ __forceinline__ storage_t<kBytes> unit_of_run(const byte* from, std::int64_t) {
        return value_at<storage_t<kBytes>>(from);
    }
};

template <class Move>
__global__ void CORNERTURN_RESIDENT(moves::kMostThreads, Move::kResident)
    copy_rows(moves::rows_work w, typename Move::work by, result_policy result, bool keeps_lines) {
    constexpr int kUnit = Move::kUnit, kSourceUnit = Move::kSourceUnit, kAtOnce = Move::kAtOnce,
                  kAround = Move::kAround, kRead = kVectorBytes / kUnit * kSourceUnit;
    const unsigned thread = threadIdx.x, threads = blockDim.x;
    const unsigned group = w.by_pieces.quotient(blockIdx.x), piece = blockIdx.x - group * w.by_pieces.d;
    const std::int64_t first_vector = static_cast<std::int64_t>(piece) * w.vectors;
    const unsigned first_row = group * w.rows_of_block;
    const unsigned rows = w.rows - first_row < w.rows_of_block ? w.rows - first_row : w.rows_of_block;
    const read_policy read(keeps_lines);
    const Move move{by};
    wait_for_work_ahead();
    CORNERTURN_UNROLL_BY(1)
    for (unsigned i = thread; i < rows * w.by_lanes.d; i += threads) {
        const unsigned in_block = w.by_lanes.quotient(i), lane = i - in_block * w.by_lanes.d;
        std::int64_t factor = 0;
        const place_of_index place(w.runs, first_row + in_block,
                                   [&](int axis, unsigned at) { factor += Move::factor_of_run(by, axis, at); });
        byte* const run = w.destination + place.destination;
        const auto past = static_cast<int>(reinterpret_cast<std::uintptr_t>(run) % kVectorBytes);
        // The thread's first vector, and how far apart its vectors are.
        const std::int64_t at = (first_vector + lane) * kVectorBytes - past, nth = at / kUnit;
        const int step = static_cast<int>(w.by_lanes.d) * kVectorBytes, source_step = step / kUnit * kSourceUnit;
        const std::int64_t left = w.run - at;
        constexpr int kFar = 1 << 30;
        const int ends = left < kFar ? static_cast<int>(left) : kFar;
        byte* const to = run + at;
        const byte* const from = w.source + place.source + (kUnit == kSourceUnit ? at : nth * kSourceUnit);
        factor += nth * Move::factor_in_run(by);
        const auto is_whole = [&](int n) { return (n > 0 || at >= 0) && n * step + kVectorBytes <= ends; };
        const auto factor_of = [&](int n) {
            return factor + static_cast<std::int64_t>(n * step / kUnit) * Move::factor_in_run(by);
        };
        const auto store = [&](int n, const uint4& v) { result.store(reinterpret_cast<uint4*>(to + n * step), v); };

        // Whole words are read, which may begin before a vector and end after it.
        if (kAround > 0 &&
            (from - kAround < w.first || from + (kAtOnce - 1) * source_step + kRead + kAround > w.last)) {
            CORNERTURN_UNROLL_BY(1)
            for (int n = 0; n < kAtOnce; ++n) {
                if (!is_whole(n)) continue;
                typename Move::loaded source;
                Move::load_within(from + n * source_step, w.first, w.last, source);
                store(n, move.vector_along_run(source, factor_of(n)));
            }
            continue;
        }
        typename Move::loaded sources[kAtOnce];
        if (Move::is_aligned(from)) {
            CORNERTURN_UNROLL
            for (int n = 0; n < kAtOnce; ++n) {
                if (is_whole(n)) Move::load_aligned(from + n * source_step, read, sources[n]);
            }
        } else {
            CORNERTURN_UNROLL
            for (int n = 0; n < kAtOnce; ++n) {
                if (is_whole(n)) Move::load_apart(from + n * source_step, read, sources[n]);
            }
        }
        if (Move::factor_in_run(by) != 0) {
            CORNERTURN_UNROLL
            for (int n = 0; n < kAtOnce; ++n) {
                if (is_whole(n)) store(n, move.vector_along_run(sources[n], factor_of(n)));
            }
        } else {
            const typename Move::factors factors = move.factors_at(factor);
            CORNERTURN_UNROLL
            for (int n = 0; n < kAtOnce; ++n) {
                if (is_whole(n)) store(n, move.vector_of_run(sources[n], factors));
            }
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
            move.unit_of_run(w.source + place.source + nth * kSourceUnit, factor + nth * Move::factor_in_run(by));
    }
}

}  // namespace CORNERTURN_KERNELS
