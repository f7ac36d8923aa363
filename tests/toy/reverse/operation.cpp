#include "ops/copy/movement.hpp"
#include "ops/reverse/reverse.hpp"

namespace cornerturn {
namespace {

// Row `row` of the destination is row rows - 1 - row of the source.
constexpr arrangement reversed(std::int64_t rows, std::int64_t cols) {
    return {rows, cols, {(rows - 1) * cols, -cols, 1}};
}

class reversal final : public movement {
public:
    reversal() : movement(movement_facts("reverse", {"reverse"}), reversed) {}
};

}  // namespace

const operation& reverse_operation() {
    static const reversal the_one;
    return the_one;
}

}  // namespace cornerturn
