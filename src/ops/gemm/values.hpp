// The values with which the verifier fills the matrices of a product. Host and device code share them.
#pragma once

#include <cstdint>
#include <limits>

#include "core/pattern.hpp"

namespace cornerturn {

enum class gemm_values {
    integers,    // -8 to 8: products must be exact while sums stay below 2^24
    uniform,     // [0, 1)
    symmetric,   // [-1, 1)
    normal,      // mean 0 and variance 1: the sum of twelve uniform values, less 6
    wide,        // 1 to 2 times a power of two from 2^-20 to 2^20, of either sign
    cancelling,  // uniform; products of the second half of k cancel those of the first, except for a thousandth
    special      // like integers, but one in a thousand is infinite, NaN, -0 or subnormal
};

// Device code may use these constants, but may not call the functions that give their values.
inline constexpr float kInfinity = std::numeric_limits<float>::infinity(),
                       kNaN = std::numeric_limits<float>::quiet_NaN();

enum class gemm_matrix : std::uint64_t { a = 1, b, c };

struct gemm_filler {
    gemm_values values;
    std::uint64_t seed;
    std::int64_t half = 0;  // of k

    // For the matrices of one product of a batch. Each product has other values; the first has this filler's own.
    CORNERTURN_HOST_DEVICE gemm_filler of_product(std::int64_t product) const {
        return {values, seed + static_cast<std::uint64_t>(product) * 0xd1342543de82ef95u, half};
    }
    CORNERTURN_HOST_DEVICE float value(gemm_matrix of, std::int64_t row, std::int64_t col) const {
        const bool cancels = values == gemm_values::cancelling;
        if (cancels && of == gemm_matrix::a && col >= half) return unit(bits_at(of, row, col - half));
        if (cancels && of == gemm_matrix::b && row >= half) return -unit(bits_at(of, row - half, col)) * (1 + 0x1p-10f);
        const std::uint64_t bits = bits_at(of, row, col);
        switch (values) {
            case gemm_values::special:
                if ((bits >> 20 & 1023) == 0) {
                    switch ((bits >> 32) % 5) {
                        case 0: return kInfinity;
                        case 1: return -kInfinity;
                        case 2: return kNaN;
                        case 3: return -0.0f;
                        default: return 0x1p-140f;
                    }
                }
                [[fallthrough]];
            case gemm_values::integers: return static_cast<float>(static_cast<int>(bits % 17) - 8);
            case gemm_values::uniform:
            case gemm_values::cancelling: return unit(bits);
            case gemm_values::symmetric: return symmetric(bits);
            case gemm_values::normal: {
                std::int64_t sum = 0;
                for (std::uint64_t i = 0; i < 12; ++i) sum += static_cast<std::int64_t>(mix(bits + i) >> 40);
                return static_cast<float>(sum - (std::int64_t{6} << 24)) * 0x1p-24f;
            }
            case gemm_values::wide: {
                float value = 1 + unit(bits);
                for (std::uint64_t i = bits % 41; i < 20; ++i) value *= 0.5f;
                for (std::uint64_t i = 20; i < bits % 41; ++i) value *= 2;
                return (bits >> 20 & 1) == 0 ? value : -value;
            }
        }
        return 0;
    }

private:
    CORNERTURN_HOST_DEVICE std::uint64_t bits_at(gemm_matrix of, std::int64_t row, std::int64_t col) const {
        const std::uint64_t position = static_cast<std::uint64_t>(row) << 32 ^ static_cast<std::uint64_t>(col);
        return mix(mix(position + (static_cast<std::uint64_t>(of) << 62)) + seed * 0x9e3779b97f4a7c15u);
    }
    CORNERTURN_HOST_DEVICE static float unit(std::uint64_t bits) { return static_cast<float>(bits >> 40) * 0x1p-24f; }
    CORNERTURN_HOST_DEVICE static float symmetric(std::uint64_t bits) { return 2 * unit(bits) - 1; }
};

// What rounding `terms` products and sums once in single precision may cost, for each unit of their magnitude.
CORNERTURN_HOST_DEVICE inline double rounding_of(std::int64_t terms) {
    const double all = static_cast<double>(terms) * 0x1p-24;
    return all / (1 - all);
}

// The right value of an element of C, and how far from it the element may be.
struct gemm_element {
    double wanted, most;
    double magnitude;  // |alpha| |A| |B| + |beta C|
    bool exact;

    // From the sum of the products and the sum of their magnitudes, in double precision.
    CORNERTURN_HOST_DEVICE gemm_element(double sum, double magnitudes, std::int64_t k, float alpha, float beta,
                                        float before, gemm_values values) {
        const double was = beta == 0 ? 0 : static_cast<double>(beta) * before;
        const auto size = [](double x) { return x < 0 ? -x : x; };
        const auto whole = [](float x) { return x == static_cast<float>(static_cast<int>(x)); };
        wanted = static_cast<double>(alpha) * sum + was;
        magnitude = size(alpha) * magnitudes + size(was);
        // Exact, as long as every sum is exact.
        exact = values == gemm_values::integers && magnitude < 0x1p24 && whole(alpha) && whole(beta);
        most = exact ? 0 : magnitude * rounding_of(k + 2) + 0x1p-149;
    }
    CORNERTURN_HOST_DEVICE bool holds(float found) const {
        if (wanted != wanted) return found != found;
        if (wanted - wanted != 0) return found == wanted;  // infinite
        const double error = found - wanted;
        return error <= most && -error <= most;  // false for a NaN
    }
};

}  // namespace cornerturn
