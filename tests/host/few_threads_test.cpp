// The host library in a process to which the system gives few threads. This program's own pthread_create stands for the
// system: oneTBB and the C++ library call it.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <tbb/global_control.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <memory>

#include "host_transposes.hpp"

using cornerturn::tests::expect_right;

namespace {

std::atomic<int> alive = 1, most = INT_MAX, refused = 0;

struct routine {
    void* (*run)(void*);
    void* argument;
};

void* run_counted(void* given) {
    const routine its = *std::unique_ptr<routine>(static_cast<routine*>(given));
    void* const result = its.run(its.argument);
    --alive;
    return result;
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) noexcept {
    static const auto real = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
    if (++alive > most) {
        --alive;
        ++refused;
        return EAGAIN;
    }
    const int error = real(thread, attributes, run_counted, new routine{run, argument});
    if (error != 0) --alive;
    return error;
}

// oneTBB starts its threads one from another, and one that cannot start the next ends the process.
TEST(host_transpose, goes_on_with_few_threads) {
    const tbb::global_control as_with_many_cores(tbb::global_control::max_allowed_parallelism, 16);
    most = 4;
    for (const int threads : {0, 16, 3, 0}) {
        expect_right({.rows = 3000, .cols = 2999, .element_size = 4}, {.threads = threads});
        expect_right({.rows = 2000, .cols = 2000, .element_size = 4, .in_place = true}, {.threads = threads});
    }
    EXPECT_GT(refused, 0) << "so that the above can fail";
    EXPECT_EQ(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism), 4U);
}
