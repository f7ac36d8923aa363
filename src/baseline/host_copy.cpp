// Copies in host memory on all cores: the yardstick for timings in host memory.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

#include "core/sizes.hpp"
#include "host/kernels.hpp"
#include "ops/copy/kernel_traits.hpp"
#include "ops/transpose/operation.hpp"

namespace cornerturn {
namespace {

constexpr rung_notes kCopy{
    .id = "host/copy",
    .idea = "A copy on all cores, 1 MiB at a time: with stores that bypass the caches, and with memcpy.",
    .change = "A peer, not a rung.",
    .contract = "A matrix without gaps between its rows, of any elements.",
    .bytes = "2 * rows * cols * e",
    .limit = "The bandwidth of the host's memory.",
    .source =
        "Stores that bypass the caches do not fetch a line before they overwrite it. No copy can move fewer bytes.",
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
