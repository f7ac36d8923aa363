#include "ops/gemm/kernels/policy.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "core/gpu.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn::production {
namespace {

// Measured on an NVIDIA H200 (docs/experiments.md). Other GPUs get the same: it is their proportions that decide.
constexpr gemm_tile kTiles[] = {
    {"large", 128, 128, 8, 128, 2, 98, 0.655, 2.0, {0.88, 1, 1}, {0, 1.08}},
    {"small", 64, 64, 8, 64, 6, 34, 0.174, 0.3, {0.45, 0.85, 1}, {1.08, 1.2}},
};
constexpr double kFirstUs = 3;                             // until the first block computes, and from the last's end
constexpr double kPackUs = 3.5, kPackedFloats = 650000;    // to begin to pack an operand; in a microsecond
constexpr double kGatherUs = 3, kGatheredFloats = 525000;  // of parts, which have to be written, too
constexpr std::int64_t kMostParts = 512, kLeastSteps = 8;  // of a tile; of a part

constexpr std::int64_t kMostRounds = 24;  // of parts that a multiprocessor gets, one after the other

std::int64_t ratio_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t to_four(std::int64_t floats) { return ratio_up(floats, 4) * 4; }

std::int64_t steps_of(const gemm_work& w, const gemm_tile& tile) {
    return std::max<std::int64_t>(1, ratio_up(w.k, tile.depth));
}

gemm_path path_of(const float* data, std::int64_t extent, bool along_k, std::int64_t ld, std::int64_t count,
                  std::int64_t stride) {
    if (along_k) return gemm_path::along_k;
    const bool aligned = reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % 4 == 0 && extent % 4 == 0 &&
                         (count == 1 || stride % 4 == 0);
    return aligned ? gemm_path::vectors : gemm_path::words;
}

// So many blocks of so many steps.
double blocks_us(const gemm_tile& tile, double blocks, double steps, const gemm_machine& machine) {
    const double each = std::ceil(blocks / machine.multiprocessors);
    const double at_a_time = std::min(each, static_cast<double>(std::min(resident_on(tile, machine), 3)));
    const double busy = tile.busy[static_cast<int>(std::max(at_a_time, 1.0)) - 1];
    return each * (steps * tile.step_us / busy + tile.block_us);
}

}  // namespace

int resident_on(const gemm_tile& tile, const gemm_machine& machine) {
    return std::min(tile.resident, (shared_bytes_of_capability(machine.compute_capability) >> 10) / tile.shared_kib);
}

const gemm_tile& tile_of(gemm_tile_size tiles) { return kTiles[static_cast<int>(tiles)]; }

gemm_paths paths_of(const gemm_work& w) {
    return {path_of(w.a, w.m, !w.a_transposed, w.lda, w.count, w.a_stride),
            path_of(w.b, w.n, w.b_transposed, w.ldb, w.count, w.b_stride)};
}

std::int64_t tiles_of(const gemm_work& w, gemm_tile_size tiles) {
    const gemm_tile& tile = tile_of(tiles);
    return ratio_up(w.m, tile.rows) * ratio_up(w.n, tile.cols) * w.count;
}

gemm_work as_computed(const gemm_work& work) {
    gemm_work result = work;
    if (work.alpha == 0) result.k = 0;
    // alpha may be anything; with -0, beta C keeps its sign where it is 0.
    if (result.k == 0) result.alpha = work.beta == 0 ? 0.0f : -0.0f;
    const bool empty = work.m == 0 || work.n == 0 || work.count == 0;
    if (result.k > kMostK && !empty) throw unsupported("k is " + std::to_string(work.k) + ": products take up to 2^33");
    return result;
}

std::int64_t whole_tiles(std::int64_t tiles, int parts, const gemm_machine& machine) {
    return parts == 1 ? tiles : tiles / machine.multiprocessors * machine.multiprocessors;
}

