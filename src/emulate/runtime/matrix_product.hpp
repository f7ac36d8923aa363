// Column-major matrix products on the host, for cuBLAS and cublasLt.
#pragma once

#include <cublas_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "emulate/runtime/narrow_floats.hpp"

namespace cornerturn::emulator {

// Not std::complex, because its rules for infinities make products slow.
template <class T>
struct complex_number {
    T re{}, im{};
    friend complex_number operator+(complex_number a, complex_number b) { return {a.re + b.re, a.im + b.im}; }
    friend complex_number operator*(complex_number a, complex_number b) {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
    complex_number& operator+=(complex_number other) { return *this = *this + other; }
    bool operator==(const complex_number&) const = default;
};

struct half_bits {
    std::uint16_t bits;
};
struct bfloat16_bits {
    std::uint16_t bits;
};

// Converts a stored element to the type of the computation, and back.
template <class Compute, class Stored>
Compute loaded(Stored value) {
    if constexpr (std::is_same_v<Stored, half_bits>) {
        return static_cast<Compute>(float_of_half(value.bits));
    } else if constexpr (std::is_same_v<Stored, bfloat16_bits>) {
        return static_cast<Compute>(float_of_bfloat16(value.bits));
    } else {
        return static_cast<Compute>(value);
    }
}
template <class Stored, class Compute>
Stored stored(Compute value) {
    if constexpr (std::is_same_v<Stored, half_bits>) {
        return {half_of_float(static_cast<float>(value))};
    } else if constexpr (std::is_same_v<Stored, bfloat16_bits>) {
        return {bfloat16_of_float(static_cast<float>(value))};
    } else {
        return static_cast<Stored>(value);
    }
}

// C = alpha * product + beta * C, for one element. If beta is zero, C is not read, because it may hold NaN.
template <class Compute>
struct scale_factors {
    Compute alpha, beta;

