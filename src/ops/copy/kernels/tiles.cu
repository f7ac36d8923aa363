// Strided copies whose two sides have only short runs in common, by tiles: see works.hpp.
//
// What limits: for units of 4 bytes and more DRAM, nearly; for 1 and 2 bytes instructions (about 180 of a warp's for
// each 512 bytes that it writes), and banks of shared memory where a line's units lie an even number of units apart in
// spans.
#include "ops/copy/kernels/gather.hpp"
#include "ops/copy/kernels/kernels.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using strided::kMostThreads;
using strided::kResidentBytes;
using strided::kResidentThreads;
using strided::tile_digit;
using strided::tile_work;

// Where a span lies in shared memory.
__device__ __forceinline__ unsigned slot_of(const tile_work& t, unsigned span) {
    return (span * t.span_vectors + (span >> t.skew)) * kVectorBytes;
}

// An index of several axes, taken apart: calls step(axis, how far along it).
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

// Where a line lies.
struct place_of_line {
    std::int64_t offset = 0;  // in the destination
    int row = 0, unused = 0;  // in its spans

    __device__ __forceinline__ place_of_line(const tile_work& t, unsigned line) {
        each_digit(t.rows, t.row_rank, line, [&](const tile_digit& axis, unsigned at) {
            row += static_cast<int>(at) * axis.in_span;
            offset += at * axis.destination;
        });
    }
};

// Items that lie behind each other, dealt out to as many lanes as a power of two: as many as there are items, but at
// most so many, and not so many that a quarter has none. What is left takes another deal.
struct deal {
    unsigned lanes_log, lane, first, at_once;  // this thread's lane; of how many times as many, which it is

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

// How a thread goes from span to span: by steps of one axis, or by the table of where they lie; and where any may be at
// an end of the source, by asking for each vector.
enum class span_walk { steps, table, checked };

// Reads spans into shared memory.
template <int kUnit>
struct span_loader {
    const tile_work& t;
    const byte* span0;
    const std::int64_t* table;
    byte* image;
    unsigned thread, spans;
    int span_bytes;

    // Vectors are dealt out in the order of spans, whatever their number.
    template <span_walk kWalk>
    __device__ __forceinline__ void all() const {
        // Spans of bytes are often short and off alignment: then the rest of a line is fetched in vain.
        constexpr bool kWholeLines = kUnit > 1;
        const bool by_table = kWalk == span_walk::table || (kWalk == span_walk::checked && t.span_rank > 1);
        const shared_vectors vectors(image);
        const std::int64_t step = t.span_rank > 0 ? t.span[0].source : 0;
        const int span_length = static_cast<int>(t.by_chunks.d * kVectorBytes);
        unsigned span = t.by_chunks.quotient(thread);
        int in_span = static_cast<int>((thread - span * t.by_chunks.d) * kVectorBytes);
        const byte* at = span0 + (span * step + in_span);
        const std::int64_t steps = kept_distance(step * t.spans_at_once + t.bytes_at_once);
        const std::int64_t carried = kept_distance(step - span_length);
        CORNERTURN_UNROLL_BY(1)
        while (span < spans) {
            if (by_table) at = span0 + (table[span] + in_span);
            const auto phase = static_cast<int>(reinterpret_cast<std::uintptr_t>(at) % kVectorBytes);
            const bool there = in_span - span_bytes < phase;
            const byte* const from = at - phase;
            const unsigned to = slot_of(t, span) + static_cast<unsigned>(in_span);
            const bool whole = kWalk != span_walk::checked || (from >= t.first && t.last - from >= kVectorBytes);
            vectors.copy_async_if<kWholeLines>(there && whole, to, from);
            if (kWalk == span_walk::checked && there && !whole) part(from, image + to);
            span += t.spans_at_once, in_span += t.bytes_at_once;
            if (!by_table) at = kept_pointer(at + steps);
            if (in_span >= span_length) {
                in_span -= span_length, ++span;
                if (!by_table) at += carried;
            }
        }
    }

private:
    // What of a vector may be read.
    __device__ __forceinline__ void part(const byte* from, byte* to) const {
        using unit = storage_t<kUnit>;
        CORNERTURN_UNROLL_BY(1)
        for (int u = 0; u < kVectorBytes; u += kUnit) {
            if (from + u >= t.first && from + u < t.last) *reinterpret_cast<unit*>(to + u) = value_at<unit>(from + u);
        }
    }
};

template <int kUnit>
struct line_part;

// Writes lines out of shared memory.
template <int kUnit>
struct line_writer {
    using tile = tile_of_units<kUnit>;
    const tile_work& t;
    const unsigned* table;
    const byte* image;
    int begin, end;  // of a line, in bytes; halos are moved to where sectors end
    bool cut_before, last;

