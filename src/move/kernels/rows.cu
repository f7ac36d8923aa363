// Strided copies of runs that are contiguous on both sides: see kernels/work.hpp.
//
// A thread writes a vector of 16 bytes of the destination. What it reads for that may have any alignment. What limits
// it: DRAM; and for short runs that begin anywhere, the vectors that they fill only in part.
#include "move/kernels/kernels.hpp"
#include "move/kernels/places.hpp"
#include "move/kernels/unaligned.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using moves::kMostThreads;
using moves::rows_work;

// Moves a vector unit by unit.
template <int kUnit>
__device__ __forceinline__ void move_units(const byte* from, byte* to) {
    using unit = storage_t<kUnit>;
    CORNERTURN_UNROLL_BY(1)
    for (int u = 0; u < kVectorBytes; u += kUnit) *reinterpret_cast<unit*>(to + u) = value_at<unit>(from + u);
}

template <int kUnit, int kApart>
__global__ void CORNERTURN_RESIDENT(kMostThreads, 2048) copy_rows(rows_work w, result_policy result, bool keeps_lines) {
    const unsigned thread = threadIdx.x, threads = blockDim.x;
    const unsigned group = w.by_pieces.quotient(blockIdx.x), piece = blockIdx.x - group * w.by_pieces.d;
    const std::int64_t first_vector = static_cast<std::int64_t>(piece) * w.vectors;
    const unsigned first_row = group * w.rows_of_block;
    const unsigned rows = w.rows - first_row < w.rows_of_block ? w.rows - first_row : w.rows_of_block;
    const read_policy read(keeps_lines);
    wait_for_work_ahead();
    CORNERTURN_UNROLL_BY(1)
    for (unsigned i = thread; i < rows * w.vectors; i += threads) {
        const unsigned in_block = w.by_vectors.quotient(i), vector = i - in_block * w.vectors;
        const place_of_index place(w.runs, first_row + in_block);
        byte* const run = w.destination + place.destination;
        const auto past = static_cast<int>(reinterpret_cast<std::uintptr_t>(run) % kVectorBytes);
        const std::int64_t at = (first_vector + vector) * kVectorBytes - past;
        if (kUnit < kVectorBytes && (at < 0 || at + kVectorBytes > w.run)) continue;
        if (kUnit == kVectorBytes && at >= w.run) continue;
        const byte* const from = w.source + place.source + at;
        constexpr int kAround = kApart < 4 ? 3 : 0;  // bytes that are read on both sides of the vector
        if (kAround == 0 || (from - kAround >= w.first && from + kVectorBytes + kAround <= w.last)) {
            result.store(reinterpret_cast<uint4*>(run + at), load_vector<kApart>(from, read));
        } else {
            move_units<kUnit>(from, run + at);
        }
    }
    // The ends of runs, shorter than a vector. Each thread writes one unit.
    if (kUnit == kVectorBytes || (piece > 0 && piece + 1 < w.by_pieces.d)) return;
    constexpr unsigned kPerVector = kVectorBytes / kUnit, kEnds = 2 * kPerVector;
    CORNERTURN_UNROLL_BY(1)
    for (unsigned i = thread; i < rows * kEnds; i += threads) {
        const place_of_index place(w.runs, first_row + i / kEnds);
        const bool at_end = i % kEnds >= kPerVector;
        if (at_end ? piece + 1 < w.by_pieces.d : piece > 0) continue;
        byte* const run = w.destination + place.destination;
        const auto past = static_cast<int>(reinterpret_cast<std::uintptr_t>(run) % kVectorBytes);
        const std::int64_t whole = past > 0 ? kVectorBytes - past : 0;  // the first whole vector, if there is one
        const std::int64_t behind = w.run - (past + w.run) % kVectorBytes;
        const std::int64_t at = (at_end ? behind : 0) + static_cast<int>(i % kPerVector) * kUnit;
        if (at >= w.run || (at_end ? behind < whole : at >= whole)) continue;
        using unit = storage_t<kUnit>;
        *reinterpret_cast<unit*>(run + at) = value_at<unit>(w.source + place.source + at);
    }
}

template <int kUnit>
void run(const rows_work& w, int relative_alignment, result_policy result, bool keeps_lines,
         const launch_shape& shape) {
    if constexpr (kUnit <= 16) {
        if (relative_alignment >= 16 || kUnit == 16) return launch(shape, copy_rows<kUnit, 16>, w, result, keeps_lines);
    }
    if constexpr (kUnit <= 8) {
        if (relative_alignment >= 8 || kUnit == 8) return launch(shape, copy_rows<kUnit, 8>, w, result, keeps_lines);
    }
    if constexpr (kUnit <= 4) {
        if (relative_alignment >= 4 || kUnit == 4) return launch(shape, copy_rows<kUnit, 4>, w, result, keeps_lines);
    }
    if constexpr (kUnit <= 2) launch(shape, copy_rows<kUnit, 1>, w, result, keeps_lines);
}

}  // namespace

void run_rows(const rows_work& w, int unit, int relative_alignment, result_policy result, bool keeps_lines,
              const launch_shape& shape) {
    switch (unit) {
        case 1: return run<1>(w, relative_alignment, result, keeps_lines, shape);
        case 2: return run<2>(w, relative_alignment, result, keeps_lines, shape);
        case 4: return run<4>(w, relative_alignment, result, keeps_lines, shape);
        case 8: return run<8>(w, relative_alignment, result, keeps_lines, shape);
        default: return run<16>(w, relative_alignment, result, keeps_lines, shape);
    }
}

}  // namespace CORNERTURN_KERNELS
