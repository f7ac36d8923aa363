// Medians and percentiles of samples.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "lab/result.hpp"

namespace cornerturn::lab {

// Linear interpolation between the closest ranks. `samples` must not be empty. share: 0.5 for the median.
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

// Samples `count` contestants. sample(i) returns seconds. Each round samples every contestant once, in an order drawn
// from the seed, so that all meet the same clocks and the same other programs. There are at least how.rounds rounds,
// and more until how.seconds are over or there are 200. A contestant that has used more than `patience` seconds is not
// sampled again. A warm-up that takes more than a fifth of `patience` counts as a sample, and is that contestant's last
// warm-up.
template <class Sample>
std::vector<timing> sample_in_turn(std::size_t count, const sampling& how, std::uint64_t seed, Sample sample,
                                   double patience = std::numeric_limits<double>::infinity()) {
    constexpr int kWarmUps = 3, kMostRounds = 200;
    std::vector<double> spent(count);
    std::vector<std::vector<double>> samples(count);
    for (std::size_t k = 0; k < count; ++k) {
        for (int i = 0; i < kWarmUps && spent[k] == 0; ++i) {
            if (const double run = sample(k); run > patience / 5) {
                samples[k].push_back(run);
                spent[k] = run;
            }
        }
    }
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::mt19937_64 random(seed);
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    for (int round = 0; round < how.rounds || (round < kMostRounds && elapsed() < how.seconds); ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (std::size_t k : order) {
            if (spent[k] > patience) continue;
            samples[k].push_back(sample(k));
            spent[k] += samples[k].back();
        }
    }
    std::vector<timing> result;
    for (const std::vector<double>& seconds : samples) result.push_back(summarize(seconds));
    return result;
}

}  // namespace cornerturn::lab
