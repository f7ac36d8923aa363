// cornerturn::cuda::convert on a GPU: random tensors, all values of narrow types, capture, and refusals.
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "conversion_problems.hpp"
#include "cornerturn/convert.h"
#include "cornerturn/cuda/convert.hpp"
#include "cuda/gpu_test.hpp"
#include "device/cuda_device.hpp"
#include "move/converted_pairs.hpp"
#include "move/policy.hpp"

using namespace cornerturn;
using tests::device_array;
using tests::stream_owner;

namespace {

std::uint64_t new_seed() {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    return seed;
}

// Bytes in the memory of the GPU.
struct on_gpu : device_array<unsigned char> {
    explicit on_gpu(const std::vector<unsigned char>& bytes) : device_array(bytes.size() + 1) {
        if (!bytes.empty()) CORNERTURN_CUDA(cudaMemcpy(data, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
    }
};

TEST(cuda_convert, random_tensors_by_every_plan) {
    const std::uint64_t seed = new_seed();
    std::mt19937_64 random(seed);
    const gpu on = device::gpu_of(device::current_device());
    for (int round = 0; round < 1000; ++round) {
        tests::conversion_problem p = tests::draw_conversion(random, round % 8 == 0 ? 1 << 20 : 1 << 15);
        const tests::conversion_case of(p, seed + static_cast<unsigned>(round));
        const std::vector<unsigned char> scales = of.scales(), biases = of.biases();
        const on_gpu source(of.source()), destination(of.destination()), its_scales(scales), its_biases(biases);
        const conversion how = of.how(its_scales.data, its_biases.data);
        const std::string about = "seed " + std::to_string(seed) + ", round " + std::to_string(round) + ": " + p.text();
        std::vector<unsigned char> found(of.destination().size());
        const auto check = [&](const std::string& way) {
            CORNERTURN_CUDA(cudaMemcpy(found.data(), destination.data, found.size(), cudaMemcpyDeviceToHost));
            EXPECT_EQ(of.wrong_in(found.data()), "") << about << "\n" << way;
            CORNERTURN_CUDA(
                cudaMemcpy(destination.data, of.destination().data(), found.size(), cudaMemcpyHostToDevice));
        };
        of.with(source.data, destination.data, [&](const detail::typed_tensor& from, const detail::typed_tensor& to) {
            cuda::detail::convert(from, detail::same_order(from.tensor.extents), to, how, nullptr);
        });
        check("the call");
        const strided_copy c = of.canonical(source.data, destination.data, how);
        for (const moves::candidate& one : moves::candidates(c, on)) {
            moves::run_on_gpu(moves::work_out(one, c, on));
            check(moves::explain(one, c, on));
        }
        if (HasFailure()) return;
    }
}

void check_values(element_type from, element_type to, bool saturates, const std::vector<unsigned char>& source) {
    const auto from_size = static_cast<std::size_t>(size_of(from)), to_size = static_cast<std::size_t>(size_of(to));
    const std::size_t count = source.size() / from_size;
    const on_gpu in(source);
    device_array<unsigned char> out(count * to_size);
    const std::int64_t extents[] = {static_cast<std::int64_t>(count)};
    cornerturn_conversion how{};
    how.unsaturated = !saturates;
    ASSERT_EQ(cornerturn_cuda_convert(1, extents, in.data, static_cast<cornerturn_element>(from), nullptr, nullptr,
                                      out.data, static_cast<cornerturn_element>(to), nullptr, &how, nullptr),
              CORNERTURN_OK)
        << cornerturn_last_error();
    std::vector<unsigned char> found(count * to_size);
    CORNERTURN_CUDA(cudaMemcpy(found.data(), out.data, found.size(), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < count; ++i) {
        const tests::expected_element wanted = tests::converted_element(&source[i * from_size], from, to, saturates);
        std::uint64_t got = 0;
        std::memcpy(&got, &found[i * to_size], to_size);
        ASSERT_TRUE(wanted.fits(&found[i * to_size], to))
            << name_of(from) << " " << std::hex << tests::value_at(&source[i * from_size], from) << " to "
            << name_of(to) << ": " << got << ", not " << wanted.bits << (saturates ? "" : ", unsaturated");
    }
}

TEST(cuda_convert, every_value_of_narrow_types_and_drawn_ones_of_wide_types) {
    const std::uint64_t seed = new_seed();
    std::mt19937_64 random(seed);
    for (const element_type from : tests::kRealTypes) {
        const auto size = static_cast<std::size_t>(size_of(from));
        const std::size_t count = size <= 2 ? std::size_t{1} << 8 * size : 50000;
        std::vector<unsigned char> values(count * size);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t bits = size <= 2 ? i : tests::drawn_bits(from, random);
            std::memcpy(&values[i * size], &bits, size);
        }
        for (const element_type to : tests::kRealTypes) {
            check_values(from, to, true, values);
            check_values(from, to, false, values);
            if (HasFatalFailure()) return;
        }
    }
}

TEST(cuda_convert, is_captured_in_a_graph_and_reads_scales_in_order) {
    constexpr std::int64_t kRows = 300, kCols = 200;
    std::vector<float> numbers(kRows * kCols);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 97);
    device_array<float> source(numbers.size()), scale(1);
    device_array<bf16> destination(numbers.size());
    CORNERTURN_CUDA(cudaMemcpy(source.data, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice));
    stream_owner stream;
    cudaGraph_t graph{};
    cudaGraphExec_t exec{};
    CORNERTURN_CUDA(cudaStreamBeginCapture(stream.get, cudaStreamCaptureModeThreadLocal));
    cuda::convert(tensor_view{source.data, {kRows, kCols}}, {1, 0}, tensor_view{destination.data, {kCols, kRows}},
                  {.scale = {scale.data, 1}}, stream.get);
    CORNERTURN_CUDA(cudaStreamEndCapture(stream.get, &graph));
    CORNERTURN_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (const float factor : {2.0f, 4.0f}) {
        CORNERTURN_CUDA(cudaMemcpyAsync(scale.data, &factor, sizeof factor, cudaMemcpyHostToDevice, stream.get));
        CORNERTURN_CUDA(cudaGraphLaunch(exec, stream.get));
        std::vector<bf16> found(numbers.size());
        CORNERTURN_CUDA(cudaMemcpyAsync(found.data(), destination.data, found.size() * sizeof(bf16),
                                        cudaMemcpyDeviceToHost, stream.get));
        CORNERTURN_CUDA(cudaStreamSynchronize(stream.get));
        for (std::int64_t row = 0; row < kRows; ++row) {
            for (std::int64_t col = 0; col < kCols; ++col) {
                const float wanted = factor * numbers[static_cast<std::size_t>(row * kCols + col)];
                const long double value =
                    tests::value_at(&found[static_cast<std::size_t>(col * kRows + row)], element_type::bf16);
                ASSERT_LE(std::fabs(value - wanted), wanted / 256);
            }
        }
    }
    CORNERTURN_CUDA(cudaGraphExecDestroy(exec));
    CORNERTURN_CUDA(cudaGraphDestroy(graph));
}

TEST(cuda_convert, refuses_numbers_that_the_device_cannot_reach) {
    device_array<float> source(12);
    device_array<f16> destination(12);
    std::vector<float> scales(3);
    EXPECT_THROW(cuda::convert(tensor_view{source.data, {3, 4}}, {1, 0}, tensor_view{destination.data, {4, 3}},
                               {.scale = {scales.data(), 3}, .axis = 1}, nullptr),
                 invalid_argument);
}

}  // namespace

int main(int argc, char** argv) { return tests::run_on_gpus(argc, argv, 1, {}); }
