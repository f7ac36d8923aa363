#include "core/arguments.hpp"

#include <limits>
#include <utility>
#include <vector>

#include "core/overlap.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn {
namespace {

using std::to_string;

// One side of a transpose, under the name that messages give it.
struct side {
    const char* name;
    std::int64_t rows, cols, ld, count, stride;

    bool empty() const { return rows == 0 || cols == 0 || count == 0; }
    std::string shape() const { return to_string(rows) + " x " + to_string(cols); }
    std::string named(const char* member) const { return std::string(name) + "." + member; }

    void check(std::int64_t element_size) const {
        const std::pair<const char*, std::int64_t> sizes[] = {
            {"rows", rows}, {"cols", cols}, {"ld", ld}, {"count", count}, {"stride", stride}};
        for (const auto& [member, value] : sizes) {
            if (value < 0) refuse(named(member), to_string(value), "it must not be negative");
        }
        if (empty()) return;
        if (ld < cols) refuse(named("ld"), to_string(ld), "a row has " + to_string(cols) + " elements");
        std::int64_t last = 0, down = 0, bytes = 0;
        if (__builtin_mul_overflow(count - 1, count > 1 ? stride : 0, &last) ||
            __builtin_mul_overflow(rows - 1, ld, &down) || __builtin_add_overflow(last, down, &last) ||
            __builtin_add_overflow(last, cols, &last) || __builtin_mul_overflow(last, element_size, &bytes)) {
            throw invalid_argument(std::string(name) + " is " + to_string(count) + " times " + shape() + ", ld " +
                                   to_string(ld) + ", stride " + to_string(stride) + ", of " + to_string(element_size) +
                                   "-byte elements: its size does not fit 64 bits");
        }
    }

    // Matrices that are written must not share elements.
    void check_apart() const {
        if (empty() || count == 1) return;
        const bool behind = stride >= (rows - 1) * ld + cols;
        const bool beside = stride >= cols && ld >= (count - 1) * stride + cols;
        if (!behind && !beside) {
            refuse(named("stride"), to_string(stride),
                   "matrices of " + shape() + ", ld " + to_string(ld) + " would share elements; they can lie behind " +
                       "each other (from " + to_string((rows - 1) * ld + cols) + " on) or side by side within ld");
        }
    }

    lattice bytes_at(std::uintptr_t address, std::int64_t element_size) const {
        return {address,
                {count, count > 1 ? stride * element_size : 0},
                {rows, rows > 1 ? ld * element_size : 0},
                cols * element_size};
    }
};

side source_of(const transpose_layout& l) { return {"source", l.rows, l.cols, l.source_ld, l.count, l.source_stride}; }
side destination_of(const transpose_layout& l) {
    return {"destination", l.cols, l.rows, l.destination_ld, l.count, l.destination_stride};
}

void check_address(const char* name, std::uintptr_t address, std::int64_t alignment) {
    if (address == 0) throw invalid_argument(std::string(name) + ".data is null");
    if (address % static_cast<std::uintptr_t>(alignment) != 0) {
        refuse(std::string(name) + ".data", hex(address),
               "its elements must be aligned to " + to_string(alignment) + " bytes");
    }
}

}  // namespace

void refuse(const std::string& what, const std::string& value, const std::string& rule) {
    throw invalid_argument(what + " is " + value + ": " + rule);
}

std::string hex(std::uintptr_t address) {
    std::string digits;
    do digits.insert(digits.begin(), "0123456789abcdef"[address & 15]);
    while ((address >>= 4) != 0);
    return "0x" + digits;
}

void check_layout(const transpose_layout& l) {
    if (l.element_size < 1 || l.element_size > std::numeric_limits<int>::max())
        refuse("element_size", to_string(l.element_size), "it must be 1 to 2147483647 bytes");
    if (l.element_alignment < 1 || (l.element_alignment & (l.element_alignment - 1)) != 0 ||
        l.element_size % l.element_alignment != 0) {
        refuse("element_alignment", to_string(l.element_alignment),
               "it must be a power of two that divides the element's size, " + to_string(l.element_size));
    }
    source_of(l).check(l.element_size);
    destination_of(l).check(l.element_size);
    destination_of(l).check_apart();
}

bool is_empty(const transpose_layout& l) { return source_of(l).empty(); }

transpose_layout checked_layout(const detail::any_batch& source, const detail::any_batch& destination,
                                std::int64_t element_size, std::int64_t element_alignment) {
    const transpose_layout layout{source.rows,       source.cols,  source.ld,     destination.ld,    element_size,
                                  element_alignment, source.count, source.stride, destination.stride};
    check_layout(layout);
    if (destination.rows != source.cols || destination.cols != source.rows) {
        refuse("destination", to_string(destination.rows) + " x " + to_string(destination.cols),
               "the transpose of a source of " + to_string(source.rows) + " x " + to_string(source.cols) + " is " +
                   to_string(source.cols) + " x " + to_string(source.rows));
    }
    if (destination.count != source.count) {
        refuse("destination.count", to_string(destination.count),
               "the source has " + to_string(source.count) + " matrices");
    }
    return layout;
}

