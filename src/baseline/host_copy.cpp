// Copies in host memory, on all cores: the yardstick of what is timed there.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

#include "core/sizes.hpp"
#include "host/kernels.hpp"
#include "ops/copy/work.hpp"
#include "ops/transpose/operation.hpp"

namespace cornerturn {
namespace {

constexpr rung_notes kCopy{
    .id = "host/copy",
    .idea = "A copy on all cores, a MiB at a time: past the caches, and as memcpy does it.",
    .change = "A peer, not a rung.",
    .contract = "A matrix without gaps behind its rows, of any elements.",
    .bytes = "2 * rows * cols * e",
    .limit = "The host's memory.",
    .source = "Stores that fetch no line before they overwrite it are the least that a copy can move.",
};

constexpr std::int64_t kPiece = 1 << 20;

void stream(unsigned char* to, const unsigned char* from, std::size_t bytes) {
    static const host::kernels use = host::kernels_for(1);
    use.stream(from, to, static_cast<std::int64_t>(bytes), nullptr);
    host::end_stream();
}

template <class Copy>
void run(const matrix_work& work, Copy copy) {
    decline_gaps(work);
    const std::int64_t elements = checked_multiply(work.rows, work.cols, "rows x cols");
    const std::int64_t bytes = checked_multiply(elements, work.element_size, "elements x bytes");
    auto* const to = static_cast<unsigned char*>(work.destination);
    const auto* const from = static_cast<const unsigned char*>(work.source);
    tbb::parallel_for(std::int64_t{0}, (bytes + kPiece - 1) / kPiece, [&](std::int64_t i) {
        copy(to + i * kPiece, from + i * kPiece, static_cast<std::size_t>(std::min(kPiece, bytes - i * kPiece)));
    });
}
void run_streamed(const matrix_work& work) { run(work, stream); }
void run_memcpy(const matrix_work& work) {
    run(work, [](auto... a) { std::memcpy(a...); });
}

constexpr variant<matrix_work> kVariants[] = {{{"streamed", "a peer", kAnyElementSize}, run_streamed, {.copies = true}},
                                              {{"memcpy", "a peer", kAnyElementSize}, run_memcpy, {.copies = true}}};
const bool kRegistered = register_rung(kCopy, transpose_operation(), backend::host, __FILE__, kVariants);

}  // namespace
}  // namespace cornerturn
