// Conversions by tiles and of runs, for pairs of types that people use. See kernels/work.hpp.
//
// What limits it: for runs, DRAM. For tiles, instructions: a warp takes about 180 to gather 512 bytes of one- and
// two-byte units, and up to 3 for each unit to convert and scale it.
#pragma once

#include "move/converted_pairs.hpp"
#include "move/kernels/cast.hpp"
#include "move/kernels/kernels.hpp"
#include "move/kernels/lines.hpp"
#include "move/kernels/vector_tile.hpp"

namespace CORNERTURN_KERNELS {

template <element_type kFrom, element_type kTo>
__global__ void CORNERTURN_RESIDENT(moves::kMostThreads,
                                    (facts_of<kTo>::size == 1 ? moves::kResidentBytes : moves::kResidentThreads))
    convert_tiles(tile_work t, cast_work w, result_policy result) {
    CORNERTURN_DYNAMIC_SHARED(byte, shared);
    std::int64_t first = 0;
    const tile_here here(t, blockIdx.x, [&](int axis, unsigned at) {
        if (axis == w.tile_axis) first = at * w.tile_step;
    });
    if (here.before > 0) first -= w.halo_step;
    const converted<kFrom, kTo> move{w, first};
    const loaded_tile<converted<kFrom, kTo>, false> tile(t, here, move, shared, [](const auto&) {});
    write_lines(t, here, tile, result);
}

// Vectors of a run begin where the destination's addresses are multiples of a vector's bytes there.
template <element_type kFrom, element_type kTo>
__global__ void CORNERTURN_RESIDENT(moves::kMostThreads, 2048)
    convert_rows(moves::converted_rows_work r, cast_work w, result_policy result) {
    using move_type = converted<kFrom, kTo>;
    constexpr int kUnit = move_type::kUnit, kSourceUnit = move_type::kSourceUnit;
    constexpr int kCount = kVectorBytes / (kUnit > kSourceUnit ? kUnit : kSourceUnit);
    using source_vector = storage_t<kCount * kSourceUnit>;
    using vector = storage_t<kCount * kUnit>;
    wait_for_work_ahead();
    CORNERTURN_UNROLL
    for (int n = 0; n < moves::kVectorsConverted; ++n) {
        const unsigned index =
            (blockIdx.x * moves::kVectorsConverted + static_cast<unsigned>(n)) * moves::kMostThreads + threadIdx.x;
        if (index >= r.all) return;
        const unsigned row = r.by_vectors.quotient(index), nth = index - row * r.by_vectors.d;
        std::int64_t factor = 0;
        const place_of_index place(r.runs, row, [&](int axis, unsigned at) {
            if (axis == w.tile_axis) factor = at * w.tile_step;
        });
        byte* const to = r.destination + place.destination;
        const byte* const from = r.source + place.source;
        const auto past = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) % (kCount * kUnit) / kUnit);
        const std::int64_t begin = static_cast<std::int64_t>(nth) * kCount - past;
        const move_type move{w, factor};
        if (begin >= 0 && begin + kCount <= r.run) {
            const byte* const at = from + begin * kSourceUnit;
            typename move_type::source_unit units[kCount];
            if (reinterpret_cast<std::uintptr_t>(at) % sizeof(source_vector) == 0) {
                const auto all = value_at<source_vector>(at);
                __builtin_memcpy(units, &all, sizeof units);
            } else {
                CORNERTURN_UNROLL
                for (int k = 0; k < kCount; ++k)
                    units[k] = value_at<typename move_type::source_unit>(at + k * kSourceUnit);
            }
            const auto words = move.template run<kCount>(units, begin);
            vector all;
            __builtin_memcpy(&all, &words, sizeof all);
            if constexpr (sizeof(vector) == kVectorBytes) {
                result.store(reinterpret_cast<vector*>(to + begin * kUnit), all);
            } else {
                *reinterpret_cast<vector*>(to + begin * kUnit) = all;
            }
        } else {
            CORNERTURN_UNROLL_BY(1)
            for (int k = 0; k < kCount; ++k) {
                const std::int64_t at = begin + k;
                if (at >= 0 && at < r.run)
                    *reinterpret_cast<typename move_type::bits*>(to + at * kUnit) =
                        move.one_of_run(from + at * kSourceUnit, at);
            }
        }
    }
}

// Matrices, transposed by vectors: the tile is converted when it is read.
template <element_type kFrom, element_type kTo>
struct converted_matrix {
    static constexpr int kSourceUnit = facts_of<kFrom>::size;
    converted<kFrom, kTo> move;
    read_policy read;

