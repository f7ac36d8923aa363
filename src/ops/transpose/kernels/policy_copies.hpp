// Which matrices the copy between tensors moves faster than the kernel that is made for them.
#pragma once

#include <cstdint>

#include "ops/transpose/kernels/policy.hpp"

namespace cornerturn::production {

inline constexpr int kVectorBytes = 16;

// Where rows begin, of all matrices: they are aligned to the lowest bit that is set here.
std::uint64_t starts_of_source_rows(const matrix_work& w);
std::uint64_t starts_of_destination_rows(const matrix_work& w);

// Whether it is faster than what t says.
bool copies_better(const tuning& t, const matrix_work& w);

}  // namespace cornerturn::production