    // Writes a vector of a line, counted from where its first one lies, or what of it there is.
    __device__ __forceinline__ void vector_of_line(unsigned vector, line_part<kUnit>& part, byte* to, int row) const {
        const auto past = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to) % kSectorBytes);
        if (past != part.known) part.find(*this, vector, to, past);
        if (part.whole)
            __stwb(reinterpret_cast<uint4*>(to + part.at), tile::gather(image + row + part.in_line, part.entries));
    }
    // Writes all of a line's vectors, every `lanes`-th of them.
    __device__ __forceinline__ void vectors(byte* to, int row, unsigned lane, unsigned lanes) const {
        line_part<kUnit> part;
        part.bounds(*this, to);
        CORNERTURN_UNROLL_BY(1)
        for (int at = part.first_at(to) + static_cast<int>(lane) * kVectorBytes; at < part.end;
             at += static_cast<int>(lanes) * kVectorBytes) {
            if (at < part.begin || at + kVectorBytes > part.end) continue;
            const auto j = static_cast<unsigned>(at) / kUnit, period = t.by_period.quotient(j);
            __stwb(reinterpret_cast<uint4*>(to + at),
                   tile::gather(image + row + static_cast<int>(period) * t.period_bytes,
                                tile::load_entries(table, t.table_stride, j - period * t.by_period.d)));
        }
    }
    // Writes a unit of a line, if it lies in a vector that is filled in part: at its beginning, or at its end.
    __device__ __forceinline__ void unit_at_end(byte* to, int row, bool at_end, int nth) const {
        using unit = storage_t<kUnit>;
        line_part<kUnit> part;
        part.bounds(*this, to);
        const int first = part.first_at(to);
        // The first vector that is whole begins here, and behind the last one:
        const int whole = first < part.begin ? first + kVectorBytes : first;
        const int behind = part.end - static_cast<int>((static_cast<unsigned>(part.end - first)) % kVectorBytes);
        const int u = (at_end && behind >= whole ? behind : part.begin) + nth * kUnit;
        if (u >= part.end || (!at_end && u >= whole) || (at_end && behind < whole)) return;
        const auto j = static_cast<unsigned>(u) / kUnit, period = t.by_period.quotient(j);
        *reinterpret_cast<unit*>(to + u) = value_at<unit>(image + row + static_cast<int>(period) * t.period_bytes +
                                                          table[tile::place_of(j - period * t.by_period.d)]);
    }
};

// What a thread writes of lines that begin alike within sectors: one vector of each.
template <int kUnit>
struct line_part {
    unsigned known = kSectorBytes;  // where in a sector these lines begin; at first nowhere
    int begin = 0, end = 0;         // of the line
    int at = 0, in_line = 0;        // the vector, in the line and in the spans
    bool whole = false;
    typename tile_of_units<kUnit>::entries entries;

