// Features of the emulator that the ladder does not use: shuffles, warp barriers, dynamic shared memory, vector widths.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "emulator/emulation.hpp"
#include "kernels/warp_kernels.hpp"
#include "message.hpp"

using namespace cornerturn;
using namespace cornerturn::emulator;

namespace {

// An emulation with one input buffer and one output buffer.
template <class In, class Out>
struct run {
    alignas(256) std::array<In, 4096> in{};
    alignas(256) std::array<Out, 4096> out{};
    emulation open;

    explicit run(const options& o = {}) : open(o) {
        open.add_buffer("in", in.data(), sizeof in, false);
        open.add_buffer("out", out.data(), sizeof out, true);
    }
};

template <class F>
hazard caught(F f) {
    try {
        f();
    } catch (const hazard& h) {
        return h;
    }
    ADD_FAILURE() << "no hazard was raised";
    return hazard(hazard_kind::race, "");
}

TEST(shuffles, follow_ptx) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    std::iota(r->in.begin(), r->in.begin() + 32, 100);
    tests::run_shuffles(r->in.data(), r->out.data(), 32);
    for (unsigned lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(r->out[lane], 105u);
        EXPECT_EQ(r->out[32 + lane], 100 + (lane < 3 ? lane : lane - 3));
        EXPECT_EQ(r->out[64 + lane], 100 + (lane + 3 > 31 ? lane : lane + 3));
        EXPECT_EQ(r->out[96 + lane], 100 + (lane ^ 16));
        EXPECT_EQ(r->out[128 + lane], 100 + (lane / 8 * 8 + 1));
    }
}

TEST(shuffles, of_part_of_a_warp_then_of_all) {
    auto r = std::make_unique<run<std::uint64_t, std::uint64_t>>();
    std::iota(r->in.begin(), r->in.begin() + 32, 1ull << 40);
    tests::run_partial_shuffles(r->in.data(), r->out.data());
    for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned from = lane ^ 16;
        EXPECT_EQ(r->out[lane], (1ull << 40) + (from < 16 ? from ^ 3 : from)) << lane;
    }
}

TEST(shuffles, from_a_lane_that_takes_no_part_is_a_hazard) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    const hazard h = caught([&] { tests::run_shuffle_from_absent_lane(r->out.data()); });
    EXPECT_EQ(h.kind(), hazard_kind::divergent_barrier);
    EXPECT_NAMES(h.what(), 20, "warp_kernels.cu:");
}

TEST(warp_barrier, that_a_lane_never_reaches_is_a_hazard) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    const hazard h = caught([&] { tests::run_divergent_warp(r->out.data()); });
    EXPECT_EQ(h.kind(), hazard_kind::divergent_barrier);
    EXPECT_NAMES(h.what(), "divergent_warp", "warp_kernels.cu:");
}

TEST(warp_barrier, orders_the_lanes_of_a_warp) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    tests::run_warp_exchange(r->out.data(), true);
    for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(r->out[lane], lane + 1);
    const hazard h = caught([&] { tests::run_warp_exchange(r->out.data(), false); });
    EXPECT_EQ(h.kind(), hazard_kind::race);
}

TEST(shared_memory, dynamic) {
    auto r = std::make_unique<run<std::uint16_t, std::uint16_t>>();
    for (int n : {1, 33, 1000, 1024}) {
        std::iota(r->in.begin(), r->in.begin() + n, 7);
        tests::run_dynamic_shared(r->in.data(), r->out.data(), n);
        for (int i = 0; i < n; ++i) ASSERT_EQ(r->out[i], 7 + n - 1 - i);
    }
}

TEST(shared_memory, bytes_of_one_word_do_not_race_but_one_byte_does) {
    auto r = std::make_unique<run<std::uint8_t, std::uint8_t>>();
    tests::run_bytes_of_a_word(r->out.data(), false);
    for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(r->out[i], i);
    EXPECT_EQ(caught([&] { tests::run_bytes_of_a_word(r->out.data(), true); }).kind(), hazard_kind::race);
}

TEST(shared_memory, a_later_lane_may_be_the_first_at_an_instruction) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    tests::run_late_first_lane(r->out.data());
    EXPECT_EQ(r->out[0], 4u);
    EXPECT_EQ(r->out[1], 5u);
}

TEST(shared_memory, lanes_may_pass_two_instructions_in_opposite_orders) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    tests::run_opposite_order(r->out.data());
    for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(r->out[lane], 2 * lane);
}

TEST(shared_memory, static_and_dynamic_by_one_instruction) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    tests::run_both_shared(r->out.data());
    for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(r->out[lane], lane % 2 != 0 ? lane : 100 + lane);
}

