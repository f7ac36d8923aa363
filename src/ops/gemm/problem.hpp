// The verifier of multiplications, in host memory: a product to compute and check.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/patterned_batch.hpp"
#include "core/problem.hpp"
#include "ops/gemm/gemm_work.hpp"
#include "ops/gemm/values.hpp"

namespace cornerturn {

// C = alpha A B + beta C: A is m x k, B k x n, C m x n. A transposed A is stored as k x m, a transposed B as n x k.
// Offsets, in floats, move a matrix off its buffer's 256-byte boundary. A leading dimension of 0 means the smallest
// that is possible. A batch is `count` such products. A stride of 0 means that an operand's matrices follow each other.
// If A or B is shared, all products use the same one.
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

    // Fills in leading dimensions and strides that are 0. Throws invalid_argument if a size is negative, a leading
    // dimension is too small, a product does not fit 64 bits, or matrices of a batch share elements.
    gemm_shape with_layout() const;
    // Also throws if k is above 2^22: the verifier could not tell a wrong sum from a right one.
    gemm_shape checked() const;
    std::int64_t elements() const { return m * n * count; }  // of C
    gemm_filler filler() const { return {values, seed, k / 2}; }

    friend bool operator==(const gemm_shape&, const gemm_shape&) = default;
    // Whether both have the same layout.
    bool lies_as(gemm_shape other) const;

    float before(coordinates at) const;  // what C holds before a run: NaN if it is not read

    // The matrices of an operand as they are stored: A and B may be transposed.
    patterned_batch placed(gemm_matrix which) const;
    bool is_transposed(gemm_matrix which) const {
        return (which == gemm_matrix::a && a_transposed) || (which == gemm_matrix::b && b_transposed);
    }
    // Floats that each operand spans, from the beginning of its buffer.
    std::int64_t span(gemm_matrix which) const;
    std::int64_t spans() const { return span(gemm_matrix::a) + span(gemm_matrix::b) + span(gemm_matrix::c); }
    // The work on these buffers, each from its beginning. With null buffers it can only be inspected.
    gemm_work work(float* a, float* b, float* c, float* workspace) const;
};

// How far C is from the product: |error| / (|alpha| |A| |B| + |beta C|). The largest of all elements, and the same with
// Frobenius norms.
struct gemm_errors {
    double largest = 0, frobenius = 0;
};
// Sums over elements of C: of squared errors, and of the squares of their divisors.
struct gemm_squares {
    double errors = 0, magnitudes = 0;
    std::int64_t elements = 0;

    double frobenius() const { return magnitudes == 0 ? 0 : std::sqrt(errors / magnitudes); }
};
// Says whether C was computed in a lower precision; empty if not. An element's own bound grows with k. But if positive
// and negative values are drawn alike, errors of single precision cancel. By Frobenius norms they stay below half a
// unit roundoff, in any order of the sums and for any k. The verifier allows 4 units, plus the loss from denormal
// results.
std::string low_precision(const gemm_shape& shape, const gemm_squares& sums);

const char* name_of(gemm_values values);
// Throws an invalid_argument that names `option` and all values.
gemm_values find_values(const std::string& option, const std::string& name);

// "C (row 3, column 5) holds ...; it must be ...". In a batch it also names the product.
std::string describe_wrong_product(const gemm_shape& shape, coordinates at, float found, const gemm_element& right);
// "the gap after row 3 of C was overwritten"
std::string describe_wrong_product_gap(const gemm_shape& shape, coordinates row);

// The verifier. C is NaN before a run if beta is 0. No kernel may change the bytes between rows and around matrices.
class host_gemm {
public:
    // `workspace` is in floats. Throws error if there is no memory.
    explicit host_gemm(const gemm_shape& shape, std::int64_t workspace = 0);

    const gemm_shape& shape() const { return shape_; }
    gemm_work work() const;
    // Switches to other values and factors in the same layout. Call prepare() next. If the layout differs, returns
    // false and does nothing.
    bool reshape(const gemm_shape& shape);
    // Uses `floats` floats, with guards right after them. Call prepare() next. False if there is no room.
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

    // Before a run: prepares everything; or A and B, and then sets of tiles of C.
    void prepare();
    void prepare_inputs();
    void prepare(const std::vector<tile>& tiles);

    // After a run: compares with products in double precision. An element's error must be at most what rounding k + 2
    // terms in single precision, in any order, can cause. low_precision() must find nothing. Checks all of C and its
    // gaps, or these tiles.
    verdict check() const;
    verdict check(const std::vector<tile>& tiles) const;

    // The tile of C at this address.
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
