#include <cornerturn/transpose.hpp>

#include <cstdio>
#include <vector>

int main() {
    const std::int64_t rows = 1000, cols = 3000;
    std::vector<double> in(rows * cols), out(cols * rows);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = double(i);
    cornerturn::transpose(cornerturn::matrix_view<double>{in.data(), rows, cols, cols},
                          cornerturn::matrix_view<double>{out.data(), cols, rows, rows});
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t col = 0; col < cols; ++col) {
            if (out[col * rows + row] != in[row * cols + col]) {
                std::puts("wrong");
                return 1;
            }
        }
    }
    try {
        cornerturn::transpose(cornerturn::matrix_view<double>{in.data(), rows, cols, cols},
                              cornerturn::matrix_view<double>{out.data(), rows, cols, cols});
    } catch (const cornerturn::invalid_argument& mistake) {
        std::printf("transposed, and refused: %s\n", mistake.what());
        return 0;
    }
    return 1;
}
