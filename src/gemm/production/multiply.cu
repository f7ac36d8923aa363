// A product, as it is tuned: operands are packed, tiles computed, parts gathered.
#include "gemm/production/multiply.hpp"
#include "gemm/production/product.hpp"
#include "transpose/production/kernels.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using production::gemm_machine;
using production::gemm_path;
using production::gemm_paths;
using production::gemm_tile;
using production::gemm_tiles;
using production::gemm_tuning;
using production::gemm_workspace;

// An operand brought into the workspace, as rows of k: transposed where it lies along k, copied elsewhere.
void bring(const float* from, std::int64_t ld, std::int64_t stride, bool along_k, std::int64_t k, std::int64_t extent,
           std::int64_t count, float* to, std::int64_t to_ld, int compute_capability) {
    if (k == 0) return;
    clear_ends(to, to_ld, k * count, extent);
    if (along_k) {
        const matrix_work turn{from,  to,     extent,   k, extent > 1 ? ld : k, to_ld, static_cast<int>(sizeof(float)),
                               count, stride, k * to_ld};
        run_tuned(production::choose(turn, compute_capability), turn);
    } else {
        pack(from, ld, stride, to, to_ld, k, extent, count);
    }
}

void launch_tiles(gemm_launch w, gemm_tiles_kernel kernel, int shared_bytes, const gemm_tuning& tuned,
                  const gemm_machine& machine) {
    const gemm_tile& tile = production::tile_of(tuned.tiles);
    w.tiles_down = (w.m + tile.rows - 1) / tile.rows;
    w.tiles_across = (w.n + tile.cols - 1) / tile.cols;
    const std::int64_t steps = w.k > tile.depth ? (w.k + tile.depth - 1) / tile.depth : 1;
    w.parts = tuned.parts < steps ? tuned.parts : static_cast<int>(steps);  // each part has some
    w.whole = static_cast<int>(production::whole_tiles(w.tiles(), tuned, machine));
    const int left = w.tiles() - w.whole;
    launch({dim3(static_cast<unsigned>(w.whole + left * w.parts)), dim3(static_cast<unsigned>(tile.threads)),
            static_cast<std::size_t>(shared_bytes), nullptr, true},
           kernel, w);
    if (left > 0) gather(w, tile);
}

}  // namespace

bool multiply(const gemm_work& work, const gemm_tuning& tuned, const gemm_machine& machine) {
    if (work.m == 0 || work.n == 0 || work.count == 0) return true;
    const gemm_workspace space = production::workspace_of(work, tuned, machine);
    gemm_paths paths = production::paths_of(work);
    gemm_operand a{work.a, work.lda, work.a_stride, 0}, b{work.b, work.ldb, work.b_stride, 0};
    {
        const step_before what_follows;
        if (tuned.pack_a) {
            float* const to = work.workspace + space.a;
            bring(work.a, work.lda, work.a_stride, !work.a_turned, work.k, work.m, work.count, to, space.a_ld,
                  machine.compute_capability);
            a = {to, space.a_ld, work.k * space.a_ld, 0};
            paths.a = gemm_path::vectors;
        }
        if (tuned.pack_b) {
            float* const to = work.workspace + space.b;
            bring(work.b, work.ldb, work.b_stride, work.b_turned, work.k, work.n, work.count, to, space.b_ld,
                  machine.compute_capability);
            b = {to, space.b_ld, work.k * space.b_ld, 0};
            paths.b = gemm_path::vectors;
        }
    }
    int shared_bytes = 0;
    const gemm_tiles_kernel kernel =
        tuned.tiles == gemm_tiles::large ? large_tiles(paths, shared_bytes) : small_tiles(paths, shared_bytes);
    if (kernel == nullptr) return false;

    const gemm_tile& tile = production::tile_of(tuned.tiles);
    const auto least = [](std::int64_t x, std::int64_t y) { return x < y ? x : y; };
    const std::int64_t rows = production::kMostTilesAlong * tile.rows, cols = production::kMostTilesAlong * tile.cols;
    const std::int64_t each =
        (least(work.m, rows) + tile.rows - 1) / tile.rows * ((least(work.n, cols) + tile.cols - 1) / tile.cols);
    const std::int64_t products = production::kMostTiles / each;
    for (std::int64_t product = 0; product < work.count; product += products) {
        for (std::int64_t row = 0; row < work.m; row += rows) {
            for (std::int64_t col = 0; col < work.n; col += cols) {
                const auto m = static_cast<int>(least(work.m - row, rows));
                const auto n = static_cast<int>(least(work.n - col, cols));
                const auto part = [&](gemm_operand of, std::int64_t along, gemm_path path, int extent, bool packed) {
                    of.data += product * of.stride + (path == gemm_path::turned ? along * of.ld : along);
                    of.extent = packed ? (extent + 3) / 4 * 4 : extent;
                    return of;
                };
                launch_tiles({.a = part(a, row, paths.a, m, tuned.pack_a),
                              .b = part(b, col, paths.b, n, tuned.pack_b),
                              .c = work.c + product * work.c_stride + row * work.ldc + col,
                              .ldc = work.ldc,
                              .c_stride = work.c_stride,
                              .k = work.k,
                              .m = m,
                              .n = n,
                              .count = static_cast<int>(least(work.count - product, products)),
                              .alpha = work.alpha,
                              .beta = work.beta,
                              .tiles_down = 0,
                              .tiles_across = 0,
                              .whole = 0,
                              .parts = 1,
                              .partial = work.workspace + space.partial},
                             kernel, shared_bytes, tuned, machine);
            }
        }
    }
    return true;
}

}  // namespace CORNERTURN_KERNELS

#if !defined(CORNERTURN_EMULATED)
namespace cornerturn::production {

bool multiply_on_gpu(const gemm_work& work, const gemm_tuning& tuned, const gemm_machine& machine) {
    return dialect::multiply(work, tuned, machine);
}

}  // namespace cornerturn::production
#endif
