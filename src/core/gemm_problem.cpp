#include "core/gemm_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "core/parallel.hpp"
#include "core/pattern.hpp"
#include "core/sizes.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn {
namespace {

constexpr std::int64_t kSize = sizeof(float);
constexpr std::int64_t kMostTerms = 1 << 22;  // of a sum that can still be told from a wrong one

enum : std::uint64_t { kMatrixA = 1, kMatrixB, kMatrixC };

float value_of(const gemm_shape& s, std::uint64_t matrix, std::int64_t row, std::int64_t col) {
    const std::uint64_t place = static_cast<std::uint64_t>(row) << 32 ^ static_cast<std::uint64_t>(col);
    const std::uint64_t bits = mix(mix(place + (matrix << 62)) + s.seed * 0x9e3779b97f4a7c15u);
    if (s.values == gemm_values::integers) return static_cast<float>(static_cast<int>(bits % 17) - 8);
    const float unit = static_cast<float>(bits >> 40) * 0x1p-24f;
    return s.values == gemm_values::uniform ? unit : 2 * unit - 1;
}

// The floats that a matrix spans from its buffer's beginning.
std::int64_t span_of(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t offset) {
    return rows == 0 || cols == 0 ? offset : offset + (rows - 1) * ld + cols;
}

std::string where(std::int64_t row, std::int64_t col) { return fmt::format("C (row {}, column {})", row, col); }

// What rounding each of `terms` products and sums once in single precision may cost, for each unit of their magnitude.
double rounding_of(std::int64_t terms) {
    const double all = static_cast<double>(terms) * 0x1p-24;
    return all / (1 - all);
}

}  // namespace

gemm_shape gemm_shape::checked() const {
    gemm_shape result = *this;
    for (const auto& [name, value] : {std::pair{"m", m},
                                      {"n", n},
                                      {"k", k},
                                      {"A's offset", a_offset},
                                      {"B's offset", b_offset},
                                      {"C's offset", c_offset}}) {
        if (value < 0) throw invalid_argument(fmt::format("{} is {}: it must not be negative", name, value));
    }
    for (std::int64_t extent : {m, n, k}) checked_multiply(extent, 4 * kSize, "floats x bytes");
    if (k > kMostTerms) {
        throw invalid_argument(
            fmt::format("k is {}: the verifier takes sums of up to {} products in single precision", k, kMostTerms));
    }
    const auto check = [](const char* name, std::int64_t rows, std::int64_t cols, std::int64_t& ld) {
        if (ld == 0) ld = cols;
        if (ld < cols)
            throw invalid_argument(fmt::format("{}'s leading dimension is {}: a row has {}", name, ld, cols));
        checked_multiply(checked_multiply(rows, ld, "rows x leading dimension"), 2 * kSize, "floats x bytes");
    };
    check("A", m, k, result.lda);
    check("B", k, n, result.ldb);
    check("C", m, n, result.ldc);
    checked_multiply(gemm_workspace_ld(m), checked_multiply(k, 2 * kSize, "k x bytes"), "m x k");
    return result;
}

host_gemm::host_gemm(const gemm_shape& shape)
    : shape_(shape.checked()),
      a_(span_of(shape_.m, shape_.k, shape_.lda, shape_.a_offset) * kSize),
      b_(span_of(shape_.k, shape_.n, shape_.ldb, shape_.b_offset) * kSize),
      c_(span_of(shape_.m, shape_.n, shape_.ldc, shape_.c_offset) * kSize),
      workspace_(gemm_workspace(shape_.m, shape_.k) * kSize) {}

gemm_work host_gemm::work() const {
    const gemm_shape& s = shape_;
    const auto floats = [](const guarded_buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); };
    return {.a = floats(a_) + s.a_offset,
            .b = floats(b_) + s.b_offset,
            .c = c(),
            .m = s.m,
            .n = s.n,
            .k = s.k,
            .lda = s.lda,
            .ldb = s.ldb,
            .ldc = s.ldc,
            .alpha = s.alpha,
            .beta = s.beta,
            .workspace = floats(workspace_)};
}

float host_gemm::before(std::int64_t row, std::int64_t col) const {
    return shape_.beta == 0 ? std::numeric_limits<float>::quiet_NaN() : value_of(shape_, kMatrixC, row, col);
}

void host_gemm::prepare_inputs() {
    require_memory(a_.size() + b_.size() + c_.size() + workspace_.size(),
                   fmt::format("the matrices of {} x {} x {}", shape_.m, shape_.n, shape_.k));
    const auto fill = [&](const guarded_buffer& buffer, std::uint64_t matrix, std::int64_t rows, std::int64_t cols,
                          std::int64_t ld, std::int64_t offset) {
        float* const to = reinterpret_cast<float*>(buffer.data());
        // What lies around the elements would show in the product.
        std::fill(to, to + offset, std::numeric_limits<float>::quiet_NaN());
        parallel_ranges(cols == 0 ? 0 : rows, std::max<std::int64_t>(1, (1 << 16) / std::max<std::int64_t>(ld, 1)),
                        [&](std::int64_t begin, std::int64_t end) {
                            for (std::int64_t row = begin; row < end; ++row) {
                                float* const line = to + offset + row * ld;
                                for (std::int64_t col = 0; col < cols; ++col)
                                    line[col] = value_of(shape_, matrix, row, col);
                                if (row + 1 < rows)
                                    std::fill(line + cols, line + ld, std::numeric_limits<float>::quiet_NaN());
                            }
                        });
    };
    fill(a_, kMatrixA, shape_.m, shape_.k, shape_.lda, shape_.a_offset);
    fill(b_, kMatrixB, shape_.k, shape_.n, shape_.ldb, shape_.b_offset);
    for (guarded_buffer* buffer : {&a_, &b_, &c_, &workspace_}) buffer->fill_guards();
}

