// cuRAND: Philox4x32-10's published numbers in a kernel, the range and mean of distributions, and the host functions.
// Link with -lcurand.
#include <cuda_runtime.h>
#include <curand.h>
#include <curand_kernel.h>

#include <cmath>
#include <vector>

#include "expect.h"

__global__ void philox_words(unsigned* words) {
    curandStatePhilox4_32_10_t state;
    curand_init(0, 0, 0, &state);
    for (int i = 0; i < 4; ++i) words[i] = curand(&state);
    curand_init(0, 0, 2, &state);
    words[4] = curand(&state);
    const uint4 four = curand4(&state);  // crosses into the next step of the counter
    words[5] = four.x;
    words[6] = four.y;
    curand_init(0, 0, 0, &state);
    skipahead(4, &state);
    words[7] = curand(&state);
}

template <class State>
__global__ void distributions(float* uniform, float* normal, int each) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    State state;
    curand_init(1234, thread, 0, &state);
    for (int i = 0; i < each; ++i) {
        uniform[thread * each + i] = curand_uniform(&state);
        normal[thread * each + i] = curand_normal(&state);
    }
}

static void check_moments(const float* device, int count, double mean, double deviation) {
    std::vector<float> values(count);
    EXPECT_SUCCESS(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    double sum = 0, squares = 0;
    for (const float value : values) sum += value;
    for (const float value : values) squares += (value - mean) * (value - mean);
    EXPECT(std::fabs(sum / count - mean) < 0.05 * deviation);
    EXPECT(std::fabs(std::sqrt(squares / count) - deviation) < 0.05 * deviation);
}

static void check_uniform(const float* device, int count) {
    std::vector<float> values(count);
    EXPECT_SUCCESS(cudaMemcpy(values.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
    bool inside = true;
    for (const float value : values) inside = inside && value > 0 && value <= 1;
    EXPECT(inside);
    check_moments(device, count, 0.5, std::sqrt(1.0 / 12));
}

int main() {
    unsigned *words = nullptr, host[8] = {};
    EXPECT_SUCCESS(cudaMalloc(&words, sizeof host));
    philox_words<<<1, 1>>>(words);
    EXPECT_SUCCESS(cudaMemcpy(host, words, sizeof host, cudaMemcpyDeviceToHost));
    // The known answer for key and counter zero, of Random123.
    EXPECT(host[0] == 0x6627e8d5 && host[1] == 0xe169c58d && host[2] == 0xbc57ac4c && host[3] == 0x9b00dbd8);
    EXPECT(host[4] == host[2] && host[5] == host[3] && host[6] == host[7]);
    EXPECT_SUCCESS(cudaFree(words));

    const int threads = 64, each = 100, count = threads * each;
    float *uniform = nullptr, *normal = nullptr;
    EXPECT_SUCCESS(cudaMalloc(&uniform, count * sizeof(float)));
    EXPECT_SUCCESS(cudaMalloc(&normal, count * sizeof(float)));
    distributions<curandStatePhilox4_32_10_t><<<2, threads / 2>>>(uniform, normal, each);
    check_uniform(uniform, count);
    check_moments(normal, count, 0, 1);
    distributions<curandState><<<2, threads / 2>>>(uniform, normal, each);
    check_uniform(uniform, count);
    check_moments(normal, count, 0, 1);

    curandGenerator_t generator;
    EXPECT(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS);
    EXPECT(curandSetPseudoRandomGeneratorSeed(generator, 42) == CURAND_STATUS_SUCCESS);
    EXPECT(curandGenerateUniform(generator, uniform, count) == CURAND_STATUS_SUCCESS);
    EXPECT(curandGenerateNormal(generator, normal, count, 3, 2) == CURAND_STATUS_SUCCESS);
    check_uniform(uniform, count);
    check_moments(normal, count, 3, 2);
    EXPECT(curandGenerateNormal(generator, normal, 3, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    EXPECT(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
    EXPECT_SUCCESS(cudaFree(uniform));
    EXPECT_SUCCESS(cudaFree(normal));
    return finish();
}
