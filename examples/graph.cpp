// A CUDA graph: two transposes are captured once and launched three times, each time with one call. A transpose neither
// waits nor allocates, so any stream may be captured.
#include "cornerturn/cuda/transpose.hpp"
#include "example.hpp"

static bool graph() {
    const std::int64_t rows = 300, cols = 200, size = rows * cols;
    float* from = to_device(std::vector<float>(size));
    float* transposed = to_device(std::vector<float>(size));
    float* back = to_device(std::vector<float>(size));
    const cornerturn::matrix_view source{from, rows, cols};
    const cornerturn::matrix_view middle{transposed, cols, rows};
    const cornerturn::matrix_view destination{back, rows, cols};

    cudaStream_t stream;
    check(cudaStreamCreate(&stream));
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cornerturn::cuda::transpose(source, middle, stream);
    cornerturn::cuda::transpose(middle, destination, stream);
    cudaGraph_t captured;
    check(cudaStreamEndCapture(stream, &captured));
    cudaGraphExec_t executable;
    check(cudaGraphInstantiate(&executable, captured, 0));

    for (int time = 1; time <= 3; ++time) {  // the same graph, with new elements
        std::vector<float> in(size);
        for (std::int64_t i = 0; i < size; ++i) in[i] = float(i + time);
        check(cudaMemcpy(from, in.data(), size * sizeof(float), cudaMemcpyHostToDevice));
        check(cudaGraphLaunch(executable, stream));
        check(cudaStreamSynchronize(stream));
        const std::vector<float> out = to_host(transposed, size);
        for (std::int64_t i = 0; i < size; ++i) {
            if (out[i % cols * rows + i / cols] != in[i]) return false;
        }
        if (to_host(back, size) != in) return false;
    }
    return true;
}

int main() { return run_example(graph); }
