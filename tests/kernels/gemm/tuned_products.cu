// The production multiplication, tuned in each way that there is, whatever would be chosen.
#include <utility>

#include "device/rung.hpp"
#include "ops/gemm/gemm_work.hpp"
#include "ops/gemm/kernels/product.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using products::gemm_tuning;

constexpr rung_notes kTunedProducts{
    .id = "tuned_gemm",
    .idea = "the production multiplication with its tuning given",
    .change = "-",
    .contract = "as it is tuned",
    .bytes = "-",
    .limit = "-",
    .source = "tests",
};

// So few multiprocessors that a small product has tiles that are whole and others in parts.
constexpr gpu of_three() {
    gpu on;
    on.multiprocessors = 3;
    return on;
}
constexpr gpu kThree = of_three();

template <int kKernel, int kParts, bool kTransposed = false, bool kPackA = false, bool kPackB = false>
struct tuned {
    static constexpr gemm_tuning kTuning{
        .kernel = kKernel, .transposed = kTransposed, .pack_a = kPackA, .pack_b = kPackB, .parts = kParts, .us = 0};
    static void run(const gemm_work& work) {
        const products::prepared_product prepared = products::prepare(products::as_computed(work), kTuning, kThree);
        if (!multiply(prepared, work.workspace, kThree)) decline("has no kernel for operands of this layout");
    }
    static std::int64_t workspace(const gemm_work& work) {
        return products::prepare(products::as_computed(work), kTuning, kThree).space.floats;
    }
    static constexpr variant<gemm_work> of(const char* name) {
        return {{.name = name, .origin = "-", .element_sizes = sizeof(float), .whole_only = true}, &run, {&workspace}};
    }
};

// "07w": a row's number, and how.
template <int kRow, char kHow>
inline constexpr char kName[] = {'0' + kRow / 10, '0' + kRow % 10, kHow, 0};

constexpr bool is_outer(int row) { return products::kGemmKernels[row].family == products::gemm_family::outer; }
constexpr int last_of_columns() {
    int row = products::kGemmKernelCount - 1;
    while (products::kGemmKernels[row].family != products::gemm_family::columns) --row;
    return row;
}
constexpr int kColumns = last_of_columns();

// Each row of the table: whole, and in three parts of the transpose, which `outer` has not. Some of them packed.
template <int... kRows>
consteval auto all_tunings(std::integer_sequence<int, kRows...>) {
    return variants{tuned<kRows, 1>::of(kName<kRows, 'w'>)...,
                    tuned<kRows, 3, !is_outer(kRows)>::of(kName<kRows, 'p'>)...,
                    tuned<0, 1, false, true, false>::of(kName<0, 'a'>),
                    tuned<0, 1, false, false, true>::of(kName<0, 'b'>),
                    tuned<0, 2, false, true, true>::of(kName<0, '2'>),
                    tuned<products::kAnyOperands, 40>::of(kName<products::kAnyOperands, 'm'>),
                    tuned<kColumns, 2, true, false, true>::of(kName<kColumns, 'b'>)};
}

}  // namespace

CORNERTURN_RUNG(kTunedProducts, gemm_operation(),
                all_tunings(std::make_integer_sequence<int, products::kGemmKernelCount>()))

}  // namespace CORNERTURN_KERNELS
