// How a block reads its tile: which one it is, its tables of positions, and its spans in shared memory
// (kernels/work.hpp).
#pragma once

#include "move/kernels/gather.hpp"
#include "move/kernels/places.hpp"
#include "move/kernels/work.hpp"

namespace CORNERTURN_KERNELS {

using moves::tile_digit;
using moves::tile_work;

// The position of a span in shared memory.
__device__ __forceinline__ unsigned slot_of(const tile_work& t, unsigned span) {
    return (span * t.span_vectors + (span >> t.skew)) * kVectorBytes;
}

// Splits an index of several axes. Calls step(axis, position along it).
template <class Step>
__device__ __forceinline__ void each_digit(const tile_digit* axes, int rank, unsigned index, Step step) {
    CORNERTURN_UNROLL_BY(1)
    for (int a = 0; a + 1 < rank; ++a) {
        const unsigned next = axes[a].by.quotient(index);
        step(axes[a], index - next * axes[a].by.d);
        index = next;
    }
    if (rank > 0) step(axes[rank - 1], index);
}

// What happens to units between the load and the store: nothing. kernels/cast.hpp has the alternative.
template <int kBytes>
struct moved {
    static constexpr int kUnit = kBytes, kSourceUnit = kBytes;  // of the destination and of the source

    static __device__ __forceinline__ int factor_along(const tile_digit*, const tile_digit*, unsigned) { return 0; }
    static __device__ __forceinline__ uint4 gather(const byte* image, const entries_of_vector<kBytes>& e, int,
                                                   unsigned) {
        return gather_units<kBytes>(image, e);
    }
    static __device__ __forceinline__ storage_t<kBytes> unit(const byte* from, int, unsigned) {
        return value_at<storage_t<kBytes>>(from);
    }
};

// The position of a line.
struct place_of_line {
    std::int64_t offset = 0;  // in the destination
    int row = 0, factor = 0;  // in its spans; in a conversion's scales and biases

    template <class Move>
    __device__ __forceinline__ place_of_line(const tile_work& t, unsigned line, const Move& move) {
        each_digit(t.rows, t.row_rank, line, [&](const tile_digit& axis, unsigned at) {
            row += static_cast<int>(at) * axis.in_span;
            offset += at * axis.destination;
            factor += move.factor_along(&axis, t.rows, at);
        });
    }
};

// Gives consecutive items to consecutive lanes. The number of lanes is a power of two, at most 2^most_log. For more
// than 8 items, at most a quarter of the lanes gets no item. Items that are left go to another deal.
struct deal {
    unsigned lanes_log, lane, first, at_once;  // this thread's lane; its number among `at_once` sets of lanes

    __device__ __forceinline__ deal(unsigned items, unsigned most_log, unsigned thread, unsigned threads) {
        const auto up = static_cast<unsigned>(32 - __clz(static_cast<int>(items - 1)));  // 2^up >= items
        lanes_log = items <= 8 || 4 * items >= (3u << up) ? up : up - 1;
        if (lanes_log > most_log) lanes_log = most_log;
        lane = thread & ((1u << lanes_log) - 1);
        first = thread >> lanes_log;
        at_once = threads >> lanes_log;
    }
    __device__ __forceinline__ unsigned lanes() const { return 1u << lanes_log; }
};

// How a thread goes from span to span: by steps of one axis, or by a table of positions. `either`: the kernel finds out
// when it runs.
enum class span_walk { steps, table, either };

// Where a thread's vectors of the spans are. Vectors are dealt out in the order of spans, however many there are.
template <span_walk kWalk>
struct span_position {
    struct vector {
        const byte* from;
        unsigned slot;  // in the image
        bool there;     // in the span
    };
    const tile_work& t;
    const byte *span0, *at;
    const std::int64_t* table;
    std::int64_t steps, carried;
    int span_bytes, span_length, in_span;
    unsigned span;
    bool by_table;

    __device__ __forceinline__ span_position(const tile_work& work, const byte* first, int bytes,
                                             const std::int64_t* span_table, unsigned thread)
        : t(work),
          span0(first),
          table(span_table),
          span_bytes(bytes),
          span_length(static_cast<int>(t.by_chunks.d * kVectorBytes)),
          span(t.by_chunks.quotient(thread)),
          by_table(kWalk == span_walk::table || (kWalk == span_walk::either && t.span_rank > 1)) {
        const std::int64_t step = t.span_rank > 0 ? t.span[0].source : 0;
        in_span = static_cast<int>((thread - span * t.by_chunks.d) * kVectorBytes);
        at = span0 + (span * step + in_span);
        steps = kept_distance(step * t.spans_at_once + t.bytes_at_once);
        carried = kept_distance(step - span_length);
    }
    __device__ __forceinline__ vector here() {
        if (by_table) at = span0 + (table[span] + in_span);
        const auto phase = static_cast<int>(reinterpret_cast<std::uintptr_t>(at) % kVectorBytes);
        return {at - phase, slot_of(t, span) + static_cast<unsigned>(in_span), in_span - span_bytes < phase};
    }
    __device__ __forceinline__ void next() {
        span += t.spans_at_once, in_span += t.bytes_at_once;
        if (!by_table) at = kept_pointer(at + steps);
        if (in_span >= span_length) {
            in_span -= span_length, ++span;
            if (!by_table) at += carried;
        }
    }
};

// Reads spans into shared memory.
template <int kUnit>
struct span_loader {
    const tile_work& t;
    const byte* span0;
    const std::int64_t* table;
    byte* image;
    unsigned thread, spans;
    int span_bytes;

