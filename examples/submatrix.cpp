// A part of a matrix into a part of another, then a square part in place. The leading dimension is that of the whole
// matrix. Nothing outside the part is read or written.
#include "cornerturn/cuda/transpose.hpp"
#include "example.hpp"

static bool submatrix() {
    const std::int64_t height = 512, width = 640;  // of both whole matrices
    std::vector<float> in(height * width);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = float(i);
    float* from = to_device(in);
    float* to = to_device(std::vector<float>(height * width, -1));

    // From 100 x 300 elements at (17, 23) to 300 x 100 elements at (5, 7) of the other matrix.
    const std::int64_t rows = 100, cols = 300;
    const cornerturn::matrix_view<float> source{from + 17 * width + 23, rows, cols, width};
    const cornerturn::matrix_view<float> destination{to + 5 * width + 7, cols, rows, width};
    cornerturn::cuda::transpose(source, destination, nullptr);
    // Then 32 x 32 elements at (400, 500), in place.
    const cornerturn::matrix_view<float> square{from + 400 * width + 500, 32, 32, width};
    cornerturn::cuda::transpose_in_place(square, nullptr);

    const std::vector<float> out = to_host(to, height * width), transposed = to_host(from, height * width);
    for (std::int64_t row = 0; row < height; ++row) {
        for (std::int64_t col = 0; col < width; ++col) {
            const bool inside = row >= 5 && row < 5 + cols && col >= 7 && col < 7 + rows;
            if (out[row * width + col] != (inside ? in[(col - 7 + 17) * width + (row - 5 + 23)] : -1)) return false;
            const bool in_square = row >= 400 && row < 432 && col >= 500 && col < 532;
            const std::int64_t at = in_square ? (400 + col - 500) * width + (500 + row - 400) : row * width + col;
            if (transposed[row * width + col] != in[at]) return false;
        }
    }
    return true;
}

int main() { return run_example(submatrix); }
