// Copies of runs of bytes that are long in themselves.
#include "host/ways.hpp"

namespace cornerturn::host {
namespace {

constexpr std::int64_t kPieceBytes = 64 * kKiB;  // of a run

}  // namespace

void run_runs(const strided_copy& c, bool large, int threads) {
    const kernels use = kernels_for(1);
    const std::int64_t pieces = divide_up(c.run, kPieceBytes);
    share_out(c.bytes(), threads, pieces * c.runs(), [&](std::int64_t i) {
        const std::int64_t first = i % pieces * kPieceBytes;
        const byte* from = reinterpret_cast<const byte*>(c.source) + first;
        byte* to = reinterpret_cast<byte*>(c.destination) + first;
        std::int64_t number = i / pieces;
        for (int k = 0; k < c.rank; ++k) {
            const strided_axis& a = c.axes[static_cast<std::size_t>(k)];
            from += number % a.extent * a.source;
            to += number % a.extent * a.destination;
            number /= a.extent;
        }
        const std::int64_t bytes = std::min(kPieceBytes, c.run - first);
        large ? use.stream(from, to, bytes, nullptr) : copy(from, to, bytes);
    });
}

}  // namespace cornerturn::host
