// cornerturn::cuda::copy and permute on a GPU, and their C functions.
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "cornerturn/cornerturn.h"
#include "cornerturn/cuda/copy.hpp"
#include "cornerturn/cuda/l2.hpp"
#include "cuda/gpu_test.hpp"
#include "device/cuda_device.hpp"
#include "message.hpp"
#include "move/policy.hpp"
#include "move/policy_measured.hpp"
#include "strided_plans.hpp"
#include "strided_problems.hpp"

using namespace cornerturn;
using tests::device_array;
using tests::refused;
using tests::stream_owner;
using tests::strided_problem;

namespace {

std::map<std::string, int> launches;  // by kernel

void count(const moves::plan& p) { ++launches[tests::name_of(p)]; }
void count(const strided_copy& c) {
    const gpu on = device::gpu_of(device::current_device());
    moves::for_each_plan(c, on, [](const moves::plan& p) { count(p); });
}

// Runs problems in buffers of this class, and compares every byte of the destination with the reference.
class copier {
public:
    explicit copier(std::int64_t room)
        : room_(room),
          noise_(static_cast<std::size_t>(room)),
          before_(noise_.size()),
          source_(noise_.size()),
          destination_(noise_.size()) {
        std::mt19937_64 random(7);
        for (std::size_t i = 0; i + 8 <= noise_.size(); i += 8) {
            const std::uint64_t a = random(), b = random();
            std::memcpy(&noise_[i], &a, 8);
            std::memcpy(&before_[i], &b, 8);
        }
        CORNERTURN_CUDA(cudaMemcpy(source_.data, noise_.data(), noise_.size(), cudaMemcpyHostToDevice));
    }

    strided_copy copy_of(const strided_problem& p) const { return p.canonical(source_.data, destination_.data); }
    struct addresses {
        unsigned char *source, *destination;
    };
    addresses memory() const { return {source_.data, destination_.data}; }
    addresses first_of(const strided_problem& p) const {
        return {source_.data + p.source_at, destination_.data + p.destination_at};
    }
    bool fits(const strided_problem& p) const { return p.source_bytes <= room_ && p.destination_bytes <= room_; }

    // The calls that can make the copy.
    static constexpr int kCalls = 4;
    enum { kPlanObject, kOneCall, kInC, kInCOnDevice };

