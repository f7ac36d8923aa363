// How a block writes its tile: lines in vectors of 16 bytes, gathered out of shared memory (kernels/work.hpp).
#pragma once

#include "move/kernels/tile.hpp"

namespace CORNERTURN_KERNELS {

template <class Move>
struct line_part;

// Writes lines out of shared memory.
template <class Move>
struct line_writer {
    static constexpr int kUnit = Move::kUnit;
    using tile = tile_of_units<kUnit>;
    const tile_work& t;
    const Move& move;
    const unsigned* table;
    const byte* image;
    int begin, end;  // of a line, in bytes; with halos, these move to where sectors end
    bool cut_before, last;
    result_policy result;

    // Writes a vector of a line, or the part of it that exists. Vectors are counted from the line's first.
    __device__ __forceinline__ void vector_of_line(unsigned vector, line_part<Move>& part, byte* to, int row,
                                                   int factor) const {
        const auto past = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to) % kSectorBytes);
        if (past != part.known) part.find(*this, vector, to, past);
        if (!part.whole) return;
        if (row != part.row || factor != part.factor) {
            part.row = row, part.factor = factor;
            part.value =
                move.gather(image + row + part.in_line, part.entries, factor, static_cast<unsigned>(part.at) / kUnit);
        }
        result.store(reinterpret_cast<uint4*>(to + part.at), part.value);
    }
    // Writes every `lanes`-th vector of a line.
    __device__ __forceinline__ void vectors(byte* to, int row, int factor, unsigned lane, unsigned lanes) const {
        line_part<Move> part;
        part.bounds(*this, to);
        CORNERTURN_UNROLL_BY(1)
        for (int at = part.first_at(to) + static_cast<int>(lane) * kVectorBytes; at < part.end;
             at += static_cast<int>(lanes) * kVectorBytes) {
            if (at < part.begin || at + kVectorBytes > part.end) continue;
            const auto j = static_cast<unsigned>(at) / kUnit, period = t.by_period.quotient(j);
            const unsigned from = j - period * t.by_period.d;
            result.store(reinterpret_cast<uint4*>(to + at),
                         move.gather(image + row + static_cast<int>(period) * t.period_bytes,
                                     t.copies == 1 ? tile::load_single_entries(table, from)
                                                   : tile::load_entries(table, t.table_stride, from),
                                     factor, j));
        }
    }
    // Writes one unit of a vector that the line fills only in part, at its beginning or its end.
    __device__ __forceinline__ void unit_at_end(byte* to, int row, int factor, bool at_end, int nth) const {
        using unit = storage_t<kUnit>;
        line_part<Move> part;
        part.bounds(*this, to);
        const int first = part.first_at(to);
        // Where the first whole vector begins, and where the last one ends:
        const int whole = first < part.begin ? first + kVectorBytes : first;
        const int behind = part.end - static_cast<int>((static_cast<unsigned>(part.end - first)) % kVectorBytes);
        const int u = (at_end && behind >= whole ? behind : part.begin) + nth * kUnit;
        if (u >= part.end || (!at_end && u >= whole) || (at_end && behind < whole)) return;
        const auto j = static_cast<unsigned>(u) / kUnit, period = t.by_period.quotient(j);
        *reinterpret_cast<unit*>(to + u) = move.unit(image + row + static_cast<int>(period) * t.period_bytes +
                                                         table[tile::place_of(j - period * t.by_period.d, t.copies)],
                                                     factor, j);
    }
};

// What a thread writes of lines that begin at the same position in a sector: one vector of each line.
template <class Move>
struct line_part {
    static constexpr int kNoRow = 1 << 30;
    unsigned known = kSectorBytes;  // this position; at first none
    int begin = 0, end = 0;         // of the line
    int at = 0, in_line = 0;        // the vector's position in the line, and in the spans
    bool whole = false;
    int row, factor;  // those of `value`: lines that repeat each other are gathered once
    uint4 value;
    entries_of_vector<Move::kUnit> entries;

