// How a product is computed: tuning as data.
#pragma once

#include <cstdint>
#include <string>

#include "ops/gemm/work.hpp"

namespace cornerturn::production {

// How an operand comes into shared memory, where what is a row of A or a column of B lies along k.
enum class gemm_path {
    vectors,  // rows of k, 16 bytes at a time: they are aligned, and so many that vectors fill them
    words,    // rows of k, a float at a time
    along_k,  // columns of k, transposed on the way, a float at a time
};
struct gemm_paths {
    gemm_path a, b;

    friend bool operator==(const gemm_paths&, const gemm_paths&) = default;
};
// As the operands lie.
gemm_paths paths_of(const gemm_work& work);

// The GPU, as far as it matters.
struct gemm_machine {
    int compute_capability;  // 90 for 9.0
    int multiprocessors;
};

enum class gemm_tile_size { large, small };

// What a block computes, and what that costs.
struct gemm_tile {
    const char* name;
    int rows, cols, depth, threads;
    int resident;         // blocks that a multiprocessor holds, as far as registers go
    int shared_kib;       // of a block, at most
    double step_us;       // depth steps along k, where a multiprocessor holds one block after the other
    double block_us;      // and what each block costs besides: its first loads, its stores
    double busy[3];       // of that rate, with 1, 2, and 3 blocks or more at a time
    double unaligned[2];  // so many times as long for an operand that comes in words, and for one that is transposed
};
const gemm_tile& tile_of(gemm_tile_size tiles);

// What one launch can count: tiles along C's rows and columns, and all of them. Of k, a block can count so much.
constexpr std::int64_t kMostTilesAlong = 1 << 15, kMostTiles = 1 << 30, kMostK = std::int64_t{1} << 33;

// The work as it is computed: where alpha is 0, without A and B, which may then hold anything, as in BLAS. What follows
// takes work that has been through this. Throws unsupported where k is above kMostK.
gemm_work as_computed(const gemm_work& work);

struct gemm_tuning {
    gemm_tile_size tiles;
    bool pack_a, pack_b;  // first brought into the workspace, as rows of k that are aligned
    int parts;            // along k, of the tiles that are left when each multiprocessor has had as many as another
    double us;            // what that may take

    friend bool operator==(const gemm_tuning&, const gemm_tuning&) = default;
};

// Blocks that the GPU's multiprocessors hold at a time.
int resident_on(const gemm_tile& tile, const gemm_machine& machine);
// Of `tiles` tiles, those that a block each computes, where the others are computed in so many parts.
std::int64_t whole_tiles(std::int64_t tiles, int parts, const gemm_machine& machine);
// How many tiles C has, all products' together.
std::int64_t tiles_of(const gemm_work& work, gemm_tile_size tiles);

// The quickest, by sizes and by how the operands lie.
gemm_tuning choose(const gemm_work& work, const gemm_paths& lie, const gemm_machine& machine);
// One that needs no workspace, and takes operands that lie in any way.
gemm_tuning choose_without_workspace();
// So many parts as `tuned` says, or 1 where a launch cannot count all tiles.
int parts_of(const gemm_work& work, const gemm_tuning& tuned);
// Matrices of a batch that are packed: a stride of 0 means one for all.
constexpr std::int64_t packed_count(std::int64_t count, std::int64_t stride) { return stride == 0 ? 1 : count; }
// How the workspace is laid out, in floats.
struct gemm_workspace {
    std::int64_t a = 0, b = 0, partial = 0, floats = 0;  // where each begins, and how many there are
    std::int64_t a_ld = 0, b_ld = 0;                     // of packed operands
};
gemm_workspace workspace_of(const gemm_work& work, const gemm_tuning& tuned, const gemm_machine& machine);
// The most that it can be for such sizes, wherever the operands lie.
std::int64_t most_workspace(const gemm_work& work, const gemm_machine& machine);

// All that is decided about a product before it is launched.
struct gemm_plan {
    gemm_paths lie;
    gemm_tuning tuned;
    gemm_workspace space;
};
gemm_plan plan_of(const gemm_work& work, const gemm_machine& machine);  // the quickest
gemm_plan plan_of(const gemm_work& work, const gemm_tuning& tuned, const gemm_machine& machine);
std::string explain(const gemm_work& work, const gemm_machine& machine);

}  // namespace cornerturn::production