    // Makes one of these calls, or runs `plan`. Returns the first fault, or nothing.
    std::string run(const strided_problem& p, int call, const moves::plan* plan = nullptr) {
        const auto bytes = static_cast<std::size_t>(p.destination_bytes);
        CORNERTURN_CUDA(cudaMemcpyAsync(destination_.data, before_.data(), bytes, cudaMemcpyHostToDevice, stream_.get));
        if (plan == nullptr) count(copy_of(p));
        const void* const from = source_.data + p.source_at;
        void* const to = destination_.data + p.destination_at;
        const detail::axis_list n(p.extents), s(p.source_strides), d(p.destination_strides);
        const int rank = static_cast<int>(p.extents.size());
        if (plan != nullptr) {
            const device::stream_scope launches_go_to(stream_.get);
            moves::run_on_gpu(*plan);
        } else if (call == kPlanObject) {
            cuda::copy_plan(n, s, d, p.element_size)(from, to, stream_.get);
        } else if (call == kOneCall) {
            cuda::detail::copy({reinterpret_cast<std::uintptr_t>(from), n, s},
                               {reinterpret_cast<std::uintptr_t>(to), n, d}, p.element_size, 1, stream_.get);
        } else {
            const auto* const s_data = p.source_strides.data();
            const auto* const d_data = p.destination_strides.data();
            const cornerturn_status status = call == kInC
                                                 ? cornerturn_cuda_copy(rank, p.extents.data(), from, s_data, to,
                                                                        d_data, p.element_size, stream_.get)
                                                 : cornerturn_cuda_copy_on(0, rank, p.extents.data(), from, s_data, to,
                                                                           d_data, p.element_size, stream_.get);
            if (status != CORNERTURN_OK) return cornerturn_last_error();
        }
        std::vector<unsigned char> found(bytes), expected(before_.begin(), before_.begin() + p.destination_bytes);
        CORNERTURN_CUDA(cudaMemcpyAsync(found.data(), destination_.data, bytes, cudaMemcpyDeviceToHost, stream_.get));
        p.reference(noise_.data(), expected.data());
        CORNERTURN_CUDA(cudaStreamSynchronize(stream_.get));
        if (found == expected) return {};
        std::size_t i = 0;
        while (found[i] == expected[i]) ++i;
        return "byte " + std::to_string(i) + " of the destination is " + std::to_string(found[i]) + ", not " +
               std::to_string(expected[i]);
    }

private:
    std::int64_t room_;
    std::vector<unsigned char> noise_, before_;
    device_array<unsigned char> source_, destination_;
    stream_owner stream_;
};

// The environment sets how many: CORNERTURN_RANDOM_COPIES.
TEST(cuda_copy, random_problems) {
    const char* const asked = std::getenv("CORNERTURN_RANDOM_COPIES");
    const int rounds = asked == nullptr ? 4000 : std::atoi(asked);
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu, %d problems\n", static_cast<unsigned long long>(seed), rounds);
    std::mt19937_64 random(seed);
    copier with(24 << 20);
    for (int round = 0; round < rounds; ++round) {
        const strided_problem p = tests::draw_strided(random, round % 50 == 0 ? 1 << 20 : 1 << 16);
        if (!with.fits(p)) continue;
        ASSERT_EQ(with.run(p, round % copier::kCalls), "")
            << "seed " << seed << ", round " << round << ": " << p.text();
    }
}

// With lines kept and not. The L2 can keep a part of a result of this size.
TEST(cuda_copy, moves_rows_with_both_choices_of_l2_lines) {
    strided_problem p;
    p.extents = {1001, 26001};
    p.source_strides = {26003, 1};
    p.destination_strides = {26002, 1};
    p.lay_out(8, 0, 0);
    copier with(p.source_bytes);
    const gpu on = device::gpu_of(device::current_device());
    ASSERT_EQ(moves::choose(with.copy_of(p), on).by, moves::kernel_family::rows);
    for (const auto lines : {cuda::l2_lines::ordinary, cuda::l2_lines::kept}) {
        cuda::set_l2_lines(lines);
        EXPECT_EQ(with.run(p, copier::kOneCall), "");
    }
}

// The library moves most small problems run by run. Here every plan moves them.
TEST(cuda_copy, random_problems_by_every_plan) {
    const char* const asked = std::getenv("CORNERTURN_RANDOM_COPIES");
    const int rounds = asked == nullptr ? 400 : std::atoi(asked) / 10;
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu, %d problems\n", static_cast<unsigned long long>(seed), rounds);
    std::mt19937_64 random(seed);
    const gpu on = device::gpu_of(device::current_device());
    copier with(24 << 20);
    for (int round = 0; round < rounds; ++round) {
        const strided_problem p = tests::draw_strided(random, 1 << 18);
        if (!with.fits(p)) continue;
        const strided_copy c = with.copy_of(p);
        for (const moves::candidate& one : moves::candidates(c, on)) {
            if (one.by == moves::kernel_family::nothing) continue;
            for (const moves::plan& plan : tests::also_as_if_large(moves::work_out(one, c, on))) {
                count(plan);
                ASSERT_EQ(with.run(p, copier::kPlanObject, &plan), "")
                    << "seed " << seed << ", round " << round << ": " << p.text() << "\n"
                    << moves::explain(one, c, on);
            }
        }
    }
}

TEST(cuda_copy, measured_choices) {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    const gpu on = device::gpu_of(device::current_device());
    copier with(24 << 20);
    stream_owner stream;
    for (int round = 0; round < 60; ++round) {
        const strided_problem p = tests::draw_strided(random, 1 << 18);
        if (!with.fits(p)) continue;
        const std::string about = "seed " + std::to_string(seed) + ", round " + std::to_string(round) + ": " + p.text();
        const strided_copy c = with.copy_of(p);
        const detail::axis_list n(p.extents), s(p.source_strides), d(p.destination_strides);
        const unsigned before = moves::measured_count();
        if (round % 3 == 0) {  // in memory of its own
            const cuda::copy_plan plan(n, s, d, p.element_size, 1, cuda::choice::measured);
        } else if (round % 3 == 1) {
            const cuda::copy_plan plan(n, s, d, p.element_size, 1, cuda::choice::measured, with.first_of(p).source,
                                       with.first_of(p).destination, stream.get);
        } else {
            cornerturn_cuda_plan* plan = nullptr;
            ASSERT_EQ(cornerturn_cuda_plan_create_measured(&plan, static_cast<int>(p.extents.size()), p.extents.data(),
                                                           nullptr, p.source_strides.data(), nullptr,
                                                           p.destination_strides.data(), p.element_size, stream.get),
                      CORNERTURN_OK)
                << cornerturn_last_error() << about;
            cornerturn_cuda_plan_destroy(plan);
        }
        EXPECT_EQ(moves::measured_count() > before, !c.is_empty()) << about;
        if (round % 3 == 1) {
            EXPECT_EQ(moves::measured_way(c, on).has_value(), !c.is_empty()) << about;
        }
        ASSERT_EQ(with.run(p, copier::kOneCall), "") << about;
    }
    const std::string file = testing::TempDir() + "choices_" + std::to_string(seed);
    int count = 0;
    ASSERT_EQ(cornerturn_cuda_save_choices(file.c_str()), CORNERTURN_OK) << cornerturn_last_error();
    ASSERT_EQ(cornerturn_cuda_load_choices(file.c_str(), &count), CORNERTURN_OK) << cornerturn_last_error();
    EXPECT_GT(count, 10);
    std::remove(file.c_str());
    EXPECT_EQ(cornerturn_cuda_load_choices(file.c_str(), &count), CORNERTURN_INVALID_ARGUMENT);
    EXPECT_EQ(cornerturn_cuda_load_choices(nullptr, &count), CORNERTURN_INVALID_ARGUMENT);
    EXPECT_EQ(cornerturn_cuda_save_choices((file + "/in no folder").c_str()), CORNERTURN_INVALID_ARGUMENT);

    CORNERTURN_CUDA(cudaStreamBeginCapture(stream.get, cudaStreamCaptureModeThreadLocal));
    EXPECT_NAMES(refused([&] {
                     const cuda::copy_plan plan({64, 64}, {1, 64}, {64, 1}, 4, 4, cuda::choice::measured,
                                                with.memory().source, with.memory().destination, stream.get);
                 }),
                 "capture");
    cudaGraph_t graph = nullptr;
    CORNERTURN_CUDA(cudaStreamEndCapture(stream.get, &graph));
    CORNERTURN_CUDA(cudaGraphDestroy(graph));
}

TEST(cuda_copy, example_of_the_header) {
    constexpr int kN = 3, kC = 5, kH = 7, kW = 11, kAll = kN * kC * kH * kW;
    std::vector<float> in(kAll), out(kAll);
    for (int i = 0; i < kAll; ++i) in[static_cast<std::size_t>(i)] = static_cast<float>(i);
    device_array<float> source(kAll), destination(kAll);
    stream_owner stream;
    CORNERTURN_CUDA(cudaMemcpy(source.data, in.data(), kAll * sizeof(float), cudaMemcpyHostToDevice));
    const auto expect_right = [&] {
        CORNERTURN_CUDA(
            cudaMemcpyAsync(out.data(), destination.data, kAll * sizeof(float), cudaMemcpyDeviceToHost, stream.get));
        CORNERTURN_CUDA(cudaMemsetAsync(destination.data, 0xff, kAll * sizeof(float), stream.get));
        CORNERTURN_CUDA(cudaStreamSynchronize(stream.get));
        for (int n = 0; n < kN; ++n)
            for (int c = 0; c < kC; ++c)
                for (int h = 0; h < kH; ++h)
                    for (int w = 0; w < kW; ++w)
                        ASSERT_EQ(out[static_cast<std::size_t>(((n * kH + h) * kW + w) * kC + c)],
                                  in[static_cast<std::size_t>(((n * kC + c) * kH + h) * kW + w)]);
    };
    cuda::permute(tensor_view{source.data, {kN, kC, kH, kW}}, {0, 2, 3, 1},
                  tensor_view{destination.data, {kN, kH, kW, kC}}, stream.get);
    expect_right();
    cuda::permute(tensor_view{source.data, {kN, kC, kH, kW}}, {-4, -2, -1, -3},
                  tensor_view{destination.data, {kN, kH, kW, kC}}, stream.get);
    expect_right();
    const std::int64_t extents[] = {kN, kC, kH, kW};
    const int axes[] = {0, 2, 3, 1};
    ASSERT_EQ(cornerturn_cuda_permute(4, extents, source.data, nullptr, axes, destination.data, nullptr, sizeof(float),
                                      stream.get),
              CORNERTURN_OK)
        << cornerturn_last_error();
    expect_right();
    cornerturn_cuda_plan* plan = nullptr;
    ASSERT_EQ(cornerturn_cuda_plan_create_permutation(&plan, 4, extents, nullptr, axes, nullptr, sizeof(float)),
              CORNERTURN_OK);
    ASSERT_EQ(cornerturn_cuda_plan_execute(plan, source.data, destination.data, stream.get), CORNERTURN_OK);
    cornerturn_cuda_plan_destroy(plan);
    expect_right();
}

TEST(cuda_copy, can_be_captured_in_a_graph) {
    constexpr int kSide = 300;
    std::vector<short> in(kSide * kSide), out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<short>(i * 7);
    device_array<short> source(in.size()), destination(in.size());
    stream_owner stream;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    CORNERTURN_CUDA(cudaStreamBeginCapture(stream.get, cudaStreamCaptureModeThreadLocal));
    cuda::permute(tensor_view{source.data, {kSide, kSide}}, {1, 0}, tensor_view{destination.data, {kSide, kSide}},
                  stream.get);
    CORNERTURN_CUDA(cudaStreamEndCapture(stream.get, &graph));
    CORNERTURN_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    CORNERTURN_CUDA(cudaMemcpy(source.data, in.data(), in.size() * 2, cudaMemcpyHostToDevice));
    CORNERTURN_CUDA(cudaGraphLaunch(executable, stream.get));
    CORNERTURN_CUDA(cudaStreamSynchronize(stream.get));
    CORNERTURN_CUDA(cudaMemcpy(out.data(), destination.data, out.size() * 2, cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i % kSide * kSide + i / kSide], in[i]);
    CORNERTURN_CUDA(cudaGraphExecDestroy(executable));
    CORNERTURN_CUDA(cudaGraphDestroy(graph));
}

// Each byte is a hash of its offset in the source.
TEST(cuda_copy, more_than_2_to_the_31_elements) {
    const std::int64_t rows = 3, cols = 786433, deep = 997;  // 2.35e9
    const std::int64_t all = rows * cols * deep;
    const auto from =
        tests::made<device_array<unsigned char>>("more than 2^31 bytes", all, static_cast<std::size_t>(all));
    const auto to =
        tests::made<device_array<unsigned char>>("more than 2^31 bytes", all, static_cast<std::size_t>(all));
    if (!from || !to) return;
    unsigned char *const source = from->data, *const destination = to->data;
    std::vector<unsigned char> slab(static_cast<std::size_t>(cols * deep)), found(slab.size());
    const auto value = [](std::int64_t i) { return static_cast<unsigned char>((i * 0x9E3779B97F4A7C15LL) >> 56); };
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t i = 0; i < cols * deep; ++i) slab[static_cast<std::size_t>(i)] = value(r * cols * deep + i);
        CORNERTURN_CUDA(cudaMemcpy(source + r * cols * deep, slab.data(), slab.size(), cudaMemcpyHostToDevice));
    }
    CORNERTURN_CUDA(cudaMemset(destination, 0, static_cast<std::size_t>(all)));
    // Reversed: (rows, cols, deep) to (deep, cols, rows).
    cuda::permute(tensor_view{source, {rows, cols, deep}}, {2, 1, 0}, tensor_view{destination, {deep, cols, rows}},
                  nullptr);
    for (std::int64_t part = 0; part < rows; ++part) {
        CORNERTURN_CUDA(
            cudaMemcpy(found.data(), destination + part * cols * deep, found.size(), cudaMemcpyDeviceToHost));
        for (std::int64_t i = 0; i < cols * deep; ++i) {
            const std::int64_t at = part * cols * deep + i, r = at % rows, c = at / rows % cols, d = at / rows / cols;
            ASSERT_EQ(found[static_cast<std::size_t>(i)], value((r * cols + c) * deep + d)) << "at " << at;
        }
    }
}

