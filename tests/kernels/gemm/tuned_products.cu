// The production multiplication, tuned in each way that there is, whatever would be chosen.
#include "device/rung.hpp"
#include "ops/gemm/kernels/product.hpp"
#include "ops/gemm/work.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using production::gemm_machine;
using production::gemm_tile_size;
using production::gemm_tuning;

constexpr rung_notes kTunedProducts{
    .id = "tuned_gemm",
    .idea = "the production multiplication with its tuning given",
    .change = "-",
    .contract = "as it is tuned",
    .bytes = "-",
    .limit = "-",
    .source = "tests",
};

// So few, that a small product has tiles that are whole and others in parts.
constexpr gemm_machine kMachine{90, 3};

template <gemm_tile_size kTiles, bool kPackA, bool kPackB, int kParts>
struct tuned {
    static constexpr gemm_tuning kTuning{.tiles = kTiles, .pack_a = kPackA, .pack_b = kPackB, .parts = kParts, .us = 0};
    static void run(const gemm_work& work) {
        const gemm_work computed = production::as_computed(work);
        if (!multiply(computed, production::plan_of(computed, kTuning, kMachine), kMachine))
            decline("has no kernel for operands that lie so");
    }
    static std::int64_t workspace(const gemm_work& work) {
        return production::workspace_of(production::as_computed(work), kTuning, kMachine).floats;
    }
    static constexpr variant<gemm_work> of(const char* name) {
        return {{.name = name, .origin = "-", .element_sizes = sizeof(float), .whole_only = true}, &run, {&workspace}};
    }
};

constexpr auto kLarge = gemm_tile_size::large, kSmall = gemm_tile_size::small;

}  // namespace

CORNERTURN_RUNG(kTunedProducts, gemm_operation(), tuned<kLarge, false, false, 1>::of("large"),
                tuned<kLarge, true, false, 1>::of("large_a"), tuned<kLarge, false, true, 1>::of("large_b"),
                tuned<kLarge, true, true, 1>::of("large_ab"), tuned<kLarge, true, true, 2>::of("large_ab2"),
                tuned<kLarge, false, false, 3>::of("large3"), tuned<kSmall, false, false, 1>::of("small"),
                tuned<kSmall, false, false, 2>::of("small2"), tuned<kSmall, false, false, 40>::of("small40"))

}  // namespace CORNERTURN_KERNELS
