// Many small matrices in one launch: 10,000 matrices of 8 x 4, one after the other. The second call transposes them
// back and puts them side by side into one large matrix. That is also a batch: its stride is below its leading
// dimension.
#include "cornerturn/cuda/transpose.hpp"
#include "example.hpp"

static bool batch() {
    const std::int64_t rows = 8, cols = 4, size = rows * cols, count = 10'000;
    std::vector<double> in(count * size);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = double(i);
    double* from = to_device(in);
    double* to = to_device(std::vector<double>(count * size));
    double* large = to_device(std::vector<double>(count * size));

    using cornerturn::batch_view, cornerturn::matrix_view;
    const batch_view source{matrix_view{from, rows, cols}, count};
    const batch_view transposed{matrix_view{to, cols, rows}, count};
    // Matrix i is in columns 4 i to 4 i + 3 of the large matrix. Rows are cols * count elements apart, matrices cols
    // elements.
    const batch_view beside{matrix_view{large, rows, cols, cols * count}, count, cols};
    cornerturn::cuda::transpose(source, transposed, nullptr);
    cornerturn::cuda::transpose(transposed, beside, nullptr);

    const std::vector<double> out = to_host(to, count * size), back = to_host(large, count * size);
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t row = 0; row < rows; ++row) {
            for (std::int64_t col = 0; col < cols; ++col) {
                const double element = in[i * size + row * cols + col];
                if (out[i * size + col * rows + row] != element) return false;
                if (back[row * cols * count + i * cols + col] != element) return false;
            }
        }
    }
    return true;
}

int main() { return run_example(batch); }
