#include "kernels/production_tables.hpp"
#include "ops/transpose/kernels/kernels.hpp"

namespace CORNERTURN_KERNELS {

using tables_of_file = production_kernels (*)();
constexpr tables_of_file kFiles[] = {direct_kernels,       vector_kernels,      ragged_kernels,
                                     ragged_bytes_kernels, few_columns_kernels, few_rows_kernels,
                                     small_kernels,        unit_kernels,        in_place_kernels};

}  // namespace CORNERTURN_KERNELS

namespace cornerturn::tests {

std::vector<tuned_kernel> tuned_kernels() {
    std::vector<tuned_kernel> all;
    for (const auto file : dialect::kFiles) {
        const auto kernels = file();
        for (int i = 0; i < kernels.count; ++i) all.push_back({kernels.all[i].tuned, kernels.all[i].run});
    }
    return all;
}

}  // namespace cornerturn::tests