TEST(shared_memory, or_global_memory_by_one_instruction_of_two_warps) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    tests::run_either_space(r->in.data(), r->out.data());
    EXPECT_EQ(r->open.report().counts.global_requests[kLoad], 1u);
    EXPECT_EQ(r->open.report().counts.global_sectors[kLoad], 4u);
    EXPECT_EQ(r->open.report().counts.shared_wavefronts[kLoad], 1u);
}

TEST(shared_memory, more_than_cuda_allows_is_refused) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    EXPECT_THROW(tests::run_too_much_shared(r->out.data()), invalid_argument);
}

TEST(warp_barrier, thousands_of_them) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    EXPECT_NO_THROW(tests::run_many_warp_barriers(r->out.data(), 70000));
}

TEST(shuffles, from_lanes_that_wait_at_a_barrier_are_a_hazard) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    const hazard h = caught([&] { tests::run_shuffle_meets_barrier(r->out.data()); });
    EXPECT_EQ(h.kind(), hazard_kind::divergent_barrier) << h.what();
}

TEST(accesses, of_vector_types_are_one_each_of_their_width) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    tests::run_vector_copies(r->in.data(), r->out.data());
    const counters& c = r->open.report().counts;
    // uchar2 uchar4 ushort2 ushort4 int2 int4 uint2 uint4 float2 float4 double2
    const unsigned widths[] = {2, 4, 4, 8, 8, 16, 8, 16, 8, 16, 16};
    EXPECT_EQ(c.global_requests[kLoad], std::size(widths));
    EXPECT_EQ(c.global_requests[kStore], std::size(widths));
    EXPECT_EQ(c.global_sectors[kLoad], std::accumulate(std::begin(widths), std::end(widths), 0u));
    EXPECT_EQ(c.global_sectors[kStore], c.global_sectors[kLoad]);
}

TEST(accesses, that_need_several_instructions_are_a_hazard) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    const hazard h = caught([&] { tests::run_odd_copy(r->in.data(), r->out.data()); });
    EXPECT_EQ(h.kind(), hazard_kind::unsupported_access);
    EXPECT_NAMES(h.what(), 12, "warp_kernels.cu:");
}

TEST(accesses, beyond_the_stack_are_a_hazard) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    EXPECT_EQ(caught([&] { tests::run_deep_recursion(r->out.data()); }).kind(), hazard_kind::stack_overflow);
}

TEST(indices, in_three_dimensions_and_partial_warps) {
    for (auto [x, y, z] :
         {std::array{1u, 1u, 1u}, {33u, 1u, 1u}, {5u, 7u, 3u}, {2u, 2u, 64u}, {1024u, 1u, 1u}, {1u, 1024u, 1u}}) {
        auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
        tests::run_indices(r->out.data(), x, y, z);
        for (unsigned i = 0; i < x * y * z; ++i) ASSERT_EQ(r->out[i], i);
        EXPECT_EQ(r->open.report().counts.global_requests[kStore], (x * y * z + 31) / 32);
    }
}

// nvcc moves such a load out of the loop, too.
TEST(counts, a_loop_invariant_load_counts_once) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    r->in[0] = 10;
    tests::run_loop_bound(r->in.data(), r->out.data());
    EXPECT_EQ(r->out[0], 10u);
    EXPECT_EQ(r->open.report().counts.global_requests[kLoad], 1 + 10u);
}

TEST(counts, of_shared_loads_in_a_kernel) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    for (int lane = 0; lane < 32; ++lane) r->in[lane] = static_cast<std::uint32_t>(lane * 256);
    tests::run_shared_pattern(r->in.data(), 0xffffffffu, 8, r->out.data());
    // 32 stores of 16 bytes a lane, 4 wavefronts each; then one load of 16 + 16.
    EXPECT_EQ(r->open.report().counts.shared_wavefronts[kStore], 32u * 4);
    EXPECT_EQ(r->open.report().counts.shared_wavefronts[kLoad], 32u);
    EXPECT_EQ(r->open.report().counts.shared_conflicts[kLoad], 30u);
}

TEST(launches, that_cuda_refuses_are_refused) {
    auto r = std::make_unique<run<std::uint32_t, std::uint32_t>>();
    EXPECT_THROW(tests::run_bad_launch(1025, 1, 0), invalid_argument);
    EXPECT_THROW(tests::run_bad_launch(0, 1, 0), invalid_argument);
    EXPECT_THROW(tests::run_bad_launch(32, 65536, 0), invalid_argument);
    EXPECT_THROW(tests::run_bad_launch(32, 0, 0), invalid_argument);
    EXPECT_THROW(tests::run_bad_launch(32, 1, 228 << 10), invalid_argument);
    EXPECT_NO_THROW(tests::run_bad_launch(1024, 65535, 227 << 10));
}

TEST(launches, outside_an_emulation_are_refused) { EXPECT_THROW(tests::run_bad_launch(32, 1, 0), invalid_argument); }

TEST(emulations, one_a_thread) {
    emulation first;
    EXPECT_THROW(emulation second, invalid_argument);
}

}  // namespace
