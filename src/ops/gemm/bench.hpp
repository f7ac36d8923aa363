// The products of the bench: named groups of them, and those that are drawn at random.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/gemm/problem.hpp"

namespace cornerturn {

struct product_cell {
    std::string group;
    gemm_shape shape;
};

inline constexpr const char* kSquareProducts = "squares";  // the group that is told from small to large
std::vector<std::string> product_groups();
std::vector<product_cell> product_grid(const std::vector<std::string>& groups);

// m, n and k log-uniform from 1 to 16384, and of at least 2^24 operations; A and B as they are or transposed; a quarter
// each packed, with leading dimensions 1 to 32 elements larger, 1 to 5 elements off a boundary, and in batches of 2 to
// 1000, log-uniform, that take at most 4 GiB and 2^43 operations: sizes of a batch that takes more are drawn anew.
std::vector<product_cell> product_draws(int count, std::uint64_t seed);

// Products that a kernel must compute right before one of this shape counts as verified: small ones with gaps behind
// their rows, off their boundaries, of special values, of values whose products cancel or differ by powers of two; and
// the shape itself with other values. alpha and beta fill their mantissas. Drawn from the shape's seed.
std::vector<gemm_shape> product_trials(const gemm_shape& shape);

// "narrow" (m or n is at most 64), "short k" (k is); "neither" of what is neither.
std::vector<std::string> product_classes(const gemm_shape& shape);

}  // namespace cornerturn
