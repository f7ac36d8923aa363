// Conversions by tiles and of runs, for pairs of types that people use. See kernels/work.hpp.
//
// What limits it: for runs, DRAM. For tiles, instructions: a warp takes about 180 to gather 512 bytes of one- and
// two-byte units, and up to 3 for each unit to convert and scale it.
#pragma once

#include "move/converted_pairs.hpp"
#include "move/kernels/cast.hpp"
#include "move/kernels/few_columns.hpp"
#include "move/kernels/kernels.hpp"
#include "move/kernels/lines.hpp"
#include "move/kernels/rows.hpp"
#include "move/kernels/vector.hpp"

namespace CORNERTURN_KERNELS {

// kAlong: scales and biases may differ along a line, for which more registers are needed.
template <element_type kFrom, element_type kTo, bool kAlong>
__global__ void CORNERTURN_RESIDENT(moves::kMostThreads,
                                    moves::resident_threads_of_conversions(facts_of<kTo>::size, kAlong))
    convert_tiles(tile_work t, cast_work w, result_policy result) {
    CORNERTURN_DYNAMIC_SHARED(byte, shared);
    using move = converted<kFrom, kTo, kAlong>;
    const converted_here here = converted_here::of(t, w);
    const auto read = [&](const std::int64_t* span_table, byte* image) {
        spans_as_they_are<facts_of<kFrom>::size>{}(t, here, span_table, image);
    };
    const loaded_tile<move, false> tile(t, here, move{w, here.first}, shared, read, [](const auto&) {});
    write_lines(t, here, tile, result);
}

// Which scale and bias the first element of this block's matrix has.
__device__ __forceinline__ std::int64_t first_factor(const moves::matrices_work& work, const cast_work& w) {
    if (w.tile_axis < 0) return 0;
    if (work.batch.rank == 0) return blockIdx.z * w.tile_step;
    std::int64_t first = 0;
    place_of_index(work.batch, work.batch.first + blockIdx.z, [&](int axis, unsigned at) {
        if (axis == w.tile_axis) first = at * w.tile_step;
    });
    return first;
}

// Matrices: a tile is converted when it is read (vector.hpp).
template <element_type kFrom, element_type kTo>
struct converted_matrix {
    using work = cast_work;
    static constexpr int kUnit = facts_of<kTo>::size, kSourceUnit = facts_of<kFrom>::size;
    converted<kFrom, kTo> move;
    read_policy read;

    __device__ __forceinline__ converted_matrix(const moves::matrices_work& matrices, const cast_work& w,
                                                std::int64_t row, std::int64_t col)
        : move{w, first_factor(matrices, w) + row * w.row_step + col * w.col_step}, read(matrices.keeps_lines) {}
    __device__ __forceinline__ uint4 vector(const byte* from, int row, int col) const {
        return move.vector_at(from, read, factor(row, col));
    }
    __device__ __forceinline__ uint4 first(const byte* from, int count, int row, int col) const {
        return move.first_at(from, count, factor(row, col));
    }

private:
    __device__ __forceinline__ std::int64_t factor(int row, int col) const {
        return move.first + static_cast<std::int64_t>(row) * move.w.row_step +
               static_cast<std::int64_t>(col) * move.w.col_step;
    }
};

// Matrices of few columns: words are converted when they are written (few_columns.hpp).
template <element_type kFrom, element_type kTo>
struct converted_words {
    using work = cast_work;
    static constexpr int kUnit = facts_of<kTo>::size, kSourceUnit = facts_of<kFrom>::size;
    static constexpr int kTileBytes = moves::kFewConvertedTileBytes;
    static constexpr bool kOfEachAlignment = false;
    converted<kFrom, kTo> move;

    __device__ __forceinline__ converted_words(const moves::matrices_work& matrices, const cast_work& w)
        : move{w, first_factor(matrices, w)} {}
    __device__ __forceinline__ auto word(unsigned value, int column) const {
        return move.word_of(value, move.first + static_cast<std::int64_t>(column) * move.w.col_step);
    }
};

template <element_type kFrom, element_type kTo>
struct converted_matrices {
    template <int kRow>
    static void vector(const moves::matrices_work& work, const cast_work& w, const gpu& on) {
        constexpr moves::tuning kUse = moves::kVectorConverted[kRow];
        run_vector<column_major, converted_matrix<kFrom, kTo>, kUse.tile_rows, kUse.tile_cols, kUse.threads,
                   moves::kResidentConverted>(work, w, on);
    }
    // Null for a row that this pair does not have.
    template <int kRow>
    static constexpr run_conversion of_row() {
        if constexpr (moves::kVectorConverted[kRow].unit == facts_of<kTo>::size &&
                      moves::converts_at_load({kFrom, kTo})) {
            return &vector<kRow>;
        } else {
            return nullptr;
        }
    }
    template <int... kRows>
    static run_conversion of_row(int row, std::integer_sequence<int, kRows...>) {
        constexpr run_conversion kAll[] = {of_row<kRows>()...};
        return kAll[row];
    }
    static run_conversion of_row(int row) {
        return of_row(row, std::make_integer_sequence<int, static_cast<int>(std::size(moves::kVectorConverted))>());
    }
    static run_conversion few_columns(int columns) {
        if constexpr (moves::has_few_columns({kFrom, kTo})) {
            using move = converted_words<kFrom, kTo>;
            switch (columns) {
                case 2: return &run_few_columns<move, 2>;
                case 3: return &run_few_columns<move, 3>;
                case 4: return &run_few_columns<move, 4>;
                default: break;
            }
        }
        return nullptr;
    }
};

template <int kFirst>
struct pairs_from {
    template <int kNth>
    struct types {
        static constexpr moves::converted_pair kPair = moves::kConvertedPairs[kFirst + kNth * kConvertFiles];
        static void tiles(const tile_work& t, const cast_work& w, result_policy result, const launch_shape& shape) {
            // Pairs that convert when spans are read come here only if a span has several scales.
            if constexpr (!moves::converts_at_load(kPair)) {
                if (w.line_step == 0) return launch(shape, convert_tiles<kPair.from, kPair.to, false>, t, w, result);
            }
            launch(shape, convert_tiles<kPair.from, kPair.to, true>, t, w, result);
        }
        static void rows(const moves::rows_work& r, const cast_work& w, result_policy result, bool keeps_lines,
                         const launch_shape& shape) {
            launch(shape, copy_rows<converted<kPair.from, kPair.to>>, r, w, result, keeps_lines);
        }
    };
    template <int... kNths>
    static converting nth(int n, std::integer_sequence<int, kNths...>) {
        constexpr converting kAll[] = {
            {&types<kNths>::tiles, &types<kNths>::rows,
             &converted_matrices<types<kNths>::kPair.from, types<kNths>::kPair.to>::of_row,
             &converted_matrices<types<kNths>::kPair.from, types<kNths>::kPair.to>::few_columns}...};
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