    __device__ __forceinline__ void bounds(const line_writer<Move>& w, const byte* to) {
        begin = w.begin, end = w.end;
        if (w.t.halo > 0) end_at_sectors(to, w.cut_before, w.last, begin, end);
    }
    __device__ __forceinline__ int first_at(const byte* to) const {
        return begin - static_cast<int>((static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to)) +
                                         static_cast<unsigned>(begin)) %
                                        kVectorBytes);
    }
    __device__ __forceinline__ void find(const line_writer<Move>& w, unsigned vector, const byte* to, unsigned past) {
        known = past;
        row = kNoRow, factor = 0;
        bounds(w, to);
        at = first_at(to) + static_cast<int>(vector) * kVectorBytes;
        whole = at >= begin && at + kVectorBytes <= end;
        if (!whole) return;
        const auto j = static_cast<unsigned>(at) / Move::kUnit, period = w.t.by_period.quotient(j);
        entries = tile_of_units<Move::kUnit>::load_entries(w.table, w.t.table_stride, j - period * w.t.by_period.d);
        in_line = static_cast<int>(period) * w.t.period_bytes;
    }
};

// Writes lines in vectors, and their ends unit by unit.
template <class Move>
__device__ __forceinline__ void write_lines(const tile_work& t, const tile_here& here,
                                            const loaded_tile<Move, false>& tile, result_policy result) {
    constexpr int kUnit = Move::kUnit;
    const bool cut_before = here.before > 0;
    const line_writer<Move> write{t,
                                  tile.move,
                                  tile.table,
                                  tile.image,
                                  here.before * static_cast<int>(t.along_destination),
                                  here.line_units * kUnit,
                                  cut_before,
                                  here.last,
                                  result};
    const auto lines_at_once = static_cast<int>(blockDim.x >> t.lanes_log);
    if (lines_at_once < here.lines) {
        // A thread writes the same vector of several lines: it looks up the positions once.
        const auto vectors = static_cast<unsigned>(cut_before && !here.last ? t.vectors_of_cut : t.line_vectors);
        CORNERTURN_UNROLL_BY(1)
        for (unsigned vector0 = 0; vector0 < vectors;) {
            const deal d(vectors - vector0, t.lanes_log, threadIdx.x, blockDim.x);
            const auto first = static_cast<int>(d.first), at_once = static_cast<int>(d.at_once);
            const unsigned vector = vector0 + d.lane;
            vector0 += d.lanes();
            if (vector >= vectors) break;
            line_part<Move> part;
            if (t.row_rank <= 1) {
                const place_of_line place(t, d.first, tile.move);
                const std::int64_t step = kept_distance(at_once * t.rows[0].destination);
                const int row_step = at_once * t.rows[0].in_span;
                const int factor_step =
                    t.row_rank == 0 ? 0 : tile.move.factor_along(t.rows, t.rows, static_cast<unsigned>(at_once));
                byte* to = here.line0 + place.offset;
                int row = place.row, factor = place.factor;
                CORNERTURN_UNROLL_BY(1)
                for (int left = here.lines - first; left > 0; left -= at_once) {
                    write.vector_of_line(vector, part, to, row, factor);
                    to = kept_pointer(to + step);
                    row += row_step;
                    factor += factor_step;
                }
            } else {
                CORNERTURN_UNROLL_BY(1)
                for (int line = first; line < here.lines; line += at_once) {
                    const place_of_line place = tile.places[line];
                    write.vector_of_line(vector, part, here.line0 + place.offset, place.row, place.factor);
                }
            }
        }
    } else if (const auto line = static_cast<int>(threadIdx.x >> t.lanes_log); line < here.lines) {
        const place_of_line place = tile.place(t, line);
        const unsigned lanes = 1u << t.lanes_log;
        write.vectors(here.line0 + place.offset, place.row, place.factor, threadIdx.x & (lanes - 1), lanes);
    }
    if (t.whole_lines || (t.halo > 0 && cut_before && !here.last)) return;
    constexpr unsigned kPerVector = tile_of_units<kUnit>::kPerVector, kEnds = 2 * kPerVector;
    CORNERTURN_UNROLL_BY(1)
    for (unsigned i = threadIdx.x; i < static_cast<unsigned>(here.lines) * kEnds; i += blockDim.x) {
        const unsigned nth = i % kEnds;
        const place_of_line place = tile.place(t, static_cast<int>(i / kEnds));
        write.unit_at_end(here.line0 + place.offset, place.row, place.factor, nth >= kPerVector,
                          static_cast<int>(nth % kPerVector));
    }
}

}  // namespace CORNERTURN_KERNELS
