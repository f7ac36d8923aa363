#include <kernels.hpp>

#if !defined(BEHIND) || !defined(OF_USERS) || defined(VALUE)
#error "a setting of CMakeLists.txt is missing"
#endif

__global__ void more(int* values) { atomicAdd(values, 1); }

void run_more(int* values) { more<<<1, 32>>>(values); }
