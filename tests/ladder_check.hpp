// Runs a kernel on the emulator as a test wants it: any leading dimensions, offsets and options.
#pragma once

#include <string>

#include "core/problem.hpp"
#include "device/registry.hpp"
#include "emulator/session.hpp"

namespace cornerturn::tests {

struct outcome {
    std::string fault;  // empty: every element right
    emulator::report report;
};

// Every block. Hazards are let through.
inline outcome run_every_block(const kernel& k, problem_shape shape, const emulator::options& options = {}) {
    shape.does = k.does;
    host_problem problem(shape);
    problem.prepare();
    emulator::session session(options);
    session.add_buffer("source", problem.source().data(), static_cast<std::size_t>(problem.source().size()), false);
    session.add_buffer("destination", problem.destination().data(),
                       static_cast<std::size_t>(problem.destination().size()), true);
    k.run(backend::emulator)(problem.work());
    return {problem.check().fault, session.report()};
}

// One block of each class.
inline outcome run_classes(const kernel& k, problem_shape shape, emulator::options options = {}) {
    shape.does = k.does;
    options.every_block = false;
    host_problem problem(shape);
    emulator::session session(options);
    session.add_buffer("source", problem.source().data(), static_cast<std::size_t>(problem.source().size()), false);
    session.add_buffer("destination", problem.destination().data(),
                       static_cast<std::size_t>(problem.destination().size()), true);
    std::vector<tile> tiles;
    session.on_sample([&](std::span<const emulator::sampled_tile> touched) {
        std::vector<tile> now;
        for (const auto& t : touched) now.push_back(problem.tile_at(t.operands[0], t.rows, t.cols));
        problem.prepare(now);
        tiles.insert(tiles.end(), now.begin(), now.end());
    });
    k.run(backend::emulator)(problem.work());
    return {problem.check(tiles).fault, session.report()};
}

// The kernels of the ladder: not the host's, and not those that tests plant.
inline bool in_ladder(const kernel& k) { return k.id.starts_with("copy/") || k.id.starts_with("transpose/"); }

}  // namespace cornerturn::tests
