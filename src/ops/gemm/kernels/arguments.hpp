// What a caller of a product may get wrong. core/arguments.hpp has what transposes need, and what both share.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "core/arguments.hpp"
#include "core/overlap.hpp"
#include "cornerturn/matrix_view.hpp"
#include "ops/gemm/work.hpp"

namespace cornerturn {

// The product that these views ask for, checked but for their addresses, with factors of 1 and 0. Throws
// invalid_argument.
gemm_work checked_product(const detail::any_batch& a, bool a_transposed, const detail::any_batch& b, bool b_transposed,
                          const detail::any_batch& c);

// One of the matrices of a product, or a batch of them.
struct product_operand {
    named_batch matrix;
    std::uintptr_t address;
    lattice bytes;

    std::string text() const;  // "a (4 x 6 at 0x1000)"
};

// The matrices of a checked product that is not empty: C first, then A and B where they are read. Those that are not
// read may lie anywhere.
class product_operands {
public:
    explicit product_operands(const gemm_work& work);

    std::span<const product_operand> read_or_written() const { return {all_.data(), count_}; }
    // Throw invalid_argument. They are aligned, and C is apart from the others.
    void check_addresses() const;
    // So many bytes of workspace are apart from all of them.
    void check_workspace_apart(std::uintptr_t address, std::int64_t bytes) const;

private:
    std::array<product_operand, 3> all_{};
    std::size_t count_;
};

}  // namespace cornerturn
