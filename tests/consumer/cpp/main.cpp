// Uses the C++ API of an installed cornerturn: invalid arguments on any machine; a transpose on a GPU; without a GPU,
// the error.
#include <cuda_runtime.h>

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cornerturn/cuda/transpose.hpp"

namespace {

using cornerturn::matrix_view;

void require(bool holds, const std::string& what) {
    if (holds) return;
    std::fprintf(stderr, "FAILED: %s\n", what.c_str());
    std::exit(1);
}

// The message of the Error that `work` throws.
template <class Error, class Work>
std::string message_of(Work work) {
    try {
        work();
    } catch (const Error& e) {
        return e.what();
    }
    require(false, "the expected error is thrown");
    return {};
}

template <class T>
void check_transpose(int rows, int cols, int ld) {
    std::vector<T> in(rows * ld), out(cols * rows);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i);
    T *source, *destination;
    const std::size_t in_bytes = in.size() * sizeof(T), out_bytes = out.size() * sizeof(T);
    require(cudaMalloc(&source, in_bytes) == cudaSuccess && cudaMalloc(&destination, out_bytes) == cudaSuccess,
            "memory");
    cudaMemcpy(source, in.data(), in_bytes, cudaMemcpyHostToDevice);
    cornerturn::cuda::transpose<T>(matrix_view<T>{source, rows, cols, ld}, {destination, cols, rows, rows}, nullptr);
    require(cudaMemcpy(out.data(), destination, out_bytes, cudaMemcpyDeviceToHost) == cudaSuccess, "the transpose");
    for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < cols; ++col) require(out[col * rows + row] == in[row * ld + col], "every element");
    }
    cudaFree(source);
    cudaFree(destination);
}

}  // namespace

int main() {
    float data[12] = {};
    const std::string message = message_of<cornerturn::invalid_argument>([&] {
        cornerturn::cuda::transpose<float>(matrix_view<float>{data, 3, 4, 2}, {data, 4, 3, 3}, nullptr);
    });
    require(message.find('2') != std::string::npos, "the message names the leading dimension: " + message);
    message_of<cornerturn::error>([] { cornerturn::cuda::transpose_plan({.rows = -1, .cols = 4, .element_size = 4}); });

    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) {
        check_transpose<float>(3, 5, 7);
        check_transpose<std::complex<double>>(40, 33, 33);
        std::puts("transposed");
        return 0;
    }
    try {
        cornerturn::cuda::transpose<float>(matrix_view<float>{data, 2, 3, 3}, {data + 6, 3, 2, 2}, nullptr);
        require(false, "a transpose without a GPU is an error");
    } catch (const cornerturn::cuda_error& e) {
        require(e.name().starts_with("cudaError") && std::string(e.what()).starts_with(e.name()), e.what());
        std::printf("no GPU: %s\n", e.what());
    }
}
