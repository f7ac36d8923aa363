#include "ops/permute/kernels/policy.hpp"

namespace cornerturn::routing {
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
