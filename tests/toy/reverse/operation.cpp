#include "ops/copy/movement.hpp"
#include "ops/reverse/reverse.hpp"

namespace cornerturn {
namespace {

// Row `row` of the destination is row rows - 1 - row of the source.
constexpr arrangement reversed(std::int64_t rows, std::int64_t cols) {
    return {rows, cols, {(rows - 1) * cols, -cols, 1}};
}

operation_facts reversal_facts() {
    operation_facts all = movement_facts("reverse", {"reverse", "copy"});
    all.sizes = {{"--height", "N", "Rows of the matrix."}, {"--width", "N", "Columns of the matrix."}};
    return all;
}

class reversal final : public movement {
public:
    reversal() : movement(reversal_facts(), reversed) {}
};

}  // namespace

const operation& reverse_operation() {
    static const reversal the_one;
    return the_one;
}

}  // namespace cornerturn
