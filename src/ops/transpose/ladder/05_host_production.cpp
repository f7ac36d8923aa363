#include "cornerturn/transpose.hpp"
#include "host/choice.hpp"
#include "ops/copy/kernel_traits.hpp"
#include "ops/transpose/operation.hpp"

namespace cornerturn {
namespace {

constexpr rung_notes kHostProduction{
    .id = "host/production",
    .idea = "What cornerturn::transpose runs: it transposes squares of cache lines in registers, past the caches.",
    .change = "From reference: all cores, whole cache lines on both sides, and stores that fetch no line first.",
    .contract =
        "Any rows x cols, any element size, any leading dimensions, batches. Square matrices in place too. Otherwise "
        "source and destination must not overlap.",
    .bytes = "2 * rows * cols * e",
    .limit = "The bandwidth of the host's memory.",
    .source = "This project.",
};

void run(const matrix_work& w) {
    const auto view = [&](const void* data, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                          std::int64_t stride) {
        return detail::any_batch{reinterpret_cast<std::uintptr_t>(data), rows, cols, ld, w.count, stride};
    };
    detail::transpose(view(w.source, w.rows, w.cols, w.source_ld, w.source_stride),
                      view(w.destination, w.cols, w.rows, w.destination_ld, w.destination_stride), w.element_size, 1,
                      {});
}

std::string explain(const matrix_work& w, int) {
    return w.rows * w.cols * w.count == 0 ? "nothing: the matrix is empty" : host::explain(w);
}

constexpr variant<matrix_work> kVariants[] = {
    {{"", "-", kAnyElementSize}, &run, {.batches = true, .in_place = true, .explain = &explain}}};
const bool kRegistered = register_rung(kHostProduction, transpose_operation(), backend::host, __FILE__, kVariants);

}  // namespace
}  // namespace cornerturn
