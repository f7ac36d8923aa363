// Measures how many memory accesses per second the emulator simulates on one core, for each rung. Every block runs, as
// with --full. The time includes counting, hazards and the kernel's work, but not preparing and verifying the matrix.
//
//     build/cpu/bench/emulator_throughput [n [element_bytes [id|all [races]]]]
//
// The matrix is n x n; the default is 4096 x 4096 elements of 4 bytes. The result is the best of seven runs, because
// other work on the machine can only make a run slower. The target for each scalar rung is 100 million, or 60 million
// with the search for races in global memory. The last lines name the slowest scalar rung and count those that reach
// the target.
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
