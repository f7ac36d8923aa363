// A product to be computed and checked: the verifier of multiplications, on host memory.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/patterned_batch.hpp"
#include "core/problem.hpp"
#include "ops/gemm/values.hpp"
#include "ops/gemm/work.hpp"

namespace cornerturn {

// C = alpha A B + beta C: A is m x k, B k x n, C m x n; A lies there as k x m where it is transposed, and B as n x k.
// Offsets, in floats, move a matrix off its buffer's 256-byte boundary. A leading dimension of 0 means as small as can
// be. A batch is `count` such products; a stride of 0 means that an operand's matrices lie one behind the other. Where
// A or B is shared, all products have one.
struct gemm_shape {
    std::int64_t m = 0, n = 0, k = 0;
    std::int64_t lda = 0, ldb = 0, ldc = 0;
    std::int64_t a_offset = 0, b_offset = 0, c_offset = 0;
    bool a_transposed = false, b_transposed = false;
    float alpha = 1, beta = 0;
    gemm_values values = gemm_values::symmetric;
    std::uint64_t seed = 1;
    std::int64_t count = 1, a_stride = 0, b_stride = 0, c_stride = 0;
    bool a_shared = false, b_shared = false;

    // Fills in leading dimensions and strides left 0. Throws invalid_argument where a size is negative, a leading
    // dimension too small, a product does not fit 64 bits, or matrices of a batch share elements.
    gemm_shape with_layout() const;
    // And where k is above 2^22: the verifier could not tell a wrong sum from a right one.
    gemm_shape checked() const;
    std::int64_t elements() const { return m * n * count; }  // of C
    gemm_filler filler() const { return {values, seed, k / 2}; }

    friend bool operator==(const gemm_shape&, const gemm_shape&) = default;
    // Whether the matrices of both lie in the same places.
    bool lies_as(gemm_shape other) const;

    float before(coordinates at) const;  // what C holds before a run: NaN where it is not read

    // The matrices of an operand as they lie there: those of A and B may be transposed.
    patterned_batch placed(gemm_matrix which) const;
    bool is_transposed(gemm_matrix which) const {
        return (which == gemm_matrix::a && a_transposed) || (which == gemm_matrix::b && b_transposed);
    }
    // Floats that each operand spans, from its buffer's beginning.
    std::int64_t span(gemm_matrix which) const;
    std::int64_t spans() const { return span(gemm_matrix::a) + span(gemm_matrix::b) + span(gemm_matrix::c); }
    // The work on these buffers, each from its beginning; of no use but to look at where they are null.
    gemm_work work(float* a, float* b, float* c, float* workspace) const;
};

// How far C is from the product: |error| / (|alpha| |A| |B| + |beta C|), the largest of all elements, and of Frobenius
// norms.
struct gemm_errors {
    double largest = 0, frobenius = 0;
};
// Sums over elements of C: of squared errors, and of the squares of what they are divided by.
struct gemm_squares {
    double errors = 0, magnitudes = 0;
    std::int64_t elements = 0;

    double frobenius() const { return magnitudes == 0 ? 0 : std::sqrt(errors / magnitudes); }
};
// Empty, or that C was computed in a lower precision. An element's own bound grows with k, but where positive and
// negative values are drawn alike, errors of single precision cancel: by Frobenius norms they stay below half a unit
// roundoff, in any order of the sums, whatever k. The verifier takes 4 of them, and what denormal results may lose.
std::string low_precision(const gemm_shape& shape, const gemm_squares& sums);

const char* name_of(gemm_values values);
// Throws invalid_argument that names `option` and all there are.
gemm_values find_values(const std::string& option, const std::string& name);

// "C (row 3, column 5) holds ...; it must be ...", of a batch with its product.
std::string describe_wrong_product(const gemm_shape& shape, coordinates at, float found, const gemm_element& right);
// "the gap behind row 3 of C was overwritten"
std::string describe_wrong_product_gap(const gemm_shape& shape, coordinates row);

// C is NaN before a run where beta is 0. Between its rows, and around all matrices, lie bytes that nobody may change.
class host_gemm {
public:
    // With a workspace of so many floats. Throws error where there is no memory.
    explicit host_gemm(const gemm_shape& shape, std::int64_t workspace = 0);

    const gemm_shape& shape() const { return shape_; }
    gemm_work work() const;
    // Other values and factors in the same places; prepare() comes next. False, and nothing done, where they lie
    // elsewhere.
    bool reshape(const gemm_shape& shape);
    // So many floats, with guards right behind them; prepare() comes next. False where there is no room.
    bool use_workspace(std::int64_t floats);

    struct named_buffer {
        const char* name;
        const guarded_buffer* buffer;
        bool writable, holds_input;
    };
    std::vector<named_buffer> buffers() const {
        return {{"A", &a_, false, true},
                {"B", &b_, false, true},
                {"C", &c_, true, shape_.beta != 0},
                {"the workspace", &workspace_, true, false}};
    }

    // Before a run: everything; or A and B, and of C only these tiles, one set after the other.
    void prepare();
    void prepare_inputs();
    void prepare(const std::vector<tile>& tiles);

    // After a run, against products in double precision: an element's error must be at most what summing k + 2 terms in
    // single precision, in any order, can give it, and low_precision() must not find any. All of C and its gaps, or
    // these tiles.
    verdict check() const;
    verdict check(const std::vector<tile>& tiles) const;

    // The tile of C that begins at this address.
    tile tile_at(const void* address, std::int64_t rows, std::int64_t cols) const;

private:
    float* c() const { return reinterpret_cast<float*>(c_.data()) + shape_.c_offset; }
    void fill(const guarded_buffer& buffer, gemm_matrix which);
    std::vector<tile> whole() const;  // C of each product
    std::string check_rows(const tile& part, gemm_squares& sums) const;

    gemm_shape shape_;
    guarded_buffer a_, b_, c_, workspace_;
};

}  // namespace cornerturn
