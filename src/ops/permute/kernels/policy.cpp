#include "ops/permute/kernels/policy.hpp"

namespace cornerturn::tensor_copies {
namespace {

struct tuned_work {
    matrix_work work;
    transposes::tuning tuned;
};

std::optional<tuned_work> tuned_for(const strided_copy& c, const gpu& on) {
    const std::optional<matrix_work> work = matrices_of(c);
    if (!work) return std::nullopt;
    const transposes::tuning tuned = transposes::choose(*work, on);
    if (tuned.by == transposes::kernel_family::strided || tuned.by == transposes::kernel_family::nothing)
        return std::nullopt;
    return tuned_work{*work, tuned};
}

}  // namespace

std::optional<matrix_work> matrices_for(const strided_copy& c, const gpu& on) {
    const std::optional<tuned_work> found = tuned_for(c, on);
    return found ? std::optional(found->work) : std::nullopt;
}

void run(const strided_copy& c, const gpu& on, run_matrices by_matrices, run_plan by_plan) {
    const std::optional<tuned_work> found = tuned_for(c, on);
    if (!found) return strided::for_each_plan(c, on, by_plan);
    by_matrices(found->tuned, found->work, on);
}

std::string explain(const strided_copy& c, const gpu& on) {
    const std::optional<matrix_work> work = matrices_for(c, on);
    if (!work) return strided::explain(c, on);
    return "matrices: " + std::to_string(work->count) + " of " + std::to_string(work->rows) + " x " +
           std::to_string(work->cols) + " elements of " + std::to_string(work->element_size) + " bytes, " +
           transposes::explain(*work, on);
}

}  // namespace cornerturn::tensor_copies
