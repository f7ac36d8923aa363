// Host memory: a part of a matrix into a part of another, on all cores. Then a square matrix in place, on two cores.
#include <cstdio>
#include <vector>

#include "cornerturn/transpose.hpp"

int main() {
    using cornerturn::matrix_view;
    // The source is a part of a 1000 x 1000 matrix, 300 x 200 elements. The destination is a part of a 500 x 400
    // matrix. The last argument is the leading dimension: the elements from one row to the next.
    std::vector<double> in(1000 * 1000), out(500 * 400);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = double(i);
    const matrix_view<const double> source{in.data() + 100 * 1000 + 50, 300, 200, 1000};
    const matrix_view<double> destination{out.data(), 200, 300, 400};
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
        std::printf("refused, as expected: %s\n", mistake.what());
        return 0;
    }
    return 1;
}