    __device__ __forceinline__ void bounds(const line_writer<kUnit>& w, const byte* to) {
        begin = w.begin, end = w.end;
        if (w.t.halo > 0) {
            const auto past_sector = [&](int at_byte) {
                return static_cast<int>(
                    (static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to)) + static_cast<unsigned>(at_byte)) %
                    kSectorBytes);
            };
            if (w.cut_before) begin -= past_sector(begin);
            if (!w.last) end -= past_sector(end);
        }
    }
    __device__ __forceinline__ int first_at(const byte* to) const {
        return begin - static_cast<int>((static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to)) +
                                         static_cast<unsigned>(begin)) %
                                        kVectorBytes);
    }
    __device__ __forceinline__ void find(const line_writer<kUnit>& w, unsigned vector, const byte* to, unsigned past) {
        known = past;
        bounds(w, to);
        at = first_at(to) + static_cast<int>(vector) * kVectorBytes;
        whole = at >= begin && at + kVectorBytes <= end;
        if (!whole) return;
        const auto j = static_cast<unsigned>(at) / kUnit, period = w.t.by_period.quotient(j);
        entries = tile_of_units<kUnit>::load_entries(w.table, w.t.table_stride, j - period * w.t.by_period.d);
        in_line = static_cast<int>(period) * w.t.period_bytes;
    }
};

// The tile of this block: where it begins, and how much of it is there.
struct tile_here {
    const byte* span0;  // of the first span
    byte* line0;        // of the first line
    int origin = 0;     // of the tile's first unit, in its span: behind its beginning where axes run backwards
    int spans, span_bytes, lines, line_units;
    int before;  // steps of the halo
    bool last;   // along its lines

    __device__ __forceinline__ tile_here(const tile_work& t, unsigned index) {
        unsigned cut[2] = {};
        std::int64_t source = 0, destination = 0;
        CORNERTURN_UNROLL_BY(1)
        for (int a = 0; a < t.tiles.rank; ++a) {
            const strided::digit& axis = t.tiles.axes[a];
            const unsigned next = axis.by.quotient(index), at = index - next * axis.by.d;
            index = next;
            source += at * axis.source;
            destination += at * axis.destination;
            if (a == 0) cut[0] = at;
            if (a == 1) cut[1] = at;
        }
        const std::int64_t along_left = t.along_extent - static_cast<std::int64_t>(cut[0]) * t.along_steps;
        const std::int64_t across_left = t.across_extent - static_cast<std::int64_t>(cut[1]) * t.across_steps;
        last = along_left <= t.along_steps;
        before = cut[0] > 0 ? t.halo : 0;
        const int along = (last ? static_cast<int>(along_left) : t.along_steps) + before;
        const int across = across_left < t.across_steps ? static_cast<int>(across_left) : t.across_steps;

        origin = t.origin;
        span_bytes = t.span_bytes;
        if (t.along_in_span) reach((along - 1) * static_cast<int>(t.along_source));
        reach((across - 1) * static_cast<int>(t.across_source));
        spans = t.along_in_span ? t.spans : t.spans * along;
        lines = t.lines * across;
        line_units = t.line_units * along;
        span0 = t.source + (source - before * t.along_source) - origin;
        line0 = t.destination + (destination - before * t.along_destination);
    }

private:
    __device__ __forceinline__ void reach(int bytes) {
        span_bytes += bytes < 0 ? -bytes : bytes;
        origin += bytes < 0 ? -bytes : 0;
    }
};

// The table of where in shared memory a line's units lie, in as many copies as there are; with gaps one, and one of
// where they go.
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
            for (unsigned k = 0; k < tile::kCopies; ++k) {
                if (j >= k) table[k * static_cast<unsigned>(t.table_stride) + tile::place_of(j - k)] = entry;
            }
        }
    }
}

// The table of where lines lie, where they are of several axes.
__device__ __forceinline__ void make_line_table(const tile_work& t, const tile_here& here, place_of_line* line_table) {
    if (t.row_rank <= 1) return;
    CORNERTURN_UNROLL_BY(1)
    for (unsigned line = threadIdx.x; static_cast<int>(line) < here.lines; line += blockDim.x)
        line_table[line] = place_of_line(t, line);
}

