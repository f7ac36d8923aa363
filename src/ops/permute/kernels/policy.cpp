#include "ops/permute/kernels/policy.hpp"

namespace cornerturn::routing {
namespace {

constexpr std::int64_t kMostElement = 16;  // bytes: longer runs are moved as rows

// Rows step along `rows`, columns along `cols`. Matrices that interleave are none: tiles that are cut from several of
// them have longer pieces.
std::optional<matrix_work> matrices_of(const strided_copy& c) {
    if (c.rank < 2 || c.rank > 3 || c.run > kMostElement) return std::nullopt;
    const strided_axis* rows = nullptr;
    const strided_axis* cols = nullptr;
    const strided_axis* batch = nullptr;
    for (int i = 0; i < c.rank; ++i) {
        const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
        if (a.source <= 0 || a.source % c.run != 0 || a.destination % c.run != 0) return std::nullopt;
        (a.destination == c.run ? rows : a.source == c.run ? cols : batch) = &a;
    }
    if (rows == nullptr || cols == nullptr || (c.rank == 3 && batch == nullptr)) return std::nullopt;
    if (rows->source < cols->extent * c.run || cols->destination < rows->extent * c.run) return std::nullopt;
    matrix_work work{reinterpret_cast<const void*>(c.source),
                     reinterpret_cast<void*>(c.destination),
                     rows->extent,
                     cols->extent,
                     rows->source / c.run,
                     cols->destination / c.run,
                     static_cast<int>(c.run)};
    if (batch == nullptr) return work;
    if (batch->source < rows->extent * rows->source || batch->destination < cols->extent * cols->destination)
        return std::nullopt;
    work.count = batch->extent;
    work.source_stride = batch->source / c.run;
    work.destination_stride = batch->destination / c.run;
    return work;
}

}  // namespace

std::optional<matrix_work> matrices_for(const strided_copy& c, const gpu& on) {
    const std::optional<matrix_work> work = matrices_of(c);
    if (!work) return work;
    const production::path by = production::choose(*work, on).by;
    if (by == production::path::strided || by == production::path::nothing) return std::nullopt;
    return work;
}

void run(const strided_copy& c, const gpu& on, run_matrices by_matrices, run_plan by_plan) {
    const std::optional<matrix_work> work = matrices_for(c, on);
    if (!work) return strided::for_each_plan(c, on, by_plan);
    by_matrices(production::choose(*work, on), *work, on);
}

std::string explain(const strided_copy& c, const gpu& on) {
    const std::optional<matrix_work> work = matrices_for(c, on);
    if (!work) return strided::explain(c, on);
    return "matrices: " + std::to_string(work->count) + " of " + std::to_string(work->rows) + " x " +
           std::to_string(work->cols) + " elements of " + std::to_string(work->element_size) + " bytes, " +
           production::explain(*work, on);
}

}  // namespace cornerturn::routing
