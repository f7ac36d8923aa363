// Times every method of the host's engine on random transposes, for bench/fit_host.py. Their results must be equal.
//
//     build/cpu/bench/host_ways SEED SECONDS THREADS LEAST_MIB MOST_MIB > times.json
//
// Draws until the seconds have passed. A time is the best of three, because other work on the machine can only make a
// run slower. Each line is a transpose: its shape, and for each way its name, microseconds and numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "host/choice.hpp"
#include "host/team.hpp"
#include "ops/copy/strided_shape.hpp"

using namespace cornerturn;
using clock_type = std::chrono::steady_clock;

int main(int argc, char** argv) {
    if (argc != 6) return fmt::print(stderr, "usage: host_ways SEED SECONDS THREADS LEAST_MIB MOST_MIB\n"), 2;
    random_bits random(static_cast<std::uint64_t>(std::atoll(argv[1])));
    const host::team threads({.threads = std::atoi(argv[3])});
    const std::int64_t least = std::atoll(argv[4]) << 20, most = std::atoll(argv[5]) << 20;
    // Each run uses other parts of the memory, so that no cache holds them. The source repeats after kPeriod bytes.
    constexpr std::size_t kPeriod = (4 << 20) + 4096;
    const auto room = std::max(static_cast<std::size_t>(4 * most), std::size_t{1} << 30);
    const auto allocate = [&] {  // in huge pages, as in the bench
        void* const memory = std::aligned_alloc(4096, room);
        if (memory != nullptr) madvise(memory, room, MADV_HUGEPAGE);
        return static_cast<unsigned char*>(memory);
    };
    unsigned char *const source = allocate(), *const destination = allocate(), *const first = allocate();
    if (source == nullptr || destination == nullptr || first == nullptr) return fmt::print(stderr, "no memory\n"), 1;
    std::memset(destination, 1, room);
    for (std::size_t i = 0; i < room; ++i) source[i] = static_cast<unsigned char>(i % kPeriod * 2654435761u >> 11);
    std::size_t at = 0;
    const auto until = clock_type::now() + std::chrono::duration<double>(std::atof(argv[2]));
    while (clock_type::now() < until) {
        const strided_shape shape = draw_transpose(random, least, most);
        const auto read = static_cast<std::size_t>(shape.source_bytes()),
                   written = static_cast<std::size_t>(shape.destination_bytes()), both = std::max(read, written);
        if (both > room / 2) continue;
        const auto next_work = [&] {
            at += (both + kPeriod - 1) / kPeriod * kPeriod;
            if (at + both > room) at = 0;
            return matrices_of(shape.copy(source + at, destination + at));
        };
        const std::optional<matrix_work> work = next_work();
        if (!work) continue;
        const std::vector<host::named_way> ways = host::ways_of(*work, threads);
        if (ways.size() < 2) continue;
        std::string text;
        for (const host::named_way& one : ways) {
            double us = 1e300;
            for (int round = 0; round < 3; ++round) {
                const std::optional<matrix_work> here = next_work();
                const auto begin = clock_type::now();
                one.run(*here);
                us = std::min(us, std::chrono::duration<double, std::micro>(clock_type::now() - begin).count());
            }
            const std::optional<matrix_work> here = next_work();
            std::memset(destination + at, 1, written);  // gaps must stay as they are
            one.run(*here);
            if (&one == &ways.front()) std::memcpy(first, destination + at, written);
            if (std::memcmp(first, destination + at, written) != 0)
                return fmt::print(stderr, "{}: {} differs from {}\n", shape.text(), one.name, ways.front().name), 1;
            text += fmt::format("{}[\"{}\", {:.1f}, [{:.4g}]]", text.empty() ? "" : ", ", one.name, us,
                                fmt::join(one.numbers, ", "));
        }
        fmt::print("{{\"shape\": \"{}, e{}\", \"threads\": {}, \"ways\": [{}]}}\n", shape.text(), shape.element_size,
                   threads.most(), text);
        std::fflush(stdout);
    }
}
