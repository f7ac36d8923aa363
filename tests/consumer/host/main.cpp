#include <cornerturn/transpose.hpp>

#include <cstdio>
#include <vector>

int main() {
    using cornerturn::matrix_view;
    const std::size_t rows = 1000, cols = 3000;
    std::vector<double> in(rows * cols), out(cols * rows);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = double(i);
    for (int threads : {0, 1, 2}) {
        out.assign(out.size(), -1);
        cornerturn::transpose(matrix_view{in, rows, cols}, matrix_view{out, cols, rows}, {.threads = threads});
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::size_t col = 0; col < cols; ++col) {
                if (out[col * rows + row] != in[row * cols + col]) {
                    std::puts("wrong");
                    return 1;
                }
            }
        }
    }
    try {
        cornerturn::transpose(matrix_view{in, rows, cols}, matrix_view{out, rows, cols});
    } catch (const cornerturn::invalid_argument& mistake) {
        std::printf("version %d: transposed, and refused: %s\n", CORNERTURN_VERSION_NUMBER, mistake.what());
        return 0;
    }
    return 1;
}
