#include "cornerturn/copy.hpp"
#include "device/registry.hpp"
#include "ops/permute/strided_work.hpp"

namespace cornerturn {
namespace {

constexpr rung_notes kHostProduction{
    .id = "host/permute",
    .idea = "What cornerturn::permute runs: it transposes tiles in vector registers and writes past the caches.",
    .change = "From vectors: on the host, in host memory, on all cores.",
    .contract = "Any extents, strides, alignment and element size. The destination's elements must not overlap.",
    .bytes = "2 * elements * e",
    .limit = "The bandwidth of the host's memory.",
    .source = "This project.",
};

void run(const strided_work& w) {
    detail::axis_list extents, from, to;
    for (int i = 0; i < w.rank; ++i) {
        extents.add(w.extents[i]);
        from.add(w.source_strides[i]);
        to.add(w.destination_strides[i]);
    }
    detail::copy({reinterpret_cast<std::uintptr_t>(w.source), extents, from},
                 {reinterpret_cast<std::uintptr_t>(w.destination), extents, to}, w.element_size, 1, {});
}

constexpr variant<strided_work> kVariants[] = {{{"", "-", kAnyElementSize}, &run}};
const bool kRegistered = register_rung(kHostProduction, permute_operation(), backend::host, __FILE__, kVariants);

}  // namespace
}  // namespace cornerturn
