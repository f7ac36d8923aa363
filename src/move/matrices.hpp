// The kernels for transposes of matrices. Each row of these tables instantiates one, and the policy chooses among the
// rows. There is no other list. docs/experiments/transpose.md says what was tried.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/gpu.hpp"
#include "core/matrix_work.hpp"
#include "move/policy.hpp"

namespace cornerturn::moves {

// The tuning of one kernel. A unit is what the kernel moves at once: an element or a part.
struct tuning {
    int unit;                  // bytes
    int tile_rows, tile_cols;  // of the source, in elements; 0: chosen at the launch
    int threads;               // 0: chosen at the launch
    int detail = 0;            // ragged: threads that a multiprocessor should hold; direct: bytes of an access
};

// The rows of a family, of those kernels that convert or of those that do not; none for the families that are not for
// matrices.
std::span<const tuning> rows_of(kernel_family f, bool converts = false);

// Tiles of vectors, then strips: long, narrow tiles. A tall strip holds all columns of a narrow matrix, and a low one
// all rows of a low matrix.
inline constexpr tuning kVector[] = {
    {1, 256, 256, 512}, {1, 128, 256, 256}, {1, 64, 128, 128}, {1, 128, 128, 256}, {1, 1024, 16, 256},
    {1, 256, 64, 256},  {2, 128, 128, 512}, {2, 64, 128, 512}, {2, 64, 64, 256},   {2, 512, 16, 256},
    {2, 256, 32, 256},  {2, 128, 64, 256},  {2, 64, 128, 256}, {4, 64, 64, 512},   {4, 32, 32, 256},
    {4, 256, 16, 256},  {4, 128, 32, 256},  {4, 64, 64, 256},  {4, 16, 256, 256},  {4, 32, 128, 256},
    {8, 64, 32, 512},   {8, 32, 32, 256},   {8, 128, 16, 256}, {8, 64, 32, 256},   {8, 16, 128, 256},
    {8, 32, 64, 256},   {16, 64, 16, 512},  {16, 32, 16, 256}, {16, 16, 32, 128},  {16, 64, 16, 256},
    {16, 32, 32, 256},  {16, 16, 64, 256},
};
// Those that convert. Smaller blocks are faster here: a tile takes more bytes of the source, and more registers.
inline constexpr tuning kVectorConverted[] = {
    {1, 64, 128, 128}, {1, 128, 128, 256}, {1, 128, 64, 128}, {2, 128, 64, 256},
    {2, 64, 64, 128},  {2, 128, 32, 128},  {2, 256, 32, 256}, {4, 64, 64, 256},
};
// Threads that a multiprocessor should hold, by the vectors that each has in flight in its registers.
constexpr int resident_of_vector(int element, int vectors) {
    if (element == 1) return vectors > 4 ? 1280 : 1024;
    return vectors > (element == 2 ? 2 : 4) ? 1536 : 2048;
}
inline constexpr int kResidentConverted = 1024;
// The same tiles in another order of the blocks, for large matrices whose rows collide in memory.
inline constexpr tuning kVectorApart[] = {
    {1, 256, 256, 512}, {2, 128, 128, 512}, {4, 64, 64, 512}, {8, 64, 32, 512}, {16, 64, 16, 512},
};
inline constexpr tuning kDirect[] = {
    {1, 32, 32, 64, 4}, {1, 128, 32, 64, 8}, {2, 64, 16, 64, 8},  {2, 32, 16, 128, 4},  {2, 128, 16, 128, 8},
    {4, 64, 8, 128, 8}, {4, 64, 16, 64, 16}, {8, 64, 8, 128, 16}, {16, 64, 4, 256, 16},
};

// Tiles of any alignment. For elements narrower than a word, threads share words in tiles whose width is not a power of
// two.
inline constexpr tuning kRagged[] = {
    {1, 992, 16, 256, 1024},  {1, 480, 24, 256, 1536}, {1, 224, 64, 256, 1024}, {1, 224, 120, 512, 1536},
    {1, 224, 128, 512, 1024}, {1, 128, 248, 256, 768}, {2, 240, 28, 256, 1536}, {2, 240, 32, 256, 1024},
    {2, 112, 60, 512, 2048},  {2, 64, 124, 256, 1280}, {2, 64, 128, 256, 1280}, {4, 504, 8, 512, 2048},
    {4, 248, 16, 256, 2048},  {4, 56, 32, 256, 2048},  {8, 252, 8, 256, 1536},  {8, 124, 16, 256, 1536},
    {8, 60, 32, 256, 1024},   {8, 60, 64, 512, 1536},  {16, 254, 4, 256, 2048}, {16, 126, 8, 256, 2048},
    {16, 62, 32, 512, 2048},
};

inline constexpr int kBlocksFrom = 128;  // bytes of an element that is coalesced by itself
inline constexpr int kUnitSizes[] = {1, 2, 4, 8, 16};

template <int kRows>
struct tuning_list {
    tuning rows[kRows];
};

// A few columns or rows: one kernel for each number of them, and for the first units.
inline constexpr int kFew = 8, kFewThreads = 256;
inline constexpr int kFewBlocks = 6;                    // that a multiprocessor should hold
inline constexpr int kFewTileBytes = 16 << 10;          // that a block stages, approximately
inline constexpr int kFewConvertedTileBytes = 8 << 10;  // the same if elements become wider
template <int kUnits>
consteval tuning_list<kUnits*(kFew - 1)> few_of(bool rows) {
    tuning_list<kUnits*(kFew - 1)> all{};
    int row = 0;
    for (int u = 0; u < kUnits; ++u) {
        for (int few = 2; few <= kFew; ++few)
            all.rows[row++] = {kUnitSizes[u], rows ? few : 0, rows ? 0 : few, kFewThreads};
    }
    return all;
}
inline constexpr auto kTall = few_of<4>(false);  // ragged tiles are as fast for 16 bytes
inline constexpr auto kWide = few_of<5>(true);

// Tiles that are cut at the launch: one kernel for each unit.
consteval tuning_list<5> each_unit(int threads) {
    tuning_list<5> all{};
    int row = 0;
    for (const int unit : kUnitSizes) all.rows[row++] = {unit, 0, 0, threads};
    return all;
}
inline constexpr int kSmallRunBytes = 16 << 10;  // of the matrices that a block takes, approximately
inline constexpr int kSmallThreads = 256, kBlockThreads = 256;
inline constexpr auto kSmall = each_unit(kSmallThreads);
inline constexpr auto kElements = each_unit(0), kElementsInPlace = each_unit(0);
inline constexpr auto kBlocksInPlace = each_unit(kBlockThreads);

inline constexpr tuning kVectorInPlace[] = {
    {1, 128, 128, 256}, {2, 64, 64, 256}, {4, 64, 64, 512}, {8, 32, 32, 256}, {16, 16, 16, 128},
};

// Matrices, and what the choice depends on.
struct matrices {
    matrices_work work;
    int unit;             // the largest power of two, at most 16, that divides the element's size and both addresses
    bool whole_elements;  // an element is one unit
    bool vectors;         // every row on both sides begins at a vector of 16 bytes
    std::int64_t from_alignment, to_alignment;  // of the rows: powers of two, at most kMostAlignment
    bool packed_source, packed_destination;     // no gaps between rows
    bool packed_batch;                          // no gaps between rows or matrices, on either side
    bool in_place;
    std::int64_t bytes;    // of all matrices
    std::int64_t repeats;  // how many of them are the same in the source

    static constexpr int kMostAlignment = 64;

    explicit matrices(const matrices_work& w);
};

// The copy as a batch of transposes, if it has that form. The matrices' elements are the runs.
std::optional<matrices> matrices_in(const strided_copy& c);

}  // namespace cornerturn::moves
