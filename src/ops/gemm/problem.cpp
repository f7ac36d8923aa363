#include "ops/gemm/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "core/arguments.hpp"
#include "core/parallel.hpp"
#include "core/pattern.hpp"
#include "core/sizes.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn {
namespace {

constexpr std::int64_t kSize = sizeof(float);
constexpr std::int64_t kMostTerms = 1 << 22;  // of a sum that can still be told from a wrong one

// Fills in a leading dimension and a stride that are 0.
void lay_out(const char* name, batch_layout batch, std::int64_t& ld, std::int64_t& stride) {
    const named_batch given{batch, name, &kInEnglish};
    given.check_not_negative();
    if (ld == 0) ld = batch.cols;
    if (ld < batch.cols)
        throw invalid_argument(
            fmt::format("{}'s leading dimension is {}: it must be at least {}", name, ld, batch.cols));
    checked_multiply(checked_multiply(batch.rows, ld, "rows x leading dimension"), 2 * kSize, "floats x bytes");
    if (stride == 0) stride = batch.rows * ld;
    const named_batch whole{{batch.rows, batch.cols, ld, batch.count, stride}, name, &kInEnglish};
    whole.check_extent(4 * kSize);
    whole.check_no_overlap();
}

// Names the product, if there are several.
std::string of_product(const gemm_shape& shape, std::int64_t product) {
    return shape.count == 1 ? std::string() : fmt::format(" of product {}", product);
}

}  // namespace

patterned_batch gemm_shape::placed(gemm_matrix which) const {
    const auto of = [&](std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t matrices,
                        std::int64_t stride, std::int64_t offset) {
        const bool turned = is_transposed(which);
        const batch_layout lies{turned ? cols : rows, turned ? rows : cols, ld, matrices, stride};
        return patterned_batch{lies, kSize, seed, offset, copied(lies.rows, lies.cols).order, false, false};
    };
    switch (which) {
        case gemm_matrix::a: return of(m, k, lda, a_shared ? 1 : count, a_stride, a_offset);
        case gemm_matrix::b: return of(k, n, ldb, b_shared ? 1 : count, b_stride, b_offset);
        default: return of(m, n, ldc, count, c_stride, c_offset);
    }
}

gemm_shape gemm_shape::with_layout() const {
    gemm_shape result = *this;
    for (const auto& [name, value] : {std::pair{"m", m},
                                      {"n", n},
                                      {"k", k},
                                      {"the number of products", count},
                                      {"A's offset", a_offset},
                                      {"B's offset", b_offset},
                                      {"C's offset", c_offset}}) {
        if (value < 0) throw invalid_argument(fmt::format("{} is {}: it must not be negative", name, value));
    }
    for (std::int64_t offset : {a_offset, b_offset, c_offset}) checked_multiply(offset, 4 * kSize, "offset x bytes");
    for (std::int64_t extent : {m, n, k}) checked_multiply(extent, 4 * kSize, "floats x bytes");
    lay_out("A", placed(gemm_matrix::a), result.lda, result.a_stride);
    lay_out("B", placed(gemm_matrix::b), result.ldb, result.b_stride);
    lay_out("C", placed(gemm_matrix::c), result.ldc, result.c_stride);
    checked_multiply(checked_multiply(m, 2 * kSize, "m x bytes"), k, "m x k");
    checked_multiply(checked_multiply(n, 2 * kSize, "n x bytes"), k, "n x k");
    return result;
}

gemm_shape gemm_shape::checked() const {
    if (k > kMostTerms) {
        throw invalid_argument(
            fmt::format("k is {}: the verifier takes at most {} products in a sum in single precision", k, kMostTerms));
    }
    return with_layout();
}

bool gemm_shape::lies_as(gemm_shape other) const {
    other.values = values, other.seed = seed, other.alpha = alpha, other.beta = beta;
    return *this == other;
}

namespace {
constexpr std::pair<gemm_values, const char*> kValueNames[] = {
    {gemm_values::integers, "integers"}, {gemm_values::uniform, "uniform"}, {gemm_values::symmetric, "symmetric"},
    {gemm_values::normal, "normal"},     {gemm_values::wide, "wide"},       {gemm_values::cancelling, "cancelling"},
    {gemm_values::special, "special"}};
}

const char* name_of(gemm_values values) {
    const auto at = std::find_if(std::begin(kValueNames), std::end(kValueNames),
                                 [&](const auto& named) { return named.first == values; });
    return at->second;
}

