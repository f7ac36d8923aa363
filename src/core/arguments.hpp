// What a caller may get wrong: found before anything is done, and told in one sentence. For the GPU and the host alike.
#pragma once

#include <cstdint>
#include <string>

#include "core/work.hpp"
#include "cornerturn/matrix_view.hpp"
#include "cornerturn/transpose_layout.hpp"

namespace cornerturn {

// Throws invalid_argument: "<what> is <value>: <rule>".
[[noreturn]] void refuse(const std::string& what, const std::string& value, const std::string& rule);
std::string hex(std::uintptr_t address);

bool is_empty(const transpose_layout& layout);

// Each throws invalid_argument.
void check_layout(const transpose_layout& layout);
// That of two views, checked.
transpose_layout checked_layout(const detail::any_batch& source, const detail::any_batch& destination,
                                std::int64_t element_size, std::int64_t element_alignment);
// That matrices of a checked layout that is not empty are aligned, and apart or in place.
void check_addresses(const transpose_layout& layout, std::uintptr_t source, std::uintptr_t destination);

matrix_work work_of(const transpose_layout& layout, std::uintptr_t source, std::uintptr_t destination);

// The product that these views ask for, checked but for their addresses, with factors of 1 and 0. Throws
// invalid_argument.
gemm_work checked_product(const detail::any_batch& a, bool a_turned, const detail::any_batch& b, bool b_turned,
                          const detail::any_batch& c);
// That the matrices of a checked product that is not empty are aligned, and C apart from the others; those that are not
// read may lie anywhere.
void check_product_addresses(const gemm_work& work);
// And that so many bytes of workspace are apart from all of them.
void check_workspace_apart(const gemm_work& work, std::uintptr_t address, std::int64_t bytes);

}  // namespace cornerturn
