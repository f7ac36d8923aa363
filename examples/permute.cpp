// Any axes: images from channels first to channels last. Then a copy of every second column, the last one first.
#include "cornerturn/cuda/copy.hpp"
#include "example.hpp"

using cornerturn::tensor_view;

static bool permute() {
    const std::int64_t n = 8, c = 3, h = 40, w = 50, all = n * c * h * w;
    std::vector<float> in(all);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = float(i);
    float* from = to_device(in);
    float* to = to_device(std::vector<float>(all));
    cudaStream_t stream = nullptr;

    // Axis k of the destination is axis {0, 2, 3, 1}[k] of the source, as in numpy.transpose.
    cornerturn::cuda::permute(tensor_view{from, {n, c, h, w}}, {0, 2, 3, 1}, tensor_view{to, {n, h, w, c}}, stream);
    const std::vector<float> last = to_host(to, all);
    for (std::int64_t i = 0; i < all; ++i) {
        const std::int64_t image = i / (c * h * w), channel = i / (h * w) % c, pixel = i % (h * w);
        if (last[(image * h * w + pixel) * c + channel] != in[i]) return false;
    }

    // Strides count elements and may be negative. This view begins at the last column.
    const std::int64_t rows = n * c * h, half = w / 2;
    const tensor_view every_second{from + w - 1, {rows, half}, {w, -2}};
    cornerturn::cuda::copy(every_second, tensor_view{to, {rows, half}}, stream);
    const std::vector<float> columns = to_host(to, rows * half);
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t k = 0; k < half; ++k) {
            if (columns[row * half + k] != in[row * w + w - 1 - 2 * k]) return false;
        }
    }
    return true;
}

int main() { return run_example(permute); }
