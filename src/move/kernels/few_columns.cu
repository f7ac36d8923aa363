// Copies of matrices with few columns: see few_columns.hpp.
#include "move/kernels/few_columns.hpp"

namespace CORNERTURN_KERNELS {
namespace {

template <int kElement, int kCount>
void run(const moves::matrices_work& work, const gpu& on) {
    run_few_columns<moved_words<kElement>, kCount>(work, {}, on);
}

struct tall_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        constexpr moves::tuning kUse = moves::kTall.rows[kRow];
        return &run<kUse.unit, kUse.tile_cols>;
    }
};

}  // namespace

run_work tall_kernel(int row) { return kernel_of_row<tall_rows>(row, moves::kTall.rows); }

}  // namespace CORNERTURN_KERNELS
