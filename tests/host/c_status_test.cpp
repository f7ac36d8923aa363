// The codes that C functions return if memory runs out.
#include "core/c_status.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "cornerturn/cornerturn.h"

using namespace cornerturn;

namespace {

thread_local bool has_run_out = false;  // for this program's operators new

void* allocated(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
    return has_run_out ? nullptr : std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}
void* or_thrown(void* at) { return at != nullptr ? at : throw std::bad_alloc(); }

}  // namespace

void* operator new(std::size_t bytes) { return or_thrown(allocated(bytes)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocated(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return or_thrown(allocated(bytes, static_cast<std::size_t>(alignment)));
}
// noinline: g++ would report a mismatch if it inlined only one of a pair.
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {

TEST(c_status, out_of_memory_has_separate_codes) {
    const auto status_of_cuda = [](const char* name) {
        return detail::status_of([&] { throw cuda_error(name, "the message"); });
    };
    EXPECT_EQ(status_of_cuda("cudaErrorMemoryAllocation"), CORNERTURN_OUT_OF_DEVICE_MEMORY);
    EXPECT_EQ(status_of_cuda("cudaErrorInvalidDevice"), CORNERTURN_CUDA_ERROR);
    EXPECT_STREQ(cornerturn_last_error(), "the message");
    EXPECT_EQ(detail::status_of([] { throw std::bad_alloc(); }), CORNERTURN_OUT_OF_HOST_MEMORY);
    EXPECT_STREQ(cornerturn_status_name(CORNERTURN_OUT_OF_HOST_MEMORY), "out_of_host_memory");
    EXPECT_STREQ(cornerturn_status_name(CORNERTURN_OUT_OF_DEVICE_MEMORY), "out_of_device_memory");
}

// Some calls need working memory. Which ones do depends on the processor.
TEST(c_status, calls_return_out_of_host_memory) {
    const std::int64_t extents[] = {9, 7, 31, 5};
    const int axes[] = {3, 1, 0, 2};
    int calls_out_of_memory = 0;
    for (const std::int64_t size : {1, 2, 3, 4, 8, 12, 16}) {
        std::vector<unsigned char> in(static_cast<std::size_t>(9 * 7 * 31 * 5 * size)), out(in.size());
        std::iota(in.begin(), in.end(), static_cast<unsigned char>(0));
        const auto run = [&] {
            return cornerturn_permute(4, extents, in.data(), nullptr, axes, out.data(), nullptr, size, 1);
        };
        ASSERT_EQ(run(), CORNERTURN_OK);
        const std::vector<unsigned char> expected = std::exchange(out, std::vector<unsigned char>(in.size()));
        has_run_out = true;
        const cornerturn_status status = run();
        has_run_out = false;
        if (status != CORNERTURN_OK) {
            EXPECT_EQ(status, CORNERTURN_OUT_OF_HOST_MEMORY);
            EXPECT_STRNE(cornerturn_last_error(), "");
            ++calls_out_of_memory;
            EXPECT_EQ(run(), CORNERTURN_OK);
        }
        EXPECT_EQ(out, expected);
    }
    EXPECT_GT(calls_out_of_memory, 0);
}

}  // namespace
