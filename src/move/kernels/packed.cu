// Strided copies of short runs that follow each other in the destination, for example some columns of a wider table:
// see kernels/work.hpp.
//
// A thread writes vectors of 16 bytes of the destination. If runs are at least as long as a vector, it lies in one run
// or in two. Otherwise the thread makes it word by word. A word lies in one run or in two, because runs of single bytes
// have three of them at least. What limits it: DRAM, because a run often fills less than half of what a read fetches
// (64 bytes); and for runs that begin anywhere, instructions, about 110 or 150 for a vector.
#include "move/kernels/kernels.hpp"
#include "move/kernels/places.hpp"
#include "move/kernels/unaligned.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using moves::kMostThreads;
using moves::packed_work;

// The runs of a block. Positions count bytes from its first one, so that they fit into a register.
struct runs_of_block {
    const byte* source;
    int run, from_end;  // bytes of a run; from the end of one to the next
    read_policy read;
};

struct place_in_runs {
    int in_run, at;

    // The next place. A step of a word may pass two short runs.
    template <int kBytes, int kRunsPassed>
    __device__ __forceinline__ void step(const runs_of_block& runs) {
        in_run += kBytes, at += kBytes;
        CORNERTURN_UNROLL
        for (int i = 0; i < kRunsPassed; ++i) {
            if (in_run >= runs.run) in_run -= runs.run, at += runs.from_end;
        }
    }
};

// The word at a place.
template <int kUnit>
__device__ __forceinline__ word_t<kUnit> word_at(const place_in_runs& place, const runs_of_block& runs) {
    const word_t<kUnit> word = load_word<kUnit>(runs.source + place.at, runs.read);
    if constexpr (kUnit < 4) {
        const int left = runs.run - place.in_run;
        if (left < 4) {
            const unsigned next = load_word<kUnit>(runs.source + (place.at + left + runs.from_end), runs.read);
            const unsigned missing = 8 * (4 - static_cast<unsigned>(left));
            return __funnelshift_r(word << missing, next, missing);
        }
    }
    return word;
}

