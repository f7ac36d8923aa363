// The host library in a process that gets few threads or little memory. This program replaces pthread_create, which
// oneTBB and the C++ library call, and lets it fail.
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

// The exit status of a new process that runs the function. It begins with one thread. 1: an expectation failed. 128 and
// more: a signal ended it.
template <class Function>
int in_a_child(Function function) {
    const pid_t child = fork();
    if (child == 0) {
        const int result = function();
        _exit(::testing::Test::HasFailure() ? 1 : result);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::size_t allowed() { return tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism); }

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
namespace {

void limit_memory(std::int64_t bytes) {
    const rlimit limit{static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
}

}  // namespace

// The heap of one thread may take the memory that the next thread needs for its stack.
TEST(host_transpose, works_with_little_memory) {
    constexpr std::int64_t kRows = 1500, kCols = 1499, kMost = 400;
    int right = 0;
    for (std::int64_t mib = 0; mib <= kMost; mib += 4) {
        const int status = in_a_child([&] {
            const tbb::global_control as_with_many_cores(tbb::global_control::max_allowed_parallelism, 16);
            std::vector<int> from(kRows * kCols), to(kRows * kCols);
            std::iota(from.begin(), from.end(), 0);
            std::int64_t pages = 0;
            std::ifstream("/proc/self/statm") >> pages;
            limit_memory(pages * sysconf(_SC_PAGESIZE) + mib * cornerturn::tests::kMiB);
            try {
                for (int i = 0; i < 3; ++i)
                    cornerturn::transpose<int>({from.data(), kRows, kCols}, {to.data(), kCols, kRows});
            } catch (const std::bad_alloc&) {
                return 3;
            }
            for (std::int64_t i = 0; i < kRows * kCols; ++i) {
                if (to[static_cast<std::size_t>(i)] != i % kRows * kCols + i / kRows) return 4;
            }
            return 0;
        });
        ASSERT_TRUE(status == 0 || status == 3) << status << " with " << mib << " MiB";
        right += status == 0 ? 1 : 0;
    }
    EXPECT_GT(right, kMost / 8);
}

// With a limit on memory, however large, the library limits the threads. It must not keep a limit that the caller had
// set only for a while.
TEST(host_transpose, does_not_keep_a_temporary_limit_of_the_caller) {
    EXPECT_EQ(in_a_child([] {
                  limit_memory(std::int64_t{200} << 30);
                  const tbb::global_control as_with_many_cores(tbb::global_control::max_allowed_parallelism, 16);
                  {
                      const tbb::global_control temporary(tbb::global_control::max_allowed_parallelism, 2);
                      expect_right({.rows = 2000, .cols = 2000, .element_size = 4});
                  }
                  return static_cast<int>(allowed());
              }),
              16);
}
#endif

// When the caller's limit ends, oneTBB may start threads before the next call of the library. On machines with fewer
// than 16 cores, the library counts again then, without the threads that oneTBB has. So the limit may be below 4.
TEST(host_transpose, limits_threads_before_the_caller_lets_more_start) {
    for (int temporarily = 2; temporarily <= 8; ++temporarily) {
        const int limit = in_a_child([&] {
            const tbb::global_control as_with_many_cores(tbb::global_control::max_allowed_parallelism, 16);
            most = 4;
            {
                const tbb::global_control temporary(tbb::global_control::max_allowed_parallelism,
                                                    static_cast<std::size_t>(temporarily));
                expect_right({.rows = 2000, .cols = 2000, .element_size = 4});
            }
            expect_right({.rows = 3000, .cols = 2999, .element_size = 4});
            return static_cast<int>(allowed());
        });
        EXPECT_TRUE(limit >= 1 && limit <= 4) << limit << " after " << temporarily;
    }
}

// Each thread of oneTBB starts the next one. If it cannot, it ends the process.
TEST(host_transpose, works_with_few_threads) {
    const tbb::global_control as_with_many_cores(tbb::global_control::max_allowed_parallelism, 16);
    most = 4;
    for (const int threads : {0, 16, 3, 0}) {
        expect_right({.rows = 3000, .cols = 2999, .element_size = 4}, {.threads = threads});
        expect_right({.rows = 2000, .cols = 2000, .element_size = 4, .in_place = true}, {.threads = threads});
    }
    EXPECT_GT(refused, 0) << "the checks above cannot fail";
    EXPECT_EQ(allowed(), 4U);
}
