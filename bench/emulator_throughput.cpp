// How many memory accesses a second the emulator simulates on one core, every block run (as --full does), a rung at a
// time. Counting, hazards and the kernel's own work are included; preparing and verifying the matrix are not.
//
//     build/cpu/bench/emulator_throughput [n [element_bytes [id|all [races]]]]     n x n, 4096 x 4096 of 4 bytes unless
//     told
//
// The best of seven runs: what the machine does besides can only take time away. The target, 100 million, or 60 with
// the search for races in global memory, is for each scalar rung: the last lines name the slowest and say how many
// reach it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

#include "core/problem.hpp"
#include "device/registry.hpp"
#include "emulator/emulation.hpp"
#include "emulator/races.hpp"
#include "ops/copy/movement.hpp"

using namespace cornerturn;

int main(int argc, char** argv) {
    const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 4096;
    const int size = argc > 2 ? std::atoi(argv[2]) : 4;
    const std::string only = argc > 3 && std::string(argv[3]) != "all" ? argv[3] : "";
    const bool with_races = argc > 4;
    emulator::race_search races;
    constexpr int kRounds = 7;
    const double kTarget = with_races ? 60 : 100;  // million accesses a second
    int scalar = 0, reach = 0;
    double slowest = 0;
    std::string slowest_id;
    fmt::print("{} x {}, {} bytes an element, one core\n", n, n, size);
    for (const kernel& k : kernels()) {
        const auto* const rung = k.built_for<matrix_work>(backend::emulator);
        if (rung == nullptr || !k.takes(size) || (!only.empty() && k.id != only)) continue;
        host_problem problem({.arranged = arranged_by(k), .rows = n, .cols = n, .element_size = size});
        problem.prepare();
        double best = 1e300;
        std::uint64_t accesses = 0;
        for (int round = 0; round < kRounds; ++round) {
            emulator::emulation emulation({.workers = 1, .races = with_races ? &races : nullptr});
            emulation.add_buffer("source", problem.source().data(), static_cast<std::size_t>(problem.source().size()),
                                 false);
            emulation.add_output("destination", problem.destination().data(),
                                 static_cast<std::size_t>(problem.destination().size()), size);
            const auto start = std::chrono::steady_clock::now();
            rung->run(problem.work());
            best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
            accesses = emulation.report().accesses;
        }
        fmt::print("{:28} {:6.1f} million accesses a second\n", k.id, static_cast<double>(accesses) / best / 1e6);
        constexpr unsigned kEverySize = 1 | 2 | 4 | 8 | 16;
        if (k.facts.element_sizes != kEverySize) continue;
        const double millions = static_cast<double>(accesses) / best / 1e6;
        ++scalar;
        reach += millions >= kTarget;
        if (scalar == 1 || millions < slowest) {
            slowest = millions;
            slowest_id = k.id;
        }
    }
    if (scalar > 0) {
        fmt::print("slowest scalar rung: {}, {:.1f}\n", slowest_id, slowest);
        fmt::print("{} of {} scalar rungs reach {:.0f}\n", reach, scalar, kTarget);
    }
}