    // `Scale`: the type of alpha and beta in the program.
    template <class Scale>
    static scale_factors read(const void* alpha, const void* beta) {
        return {loaded<Compute>(*static_cast<const Scale*>(alpha)), loaded<Compute>(*static_cast<const Scale*>(beta))};
    }
    bool reads_c() const { return !(beta == Compute{}); }
    template <class Stored>
    Compute scaled(Compute sum, const Stored* before) const {
        Compute value = alpha * sum;
        if (reads_c()) value += beta * loaded<Compute>(*before);
        return value;
    }
};

template <class Compute>
Compute conjugate(Compute value) {
    return value;
}
template <class T>
complex_number<T> conjugate(complex_number<T> value) {
    return {value.re, -value.im};
}

struct operand {
    const void* at;
    cudaDataType type;
    std::int64_t ld;
    cublasOperation_t op;
};

// Calls body(i) for each i < count. Uses several cores if `work`, the number of multiplications, is large enough.
template <class Body>
void in_parallel(std::int64_t count, double work, const Body& body) {
    constexpr double kWorkOfThread = 1e6;
    const auto cores = static_cast<double>(std::max(1u, std::thread::hardware_concurrency()));
    const auto threads =
        static_cast<std::int64_t>(std::min({cores, static_cast<double>(count), std::max(1.0, work / kWorkOfThread)}));
    const auto part = [&](std::int64_t t) {
        for (std::int64_t i = count * t / threads; i < count * (t + 1) / threads; ++i) body(i);
    };
    std::vector<std::thread> others;
    for (std::int64_t t = 1; t < threads; ++t) others.emplace_back(part, t);
    part(0);
    for (std::thread& one : others) one.join();
}

// Packs a matrix into strips. A strip holds `width` elements of the long side for each of the k inner indices, in order
// of the inner index. Zeros fill the last strip, so that loops over a strip have a fixed length.
template <class Compute, class Stored>
void pack(Compute* to, int width, const Stored* from, std::int64_t long_step, std::int64_t inner_step,
          std::int64_t length, std::int64_t k, bool conjugated) {
    const std::int64_t strips = (length + width - 1) / width;
    in_parallel(strips, static_cast<double>(length) * static_cast<double>(k), [&](std::int64_t strip) {
        Compute* out = to + strip * width * k;
        for (std::int64_t p = 0; p < k; ++p) {
            for (int i = 0; i < width; ++i) {
                const std::int64_t at = strip * width + i;
                Compute value{};
                if (at < length) value = loaded<Compute>(from[at * long_step + p * inner_step]);
                *out++ = conjugated ? conjugate(value) : value;
            }
        }
    });
}

// Calls `body` with a value of the element type. Returns false if Compute cannot be computed from that type.
template <class Compute, class Body>
bool with_element(cudaDataType type, const Body& body) {
    if constexpr (std::is_same_v<Compute, float>) {
        switch (type) {
            case CUDA_R_32F: body(float{}); return true;
            case CUDA_R_16F: body(half_bits{}); return true;
            case CUDA_R_16BF: body(bfloat16_bits{}); return true;
            case CUDA_R_8I: body(std::int8_t{}); return true;
            default: return false;
        }
    } else if constexpr (std::is_same_v<Compute, double>) {
        if (type == CUDA_R_64F) return body(double{}), true;
    } else if constexpr (std::is_same_v<Compute, std::int32_t>) {
        if (type == CUDA_R_8I) return body(std::int8_t{}), true;
        if (type == CUDA_R_32I) return body(std::int32_t{}), true;
    } else {
        if (type == (sizeof(Compute) == 8 ? CUDA_C_32F : CUDA_C_64F)) return body(Compute{}), true;
    }
    return false;
}

template <class Compute>
bool takes(cudaDataType type) {
    return with_element<Compute>(type, [](auto) {});
}

// The packed form of op(matrix): m x k for the left operand, k x n for the right one.
template <class Compute>
std::unique_ptr<Compute[]> packed(const operand& from, int width, std::int64_t length, std::int64_t k, bool left) {
    const auto count = static_cast<std::size_t>((length + width - 1) / width * width * k);
    std::unique_ptr<Compute[]> to(new Compute[count]);
    const bool transposed = from.op == CUBLAS_OP_T || from.op == CUBLAS_OP_C;
    const bool rows_long = left != transposed;  // whether the long side is contiguous in memory
    const bool conjugated = from.op == CUBLAS_OP_C || from.op == CUBLAS_OP_CONJG;
    with_element<Compute>(from.type, [&](auto element) {
        using stored_type = decltype(element);
        pack(to.get(), width, static_cast<const stored_type*>(from.at), rows_long ? 1 : from.ld,
             rows_long ? from.ld : 1, length, k, conjugated);
    });
    return to;
}

// Calls finish(row, col, sum) for each element of op(A) op(B). Each sum adds its k products in order.
template <class Compute, class Finish>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const operand& a, const operand& b,
              const Finish& finish) {
    constexpr int kRows = sizeof(Compute) <= 8 ? 32 / static_cast<int>(sizeof(Compute)) : 2, kCols = 4;
    const auto left = packed<Compute>(a, kRows, m, k, true), right = packed<Compute>(b, kCols, n, k, false);
    const std::int64_t tile_rows = (m + kRows - 1) / kRows, tile_cols = (n + kCols - 1) / kCols;
    const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k + 1);
    in_parallel(tile_rows, work, [&](std::int64_t tile_row) {
        for (std::int64_t tile_col = 0; tile_col < tile_cols; ++tile_col) {
            const Compute* x = left.get() + tile_row * kRows * k;
            const Compute* y = right.get() + tile_col * kCols * k;
            Compute sums[kCols][kRows] = {};
            for (std::int64_t p = 0; p < k; ++p, x += kRows, y += kCols) {
                for (int j = 0; j < kCols; ++j) {
                    for (int i = 0; i < kRows; ++i) sums[j][i] += x[i] * y[j];
                }
            }
            const std::int64_t row = tile_row * kRows, col = tile_col * kCols;
            for (std::int64_t j = 0; j < std::min<std::int64_t>(kCols, n - col); ++j) {
                for (std::int64_t i = 0; i < std::min<std::int64_t>(kRows, m - row); ++i) {
                    finish(row + i, col + j, sums[j][i]);
                }
            }
        }
    });
}

// The bytes of an element. 0: the type is not supported.
inline std::size_t element_bytes(cudaDataType type) {
    switch (type) {
        case CUDA_R_8I: return 1;
        case CUDA_R_16F:
        case CUDA_R_16BF: return 2;
        case CUDA_R_32F:
        case CUDA_R_32I: return 4;
        case CUDA_R_64F:
        case CUDA_C_32F: return 8;
        case CUDA_C_64F: return 16;
        default: return 0;
    }
}

// Whether the rows x cols matrix at `at` lies in device memory. If not, a real GPU would report an illegal address.
bool device_matrix(const void* at, cudaDataType type, std::int64_t rows, std::int64_t cols, std::int64_t ld);

}  // namespace cornerturn::emulator
