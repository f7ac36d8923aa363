// The kernels for matrices. Each row of these tables instantiates one, and the policy chooses among the rows. There is
// no other list. docs/experiments/transpose.md says what was tried.
#pragma once

#include <cstdint>

#include "ops/transpose/kernels/policy.hpp"

namespace cornerturn::transposes {

inline constexpr std::int64_t kMiB = 1 << 20;

// Rows that need only their tuning.
template <int kRows>
struct tuning_list {
    tuning rows[kRows];
};

// Tiles of vectors for an element size, for matrices of `from` bytes and more on an H200: see square_tile(). Small
// tiles give every multiprocessor work if the matrix is small. `large`: the tile needs a multiprocessor with as much
// shared memory as Hopper's.
struct tile_tuning {
    bool large;
    std::int64_t from;
    tuning use;
};
inline constexpr tile_tuning kTiles[] = {
    {true, 144 * kMiB, {kernel_family::vector, 1, 256, 256, 512}},
    {true, 16 * kMiB, {kernel_family::vector, 1, 128, 256, 256}},
    {true, 0, {kernel_family::vector, 1, 64, 128, 128}},
    {true, 96 * kMiB, {kernel_family::vector, 2, 128, 128, 512}},
    {true, 16 * kMiB, {kernel_family::vector, 2, 64, 128, 512}},
    {false, 0, {kernel_family::vector, 1, 128, 128, 256}},
    {false, 0, {kernel_family::vector, 2, 64, 64, 256}},
    {false, 16 * kMiB, {kernel_family::vector, 4, 64, 64, 512}},
    {false, 0, {kernel_family::vector, 4, 32, 32, 256}},
    {false, 512 * kMiB, {kernel_family::vector, 8, 64, 32, 512}},
    {false, 0, {kernel_family::vector, 8, 32, 32, 256}},
    {false, 512 * kMiB, {kernel_family::vector, 16, 64, 16, 512}},
    {false, 20 * kMiB, {kernel_family::vector, 16, 32, 16, 256}},
    {false, 0, {kernel_family::vector, 16, 16, 32, 128}},
    // If rows collide.
    {true, 256 * kMiB, {kernel_family::vector_apart, 1, 256, 256, 512}},
    {true, 256 * kMiB, {kernel_family::vector_apart, 2, 128, 128, 512}},
    {false, 256 * kMiB, {kernel_family::vector_apart, 4, 64, 64, 512}},
    {false, 256 * kMiB, {kernel_family::vector_apart, 8, 64, 32, 512}},
    {false, 256 * kMiB, {kernel_family::vector_apart, 16, 64, 16, 512}},
};

// Strips of vectors, by `side`. A tall strip is this many columns wide, and a low one this many rows high.
struct strip {
    int element, side, length;