void check_addresses(const transpose_layout& l, std::uintptr_t source, std::uintptr_t destination) {
    check_address("source", source, l.element_alignment);
    check_address("destination", destination, l.element_alignment);
    const bool in_place = source == destination && l.rows == l.cols && l.source_ld == l.destination_ld &&
                          (l.count == 1 || l.source_stride == l.destination_stride);
    if (in_place) {
        source_of(l).check_apart();
        return;
    }
    if (share_bytes(source_of(l).bytes_at(source, l.element_size),
                    destination_of(l).bytes_at(destination, l.element_size))) {
        throw invalid_argument("destination (" + destination_of(l).shape() + " at " + hex(destination) +
                               ") overlaps source (" + source_of(l).shape() + " at " + hex(source) +
                               "): they must be apart, or the same square matrix with the same ld and stride");
    }
}

matrix_work work_of(const transpose_layout& l, std::uintptr_t source, std::uintptr_t destination) {
    return {reinterpret_cast<const void*>(source),
            reinterpret_cast<void*>(destination),
            l.rows,
            l.cols,
            l.rows > 1 ? l.source_ld : l.cols,
            l.cols > 1 ? l.destination_ld : l.rows,
            static_cast<int>(l.element_size),
            l.count,
            l.count > 1 ? l.source_stride : 0,
            l.count > 1 ? l.destination_stride : 0};
}

gemm_work checked_product(const detail::any_batch& a, bool a_turned, const detail::any_batch& b, bool b_turned,
                          const detail::any_batch& c) {
    const auto side_of = [](const char* name, const detail::any_batch& view) {
        return side{name, view.rows, view.cols, view.ld, view.count, view.stride};
    };
    const side of_a = side_of("a", a), of_b = side_of("b", b), of_c = side_of("c", c);
    for (const side& s : {of_a, of_b, of_c}) s.check(sizeof(float));
    of_c.check_apart();
    const std::int64_t m = a_turned ? a.cols : a.rows, k = a_turned ? a.rows : a.cols;
    const std::int64_t of_k = b_turned ? b.cols : b.rows, n = b_turned ? b.rows : b.cols;
    if (of_k != k) {
        refuse("b", of_b.shape(),
               std::string("it must have ") + to_string(k) + (b_turned ? " columns" : " rows") + ": a is " +
                   of_a.shape() + (a_turned ? ", transposed" : ""));
    }
    if (c.rows != m || c.cols != n) {
        refuse("c", of_c.shape(),
               "the product of a, " + of_a.shape() + (a_turned ? ", transposed" : "") + ", and b, " + of_b.shape() +
                   (b_turned ? ", transposed" : "") + ", is " + to_string(m) + " x " + to_string(n));
    }
    for (const side& s : {of_a, of_b}) {
        if (s.count != c.count)
            refuse(s.named("count"), to_string(s.count), "c has " + to_string(c.count) + " matrices");
    }
    const auto stride = [&](const detail::any_batch& view) { return c.count > 1 ? view.stride : 0; };
    return {.a = reinterpret_cast<const float*>(a.data),
            .b = reinterpret_cast<const float*>(b.data),
            .c = reinterpret_cast<float*>(c.data),
            .m = m,
            .n = n,
            .k = k,
            .lda = a.ld,
            .ldb = b.ld,
            .ldc = c.ld,
            .a_turned = a_turned,
            .b_turned = b_turned,
            .count = c.count,
            .a_stride = stride(a),
            .b_stride = stride(b),
            .c_stride = stride(c)};
}

namespace {

struct placed {
    side matrix;
    std::uintptr_t at;

    lattice bytes() const { return matrix.bytes_at(at, sizeof(float)); }
    std::string text() const { return std::string(matrix.name) + " (" + matrix.shape() + " at " + hex(at) + ")"; }
};

// C, and A and B where they are read.
std::vector<placed> matrices_of(const gemm_work& w) {
    const auto address = [](const float* data) { return reinterpret_cast<std::uintptr_t>(data); };
    std::vector<placed> all = {{{"c", w.m, w.n, w.ldc, w.count, w.c_stride}, address(w.c)}};
    if (w.k == 0) return all;
    all.push_back({{"a", w.a_turned ? w.k : w.m, w.a_turned ? w.m : w.k, w.lda, w.count, w.a_stride}, address(w.a)});
    all.push_back({{"b", w.b_turned ? w.n : w.k, w.b_turned ? w.k : w.n, w.ldb, w.count, w.b_stride}, address(w.b)});
    return all;
}

}  // namespace

void check_product_addresses(const gemm_work& w) {
    const std::vector<placed> all = matrices_of(w);
    for (const placed& p : all) {
        check_address(p.matrix.name, p.at, sizeof(float));
        if (&p != &all[0] && share_bytes(p.bytes(), all[0].bytes()))
            throw invalid_argument(all[0].text() + " overlaps " + p.text() + ": they must be apart");
    }
}

void check_workspace_apart(const gemm_work& w, std::uintptr_t address, std::int64_t bytes) {
    if (bytes == 0) return;
    for (const placed& p : matrices_of(w)) {
        if (share_bytes(p.bytes(), {address, {1, 0}, {1, 0}, bytes}))
            throw invalid_argument("options.workspace (" + to_string(bytes) + " bytes at " + hex(address) +
                                   ") overlaps " + p.text() + ": they must be apart");
    }
}

}  // namespace cornerturn
