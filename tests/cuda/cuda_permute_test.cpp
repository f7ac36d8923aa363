// Permutations on a GPU: every rung, every choice of the engine, and the verifier.
#include <algorithm>
#include <random>

#include "cuda/every_choice.hpp"
#include "device/cuda_check.hpp"
#include "message.hpp"
#include "ops/copy/tensor_movement.hpp"
#include "ops/permute/strided_work.hpp"
#include "strided_problems.hpp"

using namespace cornerturn;

namespace {

std::map<std::string, int> launches;

const operation& permute() { return find_operation("permute"); }
const kernel& production() { return find_kernel("permute/production"); }

tensor_work work_of(const strided_shape& s, std::uint64_t seed) {
    return {permute_operation(), dtype_of(static_cast<int>(s.element_size)), s, seed};
}

void run_all(const strided_shape& s, std::uint64_t seed) {
    const tensor_work work = work_of(s, seed);
    const auto takes = [&](const kernel& k) {
        return (k.op != &permute_operation() || k.takes_work<strided_work>()) && work.why_not_run(k).empty();
    };
    tests::run_every_choice(
        work, production(), takes, launches,
        s.text() + " of " + std::to_string(s.element_size) + " bytes, seed " + std::to_string(seed));
}

TEST(cuda_permute, random_copies_by_every_rung_and_every_choice) {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    for (int round = 0; round < 60; ++round) {
        ASSERT_NO_FATAL_FAILURE(run_all(draw_permutation(random, 1 << 10, 1 << 24), seed));
        ASSERT_NO_FATAL_FAILURE(run_all(draw_transpose(random, 1 << 10, 1 << 22), seed));
        const tests::strided_problem p = tests::draw_strided(random, 1 << 18);
        ASSERT_NO_FATAL_FAILURE(run_all({.element_size = p.element_size,
                                         .extents = p.extents,
                                         .source_strides = p.source_strides,
                                         .destination_strides = p.destination_strides,
                                         .source_offset = static_cast<std::int64_t>(random() % 4),
                                         .destination_offset = static_cast<std::int64_t>(random() % 4),
                                         .kind = ""},
                                        seed));
    }
}

TEST(cuda_permute, named_cases_of_the_bench) {
    for (const bench_cell& c : permute().bench_grid({2, 4}, {"channels", "heads"})) {
        const auto problem = permute().make(backend::cuda, {c.work.get()}, {&production()}, false);
        problem->prepare();
        problem->bind(production())();
        EXPECT_EQ(problem->check().fault, "") << c.work->text();
    }
}

TEST(cuda_permute, verifier_finds_unwritten_and_wrong_elements) {
    const tensor_work one = work_of(permuted_shape({48, 40, 36}, {2, 0, 1}, 4), 5);
    const tensor_work other = work_of(permuted_shape({48, 40, 36}, {2, 1, 0}, 4), 5);
    const auto problem = permute().make(backend::cuda, {&one, &other}, {&production()}, false);
    ASSERT_TRUE(problem->take(one, production()));
    const auto work = problem->bind(production());
    problem->prepare();
    std::string fault = problem->check().fault;
    EXPECT_NAMES(fault, "destination", "(0, 0, 0)", 5);
    const std::vector<std::uint64_t> bytes = tests::hex_numbers(fault);
    ASSERT_EQ(bytes.size(), 2u) << fault;
    EXPECT_EQ(bytes[0] ^ bytes[1], 0xffffffffu) << fault;  // poison: the complement of the expected value
    ASSERT_TRUE(problem->take(other, production()));
    problem->prepare();
    work();
    fault = problem->check().fault;
    EXPECT_NAMES(fault, "destination", "(0, 0, 1)", 5);
}

}  // namespace

int main(int argc, char** argv) { return cornerturn::tests::run_on_gpus(argc, argv, 1, launches); }
