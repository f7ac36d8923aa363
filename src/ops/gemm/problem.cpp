#include "ops/gemm/problem.hpp"

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

// The floats that a matrix spans from its buffer's beginning.
std::int64_t span_of(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t offset) {
    return rows == 0 || cols == 0 ? offset : offset + (rows - 1) * ld + cols;
}

}  // namespace

gemm_shape gemm_shape::with_ld() const {
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
    const auto check = [](const char* name, std::int64_t rows, std::int64_t cols, std::int64_t& ld) {
        if (ld == 0) ld = cols;
        if (ld < cols)
            throw invalid_argument(fmt::format("{}'s leading dimension is {}: a row has {}", name, ld, cols));
        checked_multiply(checked_multiply(rows, ld, "rows x leading dimension"), 2 * kSize, "floats x bytes");
    };
    check("A", a_transposed ? k : m, a_transposed ? m : k, result.lda);
    check("B", b_transposed ? n : k, b_transposed ? k : n, result.ldb);
    check("C", m, n, result.ldc);
    checked_multiply(checked_multiply(m, 2 * kSize, "m x bytes"), k, "m x k");
    checked_multiply(checked_multiply(n, 2 * kSize, "n x bytes"), k, "n x k");
    return result;
}

gemm_shape gemm_shape::checked() const {
    if (k > kMostTerms) {
        throw invalid_argument(
            fmt::format("k is {}: the verifier takes sums of up to {} products in single precision", k, kMostTerms));
    }
    return with_ld();
}

float gemm_shape::before(std::int64_t row, std::int64_t col) const {
    return beta == 0 ? std::numeric_limits<float>::quiet_NaN() : filler().value(gemm_matrix::c, row, col);
}

std::int64_t gemm_shape::a_span() const { return span_of(a_transposed ? k : m, a_transposed ? m : k, lda, a_offset); }
std::int64_t gemm_shape::b_span() const { return span_of(b_transposed ? n : k, b_transposed ? k : n, ldb, b_offset); }
std::int64_t gemm_shape::c_span() const { return span_of(m, n, ldc, c_offset); }

gemm_work gemm_shape::work(float* a, float* b, float* c, float* workspace) const {
    return {.a = a + a_offset,
            .b = b + b_offset,
            .c = c + c_offset,
            .m = m,
            .n = n,
            .k = k,
            .lda = lda,
            .ldb = ldb,
            .ldc = ldc,
            .alpha = alpha,
            .beta = beta,
            .workspace = workspace,
            .a_transposed = a_transposed,
            .b_transposed = b_transposed};
}

std::string describe_wrong_product(const gemm_shape& shape, std::int64_t row, std::int64_t col, float found,
                                   const gemm_element& right) {
    return fmt::format("C (row {}, column {}) holds {:.9g}; it must be {} {:.9g} (seed {})", row, col, found,
                       right.exact ? "exactly" : fmt::format("within {:.3g} of", right.most), right.wanted, shape.seed);
}

host_gemm::host_gemm(const gemm_shape& shape, std::int64_t workspace)
    : shape_(shape.checked()),
      a_(shape_.a_span() * kSize),
      b_(shape_.b_span() * kSize),
      c_(shape_.c_span() * kSize),
      workspace_(workspace * kSize) {}

bool host_gemm::use_workspace(std::int64_t floats) {
    if (floats * kSize > workspace_.room()) return false;
    workspace_.use(floats * kSize);
    return true;
}

gemm_work host_gemm::work() const {
    const auto floats = [](const guarded_buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); };
    return shape_.work(floats(a_), floats(b_), floats(c_), floats(workspace_));
}

void host_gemm::prepare_inputs() {
    require_memory(a_.size() + b_.size() + c_.size() + workspace_.size(),
                   fmt::format("the matrices of {} x {} x {}", shape_.m, shape_.n, shape_.k));
    const auto fill = [&](const guarded_buffer& buffer, gemm_matrix matrix, std::int64_t rows, std::int64_t cols,
                          bool transposed, std::int64_t ld, std::int64_t offset) {
        if (transposed) std::swap(rows, cols);
        float* const to = reinterpret_cast<float*>(buffer.data());
        // What lies around the elements would show in the product.
        std::fill(to, to + offset, std::numeric_limits<float>::quiet_NaN());
        parallel_ranges(cols == 0 ? 0 : rows, std::max<std::int64_t>(1, (1 << 16) / std::max<std::int64_t>(ld, 1)),
                        [&](std::int64_t begin, std::int64_t end) {
                            for (std::int64_t row = begin; row < end; ++row) {
                                float* const line = to + offset + row * ld;
                                for (std::int64_t col = 0; col < cols; ++col)
                                    line[col] =
                                        shape_.filler().value(matrix, transposed ? col : row, transposed ? row : col);
                                if (row + 1 < rows)
                                    std::fill(line + cols, line + ld, std::numeric_limits<float>::quiet_NaN());
                            }
                        });
    };
    fill(a_, gemm_matrix::a, shape_.m, shape_.k, shape_.a_transposed, shape_.lda, shape_.a_offset);
    fill(b_, gemm_matrix::b, shape_.k, shape_.n, shape_.b_transposed, shape_.ldb, shape_.b_offset);
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
            for (std::int64_t col = t.col; col < t.col + t.cols; ++col)
                c()[row * shape_.ldc + col] = shape_.before(row, col);
        }
    }
}

std::string host_gemm::check_rows(const tile& part) const {
    const gemm_work w = work();
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
                    const double a = w.a[w.a_transposed ? i * w.lda + row : row * w.lda + i];
                    const float* const line = w.b_transposed ? w.b + part.col * w.ldb + i : w.b + i * w.ldb + part.col;
                    const std::int64_t step = w.b_transposed ? w.ldb : 1;
                    for (std::size_t j = 0; j < sums.size(); ++j) {
                        const double product = a * line[static_cast<std::int64_t>(j) * step];
                        sums[j] += product;
                        magnitudes[j] += std::abs(product);
                    }
                }
                for (std::size_t j = 0; j < sums.size(); ++j) {
                    const std::int64_t col = part.col + static_cast<std::int64_t>(j);
                    const gemm_element right(sums[j], magnitudes[j], shape_.k, shape_.alpha, shape_.beta,
                                             shape_.before(row, col), shape_.values);
                    const float found = w.c[row * w.ldc + col];
                    if (right.holds(found)) continue;
                    const std::lock_guard lock(mutex);
                    if (row >= first_wrong) break;
                    first_wrong = row;
                    fault = describe_wrong_product(shape_, row, col, found, right);
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