namespace {

bool one_launch(const gemm_work& w, const gemm_tile& tile, std::int64_t tiles) {
    return w.m <= kMostTilesAlong * tile.rows && w.n <= kMostTilesAlong * tile.cols && tiles <= kMostTiles;
}

// The number of parts that is quickest, for tiles and packing that are given.
gemm_tuning with_parts(gemm_tuning tuned, const gemm_work& w, const gemm_paths& lie, const gemm_machine& machine,
                       bool may_split) {
    const gemm_tile& tile = tile_of(tuned.tiles);
    const std::int64_t count = tiles_of(w, tuned.tiles), steps = steps_of(w, tile);
    double before = kFirstUs, slower = 1;
    const auto bring = [&](gemm_path path, std::int64_t extent, std::int64_t stride, bool packed) {
        if (packed)
            before += kPackUs + static_cast<double>(to_four(extent)) * static_cast<double>(w.k) *
                                    static_cast<double>(packed_count(w.count, stride)) / kPackedFloats;
        else if (path != gemm_path::vectors)
            slower *= tile.unaligned[path == gemm_path::along_k ? 1 : 0];
    };
    bring(lie.a, w.m, w.a_stride, tuned.pack_a);
    bring(lie.b, w.n, w.b_stride, tuned.pack_b);
    const std::int64_t left = count % machine.multiprocessors;
    const double whole = blocks_us(tile, static_cast<double>(count - left), static_cast<double>(steps), machine);
    tuned.us = before + slower * blocks_us(tile, static_cast<double>(count), static_cast<double>(steps), machine);
    const std::int64_t most = std::min(kMostParts, steps / kLeastSteps);
    gemm_tuning best = tuned;
    // As many parts as fill so many rounds of all multiprocessors: fewer would be no quicker.
    for (std::int64_t round = 1; may_split && left > 0 && round <= kMostRounds; ++round) {
        const std::int64_t parts = std::min(round * machine.multiprocessors / left, most);
        if (parts < 2 || !one_launch(w, tile, count)) continue;
        const auto blocks = static_cast<double>(left * parts);
        const double some = blocks_us(tile, blocks, static_cast<double>(steps) / static_cast<double>(parts), machine);
        tuned.parts = static_cast<int>(parts);
        tuned.us = before + slower * (whole + some) + kGatherUs + blocks * tile.rows * tile.cols / kGatheredFloats;
        if (tuned.us < best.us) best = tuned;
    }
    return best;
}

// Of those that are allowed; its `us` is 0 where none is.
template <class Allowed>
gemm_tuning best_of(const gemm_work& w, const gemm_paths& lie, const gemm_machine& machine, bool may_split,
                    Allowed allowed) {
    gemm_tuning best{};
    for (gemm_tile_size tiles : {gemm_tile_size::small, gemm_tile_size::large}) {
        const bool large = tiles == gemm_tile_size::large;
        // Large tiles are no better than small ones where they cannot hide each other's waiting.
        if (large && resident_on(tile_of(tiles), machine) < tile_of(tiles).resident) continue;
        // What is narrower than a vector would be mostly padding.
        const auto can_be = [&](gemm_path path, std::int64_t extent, bool packed) {
            return packed ? path != gemm_path::vectors && w.k > 0 && extent >= 4 : !large || path != gemm_path::words;
        };
        for (bool a : {false, true}) {
            for (bool b : {false, true}) {
                if (!can_be(lie.a, w.m, a) || !can_be(lie.b, w.n, b)) continue;
                gemm_tuning tuned{.tiles = tiles, .pack_a = a, .pack_b = b, .parts = 1, .us = 0};
                if (!allowed(tuned)) continue;
                tuned = with_parts(tuned, w, lie, machine, may_split);
                if (best.us == 0 || tuned.us < best.us) best = tuned;
            }
        }
    }
    return best;
}

}  // namespace

gemm_tuning choose(const gemm_work& w, const gemm_paths& lie, const gemm_machine& machine) {
    return best_of(w, lie, machine, true, [](const gemm_tuning&) { return true; });
}

gemm_tuning choose_without_workspace() {
    return {.tiles = gemm_tile_size::small, .pack_a = false, .pack_b = false, .parts = 1, .us = 0};
}

int parts_of(const gemm_work& w, const gemm_tuning& tuned) {
    const gemm_tile& tile = tile_of(tuned.tiles);
    if (!one_launch(w, tile, tiles_of(w, tuned.tiles))) return 1;
    return static_cast<int>(std::min<std::int64_t>(tuned.parts, steps_of(w, tile)));  // each has a step
}

gemm_workspace workspace_of(const gemm_work& w, const gemm_tuning& tuned, const gemm_machine& machine) {
    gemm_workspace result;
    const auto take = [&](std::int64_t floats) {
        const std::int64_t begin = result.floats;
        result.floats += to_four(floats);
        return begin;
    };
    if (tuned.pack_a) {
        result.a_ld = to_four(w.m);
        result.a = take(packed_count(w.count, w.a_stride) * w.k * result.a_ld);
    }
    if (tuned.pack_b) {
        result.b_ld = to_four(w.n);
        result.b = take(packed_count(w.count, w.b_stride) * w.k * result.b_ld);
    }
    const gemm_tile& tile = tile_of(tuned.tiles);
    const std::int64_t tiles = tiles_of(w, tuned.tiles), parts = parts_of(w, tuned);
    const std::int64_t left = tiles - whole_tiles(tiles, static_cast<int>(parts), machine);
    result.partial = take(left * parts * tile.rows * tile.cols);
    return result;
}

