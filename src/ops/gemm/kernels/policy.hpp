// How a product is computed: tuning as data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/gpu.hpp"
#include "ops/gemm/kernels/tunings.hpp"
#include "ops/gemm/work.hpp"

namespace cornerturn::production {

// How an operand lies, where what is a row of A or a column of B is read along k.
enum class gemm_path {
    vectors,        // rows of k, 16 bytes at a time: they are aligned, and so many that vectors fill them
    words,          // rows of k, a float at a time
    along_k,        // columns of k, a float at a time
    fours_along_k,  // columns of k, 16 bytes at a time: they are aligned, and k is a multiple of 4
};
constexpr bool lies_along_k(gemm_path path) { return path == gemm_path::along_k || path == gemm_path::fours_along_k; }
struct gemm_paths {
    gemm_path a, b;

    constexpr bool some_along_k() const { return lies_along_k(a) || lies_along_k(b); }
    // Where what is packed lies in vectors.
    constexpr gemm_paths packed(bool pack_a, bool pack_b) const {
        return {pack_a ? gemm_path::vectors : a, pack_b ? gemm_path::vectors : b};
    }
    friend bool operator==(const gemm_paths&, const gemm_paths&) = default;
};
// As the operands lie.
gemm_paths paths_of(const gemm_work& work);

// How far C's rows may begin behind a multiple of 8 floats: 0 where none does, a multiple of 4 where all are stored 16
// bytes at a time.
int c_off(const float* c, std::int64_t ldc, std::int64_t c_stride);
bool stores_fours(const gemm_work& work);

// What one launch can count: tiles along C's rows and columns, and all of them. Of k, a block can count so much.
constexpr std::int64_t kMostTilesAlong = 1 << 15, kMostTiles = 1 << 30, kMostK = std::int64_t{1} << 33;

// The work as it is computed: where alpha is 0, without A and B, which may then hold anything, as in BLAS. What follows
// takes work that has been through this. Throws unsupported where k is above kMostK.
gemm_work as_computed(const gemm_work& work);

// The product of the transposes, in the other order: its C is the transpose of C.
gemm_work transposed(const gemm_work& work);

struct gemm_tuning {
    int kernel;           // a row of kGemmKernels
    bool transposed;      // what the kernel computes is the transpose of C; A and B change places
    bool pack_a, pack_b;  // first brought into the workspace, as rows of k that are aligned
    int parts;            // along k. Tiles that fill whole rounds of the GPU stay whole; the others, or all, are split
    double us;            // what that may take

    const gemm_kernel& row() const;
    friend bool operator==(const gemm_tuning&, const gemm_tuning&) = default;
};
// "tiny, sliced, of the transpose, A packed, 4 parts"
std::string name_of(const gemm_tuning& tuned);

// Blocks whose registers a multiprocessor holds. Four steps of both operands take more of them.
constexpr int resident_by_registers(const gemm_kernel& kernel, const gemm_paths& paths) {
    const bool fours = paths.a == gemm_path::fours_along_k && paths.b == gemm_path::fours_along_k;
    return fours && kernel.takes_fours_along_k() && kernel.resident > 2 ? kernel.resident * 3 / 4 : kernel.resident;
}
// Blocks that a multiprocessor holds at a time, where sums are so long that they are added up in chunks or not, and
// operands come so. What lies along k is read a piece of each line of the cache at a time: fewer blocks run, though
// two, so that the L1 keeps these lines until the rest is read. For `dots`, it keeps B.
int resident_on(const gemm_kernel& kernel, bool chunks, const gemm_paths& paths, const gpu& on);
// Whether tiles' sums are so long, where that many are whole and each of the others is in so many parts.
bool needs_chunks(const gemm_kernel& kernel, std::int64_t k, std::int64_t whole, int parts);
// Of `tiles` tiles, those that a block each computes, where the others are computed in so many parts.
std::int64_t whole_tiles(const gemm_kernel& kernel, std::int64_t tiles, int parts, const gpu& on);
// How many tiles C has, all products' together.
std::int64_t tiles_of(const gemm_work& work, const gemm_kernel& kernel);

// The quickest, by sizes and by how the operands lie. Memory that the library has to get for it takes time, too.
gemm_tuning choose(const gemm_work& work, const gpu& on, bool workspace_given);
// All that choose() has to choose from, each with its best number of parts and some others.
std::vector<gemm_tuning> candidates(const gemm_work& work, const gpu& on);
// One that needs no workspace, and takes operands that lie in any way.
gemm_tuning choose_without_workspace();
// So many parts as `tuned` says, or 1 where a launch cannot count all tiles. The work is as the kernel computes it.
int parts_of(const gemm_work& work, const gemm_tuning& tuned);
// Matrices of a batch that are packed: a stride of 0 means one for all.
constexpr std::int64_t packed_count(std::int64_t count, std::int64_t stride) { return stride == 0 ? 1 : count; }
// How the workspace is laid out, in floats.
struct gemm_workspace {
    std::int64_t a = 0, b = 0, partial = 0, floats = 0;  // where each begins, and how many there are
    std::int64_t a_ld = 0, b_ld = 0;                     // of packed operands
};

// All that is decided about a product before it is launched.
struct gemm_plan {
    gemm_work work;  // as the kernel computes it: of the transposes, where it is tuned so
    gemm_paths lie;  // its operands
    gemm_tuning tuned;
    gemm_workspace space;
};
gemm_plan plan_of(const gemm_work& work, const gpu& on, bool workspace_given);  // the quickest
gemm_plan plan_of(const gemm_work& work, const gemm_tuning& tuned, const gpu& on);
// The most workspace that plans can take for such sizes, wherever the operands lie; in floats.
std::int64_t most_workspace(const gemm_work& work, const gpu& on);
std::string explain(const gemm_work& work, const gpu& on, bool workspace_given);

}  // namespace cornerturn::production
