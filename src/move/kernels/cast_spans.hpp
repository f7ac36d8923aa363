// How a block reads the spans of its tile if their elements are converted on the way into shared memory. All have one
// scale and bias, and become narrower or keep their size.
//
// The tile is that of a copy of the destination's elements. Its addresses of the source are real ones divided by the
// ratio of the sizes, so a vector of a span has kRatio vectors in memory.
#pragma once

#include "move/converted_pairs.hpp"
#include "move/kernels/cast.hpp"
#include "move/kernels/tile.hpp"

namespace CORNERTURN_KERNELS {

template <element_type kFrom, element_type kTo>
struct cast_span_loader {
    using move = converted<kFrom, kTo>;
    static constexpr int kUnit = move::kUnit, kRatio = move::kSourceUnit / kUnit, kAtOnce = kRatio == 1 ? 2 : 1;
    const tile_work& t;
    const move make;
    const std::int64_t* table;
    byte* image;

    static __device__ __forceinline__ const byte* in_memory(const byte* divided) {
        return reinterpret_cast<const byte*>(reinterpret_cast<std::uintptr_t>(divided) * kRatio);
    }
    // Vectors are dealt out in the order of spans. A thread reads several before it converts the first.
    __device__ __forceinline__ void all(const tile_here& here) const {
        const bool by_table = t.span_rank > 1, inside = is_inside(t, here);
        const std::int64_t step = t.span_rank > 0 ? t.span[0].source : 0;
        const int span_length = static_cast<int>(t.by_chunks.d * kVectorBytes);
        const auto spans = static_cast<unsigned>(here.spans);
        const read_policy read(false);
        const auto scale = factor_at<typename move::real>(make.w.scales, 0);
        const auto bias = factor_at<typename move::real>(make.w.biases, 0);
        unsigned span = t.by_chunks.quotient(threadIdx.x);
        int in_span = static_cast<int>((threadIdx.x - span * t.by_chunks.d) * kVectorBytes);
        CORNERTURN_UNROLL_BY(1)
        while (span < spans) {
            typename move::loaded sources[kAtOnce];
            byte* to[kAtOnce];
            CORNERTURN_UNROLL
            for (int n = 0; n < kAtOnce; ++n) {
                to[n] = nullptr;
                if (n > 0 && span >= spans) continue;
                const byte* const at = here.span0 + ((by_table ? table[span] : span * step) + in_span);
                const auto phase = static_cast<int>(reinterpret_cast<std::uintptr_t>(at) % kVectorBytes);
                const byte* const from = at - phase;
                byte* const vector = image + (slot_of(t, span) + static_cast<unsigned>(in_span));
                if (in_span - here.span_bytes < phase) {
                    to[n] = vector;
                    if (inside || (from >= t.first && t.last - from >= kVectorBytes)) {
                        move::load_aligned(in_memory(from), read, sources[n]);
                    } else {
                        move::load_within(in_memory(from), in_memory(t.first), in_memory(t.last), sources[n]);
                    }
                }
                span += t.spans_at_once, in_span += t.bytes_at_once;
                if (in_span >= span_length) in_span -= span_length, ++span;
            }
            CORNERTURN_UNROLL
            for (int n = 0; n < kAtOnce; ++n) {
                if (to[n] != nullptr) *reinterpret_cast<uint4*>(to[n]) = make.vector_scaled(sources[n], scale, bias);
            }
        }
    }
};

// The pair is known when the kernel runs: a kernel for each would be many, and differ only here.
template <int kUnit>
struct cast_spans {
    cast_work w;
    int pair;  // of converted_pairs.hpp

    __device__ __forceinline__ void operator()(const tile_work& t, const tile_here& here,
                                               const std::int64_t* span_table, byte* image) const {
        try_all(t, here, span_table, image, std::make_integer_sequence<int, moves::kPairs>());
    }

private:
    template <int... kAll>
    __device__ __forceinline__ void try_all(const tile_work& t, const tile_here& here, const std::int64_t* span_table,
                                            byte* image, std::integer_sequence<int, kAll...>) const {
        (try_one<kAll>(t, here, span_table, image), ...);
    }
    template <int kPair>
    struct nth {
        static constexpr element_type from = moves::kConvertedPairs[kPair].from, to = moves::kConvertedPairs[kPair].to;
        static constexpr bool fits = size_of(to) == kUnit && moves::converts_at_load(moves::kConvertedPairs[kPair]);
    };
    template <int kPair>
    __device__ __forceinline__ void try_one(const tile_work& t, const tile_here& here, const std::int64_t* span_table,
                                            byte* image) const {
        using its = nth<kPair>;
        if constexpr (its::fits) {
            if (pair == kPair) cast_span_loader<its::from, its::to>{t, {w, 0}, span_table, image}.all(here);
        }
    }
};

}  // namespace CORNERTURN_KERNELS
