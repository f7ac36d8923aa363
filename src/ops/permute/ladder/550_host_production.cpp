#include "device/registry.hpp"
#include "ops/copy/host_rung.hpp"
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
    const axis_lists all(w);
    detail::copy({reinterpret_cast<std::uintptr_t>(w.source), all.extents, all.source},
                 {reinterpret_cast<std::uintptr_t>(w.destination), all.extents, all.destination}, w.element_size, 1,
                 {});
}

constexpr variant<strided_work> kVariants[] = {{{"", "-", kAnyElementSize}, &run}};
const bool kRegistered = register_rung(kHostProduction, permute_operation(), backend::host, __FILE__, kVariants);

}  // namespace
}  // namespace cornerturn
