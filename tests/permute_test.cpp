// The operation permute. Its options have the right meaning. Every rung of its ladder moves every element in the
// emulator. Blocks of one class have equal counters. Its verifier finds mistakes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "cornerturn/error.hpp"
#include "device/explanation.hpp"
#include "given.hpp"
#include "lab/run.hpp"
#include "message.hpp"
#include "ops/copy/strided_problem.hpp"
#include "ops/copy/tensor_movement.hpp"
#include "ops/copy/tiles.hpp"
#include "ops/permute/strided_work.hpp"
#include "strided_problems.hpp"

using namespace cornerturn;
using tests::given;

namespace {

const operation& permute() { return find_operation("permute"); }

std::vector<const kernel*> rungs() {
    std::vector<const kernel*> all;
    for (const kernel& k : kernels()) {
        if (k.op == &permute_operation() && k.is_built_for(backend::emulator)) all.push_back(&k);
    }
    return all;
}

std::string refusal(const arguments& all) { return tests::refusal_by(permute(), all); }

// ---- Arguments

TEST(permute, reads_shapes_and_axes) {
    const auto work = permute().read(given({{"--shape", "4,5,6"}, {"--axes", "0,2,1"}, {"--dtype", "f16"}}), 1024);
    const auto& p = dynamic_cast<const tensor_work&>(*work);
    EXPECT_EQ(p.sizes(), (std::vector<std::int64_t>{4, 5, 6, 0, 2, 1}));
    EXPECT_EQ(p.shape().extents, (std::vector<std::int64_t>{4, 6, 5}));
    EXPECT_EQ(p.shape().source_strides, (std::vector<std::int64_t>{30, 1, 6}));
    EXPECT_EQ(p.shape().element_size, 2);
    EXPECT_EQ(p.bytes(), 2 * 4 * 5 * 6 * 2);
    EXPECT_EQ(permute().text_of(p.sizes()), "4 x 5 x 6, axes 0,2,1");
    // As in numpy: all axes are reversed by default, and negative axes count from the end.
    EXPECT_EQ(permute().read(given({{"--shape", "4,5,6"}}), 1024)->sizes(),
              (std::vector<std::int64_t>{4, 5, 6, 2, 1, 0}));
    EXPECT_EQ(permute().read(given({{"--shape", "4,5,6"}, {"--axes", "-1,0,-2"}}), 1024)->sizes(),
              (std::vector<std::int64_t>{4, 5, 6, 2, 0, 1}));
    EXPECT_EQ(permute().read(given({{"--shape", ""}}), 1024)->outputs(), 1);
    EXPECT_EQ(permute().read(given({{"--shape", "3,0"}}), 1024)->outputs(), 0);
    EXPECT_LE(permute().read({}, 1024)->outputs(), 1 << 20);
}

TEST(permute, refuses_wrong_shapes_and_axes) {
    EXPECT_NAMES(refusal(given({{"--shape", "2,3"}, {"--axes", "0,1,2"}})), "--axes", "0,1,2", "--shape", "2,3", 2);
    EXPECT_NAMES(refusal(given({{"--shape", "7"}, {"--axes", ""}})), "--axes", "--shape", 7, 1);
    EXPECT_NAMES(refusal(given({{"--axes", "1,0"}})), "--axes", "1,0", "--shape", "4,56,56,64", 4);
    EXPECT_NAMES(refusal(given({{"--axes", "0,1,2,4"}})), "--axes", "0,1,2,4", 4, -4, 3, "--shape", "4,56,56,64", 4);
    EXPECT_NAMES(refusal(given({{"--shape", "2,3"}, {"--axes", "1,1"}})), "--axes", "1,1", 1);
    EXPECT_NAMES(refusal(given({{"--shape", "2,3"}, {"--axes", "1,-1"}})), "--axes", "1,-1", 1);
    EXPECT_NAMES(refusal(given({{"--shape", "2,3"}, {"--axes", "0,2"}})), "--axes", "0,2", 2, -2, 1, "--shape", "2,3",
                 2);
    EXPECT_NAMES(refusal(given({{"--shape", "2,3"}, {"--axes", "0,-3"}})), "--axes", "0,-3", -3, -2, 1, "--shape",
                 "2,3", 2);
    EXPECT_NAMES(refusal(given({{"--shape", "2,-3"}})), "--shape", "2,-3");
    for (const char* list : {"2,x", "2,,3", ",", "2,", "2 3", "1.5"})
        EXPECT_NAMES(refusal(given({{"--shape", list}})), "--shape", list);
    EXPECT_NAMES(refusal(given({{"--shape", "9223372036854775808"}})), "--shape", "9223372036854775808", 64);
    EXPECT_NAMES(refusal(given({{"--shape", "4294967296,4294967296"}})), "--shape", "4294967296,4294967296", 4);
    EXPECT_NAMES(refusal(given({{"--shape", "0,9223372036854775807,4"}})), "--shape", "0,9223372036854775807,4", 4);
    std::string many = "1";
    for (int i = 1; i < 33; ++i) many += ",1";
    EXPECT_NAMES(refusal(given({{"--shape", many.c_str()}})), "--shape", many, 33, 32);
}

TEST(permute, explains_the_engines_choice) {
    const explanation e = permute().explain(
        given({{"--shape", "32,25,56,56"}, {"--axes", "3,2,0,1"}, {"--dtype", "f16"}, {"--multiprocessors", "108"}}));
    EXPECT_NAMES(e.text, "permute/production", "2-byte");
    EXPECT_EQ(e.json["multiprocessors"], 108);
    EXPECT_EQ(e.json["axes"], (std::vector<int>{3, 2, 0, 1}));
    ASSERT_FALSE(e.json["others"].empty());
    EXPECT_NAMES(e.text, "permute/production", e.json["others"][0]["choice"].get<std::string>());
    double before = e.json["predicted_us"];
    std::set<std::string> seen;
    for (const auto& other : e.json["others"]) {
        const std::string text = other["choice"];
        EXPECT_TRUE(seen.insert(text.substr(0, text.rfind(','))).second) << text;  // without the time
        EXPECT_GE(other["predicted_us"].get<double>(), before);
        before = other["predicted_us"];
    }
    const explanation batch =
        permute().explain(given({{"--shape", "32,256,56,56"}, {"--axes", "0,2,3,1"}, {"--dtype", "f16"}}));
    EXPECT_NAMES(batch.text, "permute/production", 32, "256 x 3136", "next", "then");
    EXPECT_GT(batch.json["predicted_us"], 20);
    EXPECT_EQ(e.json["parts"], 1);
    // 2^33 runs of one byte.
    const explanation parts = permute().explain(given({{"--shape", "64,64,2097152"}, {"--dtype", "u8"}}));
    EXPECT_EQ(parts.json["parts"], 5);
    EXPECT_GT(parts.json["predicted_us"], 1000);
    EXPECT_NAMES(parts.text, 5);
    EXPECT_NAMES(permute().explain(given({{"--shape", "0,5"}})).text, "permute/production", "nothing");
    const explanation on_host = permute().explain(given({{"--on", "host"}, {"--shape", "40,50,60"}}));
    EXPECT_NAMES(on_host.text, "host/permute", "copy");
    EXPECT_EQ(on_host.json["on"], "host");
    EXPECT_THROW(permute().explain(given({{"--on", "gpu"}})), invalid_argument);
    EXPECT_THROW(permute().explain(given({{"--axes", "0,0,1,2"}})), invalid_argument);
}

// ---- Rungs

strided_shape shape_of(const tests::strided_problem& p, std::mt19937_64& random) {
    strided_shape s;
    s.element_size = p.element_size;
    s.extents = p.extents;
    s.source_strides = p.source_strides;
    s.destination_strides = p.destination_strides;
    s.source_offset = static_cast<std::int64_t>(random() % 5);
    s.destination_offset = static_cast<std::int64_t>(random() % 5);
    return s;
}

struct counts {
    int ran = 0, declined = 0;
};

void run_right(const kernel& k, const strided_shape& s, std::uint64_t seed, counts& all) {
    if (!k.takes(static_cast<int>(s.element_size))) return;
    const tensor_work work(permute_operation(), {"", static_cast<int>(s.element_size)}, s, seed);
    const lab::emulation_outcome run = lab::emulate(k, work, {.workers = 1});
    if (run.declined) {
        ++all.declined;
        return;
    }
    ++all.ran;
    ASSERT_EQ(run.verdict.fault, "") << k.id << ": " << s.text() << " of " << s.element_size << " bytes, seed " << seed;
    ASSERT_EQ(run.verdict.elements, s.elements());
}

TEST(permute, every_rung_moves_every_element) {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    std::map<std::string, counts> all;
    const auto run = [&](const strided_shape& s) {
        for (const kernel* k : rungs()) ASSERT_NO_FATAL_FAILURE(run_right(*k, s, seed, all[k->id]));
    };
    for (int round = 0; round < 250; ++round) {
        ASSERT_NO_FATAL_FAILURE(run(shape_of(tests::draw_strided(random, 1 << 14), random)));
        ASSERT_NO_FATAL_FAILURE(run(draw_permutation(random, 1 << 8, 1 << 15)));
        ASSERT_NO_FATAL_FAILURE(run(draw_transpose(random, 1 << 8, 1 << 14)));
    }
    // Aligned copies, for the kernels that use vectors.
    for (int round = 0; round < 60; ++round) {
        std::vector<std::int64_t> extents;
        std::vector<int> axes = {0, 1, 2, 3};
        for (int i = 0; i < 4; ++i) extents.push_back(1 + static_cast<std::int64_t>(random() % 3));
        for (std::size_t i : {random() % 4, random() % 4})
            extents[i] = 16 * (1 + static_cast<std::int64_t>(random() % 4));
        std::shuffle(axes.begin(), axes.end(), random);
        ASSERT_NO_FATAL_FAILURE(run(permuted_shape(extents, axes, 1 << random() % 5)));
    }
    for (const auto& [id, found] : all) {
        std::printf("%s: %d right, %d declined\n", id.c_str(), found.ran, found.declined);
        EXPECT_GT(found.ran, 50) << id;
    }
}

TEST(permute, edges_of_tiles_and_no_axes) {
    for (const kernel* k : rungs()) {
        for (int size : {1, 2, 4, 8, 16}) {
            if (!k->takes(size)) continue;
            counts all;
            for (std::int64_t n : {1, 2, 7, 8, 15, 16, 31, 32, 33, 64, 65, 129}) {
                for (std::int64_t m : {1, 3, 16, 32, 48, 128})
                    ASSERT_NO_FATAL_FAILURE(run_right(*k, permuted_shape({n, 2, m}, {2, 0, 1}, size), 1, all));
            }
            ASSERT_NO_FATAL_FAILURE(run_right(*k, permuted_shape({}, {}, size), 1, all));
            ASSERT_NO_FATAL_FAILURE(run_right(*k, permuted_shape({5}, {0}, size), 1, all));
            ASSERT_NO_FATAL_FAILURE(run_right(*k, permuted_shape({4, 0, 3}, {2, 1, 0}, size), 1, all));
            EXPECT_GT(all.ran, 40) << k->id;
        }
    }
}

// The counters of one block of each class, times the size of the class, add up to the counters of all blocks.
TEST(permute, counters_of_classes_equal_those_of_all_blocks) {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    std::uint64_t blocks = 0, run = 0;
    for (int round = 0; round < 120; ++round) {
        const strided_shape s = round % 3 == 0   ? shape_of(tests::draw_strided(random, 1 << 16), random)
                                : round % 3 == 1 ? draw_permutation(random, 1 << 10, 1 << 17)
                                                 : draw_transpose(random, 1 << 10, 1 << 17);
        const tensor_work work(permute_operation(), {"", static_cast<int>(s.element_size)}, s, seed);
        for (const kernel* k : rungs()) {
            if (k->facts.whole_only || !k->takes(static_cast<int>(s.element_size))) continue;
            const lab::emulation_outcome every = lab::emulate(*k, work, {});
            const lab::emulation_outcome some =
                lab::emulate(*k, work, {.every_block = false, .seed = seed, .witnesses = 6});
            const std::string about = k->id + ": " + s.text() + ", seed " + std::to_string(seed);
            ASSERT_EQ(every.verdict.fault, some.verdict.fault) << about;
            ASSERT_EQ(every.declined, some.declined) << about;
            if (every.declined) continue;
            ASSERT_EQ(some.verdict.fault, "") << about;
            ASSERT_TRUE(every.report.counts == some.report.counts) << about;
            ASSERT_EQ(every.report.blocks, some.report.blocks) << about;
            blocks += some.report.blocks;
            run += some.report.blocks_run;
        }
    }
    EXPECT_LT(run, blocks);
}

// permute/tiled needs two axes for its tiles. Without them it declines, and names the rung to use instead.
TEST(permute, tiled_declines_without_two_axes) {
    const auto run = [](const strided_shape& s) {
        const tensor_work work(permute_operation(), find_dtype("f32"), s, 1);
        return lab::emulate(find_kernel("permute/tiled"), work, {});
    };
    strided_shape repeated = permuted_shape({5, 7}, {0, 1}, 4);
    repeated.source_strides = {0, 0};
    // Two sources of one word, and a source and a destination with the same fastest axis.
    for (const strided_shape& s :
         {repeated, permuted_shape({1, 1}, {0, 1}, 4), permuted_shape({5, 7, 3}, {1, 0, 2}, 4)}) {
        const lab::emulation_outcome declined = run(s);
        EXPECT_TRUE(declined.declined) << s.text();
        EXPECT_NAMES(declined.verdict.fault, "permute/merged");
    }
    const lab::emulation_outcome done = run(permuted_shape({5, 7, 3}, {2, 1, 0}, 4));
    EXPECT_FALSE(done.declined);
    EXPECT_EQ(done.verdict.fault, "");
}

TEST(permute, few_blocks_stand_for_many) {
    const tensor_work work(permute_operation(), find_dtype("f32"), {16, 64, 56, 56}, {0, 2, 3, 1}, 1);
    for (const char* id : {"permute/tiled", "permute/composite", "permute/vectors"}) {
        const lab::emulation_outcome some = lab::emulate(find_kernel(id), work, {.every_block = false});
        EXPECT_EQ(some.verdict.fault, "");
        EXPECT_GT(some.report.blocks, 1000u);
        EXPECT_LE(some.report.blocks_run, 40u) << id;
    }
}

// Each rung needs fewer sectors, requests or wavefronts than an earlier one, for the shapes that it was made for.
TEST(permute, each_rung_is_an_improvement) {
    const auto counted = [](const char* id, const char* shape, const char* axes, const char* dtype) {
        const auto work = permute().read(given({{"--shape", shape}, {"--axes", axes}, {"--dtype", dtype}}), 1024);
        return lab::emulate(find_kernel(id), *work, {}).report.counts;
    };
    using emulator::kLoad, emulator::kStore;
    constexpr const char *kHeads = "2,64,8,64", *kSwapped = "0,2,1,3", *kChannels = "2,64,56,56", *kLast = "0,2,3,1";
    EXPECT_LT(8 * counted("permute/merged", kHeads, kSwapped, "f16").global_requests[kLoad],
              9 * counted("permute/naive", kHeads, kSwapped, "f16").global_requests[kLoad]);
    EXPECT_LT(4 * counted("permute/tiled", kChannels, kLast, "f32").global_sectors[kLoad],
              counted("permute/merged", kChannels, kLast, "f32").global_sectors[kLoad]);
    EXPECT_LT(8 * counted("permute/composite", "8,3,64,64", kLast, "f32").global_requests[kStore],
              counted("permute/tiled", "8,3,64,64", kLast, "f32").global_requests[kStore]);
    EXPECT_LT(3 * counted("permute/vectors", kChannels, kLast, "f32").global_requests[kLoad],
              counted("permute/composite", kChannels, kLast, "f32").global_requests[kLoad]);
}

// ---- The verifier

// A problem in host memory. copy() solves it with a plain loop.
struct loop_problem {
    strided_shape shape;
    std::unique_ptr<problem> p;
    unsigned char *source, *destination;

