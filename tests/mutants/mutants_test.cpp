// mutate.py makes mutants of every rung by all of its rules. The checks of the rungs must find each mistake.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/problem.hpp"
#include "lab/run.hpp"
#include "ops/convert/operation.hpp"
#include "run_kernels.hpp"

namespace cornerturn {
namespace {

struct mutant {
    const char* file;
    int line;
    const char *suffix, *was, *is;
};

// A mutant that is as right as the rung, and the reason.
struct equivalent {
    const char *id, *reason;
};

#include "mutants.inc"

struct shape {
    std::int64_t rows, cols, source_gap = 0, destination_gap = 0;  // after each row
};

// Whole tiles, ragged ones, one element more or less than a tile, single rows and columns; then leading dimensions
// larger than a row, most of them multiples of 4 or 16, so that rows still begin on 16 bytes.
constexpr shape kShapes[] = {{64, 64},        {37, 41},         {33, 64},         {64, 33},         {65, 63},
                             {31, 95},        {95, 33},         {1, 100},         {100, 1},         {36, 40},
                             {1, 1},          {40, 44, 5, 3},   {35, 39, 1, 5},   {37, 42, 6, 7},   {34, 33, 3, 2},
                             {80, 79, 1, 0},  {79, 80, 0, 1},   {64, 80, 16, 16}, {40, 150},        {150, 40},
                             {63, 64, 0, 1},  {64, 63, 1, 0},   {127, 128, 0, 1}, {128, 127, 1, 0}, {128, 128, 16, 16},
                             {136, 40, 8, 8}, {35, 37, 11, 13}, {130, 257, 3, 3}, {260, 140, 4, 4}};

std::string describe(const shape& s) {
    return fmt::format("{} x {}{}", s.rows, s.cols,
                       s.source_gap + s.destination_gap > 0 ? " with gaps after the rows" : "");
}

// For products: m and n are rows and columns. k, alpha and beta vary. The last product has many steps of k, also if k
// is split into parts.
gemm_shape product_of(const shape& s) {
    const auto i = static_cast<std::int64_t>(&s - kShapes);
    gemm_shape p{.m = s.rows,
                 .n = s.cols,
                 .k = &s + 1 == std::end(kShapes) ? 200 : 1 + 7 * i % 47,
                 .values = gemm_values::integers};
    p.lda = p.k + s.source_gap;
    p.ldb = p.n + s.source_gap;
    p.ldc = p.n + s.destination_gap;
    p.alpha = static_cast<float>(1 + i % 3);
    p.beta = static_cast<float>(i % 3);
    return p;
}

// For permutations: the axes are reversed. Every other shape has a short third axis between rows and columns.
strided_shape permutation_of(const shape& s) {
    const bool between = (&s - kShapes) % 2 != 0;
    strided_shape p =
        between ? permuted_shape({s.rows, 3, s.cols}, {2, 1, 0}, 4) : permuted_shape({s.rows, s.cols}, {1, 0}, 4);
    p.source_strides.back() += s.source_gap * (between ? 3 : 1);
    p.destination_strides.front() += s.destination_gap * (between ? 3 : 1);
    return p;
}

// The fault of a conversion on this shape, between several pairs of types. Scales and their axis vary.
std::string fault_of_conversion(const kernel& k, const shape& s) {
    constexpr std::pair<element_type, element_type> kPairs[] = {{element_type::u8, element_type::f16},
                                                                {element_type::f32, element_type::bf16},
                                                                {element_type::bf16, element_type::e4m3fn},
                                                                {element_type::u8, element_type::f32},
                                                                {element_type::bf16, element_type::f32}};
    int i = static_cast<int>(&s - kShapes);
    for (const auto& [from, to] : kPairs) {
        strided_shape p = permutation_of(s);
        p.element_size = size_of(to);
        p.conversion = {.cast = {from, to}, .factors = static_cast<factor_kind>(i % 3), .axis = i % 2};
        p.conversion.cast.scaled = p.conversion.factors != factor_kind::none;
        const lab::emulation_outcome run =
            lab::emulate(k, tensor_work(convert_operation(), {name_of(from), size_of(from)}, p, 1), {});
        if (!run.declined && !run.verdict.fault.empty()) return run.verdict.fault;
        ++i;
    }
    return {};
}

// The kernel's fault on this shape. Empty if there is none, or if the kernel declines the shape.
std::string fault_of(const kernel& k, const shape& s) {
    if (k.op == &convert_operation()) return fault_of_conversion(k, s);
    if (k.takes_work<strided_work>()) {
        const lab::emulation_outcome run =
            lab::emulate(k, tensor_work(permute_operation(), find_dtype("f32"), permutation_of(s), 1), {});
        return run.declined ? "" : run.verdict.fault;
    }
    if (tests::multiplies(k)) return lab::emulate(k, product_work(product_of(s)), {}).verdict.fault;
    problem_shape p{.arranged = arranged_by(k), .rows = s.rows, .cols = s.cols, .element_size = k.takes(4) ? 4 : 1};
    p.source_ld = s.cols + s.source_gap;
    p.destination_ld = p.destination_cols() + s.destination_gap;
    return lab::emulate(k, tests::moves(k, p), {}).verdict.fault;
}

// A copy of a rung, compiled as its mutants are.
bool is_unaltered_copy(const kernel& k) { return k.id.ends_with("+unaltered"); }

const mutant* mutant_of(const kernel& k) {
    const auto plus = k.id.find('+');
    if (plus == std::string::npos || is_unaltered_copy(k)) return nullptr;
    for (const mutant& m : kMutants) {
        if (k.file == m.file && k.id.substr(plus) == m.suffix) return &m;
    }
    ADD_FAILURE() << k.id << " is not in mutate.py's table";
    return nullptr;
}

const equivalent* equivalent_of(const kernel& k) {
    for (const equivalent& e : kEquivalent) {
        if (k.id == e.id) return &e;
    }
    return nullptr;
}

TEST(mutants, every_shape_passes_unaltered) {
    std::set<std::string> copies;  // the files with an unaltered copy
    for (const kernel& k : kernels()) {
        if (!k.is_built_for(backend::emulator)) continue;
        if (k.id.find('+') != std::string::npos && !is_unaltered_copy(k)) continue;
        if (k.id.starts_with("baseline/")) continue;  // peers, which refuse gaps
        if (is_unaltered_copy(k)) copies.insert(k.file);
        for (const shape& s : kShapes) EXPECT_EQ(fault_of(k, s), "") << k.id << ", " << describe(s);
    }
    for (const mutant& m : kMutants) EXPECT_TRUE(copies.contains(m.file)) << m.file;
}

TEST(mutants, every_mutant_fails) {
    std::map<const mutant*, int> kernels_of;
    std::map<const equivalent*, int> survivors_of;
    int caught = 0, survived = 0;
    for (const kernel& k : kernels()) {
        const mutant* const m = mutant_of(k);
        if (m == nullptr) continue;
        ++kernels_of[m];
        const std::string name = fmt::format("{} ({}:{}, `{}` made `{}`)", k.id, m->file, m->line, m->was, m->is);
        const equivalent* const excuse = equivalent_of(k);
        std::string fault;
        for (const shape& s : kShapes) {
            fault = fault_of(k, s);
            if (fault.empty()) continue;
            fmt::print("{}\n    caught at {}: {}\n", name, describe(s), fault);
            break;
        }
        ++(fault.empty() ? survived : caught);
        if (excuse != nullptr) {
            ++survivors_of[excuse];
            EXPECT_EQ(fault, "") << name << " is listed as equivalent: " << excuse->reason;
            fmt::print("{}\n    survives: {}\n", name, excuse->reason);
        } else {
            EXPECT_NE(fault, "") << name << " survives: no shape here shows the mistake, or no check finds it";
        }
    }
    fmt::print("{} mutants of the rungs made {} kernels: {} caught, {} survived\n", std::size(kMutants),
               caught + survived, caught, survived);
    for (const mutant& m : kMutants)
        EXPECT_GT(kernels_of[&m], 0) << m.file << m.suffix << " is in no kernel's id: it never ran";
    for (const equivalent& e : kEquivalent) EXPECT_GT(survivors_of[&e], 0) << "no kernel is called " << e.id;
}

}  // namespace
}  // namespace cornerturn
