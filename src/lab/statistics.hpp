// Medians and percentiles of samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "lab/result.hpp"

namespace cornerturn::lab {

// Linear interpolation between the closest ranks; `samples` must not be empty. share: 0.5 for the median.
inline double percentile(std::vector<double> samples, double share) {
    std::sort(samples.begin(), samples.end());
    const double rank = share * static_cast<double>(samples.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(rank));
    const std::size_t above = std::min(below + 1, samples.size() - 1);
    return samples[below] + (rank - std::floor(rank)) * (samples[above] - samples[below]);
}

inline timing summarize(const std::vector<double>& seconds) {
    return {percentile(seconds, 0.5), percentile(seconds, 0.1), percentile(seconds, 0.9),
            static_cast<int>(seconds.size())};
}

}  // namespace cornerturn::lab
