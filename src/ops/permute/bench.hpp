// The permutations of the bench: named ones from models, odd ones, and random draws.
#pragma once

#include <string>
#include <vector>

#include "device/operation.hpp"
#include "ops/copy/strided_shape.hpp"

namespace cornerturn {

std::vector<std::string> permutation_groups();

// The 57 permutations of about 200 MB that were published with HPTT: three tensors for each order of axes. (P.
// Springer, T. Su, P. Bientinesi: HPTT: A High-Performance Tensor Transposition C++ Library. ARRAY 2017; benchmark.sh.)
inline constexpr const char* kPublished = "published";
struct published_order {
    std::vector<int> axes;
    std::vector<std::vector<std::int64_t>> extents;  // of the sources
};
const std::vector<published_order>& published_orders();

// The outermost loop is over element sizes.
std::vector<bench_cell> permutation_grid(const std::vector<int>& element_sizes, const std::vector<std::string>& groups);
std::vector<bench_cell> permutation_draws(int count, std::uint64_t seed, const drawn_bytes& bytes);

}  // namespace cornerturn
