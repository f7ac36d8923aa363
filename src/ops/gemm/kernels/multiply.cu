// A product, as it is tuned: operands are packed, tiles computed, parts gathered.
#include "ops/gemm/kernels/multiply.hpp"
#include "ops/gemm/kernels/product.hpp"
#include "ops/transpose/kernels/dispatch.hpp"
#if !defined(CORNERTURN_EMULATED)
#include "device/cuda_device.hpp"
#endif

namespace CORNERTURN_KERNELS {
namespace {

using production::gemm_machine;
using production::gemm_path;
using production::gemm_paths;
using production::gemm_plan;
using production::gemm_tile;
using production::gemm_tile_size;

// An operand brought into the workspace, as rows of k: transposed where it lies along k, copied elsewhere.
void bring(gemm_operand& operand, gemm_path& path, std::int64_t k, std::int64_t extent, std::int64_t all, float* to,
           std::int64_t to_ld, [[maybe_unused]] int compute_capability) {
    const std::int64_t count = production::packed_count(all, operand.stride);
    const gemm_operand from = operand;
    operand = {to, to_ld, count == 1 ? 0 : k * to_ld, 0};
    const bool along_k = path == gemm_path::along_k;
    path = gemm_path::vectors;
    if (k == 0) return;
    clear_ends(to, to_ld, k * count, extent);
    if (!along_k) return pack(from.data, from.ld, from.stride, to, to_ld, k, extent, count);
    const matrix_work transpose{
        from.data, to,          extent,   k, extent > 1 ? from.ld : k, to_ld, static_cast<int>(sizeof(float)),
        count,     from.stride, k * to_ld};
#if defined(CORNERTURN_EMULATED)
    const gpu on = gpu_of_capability(compute_capability);
    production::run_emulated(production::choose(transpose, on), transpose, on);
#else
    const gpu on = device::gpu_of(device::launch_device());
    production::run_on_gpu(production::choose(transpose, on), transpose, on);
#endif
}

constexpr int kReservedShared = 1 << 10;  // by CUDA, of each block

void launch_gemm_tiles(gemm_launch w, const gemm_tiles_kernel& kernel, const gemm_tile& tile,
                       const gemm_machine& machine) {
    w.tiles_down = (w.m + tile.rows - 1) / tile.rows;
    w.tiles_across = (w.n + tile.cols - 1) / tile.cols;
    w.whole = static_cast<int>(production::whole_tiles(w.tiles(), w.parts, machine));
    const int left = w.tiles() - w.whole;
    const int blocks = w.whole + left * w.parts, at_a_time = (blocks - 1) / machine.multiprocessors + 1;
    const std::int64_t steps = (w.k + tile.depth - 1) / tile.depth;
    const int shared = kernel.shared_bytes(w.whole > 0 ? steps : 0, left > 0 ? (steps + w.parts - 1) / w.parts : 0);
    // Where blocks are few, the rest of a multiprocessor's memory is a cache for copies of 4 bytes.
    launch({.grid = dim3(static_cast<unsigned>(blocks)),
            .block = dim3(static_cast<unsigned>(tile.threads)),
            .dynamic_shared_bytes = static_cast<std::size_t>(shared),
            .early = true,
            .shared_bytes_at_a_time = static_cast<std::size_t>(
                at_a_time < production::resident_on(tile, machine) ? at_a_time * (shared + kReservedShared) : 0)},
           kernel.run, w);
    if (left > 0) gather(w, tile);
}

}  // namespace

bool multiply(const gemm_work& work, const gemm_plan& plan, const gemm_machine& machine) {
    if (work.m == 0 || work.n == 0 || work.count == 0) return true;
    const production::gemm_tuning& tuned = plan.tuned;
    gemm_paths paths = plan.lie, packed = plan.lie;
    if (tuned.pack_a) packed.a = gemm_path::vectors;
    if (tuned.pack_b) packed.b = gemm_path::vectors;
    const int parts = production::parts_of(work, tuned);
    const gemm_tile& tile = production::tile_of(tuned.tiles);
    const gemm_tiles_kernel kernel = tuned.tiles == gemm_tile_size::large ? large_tiles(packed) : small_tiles(packed);
    if (kernel.run == nullptr) return false;
    gemm_operand a{work.a, work.lda, work.a_stride, 0}, b{work.b, work.ldb, work.b_stride, 0};
    {
        const step_before what_follows;
        if (tuned.pack_a)
            bring(a, paths.a, work.k, work.m, work.count, work.workspace + plan.space.a, plan.space.a_ld,
                  machine.compute_capability);
        if (tuned.pack_b)
            bring(b, paths.b, work.k, work.n, work.count, work.workspace + plan.space.b, plan.space.b_ld,
                  machine.compute_capability);
    }

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
                const auto part = [&](gemm_operand of, std::int64_t along, gemm_path path, int extent, bool is_packed) {
                    of.data += product * of.stride + (path == gemm_path::along_k ? along * of.ld : along);
                    of.extent = is_packed ? (extent + 3) / 4 * 4 : extent;
                    return of;
                };
                launch_gemm_tiles({.a = part(a, row, paths.a, m, tuned.pack_a),
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
                                   .parts = parts,
                                   .partial = work.workspace + plan.space.partial},
                                  kernel, tile, machine);
            }
        }
    }
    return true;
}

}  // namespace CORNERTURN_KERNELS

#if !defined(CORNERTURN_EMULATED)
namespace cornerturn::production {

bool multiply_on_gpu(const gemm_work& work, const gemm_plan& plan, const gemm_machine& machine) {
    return dialect::multiply(work, plan, machine);
}

}  // namespace cornerturn::production
#endif
