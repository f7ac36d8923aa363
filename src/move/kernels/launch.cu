// Calls a plan's kernel.
#include <iterator>

#include "move/kernels/kernels.hpp"
#include "move/policy.hpp"
#if !defined(CORNERTURN_EMULATED)
#include "device/cuda_check.hpp"
#endif

namespace CORNERTURN_KERNELS {
namespace {

using moves::kernel_family;

#if defined(CORNERTURN_EMULATED)
constexpr bool keeps_lines() { return true; }
#else
using device::keeps_lines;
#endif

run_work kernel_for(const moves::plan& p) {
    switch (p.by) {
        case kernel_family::direct: return direct_kernel(p.row);
        case kernel_family::vector: return vector_kernel(p.row);
        case kernel_family::vector_apart: return vector_apart_kernel(p.row);
        case kernel_family::ragged: return p.unit < 4 ? ragged_bytes_kernel(p.row) : ragged_kernel(p.row);
        case kernel_family::tall: return tall_kernel(p.row);
        case kernel_family::wide: return wide_kernel(p.row);
        case kernel_family::small: return small_kernel(p.row);
        case kernel_family::elements: return elements_kernel(p.row);
        case kernel_family::vector_in_place: return vector_in_place_kernel(p.row);
        case kernel_family::elements_in_place: return elements_in_place_kernel(p.row);
        case kernel_family::blocks_in_place: return blocks_in_place_kernel(p.row);
        default: return nullptr;  // not for matrices
    }
}

void run_conversion(const moves::plan& p, const launch_shape& shape, result_policy result) {
    if (p.by == kernel_family::units) return run_converted_units(p.pieces, p.cast, p.types, p.aligned, shape);
    if (p.at_load) return run_converted_at_load(p, result, shape);
    constexpr converting (*kOf[])(int) = {converting_0, converting_1, converting_2, converting_3};
    static_assert(std::size(kOf) == kConvertFiles);
    const converting its = kOf[p.pair % kConvertFiles](p.pair);
    if (p.by == kernel_family::rows) return its.rows(p.rows, p.cast, result, keeps_lines(), shape);
    if (p.by == kernel_family::tiles) return its.tiles(p.tiles, p.cast, result, shape);
    moves::matrices_work work = p.matrices;
    work.keeps_lines = keeps_lines();
    const auto columns = static_cast<int>(work.cols);
    (p.by == kernel_family::vector ? its.vector(p.row) : its.few_columns(columns))(work, p.cast, p.on);
}

void run_plan(const moves::plan& p) {
    if (p.by == kernel_family::nothing) return;
    if (const run_work run = p.types.converts() ? nullptr : kernel_for(p)) {
        moves::matrices_work work = p.matrices;
        work.keeps_lines = keeps_lines();
        return run(work, p.on);
    }
    launch_shape shape{dim3(p.blocks), dim3(static_cast<unsigned>(p.threads)),
                       static_cast<std::size_t>(p.shared_bytes)};
    shape.early = true;
    const result_policy result(keeps_lines() && p.keeps_result);
    if (p.types.converts()) return run_conversion(p, shape, result);
    if (p.by == kernel_family::rows)
        return run_rows(p.rows, p.unit, p.relative_alignment, result, keeps_lines(), shape);
    if (p.by == kernel_family::packed) return run_packed(p.packed, p.unit, result, keeps_lines(), shape);
    if (p.by == kernel_family::units) return run_units(p.pieces, p.unit, p.units, p.each, result, shape);
    if (p.groups) return run_groups(p.tiles, p.unit, p.shifted, p.aligned, shape);
    run_tiles(p.tiles, p.unit, p.gaps, result, shape);
}

}  // namespace
}  // namespace CORNERTURN_KERNELS

namespace cornerturn::moves {

#if defined(CORNERTURN_EMULATED)
void run_emulated(const plan& p) { dialect::run_plan(p); }
void run_emulated(const strided_copy& c, const gpu& on) {
    for_each_plan(c, on, [](const plan& p) { dialect::run_plan(p); });
}
#else
void run_on_gpu(const plan& p) { dialect::run_plan(p); }
void run_on_gpu(const strided_copy& c, const gpu& on) {
    for_each_plan(c, on, [](const plan& p) { dialect::run_plan(p); });
}
#endif

}  // namespace cornerturn::moves
