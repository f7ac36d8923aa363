// Copies in host memory, on all cores: the yardstick of what is timed there.
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "core/sizes.hpp"
#include "device/registry.hpp"

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
#if defined(__SSE2__)
    constexpr std::size_t kVector = sizeof(__m128i);
    const std::size_t head = std::min(bytes, (kVector - reinterpret_cast<std::uintptr_t>(to) % kVector) % kVector);
    std::memcpy(to, from, head);
    std::size_t done = head;
    for (; done + kVector <= bytes; done += kVector) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + done),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + done)));
    }
    std::memcpy(to + done, from + done, bytes - done);
    _mm_sfence();
#else
    std::memcpy(to, from, bytes);
#endif
}

template <class Copy>
void run(const matrix_work& work, Copy copy) {
    refuse_gaps(work);
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

constexpr variant kVariants[] = {{"streamed", "a peer", kAnyElementSize, run_streamed},
                                 {"memcpy", "a peer", kAnyElementSize, run_memcpy}};
const bool kRegistered = (register_rung(kCopy, operation::copy, backend::host, __FILE__, "", kVariants, 2), true);

}  // namespace
}  // namespace cornerturn