    constexpr tuning tall(kernel_family p) const { return {p, element, length, side, kThreads}; }
    constexpr tuning low() const { return {kernel_family::vector, element, side, length, kThreads}; }
    static constexpr int kThreads = 256;
};
inline constexpr strip kStrips[] = {
    {1, 16, 1024}, {1, 32, 512}, {1, 64, 256}, {1, 128, 128}, {2, 16, 512}, {2, 32, 256}, {2, 64, 128},
    {4, 16, 256},  {4, 32, 128}, {4, 64, 64},  {8, 16, 128},  {8, 32, 64},  {16, 16, 64}, {16, 32, 32},
};

// All kernels for vectors: the tiles, then the three kernels of each strip. Square strips occur more than once.
template <int kTileRows, int kStripRows>
consteval tuning_list<kTileRows + 3 * kStripRows> vector_rows(const tile_tuning (&tiles)[kTileRows],
                                                              const strip (&strips)[kStripRows]) {
    tuning_list<kTileRows + 3 * kStripRows> all{};
    int row = 0;
    for (const tile_tuning& t : tiles) all.rows[row++] = t.use;
    for (const strip& s : strips) {
        for (const tuning& t : {s.tall(kernel_family::vector), s.low(), s.tall(kernel_family::vector_stacked)})
            all.rows[row++] = t;
    }
    return all;
}
inline constexpr auto kVector = vector_rows(kTiles, kStrips);

// Small matrices of up to `up_to` bytes on an H200, moved `access` bytes at a time.
struct direct_tuning {
    int access;
    std::int64_t up_to;
    tuning use;
};
inline constexpr direct_tuning kDirect[] = {
    {4, 128 << 10, {kernel_family::direct, 1, 32, 32, 64}},  {8, kMiB, {kernel_family::direct, 1, 128, 32, 64}},
    {8, 512 << 10, {kernel_family::direct, 2, 64, 16, 64}},  {4, 256 << 10, {kernel_family::direct, 2, 32, 16, 128}},
    {8, 2 * kMiB, {kernel_family::direct, 2, 128, 16, 128}}, {8, 512 << 10, {kernel_family::direct, 4, 64, 8, 128}},
    {16, 4 * kMiB, {kernel_family::direct, 4, 64, 16, 64}},  {16, 4 * kMiB, {kernel_family::direct, 8, 64, 8, 128}},
    {16, 4 * kMiB, {kernel_family::direct, 16, 64, 4, 256}},
};

// Tiles of any alignment, by width. The policy takes the first row that is as wide as the matrix, else the last. So the
// last row may repeat an earlier one.
// For elements narrower than a word, threads share words in tiles whose width is not a power of two. `resident`:
// threads that a multiprocessor should hold.
struct ragged_tuning {
    tuning use;
    int resident;
};
inline constexpr ragged_tuning kRagged[] = {
    {{kernel_family::ragged, 1, 992, 16, 256}, 1024},  {{kernel_family::ragged, 1, 480, 24, 256}, 1536},
    {{kernel_family::ragged, 1, 480, 32, 256}, 1024},  {{kernel_family::ragged, 1, 224, 64, 256}, 1024},
    {{kernel_family::ragged, 1, 224, 120, 512}, 1536}, {{kernel_family::ragged, 1, 224, 128, 512}, 1024},
    {{kernel_family::ragged, 1, 128, 248, 256}, 768},  {{kernel_family::ragged, 2, 496, 16, 256}, 1024},
    {{kernel_family::ragged, 2, 240, 28, 256}, 1536},  {{kernel_family::ragged, 2, 240, 32, 256}, 1024},
    {{kernel_family::ragged, 2, 112, 60, 512}, 2048},  {{kernel_family::ragged, 2, 112, 64, 512}, 2048},
    {{kernel_family::ragged, 2, 64, 124, 256}, 1280},  {{kernel_family::ragged, 2, 64, 128, 256}, 1280},
    {{kernel_family::ragged, 2, 64, 124, 256}, 1280},  {{kernel_family::ragged, 4, 504, 8, 512}, 2048},
    {{kernel_family::ragged, 4, 248, 16, 256}, 2048},  {{kernel_family::ragged, 4, 56, 32, 256}, 2048},
    {{kernel_family::ragged, 8, 252, 8, 256}, 1536},   {{kernel_family::ragged, 8, 124, 16, 256}, 1536},
    {{kernel_family::ragged, 8, 60, 32, 256}, 1024},   {{kernel_family::ragged, 8, 60, 64, 512}, 1536},
    {{kernel_family::ragged, 16, 254, 4, 256}, 2048},  {{kernel_family::ragged, 16, 126, 8, 256}, 2048},
    {{kernel_family::ragged, 16, 62, 16, 256}, 2048},  {{kernel_family::ragged, 16, 62, 32, 512}, 2048},
};

inline constexpr int kUnitSizes[] = {1, 2, 4, 8, 16};

// A few columns or rows: one kernel for each number of them.
inline constexpr int kFew = 8, kFewThreads = 256;
consteval tuning_list<5 * (kFew - 1)> few_rows_of(kernel_family by) {
    tuning_list<5 * (kFew - 1)> all{};
    int row = 0;
    for (const int unit : kUnitSizes) {
        for (int few = 2; few <= kFew; ++few)
            all.rows[row++] = {by, unit, by == kernel_family::wide ? few : 0, by == kernel_family::tall ? few : 0,
                               kFewThreads};
    }
    return all;
}
inline constexpr auto kTall = few_rows_of(kernel_family::tall), kWide = few_rows_of(kernel_family::wide);

// Tiles that are cut at the launch: one kernel for each unit.
consteval tuning_list<5> unit_rows_of(kernel_family by, int threads) {
    tuning_list<5> all{};
    int row = 0;
    for (const int unit : kUnitSizes) all.rows[row++] = {by, unit, 0, 0, threads};
    return all;
}
inline constexpr int kSmallThreads = 256, kBlockThreads = 256;
inline constexpr auto kSmall = unit_rows_of(kernel_family::small, kSmallThreads);
inline constexpr auto kUnits = unit_rows_of(kernel_family::units, 0);
inline constexpr auto kBlocks = unit_rows_of(kernel_family::blocks, kBlockThreads);
inline constexpr auto kUnitsInPlace = unit_rows_of(kernel_family::units_in_place, 0);
inline constexpr auto kBlocksInPlace = unit_rows_of(kernel_family::blocks_in_place, kBlockThreads);

inline constexpr tuning_list<5> kVectorInPlace = {{
    {kernel_family::vector_in_place, 1, 128, 128, 256},
    {kernel_family::vector_in_place, 2, 64, 64, 256},
    {kernel_family::vector_in_place, 4, 64, 64, 512},
    {kernel_family::vector_in_place, 8, 32, 32, 256},
    {kernel_family::vector_in_place, 16, 16, 16, 128},
}};

}  // namespace cornerturn::transposes
