// Copies of long runs of bytes, and of so few runs that the way does not matter.
#include <array>
#include <cstring>

#include "host/methods.hpp"

namespace cornerturn::host {
namespace {

constexpr std::int64_t kPieceBytes = 64 * kKiB;  // of a run

// kSize 0: the size is known only at run time.
template <std::size_t kSize>
void copy_few(const strided_copy& c) {
    const byte* from = reinterpret_cast<const byte*>(c.source);
    byte* to = reinterpret_cast<byte*>(c.destination);
    const std::size_t size = kSize > 0 ? kSize : static_cast<std::size_t>(c.run);
    const strided_axis first = c.axes[0];
    std::array<std::int64_t, kMostAxes> index{};
    for (;;) {
        for (std::int64_t i = 0; i < first.extent; ++i)
            std::memcpy(to + i * first.destination, from + i * first.source, size);
        int axis = 1;
        for (; axis < c.rank; ++axis) {
            const auto k = static_cast<std::size_t>(axis);
            const strided_axis& a = c.axes[k];
            from += a.source;
            to += a.destination;
            if (++index[k] < a.extent) break;
            from -= a.extent * a.source;
            to -= a.extent * a.destination;
            index[k] = 0;
        }
        if (axis == c.rank) return;
    }
}

}  // namespace

void run_few(const strided_copy& c) {
    switch (c.run) {
        case 1: return copy_few<1>(c);
        case 2: return copy_few<2>(c);
        case 4: return copy_few<4>(c);
        case 8: return copy_few<8>(c);
        case 16: return copy_few<16>(c);
        default: return copy_few<0>(c);
    }
}

void run_runs(const strided_copy& c, bool large, const team& threads) {
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
