// The conversions of the bench: images, weights and activations, and random draws.
#pragma once

#include <string>
#include <vector>

#include "device/operation.hpp"
#include "ops/copy/strided_shape.hpp"

namespace cornerturn {

std::vector<std::string> conversion_groups();
std::vector<bench_cell> conversion_grid(const std::vector<std::string>& groups);
// Each pair of types for which there are kernels is as likely, and so is each kind of factors.
std::vector<bench_cell> conversion_draws(int count, std::uint64_t seed, const drawn_bytes& bytes);

}  // namespace cornerturn
