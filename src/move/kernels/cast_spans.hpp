// How a block reads the spans of its tile if their elements are converted on the way into shared memory. They become
// narrower or keep their size. All elements of a span have the same scale and bias.
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
    // A thread reads several vectors before it converts the first, unless they may reach beyond an end of the source.
    __device__ __forceinline__ void all(const converted_here& here) const {
        const auto spans = static_cast<unsigned>(here.spans);
        const read_policy read(false);
        const typename move::factors f = make.factors_at(here.first);
        span_position<span_walk::either> position(t, here.span0, here.span_bytes, table, threadIdx.x);
        const auto store = [&](unsigned slot, unsigned span, const typename move::loaded& source) {
            *reinterpret_cast<uint4*>(image + slot) =
                make.vector_of_run(source, make.w.line_step == 0 ? f : make.factors_of_span(here.first, span));
        };
        if (!is_inside(t, here)) {
            CORNERTURN_UNROLL_BY(1)
            for (; position.span < spans; position.next()) {
                const auto v = position.here();
                if (!v.there) continue;
                typename move::loaded source;
                if (v.from >= t.first && t.last - v.from >= kVectorBytes) {
                    move::load_aligned(in_memory(v.from), read, source);
                } else {
                    move::load_within(in_memory(v.from), in_memory(t.first), in_memory(t.last), source);
                }
                store(v.slot, position.span, source);
            }
            return;
        }
        CORNERTURN_UNROLL_BY(1)
        while (position.span < spans) {
            typename move::loaded sources[kAtOnce];
            unsigned slots[kAtOnce], span[kAtOnce];
            bool there[kAtOnce];
            CORNERTURN_UNROLL
            for (int n = 0; n < kAtOnce; ++n) {
                there[n] = false;
                if (n > 0 && position.span >= spans) continue;
                const auto v = position.here();
                there[n] = v.there, slots[n] = v.slot, span[n] = position.span;
                if (v.there) move::load_aligned(in_memory(v.from), read, sources[n]);
                position.next();
            }
            CORNERTURN_UNROLL
            for (int n = 0; n < kAtOnce; ++n) {
                if (there[n]) store(slots[n], span[n], sources[n]);
            }
        }
    }
};

// The pair is known when the kernel runs: a kernel for each would be many, and differ only here.
template <int kUnit>
struct cast_spans {
    static constexpr bool kConverts = true;
    cast_work w;
    int pair;  // of converted_pairs.hpp

    __device__ __forceinline__ converted_here tile_of(const tile_work& t) const { return converted_here::of(t, w); }
    __device__ __forceinline__ void operator()(const tile_work& t, const converted_here& here,
                                               const std::int64_t* span_table, byte* image) const {
        try_all(t, here, span_table, image, std::make_integer_sequence<int, moves::kPairs>());
    }

private:
    template <int... kAll>
    __device__ __forceinline__ void try_all(const tile_work& t, const converted_here& here,
                                            const std::int64_t* span_table, byte* image,
                                            std::integer_sequence<int, kAll...>) const {
        (try_one<kAll>(t, here, span_table, image), ...);
    }
    template <int kPair>
    struct nth {
        static constexpr element_type from = moves::kConvertedPairs[kPair].from, to = moves::kConvertedPairs[kPair].to;
        static constexpr bool fits = size_of(to) == kUnit && moves::converts_at_load(moves::kConvertedPairs[kPair]);
    };
    template <int kPair>
    __device__ __forceinline__ void try_one(const tile_work& t, const converted_here& here,
                                            const std::int64_t* span_table, byte* image) const {
        using its = nth<kPair>;
        if constexpr (its::fits) {
            if (pair == kPair) cast_span_loader<its::from, its::to>{t, {w, 0}, span_table, image}.all(here);
        }
    }
};

}  // namespace CORNERTURN_KERNELS
