#include "move/cost.hpp"
#include "move/machine.hpp"

namespace cornerturn::moves {
namespace {

template <std::size_t kCount>
double dot(const std::array<double, kCount>& n, const std::array<std::array<double, kUnits>, kCount>& each, int unit) {
    double sum = 0;
    for (std::size_t i = 0; i < kCount; ++i) sum += n[i] * each[i][static_cast<std::size_t>(unit)];
    return sum;
}

// 0 if blocks that are `apart` bytes of work from each other share the L2, towards 1 if they are farther.
double farness(double apart, double in_flight, const machine& m) {
    return (apart + in_flight) / (apart + in_flight + m.l2_share);
}

}  // namespace

double cost_of(const counts& n, const cost_constants& k, int unit, const gpu& on, double memory_factor,
               double work_factor) {
    const machine m = machine_of(on);
    const auto u = static_cast<std::size_t>(unit);
    const double places = on.multiprocessors * n.resident;
    const double in_flight = n.written / n.blocks * (n.blocks < places ? n.blocks : places);
    const double bytes =
        n.written * (1 + loss_at(k.line_loss, n.line)) + n.read * (1 + loss_at(k.span_loss, n.span)) +
        n.waste * k.memory[0][u] + n.over * (k.memory[1][u] + k.memory[2][u] * farness(n.over_apart, in_flight, m)) +
        n.again * (k.memory[3][u] + k.memory[4][u] * farness(n.again_apart, in_flight, m)) +
        n.parts * (k.memory[5][u] + k.memory[6][u] * farness(n.parts_apart, in_flight, m)) + n.gaps * k.memory[7][u];
    const bool cached = 2 * n.written <= static_cast<double>(on.l2_bytes) * 3 / 4;
    const double memory = bytes / (cached ? m.l2_bytes_per_us : m.dram_bytes_per_us) * memory_factor;
    const double issue = dot(n.instructions, k.instruction, unit) * work_factor / 1000 / on.multiprocessors;
    const double shared = dot(n.wavefronts, k.wavefront, unit) * work_factor / 1000 / on.multiprocessors;
    const double hot = n.hot * k.hot / 1000;
    const double alone = dot(n.waits, k.wait, unit);
    const double bound = norm(memory, norm(issue, shared, 0, 0), alone * n.blocks / places, hot);
    const double work = issue > shared ? issue : shared;
    const double overlap = k.overlap / n.resident * (memory < work ? memory : work);
    const double waves = n.blocks / places, whole = static_cast<double>(static_cast<std::int64_t>(waves + 0.999999));
    const double idle = waves < 8 ? k.tail * (whole / waves - 1) : 0;
    const double drain = k.drain * (waves < 1 ? 1 : 1 / waves);
    return m.launch_us + k.first * alone + (bound + overlap) * (1 + idle + drain);
}

std::vector<double> in_order(const counts& n) {
    std::vector<double> all = {n.written,     n.read, n.waste, n.over, n.over_apart, n.again,  n.again_apart, n.parts,
                               n.parts_apart, n.gaps, n.line,  n.span, n.hot,        n.blocks, n.resident};
    for (double x : n.instructions) all.push_back(x);
    for (double x : n.wavefronts) all.push_back(x);
    for (double x : n.waits) all.push_back(x);
    return all;
}

}  // namespace cornerturn::moves
