// Device variables: copies to and from them, their addresses and sizes.
#include <cuda_runtime.h>

#include "expect.h"

__constant__ float factors[4];
__device__ int counter = 3;
__device__ int table[10];
__device__ int* where;
struct pair {
    double first;
    int second;
};
__device__ pair both;

__global__ void use(float* result) {
    *result = factors[0] + factors[3];
    counter += table[9];
    *where = 77;
    both.second += 1;
}

int main() {
    const float values[4] = {1, 2, 3, 4};
    EXPECT_SUCCESS(cudaMemcpyToSymbol(factors, values, sizeof values));
    const float last = 10;
    EXPECT_SUCCESS(cudaMemcpyToSymbol(factors, &last, sizeof last, 3 * sizeof(float)));
    int numbers[10];
    for (int i = 0; i < 10; ++i) numbers[i] = i;
    EXPECT_SUCCESS(cudaMemcpyToSymbol(table, numbers, sizeof numbers, 0, cudaMemcpyHostToDevice));
    const pair start = {0.5, 8};
    EXPECT_SUCCESS(cudaMemcpyToSymbol(both, &start, sizeof start));

    float* result = nullptr;
    int* target = nullptr;
    EXPECT_SUCCESS(cudaMalloc(&result, sizeof(float)));
    EXPECT_SUCCESS(cudaMalloc(&target, sizeof(int)));
    EXPECT_SUCCESS(cudaMemcpyToSymbol(where, &target, sizeof target));
    use<<<1, 1>>>(result);
    EXPECT_SUCCESS(cudaDeviceSynchronize());

    float sum = 0;
    int count = 0, seen = 0;
    pair end = {};
    EXPECT_SUCCESS(cudaMemcpy(&sum, result, sizeof sum, cudaMemcpyDeviceToHost));
    EXPECT(sum == 11);
    EXPECT_SUCCESS(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    EXPECT(count == 12);
    EXPECT_SUCCESS(cudaMemcpy(&seen, target, sizeof seen, cudaMemcpyDeviceToHost));
    EXPECT(seen == 77);
    EXPECT_SUCCESS(cudaMemcpyFromSymbol(&end, both, sizeof end));
    EXPECT(end.first == 0.5 && end.second == 9);
    EXPECT_SUCCESS(cudaMemcpyFromSymbol(&seen, table, sizeof seen, 4 * sizeof(int)));
    EXPECT(seen == 4);

    void* address = nullptr;
    std::size_t bytes = 0;
    EXPECT_SUCCESS(cudaGetSymbolAddress(&address, table));
    EXPECT_SUCCESS(cudaGetSymbolSize(&bytes, table));
    EXPECT(bytes == sizeof numbers);
    EXPECT_SUCCESS(cudaMemset(address, 0, bytes));
    EXPECT_SUCCESS(cudaMemcpyFromSymbol(numbers, table, sizeof numbers));
    EXPECT(numbers[9] == 0 && numbers[1] == 0);

    // Past the end, wrong directions, and what is no device variable.
    EXPECT_STATUS(cudaErrorInvalidValue, cudaMemcpyToSymbol(table, numbers, sizeof numbers, 4));
    EXPECT_STATUS(cudaErrorInvalidValue, cudaMemcpyFromSymbol(numbers, table, 4, 40));
    EXPECT_STATUS(cudaErrorInvalidMemcpyDirection, cudaMemcpyToSymbol(table, numbers, 4, 0, cudaMemcpyDeviceToHost));
    EXPECT_STATUS(cudaErrorInvalidMemcpyDirection, cudaMemcpyFromSymbol(numbers, table, 4, 0, cudaMemcpyHostToDevice));
    EXPECT_STATUS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(numbers, numbers, 4));
    EXPECT_STATUS(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, numbers));

    EXPECT_SUCCESS(cudaFree(result));
    EXPECT_SUCCESS(cudaFree(target));
    return finish();
}