// The table of where spans lie. True where there is one: where they are of several axes.
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

// Reads the spans as they lie. Whether any vector of the tile may reach beyond the source: only then each is asked.
template <int kUnit>
__device__ __forceinline__ void load_spans(const tile_work& t, const tile_here& here, const std::int64_t* span_table,
                                           byte* image) {
    const bool inside = here.span0 - t.spans_below - t.first >= kVectorBytes &&
                        t.last - here.span0 - t.spans_above - here.span_bytes >= kVectorBytes;
    const span_loader<kUnit> load{
        t, here.span0, span_table, image, threadIdx.x, static_cast<unsigned>(here.spans), here.span_bytes};
    if (!inside) {
        load.template all<span_walk::checked>();
    } else if (t.span_rank > 1) {
        load.template all<span_walk::table>();
    } else {
        load.template all<span_walk::steps>();
    }
}

// A block's lines, and which of them a thread writes: every at_once-th, and of each every lanes-th vector or unit.
struct lines_of_thread {
    const tile_work& t;
    const tile_here& here;
    const place_of_line* table;
    unsigned lanes, lane;
    int first, at_once;

    __device__ __forceinline__ lines_of_thread(const tile_work& work, const tile_here& tile,
                                               const place_of_line* places)
        : t(work),
          here(tile),
          table(places),
          lanes(1u << t.lanes_log),
          lane(threadIdx.x & (lanes - 1)),
          first(static_cast<int>(threadIdx.x >> t.lanes_log)),
          at_once(static_cast<int>(blockDim.x >> t.lanes_log)) {}

    __device__ __forceinline__ place_of_line place(int line) const {
        return t.row_rank > 1 ? table[line] : place_of_line(t, static_cast<unsigned>(line));
    }
};

// Writes lines whose units have gaps between them, unit by unit.
template <int kUnit>
__device__ __forceinline__ void write_units(const lines_of_thread& of, const unsigned* table, const byte* image) {
    using unit = storage_t<kUnit>;
    const tile_work& t = of.t;
    const unsigned* const to_table = table + t.table_stride;
    CORNERTURN_UNROLL_BY(1)
    for (int line = of.first; line < of.here.lines; line += of.at_once) {
        const place_of_line place = of.place(line);
        CORNERTURN_UNROLL_BY(1)
        for (unsigned j = of.lane; static_cast<int>(j) < of.here.line_units; j += of.lanes) {
            const unsigned period = t.by_period.quotient(j), at = j - period * t.by_period.d;
            const byte* const from = image + place.row + table[at] + static_cast<int>(period) * t.period_bytes;
            byte* const to = of.here.line0 + place.offset + (to_table[at] + period * t.along_destination);
            *reinterpret_cast<unit*>(to) = value_at<unit>(from);
        }
    }
}

