// Runs a planned product: it packs operands, computes tiles and gathers parts.
#include <utility>

#include "move/policy.hpp"
#include "ops/gemm/kernels/multiply.hpp"
#include "ops/gemm/kernels/product.hpp"
#if !defined(CORNERTURN_EMULATED)
#include "device/cuda_device.hpp"
#endif

namespace CORNERTURN_KERNELS {
namespace {

using products::gemm_kernel;
using products::operand_layout;
using products::operand_layouts;
using products::prepared_product;

// Brings an operand into the workspace as rows of k: transposed if it is stored along k, else copied.
void bring(gemm_operand& operand, operand_layout layout, std::int64_t k, std::int64_t extent, std::int64_t all,
           float* to, std::int64_t to_ld, const gpu& on) {
    const std::int64_t count = products::packed_count(all, operand.stride);
    const gemm_operand from = operand;
    operand = {to, to_ld, count == 1 ? 0 : k * to_ld, 0};
    if (k == 0) return;
    clear_ends(to, to_ld, k * count, extent);
    if (!lies_along_k(layout)) return pack(from.data, from.ld, from.stride, to, to_ld, k, extent, count);
    const matrix_work transpose{
        from.data, to,          extent,   k, extent > 1 ? from.ld : k, to_ld, static_cast<int>(sizeof(float)),
        count,     from.stride, k * to_ld};
#if defined(CORNERTURN_EMULATED)
    moves::run_emulated(canonical(transpose), on);
#else
    moves::run_on_gpu(canonical(transpose), on);
#endif
}

constexpr int kReservedShared = 1 << 10;  // CUDA's share of each block

template <int kRow>
gemm_tiles_kernel kernel_of(const operand_layouts& layouts, bool fours) {
    constexpr products::gemm_family kFamily = products::kGemmKernels[kRow].family;
    if constexpr (kFamily == products::gemm_family::tiles)
        return tiles_kernel_of<kRow>(layouts, fours);
    else if constexpr (kFamily == products::gemm_family::outer)
        return outer_kernel_of<kRow>(layouts);
    else
        return narrow_kernel_of<kRow>(layouts);
}

template <int... kRows>
gemm_tiles_kernel find_kernel(int row, const operand_layouts& layouts, bool fours,
                              std::integer_sequence<int, kRows...>) {
    gemm_tiles_kernel found;
    ((row == kRows ? static_cast<void>(found = kernel_of<kRows>(layouts, fours)) : static_cast<void>(0)), ...);
    return found;
}

void launch_tiles(gemm_launch w, const gemm_tiles_kernel& kernel, const gemm_kernel& row,
                  const operand_layouts& layouts, const gpu& on) {
    w.tiles_down = (w.m + row.rows - 1) / row.rows;
    w.tiles_across = (w.n + row.left(products::c_off(w.c, w.c_row, w.c_stride)) + row.cols - 1) / row.cols;
    w.whole = static_cast<int>(products::whole_tiles(row, w.tiles(), w.parts, on));
    const int left = w.tiles() - w.whole;
    const int blocks = w.whole + left * w.parts, at_a_time = (blocks - 1) / on.multiprocessors + 1;
    const std::int64_t steps = w.k > 0 ? (w.k + row.depth() - 1) / row.depth() : 1;
    w.steps_each = static_cast<int>(steps / w.parts);
    w.steps_over = static_cast<int>(steps % w.parts);
    const bool chunks = products::needs_chunks(row, w.k, w.whole, w.parts);
    const int shared = chunks ? kernel.with_chunks_bytes : kernel.shared_bytes;
    // If fewer blocks run than fit, the rest of shared memory serves as cache.
    const int resident = products::resident_on(row, chunks, layouts, on),
              here = at_a_time < resident ? at_a_time : resident;
    launch(
        {.grid = dim3(static_cast<unsigned>(blocks)),
         .block = dim3(static_cast<unsigned>(row.threads())),
         .dynamic_shared_bytes = static_cast<std::size_t>(shared),
         .early = true,
         .shared_bytes_at_a_time = static_cast<std::size_t>(
             shared > 0 && here < products::resident_on(row, chunks, {}, on) ? here * (shared + kReservedShared) : 0)},
        kernel.run, w);
    if (left > 0) gather(w, row.rows, row.cols);
}

}  // namespace

bool multiply(const prepared_product& prepared, float* workspace, const gpu& on) {
    const gemm_work& work = prepared.work;
    if (work.m == 0 || work.n == 0 || work.count == 0) return true;
    const products::gemm_tuning& tuned = prepared.tuned;
    const operand_layouts packed = prepared.layouts.packed(tuned.pack_a, tuned.pack_b);
    const int parts = products::parts_of(work, tuned);
    const gemm_kernel& row = tuned.row();
    const std::int64_t c_row = tuned.transposed ? 1 : work.ldc, c_col = tuned.transposed ? work.ldc : 1;
    const bool fours = products::stores_fours(work) && !tuned.transposed;
    const gemm_tiles_kernel kernel =
        find_kernel(tuned.kernel, packed, fours, std::make_integer_sequence<int, products::kGemmKernelCount>());
    if (kernel.run == nullptr || !row.takes(work.k)) return false;
    if (row.family == products::gemm_family::outer && tuned.transposed) return false;
    gemm_operand a{work.a, work.lda, work.a_stride, 0}, b{work.b, work.ldb, work.b_stride, 0};
    {
        const preparation_scope before_the_products;
        if (tuned.pack_a)
            bring(a, prepared.layouts.a, work.k, work.m, work.count, workspace + prepared.space.a, prepared.space.a_ld,
                  on);
        if (tuned.pack_b)
            bring(b, prepared.layouts.b, work.k, work.n, work.count, workspace + prepared.space.b, prepared.space.b_ld,
                  on);
    }

    const auto least = [](std::int64_t x, std::int64_t y) { return x < y ? x : y; };
    const std::int64_t rows = products::kMostTilesAlong * row.rows, cols = products::kMostTilesAlong * row.cols;
    const std::int64_t each = (least(work.m, rows) + row.rows - 1) / row.rows *
                              ((least(work.n, cols) + row.left(1) + row.cols - 1) / row.cols);
    const std::int64_t at_a_time = each < products::kMostTiles ? products::kMostTiles / each : 1;
    for (std::int64_t product = 0; product < work.count; product += at_a_time) {
        for (std::int64_t down = 0; down < work.m; down += rows) {
            for (std::int64_t across = 0; across < work.n; across += cols) {
                const auto m = static_cast<int>(least(work.m - down, rows));
                const auto n = static_cast<int>(least(work.n - across, cols));
                const auto part = [&](gemm_operand of, std::int64_t along, operand_layout layout, int extent,
                                      bool is_packed) {
                    of.data += product * of.stride + (lies_along_k(layout) ? along * of.ld : along);
                    of.extent = is_packed ? (extent + 3) / 4 * 4 : extent;
                    return of;
                };
                launch_tiles({.a = part(a, down, packed.a, m, tuned.pack_a),
                              .b = part(b, across, packed.b, n, tuned.pack_b),
                              .c = work.c + product * work.c_stride + down * c_row + across * c_col,
                              .c_row = c_row,
                              .c_col = c_col,
                              .c_stride = work.c_stride,
                              .k = work.k,
                              .m = m,
                              .n = n,
                              .count = static_cast<int>(least(work.count - product, at_a_time)),
                              .alpha = work.alpha,
                              .beta = work.beta,
                              .tiles_down = 0,
                              .tiles_across = 0,
                              .whole = 0,
                              .parts = parts,
                              .steps_each = 0,
                              .steps_over = 0,
                              .partial = workspace + prepared.space.partial},
                             kernel, row, packed, on);
            }
        }
    }
    return true;
}

}  // namespace CORNERTURN_KERNELS

#if !defined(CORNERTURN_EMULATED)
namespace cornerturn::products {

bool multiply_on_gpu(const prepared_product& prepared, float* workspace, const gpu& on) {
    return dialect::multiply(prepared, workspace, on);
}

}  // namespace cornerturn::products
#endif