    loop_problem(const strided_shape& s, std::uint64_t seed)
        : shape(s), p(make_host_tensors(backend::host, {s}, seed)) {
        p->prepare();
        source = p->buffers()[0].data;
        destination = p->buffers()[1].data;
    }
    template <class Each>
    void each(Each f) const {
        tests::strided_problem all{shape.extents, shape.source_strides, shape.destination_strides, shape.element_size};
        all.source_at = shape.source_first() * shape.element_size;
        all.destination_at = shape.destination_first() * shape.element_size;
        all.each_element(f);
    }
    void copy() {
        each([&](std::int64_t from, std::int64_t to) {
            std::memcpy(destination + to, source + from, static_cast<std::size_t>(shape.element_size));
        });
    }
    std::string fault() const { return p->check().fault; }
};

TEST(permute, verifier_passes_right_results_and_finds_every_wrong_byte) {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    for (int round = 0; round < 200; ++round) {
        const strided_shape s = shape_of(tests::draw_strided(random, 1 << 10), random);
        const std::string about =
            s.text() + " of " + std::to_string(s.element_size) + " bytes, seed " + std::to_string(seed);
        loop_problem all(s, seed);
        if (s.elements() > 0) {
            ASSERT_NE(all.fault(), "") << "before the copy: " << about;
        }
        all.copy();
        ASSERT_EQ(all.fault(), "") << about;
        if (s.elements() == 0) continue;
        // Any byte in or around the destination: of an element, of a gap or of a guard.
        for (int k = 0; k < 20; ++k) {
            const std::int64_t span = s.destination_bytes() + 200;
            unsigned char& byte =
                all.destination[static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(span)) - 100];
            byte ^= 1;
            ASSERT_NE(all.fault(), "") << about;
            byte ^= 1;
        }
        unsigned char& byte = all.source[random() % static_cast<std::uint64_t>(s.source_bytes())];
        byte ^= 128;
        ASSERT_NE(all.fault(), "") << about;
        byte ^= 128;
        ASSERT_EQ(all.fault(), "") << about;
    }
}