std::int64_t most_workspace(const gemm_work& work, const gemm_machine& machine) {
    constexpr gemm_path kAlongK[] = {gemm_path::along_k}, kAsRows[] = {gemm_path::vectors, gemm_path::words};
    const auto paths = [&](bool along_k) {
        return along_k ? std::span<const gemm_path>(kAlongK) : std::span<const gemm_path>(kAsRows);
    };
    std::int64_t most = 0;
    for (gemm_path a : paths(!work.a_transposed)) {
        for (gemm_path b : paths(work.b_transposed))
            most = std::max(most, workspace_of(work, choose(work, {a, b}, machine), machine).floats);
    }
    return most;
}

gemm_plan plan_of(const gemm_work& work, const gemm_machine& machine) {
    const gemm_paths lie = paths_of(work);
    const gemm_tuning tuned = choose(work, lie, machine);
    return {lie, tuned, workspace_of(work, tuned, machine)};
}

gemm_plan plan_of(const gemm_work& work, const gemm_tuning& tuned, const gemm_machine& machine) {
    return {paths_of(work), tuned, workspace_of(work, tuned, machine)};
}

namespace {
std::string microseconds(double us) { return std::to_string(std::llround(us)) + " us"; }
}  // namespace

std::string explain(const gemm_work& work, const gemm_machine& machine) {
    using std::to_string;
    if (work.m == 0 || work.n == 0 || work.count == 0) return "nothing: C is empty";
    const gemm_plan plan = plan_of(work, machine);
    const gemm_paths& lie = plan.lie;
    const gemm_tuning& tuned = plan.tuned;
    const gemm_tile& tile = tile_of(tuned.tiles);
    const std::int64_t tiles = tiles_of(work, tuned.tiles), whole = whole_tiles(tiles, tuned.parts, machine);
    const auto operand = [](const char* name, gemm_path path, bool packed) {
        const std::string come = path == gemm_path::vectors ? "16 bytes at a time"
                                 : path == gemm_path::words ? "unaligned"
                                                            : "along k";
        const std::string does = packed ? (path == gemm_path::along_k ? ", transposed first" : ", copied first")
                                 : path == gemm_path::vectors ? ""
                                 : path == gemm_path::words   ? ", a float at a time"
                                                              : ", transposed a float at a time";
        return std::string(name) + " " + come + does;
    };
    std::string text = std::string(tile.name) + ": tiles of " + to_string(tile.rows) + " x " + to_string(tile.cols) +
                       " by " + to_string(tile.threads) + " threads, " + to_string(tile.depth) + " of k at a time, " +
                       "up to " + to_string(resident_on(tile, machine)) + " blocks a multiprocessor; " +
                       operand("A", lie.a, tuned.pack_a) + "; " + operand("B", lie.b, tuned.pack_b) + "; ";
    if (tuned.parts == 1)
        text += to_string(tiles) + (tiles == 1 ? " tile" : " tiles");
    else
        text += to_string(whole) + " whole tiles and " + to_string(tiles - whole) + " in " + to_string(tuned.parts) +
                " parts along k, for " + to_string(machine.multiprocessors) + " multiprocessors";
    const std::int64_t bytes = plan.space.floats * static_cast<std::int64_t>(sizeof(float));
    text += "; workspace " + to_string(bytes) + " bytes; estimated at " + microseconds(tuned.us);
    // Why: what the nearest alternatives would take.
    const auto otherwise = [&](const std::string& how, bool may_split, auto allowed) {
        const gemm_tuning other = best_of(work, lie, machine, may_split, allowed);
        if (other.us > 0) text += ", " + how + " " + microseconds(other.us);
    };
    otherwise(std::string("with ") + (tuned.tiles == gemm_tile_size::large ? "small" : "large") + " tiles", true,
              [&](const gemm_tuning& t) { return t.tiles != tuned.tiles; });
    otherwise(tuned.pack_a ? "with A as it lies" : "with A brought first", true,
              [&](const gemm_tuning& t) { return t.pack_a != tuned.pack_a; });
    otherwise(tuned.pack_b ? "with B as it lies" : "with B brought first", true,
              [&](const gemm_tuning& t) { return t.pack_b != tuned.pack_b; });
    if (tuned.parts > 1) otherwise("in one part", false, [](const gemm_tuning&) { return true; });
    return text;
}

}  // namespace cornerturn::production
