// Which matrices the copy between tensors moves faster than their own kernel does.
#pragma once

#include <cstdint>

#include "ops/transpose/kernels/policy.hpp"

namespace cornerturn::transposes {

inline constexpr int kVectorBytes = 16;

// Where the rows of all matrices begin: they are aligned to the lowest bit that is set here.
std::uint64_t starts_of_source_rows(const matrix_work& w);
std::uint64_t starts_of_destination_rows(const matrix_work& w);

// Whether the copy is faster than tuning t.
bool copies_better(const tuning& t, const matrix_work& w);

}  // namespace cornerturn::transposes
