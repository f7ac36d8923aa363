// The production multiplication, tuned in each way that there is, whatever would be chosen.
#include "device/rung.hpp"
#include "gemm/production/product.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using production::gemm_machine;
using production::gemm_tiles;
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

template <gemm_tiles kTiles, bool kPackA, bool kPackB, int kParts>
struct tuned {
    static constexpr gemm_tuning kTuning{.tiles = kTiles, .pack_a = kPackA, .pack_b = kPackB, .parts = kParts, .us = 0};
    static void run(const gemm_work& work) {
        if (!multiply(production::as_computed(work), kTuning, kMachine))
            refuse("has no kernel for operands that lie so");
    }
    static std::int64_t workspace(const gemm_work& work) {
        return production::workspace_of(production::as_computed(work), kTuning, kMachine).floats;
    }
    static constexpr variant of(const char* name) {
        variant v{name, "-", sizeof(float), nullptr};
        v.multiply = &run;
        v.workspace = &workspace;
        v.whole_only = true;
        return v;
    }
};

constexpr auto kLarge = gemm_tiles::large, kSmall = gemm_tiles::small;

}  // namespace

CORNERTURN_RUNG(kTunedProducts, operation::multiply, tuned<kLarge, false, false, 1>::of("large"),
                tuned<kLarge, true, false, 1>::of("large_a"), tuned<kLarge, false, true, 1>::of("large_b"),
                tuned<kLarge, true, true, 1>::of("large_ab"), tuned<kLarge, true, true, 2>::of("large_ab2"),
                tuned<kLarge, false, false, 3>::of("large3"), tuned<kSmall, false, false, 1>::of("small"),
                tuned<kSmall, false, false, 2>::of("small2"), tuned<kSmall, false, false, 40>::of("small40"))

}  // namespace CORNERTURN_KERNELS
