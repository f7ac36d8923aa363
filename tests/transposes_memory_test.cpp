// Every kernel of the library in the emulator, one by one, and the choice among them at any byte address. Each byte of
// the destination is right, and no byte beside it changes. Kernels read only bytes of the matrix, or of words that hold
// its elements.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "emulator/emulation.hpp"
#include "known_gpus.hpp"
#include "move/matrices.hpp"
#include "move/policy.hpp"

using namespace cornerturn;

namespace {

struct job {
    std::int64_t rows, cols;
    int element_size;
    std::int64_t source_ld = cols, destination_ld = rows;
    std::int64_t count = 1, source_stride = rows * source_ld, destination_stride = cols * destination_ld;
    int source_offset = 0, destination_offset = 0;  // bytes after a multiple of 256
    bool in_place = false;

    matrix_work work(const void* source, void* destination) const {
        return {source,
                destination,
                rows,
                cols,
                source_ld,
                destination_ld,
                element_size,
                count,
                count > 1 ? source_stride : 0,
                count > 1 ? destination_stride : 0};
    }
    std::string text() const {
        return fmt::format("{} times {} x {} of {} bytes, ld {} and {}, strides {} and {}, {} and {} bytes off{}",
                           count, rows, cols, element_size, source_ld, destination_ld, source_stride,
                           destination_stride, source_offset, destination_offset, in_place ? ", in place" : "");
    }
};

// Random bytes. data() is `offset` bytes after a multiple of 256, with room before and after it.
class memory {
public:
    memory(std::int64_t bytes, int offset, std::mt19937& random)
        : all_(static_cast<std::size_t>(bytes + 4 * kBoundary)) {
        for (auto& byte : all_) byte = static_cast<unsigned char>(random());
        const auto begin = reinterpret_cast<std::uintptr_t>(all_.data()) + kBoundary;
        first_ = (begin + kBoundary - 1) / kBoundary * kBoundary - reinterpret_cast<std::uintptr_t>(all_.data()) +
                 static_cast<std::size_t>(offset);
    }
    unsigned char* data() { return all_.data() + first_; }
    std::vector<unsigned char>& all() { return all_; }
    std::size_t first() const { return first_; }

private:
    static constexpr std::int64_t kBoundary = 256;
    std::vector<unsigned char> all_;
    std::size_t first_;
};

// Runs a candidate, or what the library chooses for that GPU. Returns the first fault, or nothing.
std::string fault_of(const job& j, std::mt19937& random, const moves::candidate* use, const gpu& on) {
    const std::int64_t e = j.element_size;
    const auto bytes = [&](std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t stride) {
        return ((j.count - 1) * stride + (rows - 1) * ld + cols) * e;
    };
    const std::int64_t source_bytes = bytes(j.rows, j.cols, j.source_ld, j.source_stride);
    const std::int64_t destination_bytes = bytes(j.cols, j.rows, j.destination_ld, j.destination_stride);
    memory source(source_bytes, j.source_offset, random), other(destination_bytes, j.destination_offset, random);
    memory& destination = j.in_place ? source : other;
    const std::vector<unsigned char> source_before = source.all();
    std::vector<unsigned char> expected = destination.all();
    for (std::int64_t m = 0; m < j.count; ++m) {
        for (std::int64_t r = 0; r < j.rows; ++r) {
            for (std::int64_t c = 0; c < j.cols; ++c) {
                const std::int64_t from = m * j.source_stride + r * j.source_ld + c;
                const std::int64_t to = m * j.destination_stride + c * j.destination_ld + r;
                std::memcpy(expected.data() + destination.first() + to * e,
                            source_before.data() + source.first() + from * e, static_cast<std::size_t>(e));
            }
        }
    }
    emulator::emulation emulation({.shared_bytes = static_cast<std::size_t>(on.shared_bytes_of_block)});
    if (j.in_place) {
        emulation.add_buffer("matrix", source.data(), static_cast<std::size_t>(source_bytes), true);
    } else {
        emulation.add_buffer("destination", destination.data(), static_cast<std::size_t>(destination_bytes), true);
        // Kernels must not read gaps, although these belong to the caller. So if rows are few, each is a separate
        // buffer. Copies between tensors may read bytes beside elements.
        const bool gaps = use != nullptr && !moves::rows_of(use->by).empty() && j.source_ld > j.cols &&
                          j.rows * j.count <= 64 && j.source_stride >= j.rows * j.source_ld;
        const std::int64_t pieces = gaps ? j.rows * j.count : 1;
        for (std::int64_t i = 0; i < pieces; ++i) {
            const std::int64_t at = i / j.rows * j.source_stride + i % j.rows * j.source_ld;
            emulation.add_buffer("source", source.data() + at * e,
                                 static_cast<std::size_t>(gaps ? j.cols * e : source_bytes), false);
        }
    }
    const strided_copy c = canonical(j.work(source.data(), destination.data()));
    try {
        use != nullptr ? moves::run_emulated(moves::work_out(*use, c, on)) : moves::run_emulated(c, on);
    } catch (const std::exception& broken) {
        return broken.what();
    }
    const auto wrong = std::mismatch(expected.begin(), expected.end(), destination.all().begin());
    if (wrong.first != expected.end()) {
        return fmt::format("byte {} of the {} bytes of the destination is wrong",
                           wrong.first - expected.begin() - static_cast<std::ptrdiff_t>(destination.first()),
                           destination_bytes);
    }
    if (!j.in_place && source.all() != source_before) return "the source was changed";
    return {};
}

// Work at addresses that have the alignment of the job. Nothing reads them.
strided_copy aligned_as(const job& j) {
    const auto address = [](int side, int offset) {
        return reinterpret_cast<void*>((std::uintptr_t{1} << (40 + side)) + static_cast<std::uintptr_t>(offset));
    };
    void* const source = address(0, j.source_offset);
    return canonical(j.work(source, j.in_place ? source : address(1, j.destination_offset)));
}

// Runs the kernel that the library chooses for that GPU.
void expect_right(const job& j, std::mt19937& random, const gpu& on = kH200) {
    ASSERT_EQ(fault_of(j, random, nullptr, on), "")
        << j.text() << "\n"
        << moves::explain(aligned_as(j), on) << "\ncompute capability " << on.capability;
}

std::int64_t round_up(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

// Work that a kernel must be able to do: a few tiles, some of them partial.
std::vector<job> jobs_for(moves::kernel_family by, const moves::tuning& t) {
    using moves::kernel_family;
    const int e = t.unit;
    const auto aligned = [](job j) {
        j.source_ld = round_up(j.cols, 32), j.destination_ld = round_up(j.rows, 32);
        j.source_stride = j.rows * j.source_ld, j.destination_stride = j.cols * j.destination_ld;
        return j;
    };
    // With and without gaps, aligned and unaligned.
    const auto unaligned = [&](job j) {
        job off = j, gapped = j, wide = j;
        off.source_offset = off.destination_offset = e;
        gapped.source_ld += 1, gapped.destination_ld += 3;
        gapped.source_stride = gapped.rows * gapped.source_ld + 1;
        gapped.destination_stride = gapped.cols * gapped.destination_ld + 2;
        wide.source_ld += 1, wide.source_offset = e;
        wide.source_stride = wide.rows * wide.source_ld;
        return std::vector<job>{j, off, gapped, wide};
    };
    switch (by) {
        case kernel_family::direct:
            return {aligned({round_up(t.tile_rows * 3 / 2, 16), round_up(t.tile_cols * 3 / 2, 16), e}),
                    aligned({16, 16, e})};
        case kernel_family::vector: {
            job batch = aligned({t.tile_rows + 1, t.tile_cols + 2, e});
            batch.count = 3;
            return {aligned({2 * t.tile_rows + 5, 2 * t.tile_cols + 3, e}), aligned({t.tile_rows, t.tile_cols, e}),
                    batch};
        }
        case kernel_family::vector_apart:  // some columns have a partner 16 KiB further right, some have none
            return {aligned({2 * t.tile_rows + 5, (32 << 10) / e + 2 * t.tile_cols + 3, e}),
                    aligned({2 * t.tile_rows, (32 << 10) / e + t.tile_cols, e})};
        case kernel_family::ragged: {
            auto jobs = unaligned({2 * t.tile_rows + 5, 2 * t.tile_cols + 3, e});
            job batch{t.tile_rows + 5, t.tile_cols + 1, e};
            batch.count = 3;
            jobs.push_back(batch);
            // The last row ends at the end of a tile, and no buffer follows it.
            const int rows = 2 * t.tile_rows, cols = 2 * t.tile_cols + 3;
            jobs.push_back({rows, cols, e, cols + 1, rows});
            return jobs;
        }
        case kernel_family::tall: {
            auto jobs = unaligned({5003, t.tile_cols, e});
            std::erase_if(jobs, [](const job& j) { return j.source_ld > j.cols; });
            job longer{5003, t.tile_cols, e, t.tile_cols, 5003 + 1};
            longer.destination_offset = e;
            jobs.push_back(longer);
            return jobs;
        }
        case kernel_family::wide: {
            auto jobs = unaligned({t.tile_rows, 5003, e});
            std::erase_if(jobs, [](const job& j) { return j.destination_ld > j.rows; });
            return jobs;
        }
        case kernel_family::small: {
            std::vector<job> jobs;
            // The last ones are so small that one word of the destination holds elements of two or three matrices.
            for (auto [rows, cols] :
                 {std::pair{12, 20}, {7, 5}, {9, 5}, {e < 8 ? 100 : 50, 50}, {2, 2}, {3, 1}, {1, 2}}) {
                job batch{rows, cols, e};
                batch.count = 60;
                for (int past : {0, 1, 2, 3}) {
                    batch.source_offset = past > 0 ? e : 0, batch.destination_offset = past * e;
                    jobs.push_back(batch);
                }
            }
            return jobs;
        }
        case kernel_family::elements: {
            std::vector<job> jobs;
            for (int units : {3, 5, 7, 9, 11}) {
                // The offset is a unit, not an element.
                for (const job& j : unaligned({70, 45, e * units})) jobs.push_back(j);
            }
            return jobs;
        }
        case kernel_family::vector_in_place: {
            job j = aligned({2 * t.tile_rows + 3, 2 * t.tile_rows + 3, e});
            j.in_place = true;
            return {j};
        }
        case kernel_family::elements_in_place: {
            std::vector<job> jobs;
            for (int units : {1, 3, 5, 9}) {
                for (int side : {1, 5, 70, 129}) {
                    for (int gap : {0, 1}) {
                        job j{side, side, e * units, side + gap, side + gap};
                        j.in_place = true, j.source_offset = j.destination_offset = e;
                        if (j.element_size < 128) jobs.push_back(j);
                    }
                }
            }
            return jobs;
        }
        case kernel_family::blocks_in_place: {
            job j{40, 40, e * (128 / e + 1), 41, 41};
            j.in_place = true, j.source_offset = j.destination_offset = e;
            return {j};
        }
        default: return {};
    }
}

// Each kernel runs on every GPU for which it may be chosen.
TEST(transposes_memory, every_kernel_of_the_tables) {
    const unsigned seed = std::random_device{}();
    std::printf("seed %u\n", seed);
    std::mt19937 random(seed);
    int kernels = 0;
    for (int f = 0; f < moves::kFamilies; ++f) {
        const auto by = static_cast<moves::kernel_family>(f);
        const auto rows = moves::rows_of(by);
        for (std::size_t row = 0; row < rows.size(); ++row) {
            int found = 0;
            for (const job& j : jobs_for(by, rows[row])) {
                std::vector<int> tried;  // shared memory
                for (const gpu& on : tests::kGpus) {
                    const auto all = moves::candidates(aligned_as(j), on);
                    const auto offered = std::find_if(all.begin(), all.end(), [&](const moves::candidate& c) {
                        return c.by == by && c.row == static_cast<int>(row);
                    });
                    if (offered == all.end() || std::count(tried.begin(), tried.end(), on.shared_bytes)) continue;
                    tried.push_back(on.shared_bytes);
                    ++found;
                    ASSERT_EQ(fault_of(j, random, &*offered, on), "")
                        << moves::explain(*offered, aligned_as(j), on) << "\n"
                        << j.text() << "\ncompute capability " << on.capability << ", seed " << seed;
                }
            }
            ASSERT_GT(found, 0) << moves::name(by) << ", row " << row;
            ++kernels;
        }
    }
    std::printf("%d kernels\n", kernels);
}

TEST(transposes_memory, addresses_that_are_no_multiple_of_the_element_size) {
    std::mt19937 random(2);
    for (int size : {2, 4, 8, 16, 3, 6, 12}) {
        for (auto [rows, cols] : {std::pair{33, 47}, {64, 64}, {5, 300}, {300, 5}}) {
            for (auto [from, to] : {std::pair{1, 0}, {0, 1}, {2, 2}, {4, 8}, {8, 4}, {3, 5}}) {
                for (const gpu& on : {tests::kGpus[0], kH200}) {
                    job j{rows, cols, size};
                    j.source_offset = from, j.destination_offset = to;
                    ASSERT_NO_FATAL_FAILURE(expect_right(j, random, on));
                }
            }
        }
    }
}

TEST(transposes_memory, batches_with_strides_less_aligned_than_rows) {
    std::mt19937 random(3);
    for (int size : {1, 2, 4, 8, 16, 6, 12}) {
        for (int side : {8, 32, 64}) {
            for (int more : {0, 1, 16}) {
                for (int offset : {0, 1}) {
                    job j{side, side, size};
                    j.count = 3;
                    j.source_stride += more, j.source_offset = offset;
                    ASSERT_NO_FATAL_FAILURE(expect_right(j, random));
                    std::swap(j.source_stride, j.destination_stride);
                    std::swap(j.source_offset, j.destination_offset);
                    ASSERT_NO_FATAL_FAILURE(expect_right(j, random));
                }
            }
        }
    }
}

TEST(transposes_memory, few_rows_that_end_just_after_a_block) {
    // A block writes 16 KiB. If a matrix begins within a sector, the last block writes a part of a sector more.
    std::mt19937 random(4);
    for (int size : {1, 2, 4}) {
        for (int rows : {9, 13, 31, 63}) {
            const std::int64_t part = (16 << 10) / size;
            for (std::int64_t total : {part - 30, part - 1, part, part + 1, 2 * part - 7}) {
                job j{rows, total / rows, size};
                j.destination_offset = 31 / size * size;
                ASSERT_NO_FATAL_FAILURE(expect_right(j, random));
            }
        }
    }
}

// The bench also measures the kernels that were not chosen, so they must be right too. Low and tall matrices, packed
// and with gaps.
TEST(transposes_memory, alternatives_are_right) {
    const unsigned seed = std::random_device{}();
    std::printf("seed %u\n", seed);
    std::mt19937 random(seed);
    int found = 0;
    for (int size : {1, 4, 3}) {
        for (std::int64_t few : {1, 3, 8}) {
            for (const bool tall : {false, true}) {
                for (const int gaps : {0, 1, 2, 3}) {  // a bit for each side
                    job j{tall ? 4100 : few, tall ? few : 4100, size};
                    j.source_ld += gaps & 1, j.destination_ld += gaps >> 1;
                    j.source_stride = j.rows * j.source_ld, j.destination_stride = j.cols * j.destination_ld;
                    for (const moves::candidate& one : moves::candidates(aligned_as(j), kH200)) {
                        ++found;
                        ASSERT_EQ(fault_of(j, random, &one, kH200), "")
                            << moves::explain(one, aligned_as(j), kH200) << "\n"
                            << j.text() << "\nseed " << seed;
                    }
                }
            }
        }
    }
    EXPECT_GT(found, 300);
}

TEST(transposes_memory, random_work) {
    const unsigned seed = std::random_device{}();
    std::printf("seed %u\n", seed);
    std::mt19937 random(seed);
    const auto up_to = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most + 1)); };
    for (int round = 0; round < 300; ++round) {
        constexpr int kSizes[] = {1, 2, 4, 8, 16};
        const auto extent = [&] {
            switch (up_to(3)) {
                case 0: return 1 + up_to(9);
                case 1: return 16 * (1 + up_to(16));
                case 2: return (1 << up_to(9)) + up_to(2) - 1 + (up_to(9) == 0 ? 1000 : 1);
                default: return 1 + up_to(300);
            }
        };
        job j{extent(), extent(), up_to(2) > 0 ? kSizes[up_to(4)] : 1 + up_to(140)};
        while (j.rows * j.cols * j.element_size > 64 << 10) (j.rows > j.cols ? j.rows : j.cols) /= 2;
        const auto gap = [&](std::int64_t row) {
            const int kind = up_to(3);
            return kind < 2 ? row : kind == 2 ? round_up(row, 32) : row + up_to(20);
        };
        j.source_ld = gap(j.cols), j.destination_ld = gap(j.rows);
        j.count = up_to(2) > 0 ? 1 : 2 + up_to(5);
        j.source_stride = j.rows * j.source_ld + (up_to(1) > 0 ? 0 : up_to(40));
        j.destination_stride = j.cols * j.destination_ld + (up_to(1) > 0 ? 0 : up_to(40));
        j.source_offset = up_to(1) > 0 ? 0 : up_to(40), j.destination_offset = up_to(1) > 0 ? 0 : up_to(40);
        if (up_to(5) == 0) {
            j.in_place = true;
            j.rows = j.cols = std::min(j.rows, j.cols);
            j.destination_ld = j.source_ld, j.destination_offset = j.source_offset;
            j.destination_stride = j.source_stride;
        }
        const gpu& on = tests::kGpus[static_cast<std::size_t>(up_to(static_cast<int>(std::size(tests::kGpus)) - 1))];
        ASSERT_NO_FATAL_FAILURE(expect_right(j, random, on)) << "seed " << seed;
    }
}

}  // namespace