TEST(permute, verifier_names_the_place) {
    strided_shape s = permuted_shape({3, 4}, {1, 0}, 4);
    s.destination_strides = {5, 1};  // three elements, then a gap of two
    s.destination_offset = 1;
    loop_problem all(s, 9);
    all.each([&](std::int64_t from, std::int64_t to) {
        if (to != 4 * (1 + 5 + 2)) std::memcpy(all.destination + to, all.source + from, 4);
    });
    std::uint32_t expected = 0;
    std::memcpy(&expected, all.source + 4 * 9, 4);
    const auto bytes = [](std::uint32_t value) { return fmt::format("0x{:08x}", value); };
    // The destination still holds poison there: the complement of the expected value.
    EXPECT_NAMES(all.fault(), "destination", "(1, 2)", bytes(~expected), bytes(expected), "source", 9, 9);
    all.copy();
    all.destination[4 * (1 + 5 + 3)] ^= 1;
    EXPECT_NAMES(all.fault(), "(1, 2)", "destination", 32, 9);  // the gap after the element
    all.destination[4 * (1 + 5 + 3)] ^= 1;
    all.destination[2] ^= 1;
    EXPECT_NAMES(all.fault(), 2, "destination");  // 2 bytes before the first element
    all.destination[2] ^= 1;
    all.destination[-1] ^= 1;
    EXPECT_NAMES(all.fault(), 1, "destination");  // 1 byte before the buffer
    all.destination[-1] ^= 1;
    all.source[4 * 7] ^= 1;
    EXPECT_NAMES(all.fault(), "source", 7);
}

TEST(permute, verifier_refuses_axes_that_interleave) {
    strided_shape s;
    s.extents = {2, 3};
    s.source_strides = {3, 1};
    s.destination_strides = {3, 2};
    EXPECT_THROW(tensor_work(permute_operation(), find_dtype("f32"), s, 1), invalid_argument);
}

}  // namespace
