// cuRAND's host API. All pseudo-random generators are Philox4x32-10 here. Quasi-random generators are not supported.
#include <curand.h>
#include <curand_kernel.h>

#include "emulate/runtime/errors.hpp"
#include "emulate/runtime/graph.hpp"
#include "emulate/runtime/handles.hpp"
#include "emulate/runtime/memory.hpp"
#include "emulate/runtime/streams.hpp"

struct curandGenerator_st {
    bool on_host = false;
    unsigned long long seed = 0;
    unsigned long long at = 0;  // count of 32-bit numbers generated so far
    cudaStream_t stream = nullptr;
};

namespace cornerturn::emulator {
namespace {

handles<curandGenerator_st>& generators() {
    static auto* const one = new handles<curandGenerator_st>;
    return *one;
}

curandStatus_t create(curandGenerator_t* generator, curandRngType_t type, bool on_host) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    // Programs rely on the even spread of a quasi-random sequence, so pseudo-random numbers cannot replace it.
    if (type < CURAND_RNG_PSEUDO_DEFAULT || type >= CURAND_RNG_QUASI_DEFAULT) return CURAND_STATUS_TYPE_ERROR;
    *generator = generators().add({on_host, 0, 0, nullptr});
    return CURAND_STATUS_SUCCESS;
}

template <class Body>
curandStatus_t with(curandGenerator_t generator, const Body& body) {
    return generators().has(generator) ? body() : CURAND_STATUS_NOT_INITIALIZED;
}

// Writes next(state) to each output. Earlier calls only decide where in the sequence this one begins.
template <class T, class Next>
curandStatus_t generate(curandGenerator_t generator, T* output, size_t count, const Next& next) {
    return with(generator, [&] {
        if (sticky_error() || refuse_in_capture(generator->stream)) return CURAND_STATUS_PREEXISTING_FAILURE;
        if (!count) return CURAND_STATUS_SUCCESS;
        const bool allowed = generator->on_host ? output != nullptr : device_range(output, count * sizeof(T));
        if (!allowed) {
            if (!generator->on_host) set_sticky_error(cudaErrorIllegalAddress);  // like the kernel on a real GPU
            return CURAND_STATUS_LAUNCH_FAILURE;
        }
        curandStatePhilox4_32_10_t state;
        curand_init(generator->seed, 0, generator->at, &state);
        for (size_t i = 0; i < count; ++i) output[i] = next(&state);
        const unsigned long long numbers = sizeof(T) > 4 ? 2 : 1;  // of 32 bits, for each output
        generator->at += (count * numbers + 3) / 4 * 4 + 4;
        return CURAND_STATUS_SUCCESS;
    });
}

// Normally distributed numbers are generated in pairs.
template <class T, class Next>
curandStatus_t generate_pairs(curandGenerator_t generator, T* output, size_t count, T stddev, const Next& next) {
    if (count % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    if (!(stddev > 0)) return CURAND_STATUS_OUT_OF_RANGE;
    return generate(generator, output, count, next);
}

using philox = curandStatePhilox4_32_10_t;

}  // namespace
}  // namespace cornerturn::emulator

using namespace cornerturn::emulator;

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t rng_type) {
    return create(generator, rng_type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t rng_type) {
    return create(generator, rng_type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
    return generators().remove(generator) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}
curandStatus_t curandGetVersion(int* version) {
    if (!version) return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
    if (!value || type > PATCH_LEVEL) return CURAND_STATUS_OUT_OF_RANGE;
    *value = type == MAJOR_VERSION ? CURAND_VER_MAJOR : type == MINOR_VERSION ? CURAND_VER_MINOR : CURAND_VER_PATCH;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
    return with(generator, [&] {
        if (!stream_exists(stream)) return CURAND_STATUS_INTERNAL_ERROR;
        generator->stream = stream;
        return CURAND_STATUS_SUCCESS;
    });
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
    return with(generator, [&] {
        generator->seed = seed;
        generator->at = 0;
        return CURAND_STATUS_SUCCESS;
    });
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
    return with(generator, [&] {
        generator->at = offset;
        return CURAND_STATUS_SUCCESS;
    });
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
    return with(generator, [&] {
        const bool pseudo = order >= CURAND_ORDERING_PSEUDO_BEST && order <= CURAND_ORDERING_PSEUDO_DYNAMIC;
        return pseudo ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
    });
}
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned int) {
    return with(generator, [] { return CURAND_STATUS_TYPE_ERROR; });
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
    return with(generator, [] { return CURAND_STATUS_SUCCESS; });
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* outputPtr, size_t num) {
    return generate(generator, outputPtr, num, [](philox* state) { return curand(state); });
}
// Only the 64-bit quasi-random generators support this call.
curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long*, size_t) {
    return with(generator, [] { return CURAND_STATUS_TYPE_ERROR; });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* outputPtr, size_t num) {
    return generate(generator, outputPtr, num, [](philox* state) { return curand_uniform(state); });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* outputPtr, size_t num) {
    return generate(generator, outputPtr, num, [](philox* state) {
        const unsigned x = curand(state), y = curand(state);
        return ct_uniform_double(x, y);
    });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* outputPtr, size_t n, float mean, float stddev) {
    return generate_pairs(generator, outputPtr, n, stddev,
                          [=](philox* state) { return mean + stddev * curand_normal(state); });
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* outputPtr, size_t n, double mean,
                                          double stddev) {
    return generate_pairs(generator, outputPtr, n, stddev,
                          [=](philox* state) { return mean + stddev * curand_normal_double(state); });
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* outputPtr, size_t n, float mean,
                                       float stddev) {
    return generate_pairs(generator, outputPtr, n, stddev,
                          [=](philox* state) { return curand_log_normal(state, mean, stddev); });
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* outputPtr, size_t n, double mean,
                                             double stddev) {
    return generate_pairs(generator, outputPtr, n, stddev,
                          [=](philox* state) { return curand_log_normal_double(state, mean, stddev); });
}
curandStatus_t curandGeneratePoisson(curandGenerator_t, unsigned int*, size_t, double) {
    return CURAND_STATUS_TYPE_ERROR;
}
curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t*[], curandDirectionVectorSet_t) {
    return CURAND_STATUS_TYPE_ERROR;
}
curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t*[], curandDirectionVectorSet_t) {
    return CURAND_STATUS_TYPE_ERROR;
}

}  // extern "C"