// The vector at a place that lies in one run or in two. Aligned words that have no byte of it are not read.
__device__ __forceinline__ uint4 vector_of_two_runs(const place_in_runs& place, const runs_of_block& runs) {
    const int left = runs.run - place.in_run;
    // Where the vector would begin if it lay in the first run, and in the second.
    const byte *const first = runs.source + place.at, *const second = runs.source + (place.at + runs.from_end);
    const int past_first = past_word(first), past_second = past_word(second);
    const auto* const of_first = kept_pointer(reinterpret_cast<const unsigned*>(first - past_first));
    const auto* const of_second = kept_pointer(reinterpret_cast<const unsigned*>(second - past_second));
    const int end = past_first + (left < kVectorBytes ? left : kVectorBytes), begin = past_second + left;
    unsigned raw_first[5], raw_second[5];
    CORNERTURN_UNROLL
    for (int k = 0; k < 5; ++k) {
        raw_first[k] = raw_second[k] = 0;
        if (4 * k < end) raw_first[k] = load_beside_writes(of_first + k, runs.read);
        if (left < kVectorBytes && 4 * k + 4 > begin && (k < 4 || past_second > 0))
            raw_second[k] = load_beside_writes(of_second + k, runs.read);
    }
    unsigned words[4];
    CORNERTURN_UNROLL
    for (int k = 0; k < 4; ++k) {
        const unsigned a = __funnelshift_r(raw_first[k], raw_first[k + 1], 8 * static_cast<unsigned>(past_first));
        const unsigned b = __funnelshift_r(raw_second[k], raw_second[k + 1], 8 * static_cast<unsigned>(past_second));
        const int of_a = 8 * (left - 4 * k);  // bits
        const unsigned of_b = __funnelshift_lc(0, ~0u, static_cast<unsigned>(of_a > 0 ? of_a : 0));
        words[k] = (a & ~of_b) | (b & of_b);
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

template <int kUnit>
__device__ __forceinline__ uint4 vector_of_words(place_in_runs place, const runs_of_block& runs) {
    constexpr int kWord = kWordBytes<kUnit>, kWords = kVectorBytes / kWord, kRunsPassed = kUnit < 4 ? 2 : 1;
    union {
        uint4 vector;
        word_t<kUnit> words[kWords];
    } made;
    CORNERTURN_UNROLL
    for (int k = 0; k < kWords; ++k) {
        if (k > 0) place.step<kWord, kRunsPassed>(runs);
        made.words[k] = word_at<kUnit>(place, runs);
    }
    return made.vector;
}

// A position in bytes, or if it is out of reach, a position as far out.
__device__ __forceinline__ int kept_position(std::int64_t at) {
    constexpr int kMost = 1 << 30;
    return static_cast<int>(kept_distance(at < -kMost ? -kMost : at > kMost ? kMost : at));
}

template <int kUnit, bool kTwoRuns>
__global__ void CORNERTURN_RESIDENT(kMostThreads, moves::resident_threads_of_packed(!kTwoRuns && kUnit < 4))
    copy_packed(packed_work w, result_policy result, bool keeps_lines) {
    using unit = storage_t<kUnit>;
    const unsigned line = w.by_pieces.quotient(blockIdx.x), piece = blockIdx.x - line * w.by_pieces.d;
    const place_of_index place(w.lines, line);
    const std::int64_t first_run = static_cast<std::int64_t>(piece) * w.runs_of_block;
    const byte* const source = kept_pointer(w.source + place.source + first_run * w.step);
    byte* const destination = kept_pointer(w.destination + place.destination + first_run * w.run);
    const runs_of_block runs{source, w.run, w.step - w.run, read_policy(keeps_lines)};
    // A block writes from the sector that its first byte is in up to, but without, the sector in which the next block
    // of its line begins. A line's last block writes to its end. So a block's first vectors may hold up to 31 bytes of
    // runs of the block before.
    const int past = static_cast<int>(reinterpret_cast<std::uintptr_t>(destination) % kSectorBytes);
    const bool is_first = piece == 0, is_last = piece + 1 == w.by_pieces.d;
    const int begin = is_first ? 0 : -kSectorBytes;
    const int end = is_last ? static_cast<int>(w.runs - first_run) * w.run : w.runs_of_block * w.run - past;
    // Where the bytes of one run may begin so that all that is read for a vector with them belongs to the source.
    const int least = kept_position(w.first - source + 3), most = kept_position(w.last - source - kVectorBytes - 6);
    wait_for_work_ahead();
    CORNERTURN_UNROLL_BY(1)
    for (int at = static_cast<int>(threadIdx.x) * kVectorBytes - past; at < end; at += kMostThreads * kVectorBytes) {
        const auto from_before = static_cast<unsigned>(at + w.before);
        const auto run = static_cast<int>(w.by_run.quotient(from_before));
        const int begin_of_run = run * w.step - w.source_before;
        place_in_runs next;
        next.in_run = static_cast<int>(from_before) - run * w.run;
        next.at = static_cast<int>(kept_distance(begin_of_run + next.in_run));
        byte* const to = destination + at;
        bool inside = true;
        if constexpr (kUnit < 4) {
            // The first and the last run of the vector, or what it has of them. Others lie between these.
            int first_part = next.at, last_part = next.at;
            if constexpr (kTwoRuns) {
                if (w.run - next.in_run < kVectorBytes) last_part = begin_of_run + w.step;
            } else {
                const auto last_run = static_cast<int>(w.by_run.quotient(from_before + kVectorBytes - 1));
                first_part = begin_of_run, last_part = last_run * w.step - w.source_before;
            }
            const bool ascends = first_part < last_part;
            inside = (ascends ? first_part : last_part) >= least && (ascends ? last_part : first_part) <= most;
        }
        if (inside && at >= begin && at + kVectorBytes <= end) {
            result.store(reinterpret_cast<uint4*>(to),
                         kTwoRuns ? vector_of_two_runs(next, runs) : vector_of_words<kUnit>(next, runs));
            continue;
        }
        CORNERTURN_UNROLL_BY(1)
        for (int u = 0; u < kVectorBytes; u += kUnit, next.step<kUnit, 1>(runs)) {
            if (at + u >= begin && at + u < end) *reinterpret_cast<unit*>(to + u) = value_at<unit>(source + next.at);
        }
    }
}

}  // namespace

void run_packed(const packed_work& w, int unit, result_policy result, bool keeps_lines, const launch_shape& shape) {
    const bool two_runs = w.run >= kVectorBytes;
    switch (unit) {
        case 1: return launch(shape, two_runs ? copy_packed<1, true> : copy_packed<1, false>, w, result, keeps_lines);
        case 2: return launch(shape, two_runs ? copy_packed<2, true> : copy_packed<2, false>, w, result, keeps_lines);
        case 4: return launch(shape, copy_packed<4, false>, w, result, keeps_lines);
        default: launch(shape, copy_packed<8, false>, w, result, keeps_lines);
    }
}

}  // namespace CORNERTURN_KERNELS
