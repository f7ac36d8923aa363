#include <cstring>

#include "device/registry.hpp"

namespace cornerturn {
namespace {

constexpr rung_notes kHostReference{
    .id = "host/reference",
    .idea = "The plain double loop on the host: what a transpose is.",
    .change = "Where everything begins.",
    .contract = "Any rows x cols, any element size, any leading dimensions; source and destination must not overlap.",
    .bytes = "2 * rows * cols * e",
    .limit = "One core, and a cache line touched for each element of one side.",
    .source = "Note 003, matrix_trans.",
};

void run(const matrix_work& work) {
    const char* const source = static_cast<const char*>(work.source);
    char* const destination = static_cast<char*>(work.destination);
    const std::size_t size = work.element_size;
    for (std::int64_t row = 0; row < work.rows; ++row) {
        for (std::int64_t col = 0; col < work.cols; ++col) {
            std::memcpy(destination + (col * work.destination_ld + row) * size,
                        source + (row * work.source_ld + col) * size, size);
        }
    }
}

constexpr variant kVariants[] = {{"", "003 matrix_trans", 1 | 2 | 4 | 8 | 16, &run}};
const bool kRegistered =
    (register_rung(kHostReference, operation::transpose, backend::host, __FILE__, "", kVariants, 1), true);

}  // namespace
}  // namespace cornerturn
