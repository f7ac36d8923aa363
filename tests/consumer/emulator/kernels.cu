#include <kernels.hpp>

#include <span>
#include <string_view>

#if !defined(OF_USERS) || !defined(OF_SOURCE) || !defined(IS_CXX) || __cplusplus < 202002L
#error "a setting of CMakeLists.txt is missing"
#endif
static_assert(std::string_view(TEXT) == "two words" && VALUE == 3 && NUMBER == 5 && ALSO == 7);

__global__ void scale(int* values, int count) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) values[i] *= kFactor;
}

void run_scale(int* values, int count) { scale<<<(count + 31) / 32, 32>>>(values, count); }