    // kChecked: spans may reach beyond an end of the source, so each vector is checked.
    template <span_walk kWalk, bool kChecked>
    __device__ __forceinline__ void all() const {
        span_position<kWalk> position(t, span0, span_bytes, table, thread);
        CORNERTURN_UNROLL_BY(1)
        while (position.span < spans) {
            const auto [from, slot, there] = position.here();
            byte* const to = image + slot;
            const bool whole = !kChecked || (from >= t.first && t.last - from >= kVectorBytes);
            copy_vector_async_if(there && whole, to, from, t.fetch_lines);
            if (kChecked && there && !whole) part(from, to);
            position.next();
        }
    }

private:
    // Reads the part of a vector that may be read, and writes zeros for the rest.
    __device__ __forceinline__ void part(const byte* from, byte* to) const {
        using unit = storage_t<kUnit>;
        CORNERTURN_UNROLL_BY(1)
        for (int u = 0; u < kVectorBytes; u += kUnit) {
            *reinterpret_cast<unit*>(to + u) =
                from + u >= t.first && from + u < t.last ? value_at<unit>(from + u) : unit{};
        }
    }
};

// This block's tile: where it begins, and how much of it is inside the tensor.
struct tile_here {
    const byte* span0;  // of the first span
    byte* line0;        // of the first line
    int origin = 0;     // position of the tile's first unit in its span: not 0 if axes run backwards
    int spans, span_bytes, lines, line_units;
    int across;  // steps along that axis
    int before;  // steps of the halo
    bool last;   // of the tiles along its lines

    __device__ __forceinline__ tile_here(const tile_work& t, unsigned index)
        : tile_here(t, index, [](int, unsigned) {}) {}
    // Calls each(axis of t.tiles, position along it).
    template <class Each>
    __device__ __forceinline__ tile_here(const tile_work& t, unsigned index, Each each) {
        unsigned cut[2] = {};
        const place_of_index place(t.tiles, index, [&](int axis, unsigned at) {
            if (axis == 0) cut[0] = at;
            if (axis == 1) cut[1] = at;
            each(axis, at);
        });
        const std::int64_t along_left = t.along_extent - static_cast<std::int64_t>(cut[0]) * t.along_steps;
        const std::int64_t across_left = t.across_extent - static_cast<std::int64_t>(cut[1]) * t.across_steps;
        last = along_left <= t.along_steps;
        before = cut[0] > 0 ? t.halo : 0;
        const int along = (last ? static_cast<int>(along_left) : t.along_steps) + before;
        across = across_left < t.across_steps ? static_cast<int>(across_left) : t.across_steps;

        origin = t.origin;
        span_bytes = t.span_bytes;
        if (t.along_in_span) reach((along - 1) * static_cast<int>(t.along_source));
        reach((across - 1) * static_cast<int>(t.across_source));
        spans = t.along_in_span ? t.spans : t.spans * along;
        lines = t.across_in_group ? t.lines : t.lines * across;
        line_units = t.line_units * along;
        span0 = t.source + (place.source - before * t.along_source) - origin;
        line0 = t.destination + (place.destination - before * t.along_destination);
    }

private:
    __device__ __forceinline__ void reach(int bytes) {
        span_bytes += bytes < 0 ? -bytes : bytes;
        origin += bytes < 0 ? -bytes : 0;
    }
};

// The same of a conversion, with the number of its first scale and bias.
struct converted_here : tile_here {
    std::int64_t first;

    static __device__ __forceinline__ converted_here of(const tile_work& t, const moves::cast_work& w) {
        std::int64_t first = 0;
        const tile_here here(t, blockIdx.x, [&](int axis, unsigned at) {
            if (axis == w.tile_axis) first = at * w.tile_step;
        });
        return {here, here.before > 0 ? first - w.halo_step : first};
    }
};

// Lines that are cut begin and end at sectors of memory. Moves the bounds of this block's part of a line there. The
// bounds count bytes from the line's beginning.
__device__ __forceinline__ void end_at_sectors(const byte* line, bool cut_before, bool last, int& begin, int& end) {
    const auto past_sector = [&](int at) {
        return static_cast<int>(
            (static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(line)) + static_cast<unsigned>(at)) % kSectorBytes);
    };
    if (cut_before) begin -= past_sector(begin);
    if (!last) end -= past_sector(end);
}