gemm_values find_values(const std::string& option, const std::string& name) {
    std::string all;
    for (const auto& [values, its_name] : kValueNames) {
        if (name == its_name) return values;
        all += fmt::format("{}{}", all.empty() ? "" : ", ", its_name);
    }
    throw invalid_argument(fmt::format("{} is '{}': there are {}", option, name, all));
}

std::string low_precision(const gemm_shape& shape, const gemm_squares& sums) {
    constexpr double kMost = 0x1p-22, kDenormal = 0x1p-147;
    const bool of_either_sign = shape.values == gemm_values::symmetric || shape.values == gemm_values::normal;
    const double allowed = kMost * kMost * sums.magnitudes + kDenormal * kDenormal * static_cast<double>(sums.elements);
    if (!of_either_sign || sums.errors <= allowed) return {};
    return fmt::format(
        "C is computed in less than single precision: its errors are {:.2g} of |A| |B| by Frobenius norms; "
        "they must be at most {:.2g} (seed {})",
        sums.frobenius(), kMost, shape.seed);
}

float gemm_shape::before(coordinates at) const {
    return beta == 0 ? std::numeric_limits<float>::quiet_NaN()
                     : filler().of_product(at.matrix).value(gemm_matrix::c, at.row, at.col);
}

std::int64_t gemm_shape::span(gemm_matrix which) const {
    const patterned_batch all = placed(which);
    return all.offset + all.positions();
}

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
            .b_transposed = b_transposed,
            .count = count,
            .a_stride = a_shared || count == 1 ? 0 : a_stride,
            .b_stride = b_shared || count == 1 ? 0 : b_stride,
            .c_stride = count == 1 ? 0 : c_stride};
}

std::string describe_wrong_product(const gemm_shape& shape, coordinates at, float found, const gemm_element& right) {
    return fmt::format("C (row {}, column {}){} holds {:.9g}; it must be {} {:.9g} (seed {})", at.row, at.col,
                       of_product(shape, at.matrix), found,
                       right.exact ? "exactly" : fmt::format("within {:.3g} of", right.most), right.wanted, shape.seed);
}

std::string describe_wrong_product_gap(const gemm_shape& shape, coordinates row) {
    return fmt::format("the gap after row {} of C{} was overwritten", row.row, of_product(shape, row.matrix));
}

host_gemm::host_gemm(const gemm_shape& shape, std::int64_t workspace)
    : shape_(shape.checked()),
      a_(shape_.span(gemm_matrix::a) * kSize),
      b_(shape_.span(gemm_matrix::b) * kSize),
      c_(shape_.span(gemm_matrix::c) * kSize),
      workspace_(workspace * kSize) {}

bool host_gemm::reshape(const gemm_shape& shape) {
    const gemm_shape next = shape.checked();
    if (!next.lies_as(shape_)) return false;
    shape_ = next;
    return true;
}

bool host_gemm::use_workspace(std::int64_t floats) {
    if (floats * kSize > workspace_.capacity()) return false;
    workspace_.use(floats * kSize);
    return true;
}

gemm_work host_gemm::work() const {
    const auto floats = [](const guarded_buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); };
    return shape_.work(floats(a_), floats(b_), floats(c_), floats(workspace_));
}

void host_gemm::fill(const guarded_buffer& buffer, gemm_matrix which) {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    const patterned_batch lies = shape_.placed(which);
    const bool transposed = shape_.is_transposed(which);
    float* const to = reinterpret_cast<float*>(buffer.data());
    // NaN around the elements: a kernel that reads it gives a wrong product.
    std::fill(to, to + lies.offset, kNaN);
    if (lies.empty()) return;
    const std::int64_t worth_a_thread = std::max<std::int64_t>(1, (1 << 16) / lies.cols);
    parallel_ranges(lies.row_count(), worth_a_thread, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const coordinates start = lies.row_start(i);
            const gemm_filler values = shape_.filler().of_product(start.matrix);
            float* const at = to + lies.offset + lies.position(start);
            for (std::int64_t col = 0; col < lies.cols; ++col)
                at[col] = values.value(which, transposed ? col : start.row, transposed ? start.row : col);
            if (i + 1 < lies.row_count())
                std::fill(at + lies.cols, to + lies.offset + lies.position(lies.row_after(start)), kNaN);
        }
    });
}

void host_gemm::prepare_inputs() {
    require_memory(a_.size() + b_.size() + c_.size() + workspace_.size(),
                   fmt::format("the matrices of {} x {} x {}", shape_.m, shape_.n, shape_.k));
    fill(a_, gemm_matrix::a);
    fill(b_, gemm_matrix::b);
    for (guarded_buffer* buffer : {&a_, &b_, &c_, &workspace_}) buffer->fill_guards();
}

