// Host memory: a part of a matrix into a part of another, then a square one in place; on all cores, or on two.
#include <cstdio>
#include <vector>

#include "cornerturn/transpose.hpp"

int main() {
    using cornerturn::matrix_view;
    // 300 x 200 elements in the middle of 1000 x 1000, and room for them elsewhere.
    std::vector<double> in(1000 * 1000), out(500 * 400);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = double(i);
    const matrix_view<const double> source{in.data() + 100 * 1000 + 50, 300, 200, 1000};  // the last: how far a row
    const matrix_view<double> destination{out.data(), 200, 300, 400};  // begins behind the one before
    cornerturn::transpose(source, destination);
    for (std::int64_t row = 0; row < 300; ++row) {
        for (std::int64_t col = 0; col < 200; ++col) {
            if (out[col * 400 + row] != in[(100 + row) * 1000 + 50 + col]) return 1;
        }
    }

    cornerturn::transpose_in_place(matrix_view{in, 1000, 1000}, {.threads = 2});
    if (in[3] != 3000) return 1;

    try {
        cornerturn::transpose(source, matrix_view{out, 300, 200});
    } catch (const cornerturn::invalid_argument& mistake) {
        std::printf("as it should be: %s\n", mistake.what());
        return 0;
    }
    return 1;
}
