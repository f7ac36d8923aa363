// How a product is computed. The tuning is data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/gpu.hpp"
#include "ops/gemm/gemm_work.hpp"
#include "ops/gemm/kernels/tunings.hpp"

namespace cornerturn::products {

// How an operand is stored and read. Along k means that a row of A, or a column of B, is contiguous.
enum class operand_layout {
    vectors,        // rows of k, 16 bytes at a time: aligned, and long enough to fill vectors
    words,          // rows of k, a float at a time
    along_k,        // columns of k, a float at a time
    fours_along_k,  // columns of k, 16 bytes at a time: aligned, and k is a multiple of 4
};
constexpr bool lies_along_k(operand_layout layout) {
    return layout == operand_layout::along_k || layout == operand_layout::fours_along_k;
}
struct operand_layouts {
    operand_layout a, b;

    constexpr bool some_along_k() const { return lies_along_k(a) || lies_along_k(b); }
    // The layouts after packing: what is packed comes in vectors.
    constexpr operand_layouts packed(bool pack_a, bool pack_b) const {
        return {pack_a ? operand_layout::vectors : a, pack_b ? operand_layout::vectors : b};
    }
    friend bool operator==(const operand_layouts&, const operand_layouts&) = default;
};
// The layouts for the operands as they are stored.
operand_layouts layouts_of(const gemm_work& work);

// The offset of C's rows from a multiple of 8 floats: C's address, ldc and c_stride, in floats, are or'ed together. 0
// if all rows begin at such a multiple. A multiple of 4 if all can be stored 16 bytes at a time.
int c_off(const float* c, std::int64_t ldc, std::int64_t c_stride);
bool stores_fours(const gemm_work& work);

// Limits of one launch: tiles along a side of C, tiles in all, and k.
constexpr std::int64_t kMostTilesAlong = 1 << 15, kMostTiles = 1 << 30, kMostK = std::int64_t{1} << 33;

// The work as it is computed. If alpha is 0, it has no A and B, which may then hold anything, as in BLAS. The functions
// below take such work. Throws unsupported if k is above kMostK.
gemm_work as_computed(const gemm_work& work);

// The product of the transposes, in the other order. Its C is the transpose of C.
gemm_work transposed(const gemm_work& work);

struct gemm_tuning {
    int kernel;           // a row of kGemmKernels
    bool transposed;      // the kernel computes the transpose of C; A and B are exchanged
    bool pack_a, pack_b;  // copied into the workspace first, as aligned rows of k
    // Parts of a tile along k. Tiles that fill whole rounds of all multiprocessors stay whole, and the rest is split.
    // If there are too few tiles, all are split (whole_tiles()).
    int parts;
    double us;  // predicted microseconds

    const gemm_kernel& row() const;
    friend bool operator==(const gemm_tuning&, const gemm_tuning&) = default;
};
// "tiny, sliced, of the transpose, A packed, 4 parts"
std::string name_of(const gemm_tuning& tuned);

// Blocks whose registers fit in a multiprocessor. Four steps of both operands take more registers.
constexpr int resident_by_registers(const gemm_kernel& kernel, const operand_layouts& layouts) {
    const bool fours = layouts.a == operand_layout::fours_along_k && layouts.b == operand_layout::fours_along_k;
    return fours && kernel.takes_fours_along_k() && kernel.resident > 2 ? kernel.resident * 3 / 4 : kernel.resident;
}
// Blocks that a multiprocessor holds at a time. It depends on the operands' layouts, and on whether sums are so long
// that they are added up in chunks. An operand along k is read one piece of each cache line at a time. Fewer blocks
// then run, but at least two, so that the L1 keeps these lines until the rest is read. For `dots`, the L1 keeps B.
int resident_on(const gemm_kernel& kernel, bool chunks, const operand_layouts& layouts, const gpu& on);
// Whether sums need chunks, if `whole` tiles are whole and each of the others is split into `parts` parts.
bool needs_chunks(const gemm_kernel& kernel, std::int64_t k, std::int64_t whole, int parts);
// How many of `tiles` tiles are computed whole, by one block each. The others are split into `parts` parts.
std::int64_t whole_tiles(const gemm_kernel& kernel, std::int64_t tiles, int parts, const gpu& on);
// How many tiles C has, for all products together.
std::int64_t tiles_of(const gemm_work& work, const gemm_kernel& kernel);

// The fastest tuning, by sizes and by how the operands are stored. It counts the time to allocate a workspace.
gemm_tuning choose(const gemm_work& work, const gpu& on, bool workspace_given);
// All tunings that choose() can choose from, each with its best number of parts and some others.
std::vector<gemm_tuning> candidates(const gemm_work& work, const gpu& on);
// A tuning that needs no workspace and takes operands in any layout.
gemm_tuning choose_without_workspace();
// The parts that `tuned` says, or 1 if a launch cannot count all tiles. The work is as the kernel computes it.
int parts_of(const gemm_work& work, const gemm_tuning& tuned);
// How many matrices of a batch are packed. A stride of 0 means one matrix for all.
constexpr std::int64_t packed_count(std::int64_t count, std::int64_t stride) { return stride == 0 ? 1 : count; }
// The layout of the workspace, in floats.
struct gemm_workspace {
    std::int64_t a = 0, b = 0, partial = 0, floats = 0;  // where each begins, and the size of all
    std::int64_t a_ld = 0, b_ld = 0;                     // of packed operands
};

// All that is decided about a product before it is launched.
struct prepared_product {
    gemm_work work;           // as the kernel computes it: perhaps with transposes
    operand_layouts layouts;  // of its operands
    gemm_tuning tuned;
    gemm_workspace space;
};
prepared_product prepare(const gemm_work& work, const gpu& on, bool workspace_given);  // the fastest
prepared_product prepare(const gemm_work& work, const gemm_tuning& tuned, const gpu& on);
// The most workspace, in floats, that prepared products can take for such sizes, wherever the operands are.
std::int64_t most_workspace(const gemm_work& work, const gpu& on);
std::string explain(const gemm_work& work, const gpu& on, bool workspace_given);

}  // namespace cornerturn::products
