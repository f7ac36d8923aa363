// The host library in a process to which the system gives few threads, or little memory. This program's own
// pthread_create stands for the system: oneTBB and the C++ library call it.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <fstream>
#include <memory>
#include <new>
#include <numeric>
#include <vector>

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

#if !defined(__SANITIZE_ADDRESS__)  // the sanitizer itself maps terabytes
// In a process of its own for each limit, before this one has threads. What a thread's heap takes of the memory, the
// next thread's stack may lack.
TEST(host_transpose, goes_on_with_little_memory) {
    constexpr std::int64_t kRows = 1500, kCols = 1499, kMost = 400;
    int right = 0;
    for (std::int64_t mib = 0; mib <= kMost; mib += 4) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            const tbb::global_control as_with_many_cores(tbb::global_control::max_allowed_parallelism, 16);
            std::vector<int> from(kRows * kCols), to(kRows * kCols);
            std::iota(from.begin(), from.end(), 0);
            std::int64_t pages = 0;
            std::ifstream("/proc/self/statm") >> pages;
            const auto bytes = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + mib * cornerturn::tests::kMiB);
            const rlimit limit{bytes, bytes};
            if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
            try {
                for (int i = 0; i < 3; ++i)
                    cornerturn::transpose<int>({from.data(), kRows, kCols}, {to.data(), kCols, kRows});
            } catch (const std::bad_alloc&) {
                _exit(3);
            }
            for (std::int64_t i = 0; i < kRows * kCols; ++i) {
                if (to[static_cast<std::size_t>(i)] != i % kRows * kCols + i / kRows) _exit(4);
            }
            _exit(0);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status) << " with " << mib << " MiB";
        ASSERT_TRUE(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3) << WEXITSTATUS(status);
        right += WEXITSTATUS(status) == 0 ? 1 : 0;
    }
    EXPECT_GT(right, kMost / 8);
}
#endif

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