    __device__ __forceinline__ std::int64_t factor(int row, int col) const {
        return move.first + static_cast<std::int64_t>(row) * move.w.row_step +
               static_cast<std::int64_t>(col) * move.w.col_step;
    }
    __device__ __forceinline__ uint4 vector(const byte* from, int row, int col) const {
        return move.vector_at(from, read, factor(row, col));
    }
    __device__ __forceinline__ uint4 first(const byte* from, int count, int row, int col) const {
        return move.first_at(from, count, factor(row, col));
    }
};

template <element_type kFrom, element_type kTo, int kTileRows, int kTileCols, int kThreads>
__global__ void CORNERTURN_RESIDENT(kThreads, 1024)
    convert_vector(moves::matrices_work work, cast_work w, result_policy result) {
    CORNERTURN_DYNAMIC_SHARED(uint4, tile);
    using tiles = vector_tile<facts_of<kTo>::size, kTileRows, kTileCols, kThreads>;
    const tile_index at = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = at.row * kTileRows, col = at.col * kTileCols;
    const place_of_matrix matrix(work);
    std::int64_t first = row * w.row_step + col * w.col_step;
    if (w.tile_axis >= 0 && work.batch.rank == 0) first += blockIdx.z * w.tile_step;
    if (w.tile_axis >= 0 && work.batch.rank > 0)
        place_of_index(work.batch, work.batch.first + blockIdx.z, [&](int axis, unsigned position) {
            if (axis == w.tile_axis) first += position * w.tile_step;
        });
    const std::int64_t rows = work.rows - row, cols = work.cols - col;
    const byte* const source =
        static_cast<const byte*>(work.source) + (matrix.source + row * work.source_ld + col) * facts_of<kFrom>::size;
    byte* const destination = static_cast<byte*>(work.destination) +
                              (matrix.destination + col * work.destination_ld + row) * facts_of<kTo>::size;
    wait_for_work_ahead();
    const converted_matrix<kFrom, kTo> by{{w, first}, read_policy(work.keeps_lines)};
    if (rows >= kTileRows && cols >= kTileCols) {
        tiles::template load_by<true>(source, work.source_ld, rows, cols, tile, by);
        __syncthreads();
        tiles::template store<true>(destination, work.destination_ld, rows, cols, tile, result);
    } else {
        tiles::template load_by<false>(source, work.source_ld, rows, cols, tile, by);
        __syncthreads();
        tiles::template store<false>(destination, work.destination_ld, rows, cols, tile, result);
    }
}

// The row of the table that converts to elements of this size.
constexpr moves::tuning converted_tuning(int unit) {
    for (const moves::tuning& t : moves::kVector) {
        if (t.unit == unit && moves::converts(t)) return t;
    }
    return {};
}

template <element_type kFrom, element_type kTo>
void run_converted_matrices(const moves::matrices_work& work, const cast_work& w, const gpu& on) {
    constexpr moves::tuning kUse = converted_tuning(facts_of<kTo>::size);
    if constexpr (kUse.unit > 0) {
        for_each_slab<column_major, slab_order::transposed>(
            work, {kUse.tile_rows, kUse.tile_cols}, dim3(kUse.threads),
            [&](launch_shape shape, const moves::matrices_work& part) {
                shape.dynamic_shared_bytes = kUse.tile_rows * kUse.tile_cols * kUse.unit;
                shape.tiles = nullptr;
                shape.early = true;
                launch(shape, convert_vector<kFrom, kTo, kUse.tile_rows, kUse.tile_cols, kUse.threads>, part, w,
                       policy_for(part, on));
            });
    }
}

template <int kFirst>
struct pairs_from {
    template <int kNth>
    struct types {
        static constexpr moves::converted_pair kPair = moves::kConvertedPairs[kFirst + kNth * kConvertFiles];
        static void tiles(const tile_work& t, const cast_work& w, result_policy result, const launch_shape& shape) {
            launch(shape, convert_tiles<kPair.from, kPair.to>, t, w, result);
        }
        static void rows(const moves::converted_rows_work& r, const cast_work& w, result_policy result,
                         const launch_shape& shape) {
            launch(shape, convert_rows<kPair.from, kPair.to>, r, w, result);
        }
    };
    template <int... kNths>
    static converting nth(int n, std::integer_sequence<int, kNths...>) {
        constexpr converting kAll[] = {{&types<kNths>::tiles, &types<kNths>::rows,
                                        &run_converted_matrices<types<kNths>::kPair.from, types<kNths>::kPair.to>}...};
        return kAll[n];
    }
};

// Of the pairs from kFirst on, each kConvertFiles after the one before. Each pair takes seconds to compile, so the
// files convert_*.cu share them.
template <int kFirst>
converting converting_of(int pair) {
    constexpr int kCount = (moves::kPairs - kFirst + kConvertFiles - 1) / kConvertFiles;
    return pairs_from<kFirst>::nth(pair / kConvertFiles, std::make_integer_sequence<int, kCount>());
}

}  // namespace CORNERTURN_KERNELS
