#include <algorithm>
#include <cstring>

#include "ops/copy/kernel_traits.hpp"
#include "ops/transpose/operation.hpp"

namespace cornerturn {
namespace {

constexpr rung_notes kHostReference{
    .id = "host/reference",
    .idea = "The plain double loop on the host. It defines what a transpose is.",
    .change = "The first rung.",
    .contract =
        "Any rows x cols, any element size, any leading dimensions, batches. Square matrices in place too. Otherwise "
        "source and destination must not overlap.",
    .bytes = "2 * rows * cols * e",
    .limit = "It runs on one core. On one side, each element touches a cache line of its own.",
    .source = "Note 003, matrix_trans.",
};

void run(const matrix_work& work) {
    const char* const source = static_cast<const char*>(work.source);
    char* const destination = static_cast<char*>(work.destination);
    const std::size_t size = work.element_size;
    const bool in_place = work.source == work.destination;
    for (std::int64_t matrix = 0; matrix < work.count; ++matrix) {
        const char* const from = source + matrix * work.source_stride * size;
        char* const to = destination + matrix * work.destination_stride * size;
        for (std::int64_t row = 0; row < work.rows; ++row) {
            for (std::int64_t col = in_place ? row + 1 : 0; col < work.cols; ++col) {
                char* const moved = to + (col * work.destination_ld + row) * size;
                if (in_place) {
                    std::swap_ranges(moved, moved + size, to + (row * work.destination_ld + col) * size);
                } else {
                    std::memcpy(moved, from + (row * work.source_ld + col) * size, size);
                }
            }
        }
    }
}

constexpr variant<matrix_work> kVariants[] = {{{"", "003 matrix_trans", kAnyElementSize}, &run}};
const bool kRegistered = register_rung(kHostReference, transpose_operation(), backend::host, __FILE__, kVariants);

}  // namespace
}  // namespace cornerturn
