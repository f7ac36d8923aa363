// Copies between tensors in the emulator, by every plan of the policy. They move every element, with any extents and
// strides, and write nothing else. No access is out of bounds or races.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "core/divider.hpp"
#include "known_gpus.hpp"
#include "message.hpp"
#include "move/packed_cut.hpp"
#include "move/tile_cut.hpp"
#include "ops/copy/strided_shape.hpp"
#include "sanitized.hpp"
#include "strided_emulated.hpp"

using namespace cornerturn;

namespace {

std::map<std::string, int> runs;

TEST(divider, divides_31_bit_numbers) {
    constexpr std::uint64_t kMost = 0x7fffffff;
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> divisors = {kMost, kMost - 1, 1u << 30, (1u << 30) + 1, (1u << 30) - 1};
    for (std::uint64_t d = 1; d <= 300; ++d) divisors.push_back(d);
    for (int i = 0; i < 3000; ++i) divisors.push_back(1 + (random() % kMost >> random() % 31));
    for (const std::uint64_t d : divisors) {
        const divider by(static_cast<unsigned>(d));
        const auto expect_right = [&](std::uint64_t x) {
            if (x > kMost) return;
            ASSERT_EQ(by.quotient(static_cast<unsigned>(x)), x / d) << x << " / " << d << ", seed " << seed;
        };
        // Quotients change at multiples.
        for (const std::uint64_t multiple : {std::uint64_t{0}, d, kMost / d * d, random() % (kMost / d + 1) * d}) {
            for (const std::uint64_t x : {multiple, multiple + 1, multiple + d - 1}) expect_right(x);
        }
        for (const std::uint64_t x : {kMost, random() % (kMost + 1)}) expect_right(x);
    }
}

// More would take long, because each has a block.
constexpr std::int64_t kMostMatrices = 4096;

TEST(strided, random_copies_by_every_plan) {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    for (int round = 0; round < (tests::kSanitized ? 150 : 400); ++round) {
        const tests::strided_problem p = tests::draw_strided(random, 1 << 18);
        const gpu& on = tests::kGpus[random() % std::size(tests::kGpus)];
        tests::copier with(p, seed);
        const strided_copy c = with.copy();
        for (const moves::candidate& one : moves::candidates(c, on)) {
            const std::string about = "seed " + std::to_string(seed) + ", round " + std::to_string(round) + ": " +
                                      p.text() + "\n" + moves::explain(one, c, on);
            for (const moves::plan& plan : tests::also_as_if_large(moves::work_out(one, c, on))) {
                ASSERT_LE(plan.shared_bytes, on.shared_bytes_of_block) << about;
                if (plan.matrices.count > kMostMatrices) continue;
                ASSERT_EQ(with.run(plan), "") << about;
                if (plan.by != moves::kernel_family::nothing) ++runs[tests::name_of(plan)];
            }
        }
    }
}

// Short runs that follow each other in the destination, in one block and in several.
TEST(strided, packed_runs) {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    const auto up_to = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    constexpr std::int64_t kRuns[] = {2, 3, 4, 5, 8, 12, 15, 16, 17, 18, 24, 31, 32, 33, 60, 511, 512};
    for (const std::int64_t run : kRuns) {
        for (std::int64_t unit = 1; unit <= 8; unit *= 2) {
            if (run % unit != 0 || (run == 2 && unit == 1)) continue;
            for (int round = 0; round < (tests::kSanitized ? 3 : 10); ++round) {
                const std::int64_t units = run / unit, sign = up_to(1) == 0 ? 1 : -1;
                tests::strided_problem p;
                p.element_size = unit;
                p.extents = {1 + up_to(2), (512 + up_to(round % 2 == 0 ? 1500 : 17000)) / run + 1, units};
                const std::int64_t pitch = units + 1 + up_to(round % 3 == 0 ? 2 : 3 * units);
                p.source_strides = {p.extents[1] * pitch + up_to(5), sign * pitch, 1};
                p.destination_strides = {p.extents[1] * units + (up_to(1) == 0 ? 0 : up_to(40)), units, 1};
                if (round == 9) p.source_strides[1] = up_to(units - 1);  // runs that overlap
                p.lay_out(64, up_to(31) / unit * unit, up_to(31) / unit * unit);
                tests::copier with(p, seed);
                const strided_copy c = with.copy();
                if (c.run != run || c.rank == 0) continue;  // all is one run, for example
                const moves::packed_cut cut(c);
                if (!cut.possible()) continue;
                const moves::candidate packed{moves::kernel_family::packed};
                const moves::plan plan = moves::work_out(packed, c, kH200);
                ASSERT_EQ(with.run(plan), "") << "seed " << seed << ": " << p.text();
                ++runs[tests::name_of(plan)];
                // Vectors are written whole, but for those at the ends of lines and of the source.
                constexpr std::int64_t kOfEnd = 16, kOfBytes = 32 * 16;  // requests; bytes of one
                const std::int64_t whole = plan.blocks * (cut.runs_of_block * run / kOfBytes + 2);
                const std::int64_t most = whole + kOfEnd * (2 * cut.lines + 4);
                if (round == 9) continue;
                ASSERT_LE(with.store_requests(), static_cast<std::uint64_t>(most))
                    << "seed " << seed << ": " << p.text();
            }
        }
    }
    for (int unit : {1, 2, 4, 8}) {
        for (const char* const of : {"two", "several"})
            EXPECT_GT(runs["copy_packed of " + std::to_string(unit) + " bytes, " + of + " runs"], 0) << unit << of;
    }
}

// A kernel counts bytes from a block's first run in 32 bits.
TEST(strided, packed_runs_are_less_than_1_gib_from_the_beginning_of_their_block) {
    for (const std::int64_t run : {3, 16, 100, 511}) {
        const auto is_possible = [&](std::int64_t step) {
            const strided_axis axes[] = {{1000, step, run}};
            return moves::packed_cut(canonical(std::uintptr_t{1} << 50, std::uintptr_t{1} << 40, run, axes, 1))
                .possible();
        };
        std::int64_t most = run + 1;
        while (is_possible(2 * most)) most *= 2;
        for (std::int64_t bit = most; bit > 0; bit /= 2) {
            if (is_possible(most + bit)) most += bit;
        }
        ASSERT_TRUE(is_possible(most) && is_possible(-most) && !is_possible(most + 1) && !is_possible(-most - 1));
        const strided_axis axes[] = {{1000, most, run}};
        const strided_copy c = canonical(std::uintptr_t{1} << 50, std::uintptr_t{1} << 40, run, axes, 1);
        const moves::packed_work w = moves::work_out({moves::kernel_family::packed}, c, kH200).packed;
        const std::int64_t reach = std::int64_t{w.runs_of_block + w.before / w.run + 16} * w.step;
        EXPECT_LT(reach, std::int64_t{1} << 30) << run;
        EXPECT_GT(2 * reach, std::int64_t{1} << 29) << run;
    }
}

TEST(strided, random_matrices_by_the_plan_of_the_library) {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    for (int round = 0; round < (tests::kSanitized ? 500 : 1500); ++round) {
        const tests::strided_problem p = tests::draw_batch(random);
        const gpu& on = tests::kGpus[random() % std::size(tests::kGpus)];
        tests::copier with(p, seed);
        ASSERT_EQ(with.run(on), "") << "seed " << seed << ", round " << round << ": " << p.text() << "\n"
                                    << moves::explain(with.copy(), on);
        ++runs["chosen: " + std::string(moves::name(moves::choose(with.copy(), on).by))];
    }
}

// Kernels rely on the alignment of lines and spans that their tile names.
TEST(strided, lines_and_spans_have_the_alignment_of_their_tile) {
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    int cut_short = 0;
    for (int round = 0; round < 2000; ++round) {
        const tests::strided_problem p = tests::draw_strided(random, 1 << 18);
        tests::copier with(p, seed);
        const strided_copy c = with.copy();
        if (c.is_empty() || c.rank == 0) continue;
        const moves::copy_of_units units(c);
        for (const moves::candidate& one : moves::candidates(c, kH200)) {
            if (one.by != moves::kernel_family::tiles) continue;
            const moves::tile_cut t(units, moves::target_of(one.row), kH200);
            std::uint64_t lines = c.destination, spans = c.source;
            for (int i = 0; i < units.rank; ++i) {
                // The distance to the next line or span is one stride, or `step` strides if the tile cuts this axis.
                const std::int64_t step = t.step(i);
                if (!t.line_has(i)) lines |= static_cast<std::uint64_t>(t.ax(i).destination);
                if (!t.span_has(i)) spans |= static_cast<std::uint64_t>(t.ax(i).source);
                if (step == t.ax(i).extent) continue;
                if (t.line_has(i)) lines |= static_cast<std::uint64_t>(t.ax(i).destination * step), ++cut_short;
                if (t.span_has(i)) spans |= static_cast<std::uint64_t>(t.ax(i).source * step);
            }
            const std::string about =
                "seed " + std::to_string(seed) + ": " + p.text() + "\n" + moves::explain(one, c, kH200);
            ASSERT_EQ(lines % static_cast<std::uint64_t>(t.line_alignment), 0u) << about;
            ASSERT_EQ(spans % static_cast<std::uint64_t>(t.span_alignment), 0u) << about;
        }
    }
    EXPECT_GT(cut_short, 100);
}

// A kernel adds up the offsets of units in 32 bits. These tensors are larger than any memory, so the test only looks at
// the plans.
TEST(strided, units_with_gaps_are_less_than_4_gib_from_the_beginning_of_their_line) {
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    constexpr int kMostLog = 44;  // of bytes
    int far = 0;
    for (int round = 0; round < 5000; ++round) {
        const int rank = 2 + static_cast<int>(random() % 4);
        std::vector<strided_axis> axes(static_cast<std::size_t>(rank));
        std::vector<int> order(axes.size());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        const std::int64_t size = std::int64_t{1} << random() % 5;
        std::int64_t from = size, to = 2 * size;
        for (strided_axis& a : axes) a.extent = 2 + static_cast<std::int64_t>(random() % 60);
        for (int i : order) {
            strided_axis& a = axes[static_cast<std::size_t>(i)];
            a.source = from;
            from *= a.extent;
        }
        for (strided_axis& a : axes) {
            a.destination = to;
            if (to >> kMostLog == 0) to = (to * a.extent + size) << random() % 12;
        }
        if (to >> kMostLog != 0) continue;
        const strided_copy c = canonical(std::uintptr_t{1} << 46, std::uintptr_t{1} << 47, size, axes.data(),
                                         static_cast<int>(axes.size()));
        const moves::copy_of_units units(c);
        far += to >> 33 != 0;
        for (const moves::candidate& one : moves::candidates(c, kH200)) {
            if (one.by != moves::kernel_family::tiles || !units.gaps) continue;
            const moves::tile_cut t(units, moves::target_of(one.row), kH200);
            std::int64_t reach = 0;
            for (int i = 0; i < units.rank; ++i) {
                if (t.line_has(i)) reach += (t.step(i) - 1) * t.ax(i).destination;
            }
            ASSERT_EQ(reach >> 32, 0) << "seed " << seed << ", round " << round << "\n"
                                      << moves::explain(one, c, kH200);
        }
    }
    EXPECT_GT(far, 1000);
}

void run_every_choice(const tests::strided_problem& p) {
    tests::copier with(p, 1);
    const strided_copy c = with.copy();
    for (const moves::candidate& one : moves::candidates(c, kH200)) {
        for (const moves::plan& plan : tests::also_as_if_large(moves::work_out(one, c, kH200))) {
            ASSERT_EQ(with.run(plan), "") << p.text() << "\n" << moves::explain(one, c, kH200);
            ++runs[tests::name_of(plan)];
        }
    }
}

// Matrices with packed rows of 16 bytes. The units of a line are in few banks, so lines are moved in groups.
TEST(strided, narrow_matrices_by_groups) {
    for (std::int64_t size : {1, 2}) {
        for (std::int64_t source_past : {0, 4}) {
            for (std::int64_t pitch : {704, 701}) {
                for (std::int64_t rows : {300, 701}) {
                    const std::int64_t cols = 16 / size;
                    tests::strided_problem p{{2, cols, rows}, {rows * cols, 1, cols}, {cols * pitch, pitch, 1}, size};
                    p.lay_out(64, source_past, pitch % 2 * size);
                    run_every_choice(p);
                }
            }
        }
    }
}

// Transposes of matrices whose batch has several axes. In the source, matrices may be interleaved, repeated or
// reversed, or overlap.
TEST(strided, matrices_in_batches_of_several_axes) {
    const std::uint64_t seed = std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::mt19937_64 random(seed);
    const auto up_to = [&](std::int64_t most) {
        return static_cast<std::int64_t>(random() % static_cast<unsigned>(most + 1));
    };
    int batches = 0;
    for (int round = 0; round < (tests::kSanitized ? 20 : 60); ++round) {
        // The last axis is the fastest in the destination, and the one before it is the fastest in the source.
        const auto rank = static_cast<std::size_t>(4 + up_to(2));
        tests::strided_problem p;
        p.element_size = std::int64_t{1} << up_to(4);
        std::vector<std::size_t> order(rank);  // in the source, the fastest first
        std::iota(order.begin(), order.end(), 0);
        std::swap(order[0], order[rank - 2]);
        std::shuffle(order.begin() + 1, order.end(), random);
        p.source_strides.resize(rank), p.destination_strides.resize(rank);
        for (std::size_t i = 0; i < rank; ++i) p.extents.push_back(2 + up_to(i + 2 < rank ? 2 : 40));
        std::int64_t next = 1;
        for (const std::size_t i : order) {
            p.source_strides[i] = next;
            next = next * p.extents[i] + (up_to(3) == 0 ? up_to(9) : 0);
        }
        next = 1;
        for (std::size_t i = rank; i-- > 0;) {
            p.destination_strides[i] = next;
            next = next * p.extents[i] + (up_to(3) == 0 ? up_to(9) : 0);
        }
        std::int64_t& special = p.source_strides[static_cast<std::size_t>(up_to(static_cast<std::int64_t>(rank) - 3))];
        const std::int64_t kind = up_to(4);
        special = kind == 0 ? 0 : kind == 1 ? 1 : kind == 2 ? -special : special;
        p.lay_out(64, up_to(1) * up_to(63), up_to(1) * up_to(63));
        tests::copier with(p, seed);
        const strided_copy c = with.copy();
        for (const moves::candidate& one : moves::candidates(c, kH200)) {
            const moves::plan plan = moves::work_out(one, c, kH200);
            if (plan.by <= moves::kernel_family::tiles) continue;
            batches += plan.matrices.batch.rank > 1;
            ASSERT_EQ(with.run(plan), "") << "seed " << seed << ", round " << round << ": " << p.text() << "\n"
                                          << moves::explain(one, c, kH200);
            ++runs[tests::name_of(plan)];
        }
    }
    EXPECT_GT(batches, tests::kSanitized ? 25 : 100);
}

// Runs of three units.
TEST(strided, elements_of_three_units) {
    for (std::int64_t size : {3, 6, 12, 24, 48}) {
        for (std::int64_t times : {1, 3}) {
            tests::strided_problem p{{5, 7, times}, {times, 5 * (times + 1), 1}, {7 * times, times, 1}, size};
            p.lay_out(64, size & -size, size & -size);
            run_every_choice(p);
        }
    }
}

// Units of every size with a gap after each.
TEST(strided, units_with_gaps) {
    for (std::int64_t size : {1, 2, 4, 8}) {
        tests::strided_problem p{{65, 33}, {1, 70}, {66, 2}, size};
        p.lay_out(64, 0, 0);
        run_every_choice(p);
    }
}

// Few rows of bytes, which become short lines with gaps between them. Lines below 64 bytes are written unit by unit,
// unless they are whole vectors. These are on both sides of that limit.
TEST(strided, short_lines_with_gaps) {
    for (std::int64_t rows : {15, 16, 17, 31, 32, 33, 48, 63, 64, 65}) {
        for (std::int64_t gap : {1, 16, 40}) {
            for (std::int64_t past : {0, 5}) {
                tests::strided_problem p{{203, rows}, {1, 207}, {rows + gap, 1}, 1};
                p.lay_out(64, 1, past);
                run_every_choice(p);
                const bool whole = rows % 16 == 0 && gap == 16 && past == 0;
                const bool unit_by_unit = rows < 16 || (rows < 64 && !whole);
                tests::copier with(p, 1);
                EXPECT_EQ(moves::copy_of_units(with.copy()).gaps, unit_by_unit) << p.text();
            }
        }
    }
}

// A plan is remembered for addresses with the same alignment only.
TEST(strided, remembered_plans_are_right) {
    const std::uint64_t seed = std::random_device{}();
    std::mt19937_64 random(seed);
    for (int round = 0; round < 60; ++round) {
        tests::strided_problem p = tests::draw_strided(random, 1 << 14);
        for (int again = 0; again < 4; ++again) {
            p.lay_out(64, static_cast<std::int64_t>(random() % 64), static_cast<std::int64_t>(random() % 64));
            tests::copier with(p, seed);
            const strided_copy c = with.copy();
            if (c.is_empty()) continue;
            ASSERT_EQ(with.run(moves::plan_for(c, kH200)), "") << "seed " << seed << ": " << p.text();
            ASSERT_EQ(with.run(moves::plan_for(c, kH200)), "") << "seed " << seed << ": " << p.text();
        }
    }
}

// Small shapes as the benches draw them. They are as described, and are moved right.
TEST(strided, draws_of_benches) {
    const std::uint64_t seed = std::random_device{}();
    random_bits random(seed);
    std::map<std::string, int> kinds;
    for (int round = 0; round < 200; ++round) {
        const bool permutes = round % 2 == 1;
        const strided_shape s =
            permutes ? draw_permutation(random, 1 << 10, 1 << 16) : draw_transpose(random, 1 << 10, 1 << 16);
        ++kinds[s.kind];
        tests::strided_problem p{s.extents, s.source_strides, s.destination_strides, s.element_size};
        p.lay_out(64, s.source_offset * s.element_size, s.destination_offset * s.element_size);
        const std::string about = "seed " + std::to_string(seed) + ": " + s.text();
        ASSERT_GE(s.extents.size(), 3u) << about;
        ASSERT_LE(s.elements() * s.element_size, permutes ? 1 << 19 : 1 << 17) << about;
        tests::copier with(p, seed);
        const strided_copy c = with.copy();
        // The same copy as that of the shape, at any addresses.
        const strided_copy same = s.copy(reinterpret_cast<void*>(1 << 20), reinterpret_cast<void*>(1 << 30));
        ASSERT_EQ(c.runs(), same.runs()) << about;
        ASSERT_EQ(c.unit(), same.unit()) << about;
        ASSERT_EQ(same.source_begin(), (1u << 20) + s.source_offset * s.element_size) << about;
        ASSERT_EQ(with.run(moves::plan_for(c, kH200)), "") << about;
    }
    for (const char* kind : {"packed", "padded", "offset", "batched", "powers", "gaps", "reversed", "repeated"})
        EXPECT_GT(kinds[kind], 0) << kind;
}

TEST(strided, copies_with_too_many_runs_are_split) {
    // 2^33 runs of one byte, 3 bytes apart in the source.
    const strided_axis axes[] = {{std::int64_t{1} << 21, 3, 1}, {std::int64_t{1} << 12, 1 << 24, 1 << 21}};
    const strided_copy c = canonical(1 << 20, std::uintptr_t{1} << 40, 1, axes, 2);
    std::int64_t runs_of_parts = 0;
    std::uintptr_t next = c.destination;
    moves::for_each_part(c, [&](const strided_copy& part) {
        EXPECT_LE(part.runs(), moves::kMostRuns);
        EXPECT_EQ(part.destination, next);
        EXPECT_EQ(part.source - c.source, (part.destination - c.destination) / (1 << 21) * (1 << 24));
        runs_of_parts += part.runs();
        next += static_cast<std::uintptr_t>(part.bytes());
    });
    EXPECT_EQ(runs_of_parts, c.runs());
}

// Nothing is moved: the matrices need not exist.
TEST(strided, more_matrices_in_place_than_32_bits_count) {
    const auto address = std::uintptr_t{1} << 40;
    constexpr std::int64_t kCount = std::int64_t{1} << 32;
    const strided_axis axes[] = {{2, 2, 1}, {2, 1, 2}, {kCount, 4, 4}};
    const strided_copy c = canonical(address, address, 1, axes, 3);
    EXPECT_EQ(moves::work_out(moves::choose(c, kH200), c, kH200).matrices.count, kCount);
}

TEST(strided, results_of_a_middle_size_stay_in_the_l2) {
    for (const auto& [mib, kept] : {std::pair{24, false}, {25, true}, {512, true}, {513, false}}) {
        const strided_axis axes[] = {{64, 16, std::int64_t{mib} << 14}, {std::int64_t{mib} << 10, 1024, 16}};
        const strided_copy c = canonical(1 << 20, std::uintptr_t{1} << 40, 16, axes, 2);
        for (const moves::candidate& one : moves::candidates(c, kH200))
            EXPECT_EQ(moves::work_out(one, c, kH200).keeps_result, kept) << mib;
    }
}

TEST(strided, explanation_of_parts_has_the_cost_of_all) {
    // 2^33 runs of one byte. The last part is smaller.
    const auto bytes = [](std::int64_t count) {
        const strided_axis axes[] = {{std::int64_t{1} << 21, 3, 1}, {count, 1 << 24, 1 << 21}};
        return canonical(1 << 20, std::uintptr_t{1} << 40, 1, axes, 2);
    };
    const strided_copy c = bytes(1 << 12);
    double cost = 0;
    std::string first;
    moves::for_each_part(c, [&](const strided_copy& part) {
        const moves::candidate chosen = moves::choose(part, kH200);
        if (first.empty()) first = moves::explain(chosen, part, kH200);
        cost += chosen.cost;
    });
    const moves::explanation_of_parts all = moves::explain_parts(c, kH200);
    EXPECT_EQ(all.parts, 5);
    EXPECT_DOUBLE_EQ(all.cost, cost);
    EXPECT_TRUE(all.text.starts_with(first)) << all.text;
    EXPECT_NAMES(all.text.substr(first.size()), "next", "then", 5, "us");
    const std::size_t time = all.text.rfind(' ', all.text.rfind(" us") - 1);
    EXPECT_NEAR(std::stod(all.text.substr(time)), cost, 0.1) << all.text;
    EXPECT_EQ(moves::explain(c, kH200), all.text);

    const moves::explanation_of_parts one = moves::explain_parts(bytes(1023), kH200);
    EXPECT_EQ(one.parts, 1);
    EXPECT_TRUE(one.text.starts_with(moves::explain(moves::choose(bytes(1023), kH200), bytes(1023), kH200)));
    EXPECT_EQ(moves::explain_parts(strided_copy{}, kH200).parts, 0);
    EXPECT_NAMES(moves::explain(strided_copy{}, kH200), "nothing");
}

TEST(strided, every_kernel_was_run) {
    for (int unit : {1, 2, 4, 8, 16}) {
        const std::string tiles = "copy_tiles of " + std::to_string(unit) + " bytes, ";
        for (int copies : {1, std::min(4, 16 / unit)}) {
            const std::string tables = tiles + std::to_string(copies) + " x its table";
            EXPECT_GT(runs[tables], 0) << tables;
        }
        EXPECT_EQ(runs[tiles + "with gaps"] > 0, unit < 16) << unit;  // a vector is long enough
        const std::string rows = "copy_rows of " + std::to_string(unit) + " bytes, " + std::to_string(unit) + " apart";
        EXPECT_GT(runs[rows], 0) << unit;
        for (int units : {1, 3}) {
            for (int each : {1, moves::kPiecesOfThread}) {
                if (unit * units == 1 || unit * units == 48 || (units > 1 && each > 1)) continue;
                const std::string pieces = "copy_units of " + std::to_string(unit) + " bytes x " +
                                           std::to_string(units) + ", " + std::to_string(each) + " a thread";
                EXPECT_GT(runs[pieces], 0) << pieces;
            }
        }
    }
    for (int unit : {1, 2}) {
        for (const char* shifted : {"", ", shifted"}) {
            for (const char* aligned : {"", ", aligned"}) {
                const std::string groups = "copy_groups of " + std::to_string(unit) + " bytes" + shifted + aligned;
                EXPECT_GT(runs[groups], 0) << groups;
            }
        }
    }
    for (const char* family : {"vector", "ragged", "tiles"})
        EXPECT_GT(runs["chosen: " + std::string(family)], 0) << family;
    for (const auto& [name, count] : runs) std::printf("%6d runs of %s\n", count, name.c_str());
}

}  // namespace
