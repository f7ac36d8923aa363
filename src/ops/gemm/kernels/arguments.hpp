// Checks the arguments of a product. core/arguments.hpp has the checks of transposes, and those that both share.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "core/arguments.hpp"
#include "core/overlap.hpp"
#include "cornerturn/matrix_view.hpp"
#include "ops/gemm/gemm_work.hpp"

namespace cornerturn {

// The product of these views, with factors of 1 and 0. All is checked except addresses. Throws invalid_argument.
gemm_work checked_product(const detail::any_batch& a, bool a_transposed, const detail::any_batch& b, bool b_transposed,
                          const detail::any_batch& c);

// One of the matrices of a product, or a batch of them.
struct product_operand {
    named_batch matrix;
    std::uintptr_t address;
    lattice bytes;

    std::string text() const;  // "a (4 x 6 at 0x1000)"
};

// The matrices of a checked product that is not empty: C first, then A and B if they are read. The addresses of those
// that are not read do not matter.
class product_operands {
public:
    explicit product_operands(const gemm_work& work);

    std::span<const product_operand> read_or_written() const { return {all_.data(), count_}; }
    // Throw invalid_argument unless addresses are aligned and C is apart from A and B.
    void check_addresses() const;
    // Also checks that a workspace of `bytes` is apart from all of them.
    void check_workspace_apart(std::uintptr_t address, std::int64_t bytes) const;

private:
    std::array<product_operand, 3> all_{};
    std::size_t count_;
};

}  // namespace cornerturn