// Makes the table of a line's units in shared memory, in all its copies. With gaps, there is one copy, and one table of
// where the units go.
template <int kUnit, bool kGaps>
__device__ __forceinline__ void make_table(const tile_work& t, const tile_here& here, unsigned* table) {
    using tile = tile_of_units<kUnit>;
    const auto phase0 = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(here.span0) % kVectorBytes);
    CORNERTURN_UNROLL_BY(1)
    for (unsigned j = threadIdx.x; static_cast<int>(j) < t.table_units; j += blockDim.x) {
        unsigned span = 0, entry = static_cast<unsigned>(here.origin), phase = phase0, to = 0;
        each_digit(t.line, t.line_rank, j, [&](const tile_digit& axis, unsigned at) {
            entry += at * static_cast<unsigned>(axis.in_span);
            span += at * static_cast<unsigned>(axis.spans);
            if (axis.spans != 0) phase += at * static_cast<unsigned>(axis.source);
            if constexpr (kGaps) to += at * static_cast<unsigned>(axis.destination);
        });
        entry += slot_of(t, span) + phase % kVectorBytes;
        if constexpr (kGaps) {
            table[j] = entry;
            table[t.table_stride + static_cast<int>(j)] = to;
        } else {
            CORNERTURN_UNROLL
            for (unsigned k = 0; k < tile::kMostCopies; ++k) {
                if (k < t.copies && j >= k)
                    table[k * static_cast<unsigned>(t.table_stride) + tile::place_of(j - k, t.copies)] = entry;
            }
        }
    }
}

// Makes the table of lines, if they have several axes.
template <class Move>
__device__ __forceinline__ void make_line_table(const tile_work& t, const tile_here& here, place_of_line* line_table,
                                                const Move& move) {
    if (t.row_rank <= 1) return;
    CORNERTURN_UNROLL_BY(1)
    for (unsigned line = threadIdx.x; static_cast<int>(line) < here.lines; line += blockDim.x)
        line_table[line] = place_of_line(t, line, move);
}

// Makes the table of spans if they have several axes. True if there is one.
__device__ __forceinline__ bool make_span_table(const tile_work& t, const tile_here& here, std::int64_t* span_table) {
    if (t.span_rank <= 1) return false;
    CORNERTURN_UNROLL_BY(1)
    for (unsigned span = threadIdx.x; static_cast<int>(span) < here.spans; span += blockDim.x) {
        std::int64_t offset = 0;
        each_digit(t.span, t.span_rank, span, [&](const tile_digit& axis, unsigned at) { offset += at * axis.source; });
        span_table[span] = offset;
    }
    return true;
}

// Whether no vector of the tile's spans may reach beyond the source.
__device__ __forceinline__ bool is_inside(const tile_work& t, const tile_here& here) {
    return here.span0 - t.spans_below - t.first >= kVectorBytes &&
           t.last - here.span0 - t.spans_above - here.span_bytes >= kVectorBytes;
}

// Reads the spans as they are. kernels/cast_spans.hpp has the alternative.
template <int kUnit>
struct spans_as_they_are {
    static constexpr bool kConverts = false;
    static __device__ __forceinline__ tile_here tile_of(const tile_work& t) { return tile_here(t, blockIdx.x); }
    __device__ __forceinline__ void operator()(const tile_work& t, const tile_here& here,
                                               const std::int64_t* span_table, byte* image) const {
        const span_loader<kUnit> load{
            t, here.span0, span_table, image, threadIdx.x, static_cast<unsigned>(here.spans), here.span_bytes};
        if (!is_inside(t, here)) {
            load.template all<span_walk::either, true>();
        } else if (t.span_rank > 1) {
            load.template all<span_walk::table, false>();
        } else {
            load.template all<span_walk::steps, false>();
        }
        end_of_copies();
    }
};

// A tile in shared memory, with its tables.
template <class Move, bool kGaps>
struct loaded_tile {
    Move move;
    const unsigned* table;
    const place_of_line* places;  // of lines, if these have several axes
    const byte* image;

    // load(table of spans, image) reads the spans. meanwhile(this) does what else must be done before any line
    // is written.
    template <class Load, class Meanwhile>
    __device__ __forceinline__ loaded_tile(const tile_work& t, const tile_here& here, const Move& move, byte* shared,
                                           const Load& load, Meanwhile meanwhile)
        : move(move),
          table(reinterpret_cast<unsigned*>(shared)),
          places(reinterpret_cast<place_of_line*>(shared + t.line_table_at)),
          image(shared + t.image_at) {
        auto* const span_table = reinterpret_cast<std::int64_t*>(shared + t.span_table_at);
        if (make_span_table(t, here, span_table)) __syncthreads();  // before spans are looked up
        wait_for_work_ahead();
        load(static_cast<const std::int64_t*>(span_table), shared + t.image_at);
        // Make the other tables while the spans are in flight.
        make_table<Move::kUnit, kGaps>(t, here, reinterpret_cast<unsigned*>(shared));
        make_line_table(t, here, reinterpret_cast<place_of_line*>(shared + t.line_table_at), move);
        meanwhile(*this);
        wait_for_copies<0>();
        __syncthreads();  // before lines are gathered from all spans
    }
    __device__ __forceinline__ place_of_line place(const tile_work& t, int line) const {
        return t.row_rank > 1 ? places[line] : place_of_line(t, static_cast<unsigned>(line), move);
    }
};

}  // namespace CORNERTURN_KERNELS
