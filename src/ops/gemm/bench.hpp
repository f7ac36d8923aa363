// The products of the bench: named groups, and random draws.
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

inline constexpr const char* kSquareProducts = "squares";  // the group that is reported from small to large
std::vector<std::string> product_groups();
std::vector<product_cell> product_grid(const std::vector<std::string>& groups);

// Draws m, n and k log-uniformly from 1 to 16384, with at least 2^24 operations. A and B may be transposed. A quarter
// each is packed, has leading dimensions that are 1 to 32 elements larger, begins 1 to 5 elements off a boundary, and
// is a batch. A batch has 2 to 1000 products, log-uniformly, at most 4 GiB and 2^43 operations; if it would have more,
// its sizes are drawn again.
std::vector<product_cell> product_draws(int count, std::uint64_t seed);

// Products that a kernel must compute correctly before one of this shape counts as verified. They are small ones with
// gaps between rows, off their boundaries, of special values, and of values whose products cancel or differ by powers
// of two; and the shape itself with other values. alpha and beta fill their mantissas. The shape's seed draws all.
std::vector<gemm_shape> product_trials(const gemm_shape& shape);

// "narrow" (m or n is at most 64) and "short k" (k is at most 64). "neither" if neither holds.
std::vector<std::string> product_classes(const gemm_shape& shape);

}  // namespace cornerturn