// Writes lines in vectors, and what they begin and end with unit by unit.
template <int kUnit>
__device__ __forceinline__ void write_lines(const lines_of_thread& of, const unsigned* table, const byte* image) {
    using tile = tile_of_units<kUnit>;
    const tile_work& t = of.t;
    const tile_here& here = of.here;
    const bool cut_before = here.before > 0;
    const line_writer<kUnit> write{
        t,          table,    image, here.before * static_cast<int>(t.along_destination), here.line_units * kUnit,
        cut_before, here.last};
    if (of.at_once < here.lines) {
        // A thread has several lines, of which it writes the same vector: places are looked up once.
        const auto vectors = static_cast<unsigned>(cut_before && !here.last ? t.vectors_of_cut : t.line_vectors);
        CORNERTURN_UNROLL_BY(1)
        for (unsigned vector0 = 0; vector0 < vectors;) {
            const deal d(vectors - vector0, t.lanes_log, threadIdx.x, blockDim.x);
            const auto first = static_cast<int>(d.first), at_once = static_cast<int>(d.at_once);
            const unsigned vector = vector0 + d.lane;
            vector0 += d.lanes();
            if (vector >= vectors) break;
            line_part<kUnit> part;
            if (t.row_rank <= 1) {
                const place_of_line place(t, d.first);
                const std::int64_t step = kept_distance(at_once * t.rows[0].destination);
                const int row_step = at_once * t.rows[0].in_span;
                byte* to = here.line0 + place.offset;
                int row = place.row;
                CORNERTURN_UNROLL_BY(1)
                for (int left = here.lines - first; left > 0; left -= at_once) {
                    write.vector_of_line(vector, part, to, row);
                    to = kept_pointer(to + step);
                    row += row_step;
                }
            } else {
                CORNERTURN_UNROLL_BY(1)
                for (int line = first; line < here.lines; line += at_once) {
                    const place_of_line place = of.table[line];
                    write.vector_of_line(vector, part, here.line0 + place.offset, place.row);
                }
            }
        }
    } else if (of.first < here.lines) {
        const place_of_line place = of.place(of.first);
        write.vectors(here.line0 + place.offset, place.row, of.lane, of.lanes);
    }
    if (t.whole_lines || (t.halo > 0 && cut_before && !here.last)) return;
    constexpr unsigned kEnds = 2 * tile::kPerVector;
    CORNERTURN_UNROLL_BY(1)
    for (unsigned i = threadIdx.x; i < static_cast<unsigned>(here.lines) * kEnds; i += blockDim.x) {
        const unsigned nth = i % kEnds;
        const place_of_line place = of.place(static_cast<int>(i / kEnds));
        write.unit_at_end(here.line0 + place.offset, place.row, nth >= tile::kPerVector,
                          static_cast<int>(nth % tile::kPerVector));
    }
}

// kGaps: the units of a line have gaps between them.
template <int kUnit, bool kGaps>
__global__ void CORNERTURN_RESIDENT(kMostThreads, (kUnit == 1 ? kResidentBytes : kResidentThreads))
    copy_tiles(tile_work t) {
    CORNERTURN_DYNAMIC_SHARED(byte, shared);
    auto* const table = reinterpret_cast<unsigned*>(shared);
    auto* const span_table = reinterpret_cast<std::int64_t*>(shared + t.span_table_at);
    auto* const line_table = reinterpret_cast<place_of_line*>(shared + t.line_table_at);
    byte* const image = shared + t.image_at;
    const tile_here here(t, blockIdx.x);
    if (make_span_table(t, here, span_table)) __syncthreads();  // spans are about to be looked up
    wait_for_work_ahead();
    load_spans<kUnit>(t, here, span_table, image);
    end_of_copies();
    // Other tables are made while the spans are on their way.
    make_table<kUnit, kGaps>(t, here, table);
    make_line_table(t, here, line_table);
    wait_for_copies<0>();
    __syncthreads();  // before lines are gathered from all of them
    const lines_of_thread lines(t, here, line_table);
    if constexpr (kGaps) {
        write_units<kUnit>(lines, table, image);
    } else {
        write_lines<kUnit>(lines, table, image);
    }
}

template <int kUnit>
void run(const tile_work& t, bool gaps, const launch_shape& shape) {
    if (gaps) return launch(shape, copy_tiles<kUnit, true>, t);
    launch(shape, copy_tiles<kUnit, false>, t);
}

}  // namespace

void run_tiles(const tile_work& t, int unit, bool gaps, const launch_shape& shape) {
    switch (unit) {
        case 1: return run<1>(t, gaps, shape);
        case 2: return run<2>(t, gaps, shape);
        case 4: return run<4>(t, gaps, shape);
        case 8: return run<8>(t, gaps, shape);
        default: return run<16>(t, gaps, shape);
    }
}

}  // namespace CORNERTURN_KERNELS
