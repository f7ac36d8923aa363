// One matrix with elements of your own type. Any trivially copyable type works. Types of 1, 2, 4, 8 and 16 bytes are
// the fastest. This one has 12 bytes.
#include "cornerturn/cuda/transpose.hpp"
#include "example.hpp"

struct point {
    float x, y, z;
};

static bool one_matrix() {
    const std::int64_t rows = 1000, cols = 700;
    std::vector<point> in(rows * cols);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = {float(i), float(i + 1), float(i + 2)};
    point* from = to_device(in);
    point* to = to_device(std::vector<point>(cols * rows));

    // Row-major, without gaps between the rows.
    const cornerturn::matrix_view source{from, rows, cols};
    const cornerturn::matrix_view destination{to, cols, rows};
    cudaStream_t stream = nullptr;
    cornerturn::cuda::transpose(source, destination, stream);  // returns at once
    check(cudaStreamSynchronize(stream));

    const std::vector<point> out = to_host(to, cols * rows);
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t col = 0; col < cols; ++col) {
            if (out[col * rows + row].z != in[row * cols + col].z) return false;
        }
    }
    return true;
}

int main() { return run_example(one_matrix); }
