#include <cstring>

#include "ops/copy/kernel_traits.hpp"
#include "ops/reverse/reverse.hpp"

namespace cornerturn {
namespace {

constexpr rung_notes kHostReverse{
    .id = "host/reverse",
    .idea = "The plain loop on the host: what reversing is.",
    .change = "Where everything begins.",
    .contract = "Any rows x cols, any element size, any leading dimensions; source and destination must not overlap.",
    .bytes = "2 * rows * cols * e",
    .limit = "One core.",
    .source = "A test.",
};

void run(const matrix_work& work) {
    const std::int64_t size = work.element_size;
    const auto* const from = static_cast<const char*>(work.source);
    auto* const to = static_cast<char*>(work.destination);
    for (std::int64_t row = 0; row < work.rows; ++row) {
        std::memcpy(to + row * work.destination_ld * size, from + (work.rows - 1 - row) * work.source_ld * size,
                    static_cast<std::size_t>(work.cols * size));
    }
}

constexpr variant<matrix_work> kVariants[] = {{{"", "-", kAnyElementSize}, &run}};
const bool kRegistered = register_rung(kHostReverse, reverse_operation(), backend::host, __FILE__, kVariants);

}  // namespace
}  // namespace cornerturn