std::vector<tile> host_gemm::whole() const {
    std::vector<tile> all;
    for (std::int64_t product = 0; product < shape_.count; ++product)
        all.push_back({0, 0, shape_.m, shape_.n, product});
    return all;
}

void host_gemm::prepare() {
    prepare_inputs();
    for (std::int64_t byte = 0; byte < c_.size(); ++byte) c_.data()[byte] = guard_byte(byte);
    prepare(whole());
    auto* const workspace = reinterpret_cast<float*>(workspace_.data());
    std::fill(workspace, workspace + workspace_.size() / kSize, std::numeric_limits<float>::quiet_NaN());
}

void host_gemm::prepare(const std::vector<tile>& tiles) {
    const patterned_batch lies = shape_.placed(gemm_matrix::c);
    for (const tile& t : tiles) {
        for (std::int64_t row = t.row; row < t.row + t.rows && t.cols > 0; ++row) {
            for (std::int64_t col = t.col; col < t.col + t.cols; ++col) {
                const coordinates at{t.matrix, row, col};
                c()[lies.position(at)] = shape_.before(at);
            }
        }
    }
}

std::string host_gemm::check_rows(const tile& part, gemm_squares& all) const {
    const patterned_batch lies = shape_.placed(gemm_matrix::c);
    gemm_work w = work();
    w.a += part.matrix * w.a_stride;
    w.b += part.matrix * w.b_stride;
    std::atomic<std::int64_t> first_wrong = std::numeric_limits<std::int64_t>::max();
    std::mutex mutex;
    std::string fault;
    const std::int64_t row_work = std::max<std::int64_t>(1, part.cols * std::max<std::int64_t>(shape_.k, 1));
    parallel_ranges(
        part.rows, std::max<std::int64_t>(1, (1 << 18) / row_work), [&](std::int64_t begin, std::int64_t end) {
            std::vector<double> sums(static_cast<std::size_t>(part.cols)), magnitudes(sums.size());
            gemm_squares its;
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
                    const coordinates at{part.matrix, row, part.col + static_cast<std::int64_t>(j)};
                    const gemm_element right(sums[j], magnitudes[j], shape_.k, shape_.alpha, shape_.beta,
                                             shape_.before(at), shape_.values);
                    const float found = w.c[lies.position(at)];
                    const double error = found - right.wanted;
                    its.errors += error * error;
                    its.magnitudes += right.magnitude * right.magnitude;
                    ++its.elements;
                    if (right.holds(found)) continue;
                    const std::lock_guard lock(mutex);
                    if (row >= first_wrong) break;
                    first_wrong = row;
                    fault = describe_wrong_product(shape_, at, found, right);
                    break;
                }
            }
            const std::lock_guard lock(mutex);
            all.errors += its.errors;
            all.magnitudes += its.magnitudes;
            all.elements += its.elements;
        });
    return fault;
}

verdict host_gemm::check() const {
    verdict result = check(whole());
    const patterned_batch lies = shape_.placed(gemm_matrix::c);
    if (!result.passed() || lies.empty()) return result;
    const auto untouched = [&](std::int64_t begin, std::int64_t end) {  // floats of the buffer
        for (std::int64_t byte = begin * kSize; byte < end * kSize; ++byte) {
            if (c_.data()[byte] != guard_byte(byte)) return false;
        }
        return true;
    };
    if (!untouched(0, lies.offset)) result.fault = "the memory before C was overwritten";
    coordinates start = lies.row_start(0);
    for (std::int64_t i = 0; i + 1 < lies.row_count() && result.passed(); ++i) {
        const coordinates next = lies.row_after(start);
        if (!untouched(lies.offset + lies.position(start) + lies.cols, lies.offset + lies.position(next)))
            result.fault = describe_wrong_product_gap(shape_, start);
        start = next;
    }
    return result;
}

verdict host_gemm::check(const std::vector<tile>& tiles) const {
    verdict result;
    gemm_squares all;
    for (const tile& t : tiles) {
        result.elements += t.rows * t.cols;
        if (result.passed() && t.rows > 0 && t.cols > 0) result.fault = check_rows(t, all);
    }
    if (result.passed()) result.fault = low_precision(shape_, all);
    for (const named_buffer& b : buffers()) {
        if (result.passed()) result.fault = b.buffer->check_guards(b.name);
    }
    return result;
}

tile host_gemm::tile_at(const void* address, std::int64_t rows, std::int64_t cols) const {
    const coordinates at = shape_.placed(gemm_matrix::c).coordinates_at(static_cast<const float*>(address) - c());
    return {at.row, at.col, rows, cols, at.matrix};
}

}  // namespace cornerturn