void host_gemm::prepare() {
    prepare_inputs();
    for (std::int64_t byte = 0; byte < c_.size(); ++byte) c_.data()[byte] = guard_byte(byte);
    prepare({{0, 0, shape_.m, shape_.n}});
    auto* const workspace = reinterpret_cast<float*>(workspace_.data());
    std::fill(workspace, workspace + workspace_.size() / kSize, std::numeric_limits<float>::quiet_NaN());
}

void host_gemm::prepare(const std::vector<tile>& tiles) {
    for (const tile& t : tiles) {
        for (std::int64_t row = t.row; row < t.row + t.rows && t.cols > 0; ++row) {
            for (std::int64_t col = t.col; col < t.col + t.cols; ++col) c()[row * shape_.ldc + col] = before(row, col);
        }
    }
}

std::string host_gemm::check_rows(const tile& part) const {
    const gemm_work w = work();
    const double rounding = rounding_of(shape_.k + 2);
    std::atomic<std::int64_t> first_wrong = std::numeric_limits<std::int64_t>::max();
    std::mutex mutex;
    std::string fault;
    const std::int64_t row_work = std::max<std::int64_t>(1, part.cols * std::max<std::int64_t>(shape_.k, 1));
    parallel_ranges(
        part.rows, std::max<std::int64_t>(1, (1 << 18) / row_work), [&](std::int64_t begin, std::int64_t end) {
            std::vector<double> sums(static_cast<std::size_t>(part.cols)), magnitudes(sums.size());
            for (std::int64_t row = part.row + begin; row < part.row + end && row < first_wrong; ++row) {
                std::fill(sums.begin(), sums.end(), 0);
                std::fill(magnitudes.begin(), magnitudes.end(), 0);
                for (std::int64_t i = 0; i < shape_.k && shape_.alpha != 0; ++i) {
                    const double a = w.a[row * w.lda + i];
                    const float* const line = w.b + i * w.ldb + part.col;
                    for (std::size_t j = 0; j < sums.size(); ++j) {
                        const double product = a * line[j];
                        sums[j] += product;
                        magnitudes[j] += std::abs(product);
                    }
                }
                for (std::size_t j = 0; j < sums.size(); ++j) {
                    const std::int64_t col = part.col + static_cast<std::int64_t>(j);
                    const double was = shape_.beta == 0 ? 0 : double{shape_.beta} * before(row, col);
                    const double wanted = double{shape_.alpha} * sums[j] + was;
                    const double magnitude = std::abs(double{shape_.alpha}) * magnitudes[j] + std::abs(was);
                    // Exact, as long as every sum is.
                    const bool exact = shape_.values == gemm_values::integers && magnitude < 0x1p24 &&
                                       std::rint(shape_.alpha) == shape_.alpha && std::rint(shape_.beta) == shape_.beta;
                    const double most = exact ? 0 : magnitude * rounding + 0x1p-149;
                    const float found = w.c[row * w.ldc + col];
                    if (std::abs(found - wanted) <= most) continue;
                    const std::lock_guard lock(mutex);
                    if (row >= first_wrong) break;
                    first_wrong = row;
                    fault = fmt::format("{} holds {:.9g}; it must be {} {:.9g} (seed {})", where(row, col), found,
                                        exact ? "exactly" : fmt::format("within {:.3g} of", most), wanted, shape_.seed);
                    break;
                }
            }
        });
    return fault;
}

verdict host_gemm::check() const {
    verdict result = check({{0, 0, shape_.m, shape_.n}});
    if (!result.passed() || c_.size() == 0) return result;
    const auto elements_end = [&](std::int64_t row) { return (shape_.c_offset + row * shape_.ldc + shape_.n) * kSize; };
    const auto untouched = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t byte = begin; byte < end; ++byte) {
            if (c_.data()[byte] != guard_byte(byte)) return false;
        }
        return true;
    };
    if (!untouched(0, shape_.c_offset * kSize)) result.fault = "what lies before C was overwritten";
    for (std::int64_t row = 0; row + 1 < shape_.m && shape_.n > 0 && result.passed(); ++row) {
        if (!untouched(elements_end(row), elements_end(row) + (shape_.ldc - shape_.n) * kSize))
            result.fault = fmt::format("the gap behind row {} of C was overwritten", row);
    }
    return result;
}

verdict host_gemm::check(const std::vector<tile>& tiles) const {
    verdict result;
    for (const tile& t : tiles) {
        result.elements += t.rows * t.cols;
        if (result.passed() && t.rows > 0 && t.cols > 0) result.fault = check_rows(t);
    }
    for (const named_buffer& b : buffers()) {
        if (result.passed()) result.fault = b.buffer->check_guards(b.name);
    }
    return result;
}

tile host_gemm::tile_at(const void* address, std::int64_t rows, std::int64_t cols) const {
    const std::int64_t index = static_cast<const float*>(address) - c();
    return {index / shape_.ldc, index % shape_.ldc, rows, cols};
}

}  // namespace cornerturn
