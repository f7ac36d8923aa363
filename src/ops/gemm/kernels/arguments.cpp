#include "ops/gemm/kernels/arguments.hpp"

#include <string>

#include "cornerturn/error.hpp"

namespace cornerturn {

using std::to_string;

gemm_work checked_product(const detail::any_batch& a, bool a_transposed, const detail::any_batch& b, bool b_transposed,
                          const detail::any_batch& c) {
    const named_batch of_a{a.layout, "a"}, of_b{b.layout, "b"}, of_c{c.layout, "c"};
    for (const named_batch* each : {&of_a, &of_b, &of_c}) {
        each->check_not_negative();
        each->check_extent(sizeof(float));
    }
    of_c.check_no_overlap();
    const std::int64_t m = a_transposed ? of_a.cols : of_a.rows, k = a_transposed ? of_a.rows : of_a.cols;
    const std::int64_t inner_of_b = b_transposed ? of_b.cols : of_b.rows, n = b_transposed ? of_b.rows : of_b.cols;
    if (inner_of_b != k) {
        refuse("b", of_b.shape(),
               std::string("it must have ") + to_string(k) + (b_transposed ? " columns" : " rows") + ": a is " +
                   of_a.shape() + (a_transposed ? ", transposed" : ""));
    }
    if (of_c.rows != m || of_c.cols != n) {
        refuse("c", of_c.shape(),
               "the product of a, " + of_a.shape() + (a_transposed ? ", transposed" : "") + ", and b, " + of_b.shape() +
                   (b_transposed ? ", transposed" : "") + ", is " + to_string(m) + " x " + to_string(n));
    }
    for (const named_batch* each : {&of_a, &of_b}) {
        if (each->count != of_c.count) {
            refuse(std::string(each->name) + ".count", to_string(each->count),
                   "c has " + to_string(of_c.count) + " matrices");
        }
    }
    const auto stride = [](const batch_layout& side) { return side.count > 1 ? side.stride : 0; };
    return {.a = reinterpret_cast<const float*>(a.data),
            .b = reinterpret_cast<const float*>(b.data),
            .c = reinterpret_cast<float*>(c.data),
            .m = m,
            .n = n,
            .k = k,
            .lda = of_a.ld,
            .ldb = of_b.ld,
            .ldc = of_c.ld,
            .a_transposed = a_transposed,
            .b_transposed = b_transposed,
            .count = of_c.count,
            .a_stride = stride(of_a),
            .b_stride = stride(of_b),
            .c_stride = stride(of_c)};
}

std::string product_operand::text() const {
    return std::string(matrix.name) + " (" + matrix.shape() + " at " + hex(address) + ")";
}

product_operands::product_operands(const gemm_work& w) : count_(w.k == 0 ? 1 : 3) {
    const auto operand_at = [&](const char* name, const float* data, std::int64_t rows, std::int64_t cols,
                                std::int64_t ld, std::int64_t stride) {
        const auto address = reinterpret_cast<std::uintptr_t>(data);
        const named_batch matrix{{rows, cols, ld, w.count, stride}, name};
        return product_operand{matrix, address, bytes_of(matrix, address, sizeof(float))};
    };
    all_[0] = operand_at("c", w.c, w.m, w.n, w.ldc, w.c_stride);
    if (count_ == 1) return;
    all_[1] = operand_at("a", w.a, w.a_transposed ? w.k : w.m, w.a_transposed ? w.m : w.k, w.lda, w.a_stride);
    all_[2] = operand_at("b", w.b, w.b_transposed ? w.n : w.k, w.b_transposed ? w.k : w.n, w.ldb, w.b_stride);
}

void product_operands::check_addresses() const {
    const product_operand& c = all_[0];
    for (const product_operand& each : read_or_written()) {
        check_address(each.matrix.name, each.address, sizeof(float));
        if (&each != &c && share_bytes(each.bytes, c.bytes))
            throw invalid_argument(c.text() + " overlaps " + each.text() + ": they must not overlap");
    }
}

void product_operands::check_workspace_apart(std::uintptr_t address, std::int64_t bytes) const {
    if (bytes == 0) return;
    for (const product_operand& each : read_or_written()) {
        if (share_bytes(each.bytes, {address, {1, 0}, {1, 0}, bytes}))
            throw invalid_argument("options.workspace (" + to_string(bytes) + " bytes at " + hex(address) +
                                   ") overlaps " + each.text() + ": they must not overlap");
    }
}

}  // namespace cornerturn