TEST(cuda_copy, refuses_wrong_arguments) {
    device_array<float> a(100), b(100);
    std::vector<float> host(100);
    const tensor_view<float> to{b.data, {4, 5}};
    EXPECT_NAMES(refused([&] {
                     cuda::copy(tensor_view{a.data, {5, 4}}, to, nullptr);
                 }),
                 "destination.extent(0)", 4, 5, "(5, 4)", "(4, 5)");
    EXPECT_NAMES(refused([&] {
                     cuda::permute(tensor_view{a.data, {5, 4}}, {1, 1}, to, nullptr);
                 }),
                 "axes[1]", 1, "axes[0]");
    EXPECT_NAMES(refused([&] {
                     cuda::copy(tensor_view{b.data + 3, {4, 5}}, to, nullptr);
                 }),
                 "destination", "(4, 5)", b.data, "source", "(4, 5)", b.data + 3);
    int reads_pageable = 0;
    CORNERTURN_CUDA(cudaDeviceGetAttribute(&reads_pageable, cudaDevAttrPageableMemoryAccess, 0));
    if (reads_pageable == 0) {
        EXPECT_NAMES(refused([&] {
                         cuda::copy(tensor_view{host.data(), {4, 5}}, to, nullptr);
                     }),
                     "source.data", host.data());
    }
    const std::int64_t extents[] = {4, 5};
    EXPECT_EQ(cornerturn_cuda_copy(2, nullptr, a.data, nullptr, b.data, nullptr, 4, nullptr),
              CORNERTURN_INVALID_ARGUMENT);
    EXPECT_NAMES(cornerturn_last_error(), "extents", "NULL");
    EXPECT_EQ(cornerturn_cuda_copy(-1, extents, a.data, nullptr, b.data, nullptr, 4, nullptr),
              CORNERTURN_INVALID_ARGUMENT);
    EXPECT_NAMES(cornerturn_last_error(), "rank", -1, 0, 32);
    EXPECT_EQ(cornerturn_cuda_copy(33, extents, a.data, nullptr, b.data, nullptr, 4, nullptr),
              CORNERTURN_INVALID_ARGUMENT);
    EXPECT_NAMES(cornerturn_last_error(), "rank", 33, 0, 32);
    EXPECT_EQ(cornerturn_cuda_copy_on(0, 2, nullptr, a.data, nullptr, b.data, nullptr, 4, nullptr),
              CORNERTURN_INVALID_ARGUMENT);
    EXPECT_NAMES(cornerturn_last_error(), "extents", "NULL");
    char text[200] = "";
    const std::int64_t column_major[] = {1, 4};
    ASSERT_EQ(cornerturn_cuda_explain_copy(2, extents, a.data, column_major, b.data, nullptr, 4, text, sizeof text),
              CORNERTURN_OK);
    EXPECT_STRNE(text, "");
    const std::int64_t empty[] = {0, 5};
    ASSERT_EQ(cornerturn_cuda_explain_copy(2, empty, a.data, nullptr, b.data, nullptr, 4, text, sizeof text),
              CORNERTURN_OK);
    EXPECT_NAMES(text, "nothing");
    EXPECT_EQ(cornerturn_cuda_copy_on(-1, 2, extents, a.data, column_major, b.data, nullptr, 4, nullptr),
              CORNERTURN_UNSUPPORTED);
    EXPECT_EQ(cornerturn_cuda_explain_copy(2, extents, a.data, nullptr, b.data, nullptr, 4, text, 0),
              CORNERTURN_INVALID_ARGUMENT);
}

}  // namespace

int main(int argc, char** argv) { return tests::run_on_gpus(argc, argv, 1, launches); }
