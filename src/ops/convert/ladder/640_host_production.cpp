#include "cornerturn/convert.hpp"
#include "ops/convert/operation.hpp"
#include "ops/copy/host_rung.hpp"

namespace cornerturn {
namespace {

constexpr rung_notes kHostProduction{
    .id = "host/convert",
    .idea = "What cornerturn::convert runs: boxes that fit the nearest caches are permuted, then converted in vectors.",
    .change = "From words: on the host, in host memory, on all cores.",
    .contract = "Any extents, strides, alignment and types. The destination's elements must not overlap.",
    .bytes = "elements * (e of the source + e of the destination)",
    .limit = "The bandwidth of the host's memory.",
    .source = "This project.",
};

void run(const strided_work& w) {
    const axis_lists all(w);
    conversion how{.saturate = w.cast.saturates};
    if (w.factor_axis >= 0) {
        const std::int64_t count = w.extents[w.factor_axis];
        how.scale = {reinterpret_cast<const float*>(w.by.scales.address), count};
        how.bias = {reinterpret_cast<const float*>(w.by.biases.address), count};
        how.axis = w.factor_axis;
    } else if (w.cast.scaled) {
        how.scale = w.by.scales.number;
    }
    detail::convert({{reinterpret_cast<std::uintptr_t>(w.source), all.extents, all.source}, w.cast.from, 1},
                    detail::same_order(all.extents),
                    {{reinterpret_cast<std::uintptr_t>(w.destination), all.extents, all.destination}, w.cast.to, 1},
                    how, {});
}

constexpr variant<strided_work> kVariants[] = {{{"", "-", kAnyElementSize}, &run}};
const bool kRegistered = register_rung(kHostProduction, convert_operation(), backend::host, __FILE__, kVariants);

}  // namespace
}  // namespace cornerturn
