// Products for tests: random ones, and each way that A and B lie.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "device/registry.hpp"
#include "ops/gemm/kernels/tunings.hpp"
#include "ops/gemm/problem.hpp"

namespace cornerturn::tests {

inline constexpr gemm_values kValues[] = {gemm_values::uniform, gemm_values::symmetric,  gemm_values::normal,
                                          gemm_values::wide,    gemm_values::cancelling, gemm_values::integers};

// Of all three matrices, without gaps.
inline std::int64_t bytes_of(const gemm_shape& s) { return 4 * s.count * (s.m * s.k + s.k * s.n + s.m * s.n); }

inline std::string describe(const gemm_shape& s) {
    return (s.count == 1 ? "" : fmt::format("{} of ", s.count)) +
           fmt::format(
               "{} x {} x {}{}{}, leading dimensions {}, {}, {}, offsets {}, {}, {}, {} * A B + {} * C, values {}, "
               "seed {}",
               s.m, s.n, s.k, s.a_transposed ? ", A transposed" : "", s.b_transposed ? ", B transposed" : "", s.lda,
               s.ldb, s.ldc, s.a_offset, s.b_offset, s.c_offset, s.alpha, s.beta, static_cast<int>(s.values), s.seed);
}

// Fewer where sanitizers, which take long, ask for it.
inline int rounds(int usual) {
    const char* const asked = std::getenv("CORNERTURN_RANDOM_ROUNDS");
    return asked == nullptr ? usual : std::atoi(asked);
}

// The row of kGemmKernels that a kernel of tests/kernels/gemm/tuned_products.cu is of: its name begins with the number.
inline const products::gemm_kernel& tuned_row(const kernel& tuned) {
    return products::kGemmKernels[std::stoi(tuned.id.substr(std::string("tuned_gemm@").size(), 2))];
}

// Of a seed that it prints: every third aligned, the others off their boundaries.
class random_products {
public:
    random_products() {
        const unsigned seed = std::random_device{}();
        std::printf("seed %u\n", seed);
        random_.seed(seed);
    }

    // m and n up to `most`, k up to `most_k`, and every third up to 16; A and B as they are, or transposed at random.
    gemm_shape next(int most, int most_k, bool may_turn) {
        constexpr float kFactors[] = {0, 1, -1, 2.5f, 0.1f};
        gemm_shape s{.m = 1 + up_to(most), .n = 1 + up_to(most), .k = up_to(most_k), .seed = random_()};
        if (up_to(2) == 0) s.k %= 17;
        const bool aligned = up_to(2) == 0;
        const auto four = [&](std::int64_t size) { return aligned ? (size + 3) / 4 * 4 : size; };
        s.m = four(s.m), s.n = four(s.n);
        if (up_to(1) == 0) s.k = four(s.k);
        if (may_turn) s.a_transposed = up_to(1) == 1, s.b_transposed = up_to(1) == 1;
        s.lda = four((s.a_transposed ? s.m : s.k) + up_to(9));
        s.ldb = four((s.b_transposed ? s.k : s.n) + up_to(9));
        s.ldc = four(s.n + up_to(9));
        if (!aligned) s.a_offset = up_to(5), s.b_offset = up_to(5), s.c_offset = up_to(5);
        s.alpha = kFactors[up_to(4)];
        s.beta = kFactors[up_to(4)];
        const int kind = static_cast<int>(up_to(6));
        s.values = kind < 6 ? kValues[kind] : gemm_values::special;
        return s;
    }

private:
    std::int64_t up_to(int most) { return static_cast<std::int64_t>(random_() % static_cast<unsigned>(most + 1)); }

    std::mt19937 random_;
};

// Each of the four ways that A and B are transposed.
template <class F>
void for_each_way(gemm_shape s, F f) {
    for (bool a : {false, true}) {
        for (bool b : {false, true}) {
            s.a_transposed = a, s.b_transposed = b;
            ASSERT_NO_FATAL_FAILURE(f(s));
        }
    }
}

}  // namespace cornerturn::tests
