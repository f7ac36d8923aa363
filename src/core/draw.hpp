// Numbers drawn at random: the same from a seed on any machine, which the standard's distributions do not promise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace cornerturn {

using random_bits = std::mt19937_64;

// 0 to 1, without 1.
inline double draw_uniform(random_bits& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }
// 0 to `most`.
inline std::int64_t draw_up_to(random_bits& random, std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
}
// A real number whose logarithm is uniform, rounded; at least 1.
inline std::int64_t draw_log_uniform(random_bits& random, double least, double most) {
    const double value = std::exp(std::log(least) + draw_uniform(random) * (std::log(most) - std::log(least)));
    return std::max<std::int64_t>(1, std::llround(value));
}

// For a small problem that resembles a large one: the size itself where it is small, else one that leaves the same
// remainder by every power of two up to `step`, which is one itself.
inline std::int64_t small_like(std::int64_t size, std::int64_t step) {
    return size < 2 * step ? size : step + size % step;
}

}  // namespace cornerturn
