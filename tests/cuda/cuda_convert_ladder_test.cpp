// The operation convert on a GPU: every rung, every choice of the engine, and the verifier.
#include <algorithm>
#include <random>

#include "cuda/every_choice.hpp"
#include "message.hpp"
#include "move/converted_pairs.hpp"
#include "ops/convert/operation.hpp"
#include "ops/copy/tensor_movement.hpp"

using namespace cornerturn;

namespace {

std::map<std::string, int> launches;

const kernel& production() { return find_kernel("convert/production"); }

tensor_work work_of(const strided_shape& s, std::uint64_t seed) {
    const element_type from = s.conversion.cast.from;
    return {convert_operation(), {name_of(from), size_of(from)}, s, seed};
}

element_conversion drawn(std::mt19937_64& random, const moves::converted_pair& pair) {
    element_conversion how{.cast = {pair.from, pair.to}, .factors = static_cast<factor_kind>(random() % 3)};
    if (pair.from == pair.to && how.factors == factor_kind::none) how.factors = factor_kind::each;
    how.cast.scaled = how.factors != factor_kind::none;
    return how;
}

void run_all(const strided_shape& s, std::uint64_t seed) {
    const tensor_work work = work_of(s, seed);
    tests::run_every_choice(
        work, production(), [](const kernel&) { return true; }, launches,
        work.text() + ", seed " + std::to_string(seed));
}

TEST(cuda_convert_ladder, random_conversions_by_every_rung_and_every_choice) {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    constexpr moves::converted_pair kOfRungs[] = {{element_type::u8, element_type::f32},
                                                  {element_type::u8, element_type::f16},
                                                  {element_type::f32, element_type::bf16},
                                                  {element_type::bf16, element_type::f32},
                                                  {element_type::bf16, element_type::e4m3fn}};
    for (int round = 0; round < 60; ++round) {
        const moves::converted_pair& any = moves::kConvertedPairs[random() % moves::kPairs];
        const moves::converted_pair& of_rungs = kOfRungs[random() % std::size(kOfRungs)];
        ASSERT_NO_FATAL_FAILURE(run_all(draw_conversion(random, 1 << 10, 1 << 23, drawn(random, any)), seed));
        ASSERT_NO_FATAL_FAILURE(run_all(draw_conversion(random, 1 << 10, 1 << 23, drawn(random, of_rungs)), seed));
        strided_shape aligned = permuted_shape({32 * (1 + static_cast<std::int64_t>(random() % 20)), 3, 256}, {2, 1, 0},
                                               size_of(of_rungs.to));
        aligned.conversion = drawn(random, of_rungs);
        ASSERT_NO_FATAL_FAILURE(run_all(aligned, seed));
    }
}

TEST(cuda_convert_ladder, named_cases_of_the_bench) {
    for (const bench_cell& c : convert_operation().bench_grid({1}, {"weights", "fp8"})) {
        const auto problem = convert_operation().make(backend::cuda, {c.work.get()}, {&production()}, false);
        problem->prepare();
        problem->bind(production())();
        EXPECT_EQ(problem->check().fault, "") << c.work->text();
    }
}

TEST(cuda_convert_ladder, verifier_finds_unwritten_and_wrong_elements) {
    strided_shape s = permuted_shape({48, 40, 36}, {2, 0, 1}, 4), other = permuted_shape({48, 40, 36}, {2, 1, 0}, 4);
    s.conversion = {.cast = {element_type::bf16, element_type::f32, true, true}, .factors = factor_kind::each};
    other.conversion = s.conversion;
    const tensor_work one = work_of(s, 5), another = work_of(other, 5);
    const auto problem = convert_operation().make(backend::cuda, {&one, &another}, {&production()}, false);
    ASSERT_TRUE(problem->take(one, production()));
    const auto work = problem->bind(production());
    problem->prepare();
    const std::string fault = problem->check().fault;
    EXPECT_NAMES(fault, "destination", "(0, 0, 0)", 5);
    const std::vector<std::uint64_t> bytes = tests::hex_numbers(fault);
    ASSERT_EQ(bytes.size(), 2u) << fault;
    EXPECT_EQ(bytes[0] ^ bytes[1], 0xffffffffu) << fault;  // poison: the complement of the expected value
    ASSERT_TRUE(problem->take(another, production()));
    problem->prepare();
    work();
    EXPECT_NAMES(problem->check().fault, "destination", 5);
    // The same conversion with the scales of another seed.
    const tensor_work seeded = work_of(s, 6);
    ASSERT_TRUE(problem->take(one, production()));
    problem->prepare();
    work();
    EXPECT_EQ(problem->check().fault, "");
    ASSERT_TRUE(problem->take(seeded, production()));
    EXPECT_NE(problem->check().fault, "");
}

}  // namespace

int main(int argc, char** argv) { return cornerturn::tests::run_on_gpus(argc, argv, 1, launches); }
