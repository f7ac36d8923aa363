#include "gemm/production/policy.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace cornerturn::production {
namespace {

// Measured on an NVIDIA H200 (docs/experiments.md). Other GPUs get the same: it is their proportions that decide.
constexpr gemm_tile kTiles[] = {
    {"large", 128, 128, 8, 128, 2, 0.655, 2.0, {0.88, 1, 1}, {0, 1.08}},
    {"small", 64, 64, 8, 64, 6, 0.174, 0.3, {0.45, 0.85, 1}, {1.08, 1.2}},
};
constexpr double kFirstUs = 3;                             // until the first block computes, and from the last's end
constexpr double kPackUs = 3.5, kPackedFloats = 650000;    // to begin to pack an operand; in a microsecond
constexpr double kGatherUs = 3, kGatheredFloats = 525000;  // of parts, which have to be written, too
constexpr std::int64_t kMostParts = 512, kLeastSteps = 8;  // of a tile; of a part

constexpr std::int64_t kMostRounds = 24;  // of parts that a multiprocessor gets, one after the other

// Two blocks' stages and sums fill the 228 KiB of shared memory that Hopper has, and Blackwell but for 12.x.
bool large_tiles_fit(int compute_capability) { return compute_capability >= 90 && compute_capability < 120; }

std::int64_t ratio_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t to_four(std::int64_t floats) { return ratio_up(floats, 4) * 4; }

std::int64_t steps_of(const gemm_work& w, const gemm_tile& tile) {
    return std::max<std::int64_t>(1, ratio_up(w.k, tile.depth));
}

gemm_path path_of(const float* data, std::int64_t extent, bool along_k, std::int64_t ld, std::int64_t count,
                  std::int64_t stride) {
    if (along_k) return gemm_path::turned;
    const bool aligned = reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % 4 == 0 && extent % 4 == 0 &&
                         (count == 1 || stride % 4 == 0);
    return aligned ? gemm_path::vectors : gemm_path::words;
}

// So many blocks of so many steps.
double blocks_us(const gemm_tile& tile, double blocks, double steps, const gemm_machine& machine) {
    const double each = std::ceil(blocks / machine.multiprocessors);
    const double busy = tile.busy[static_cast<int>(std::clamp(each, 1.0, 3.0)) - 1];
    return each * (steps * tile.step_us / busy + tile.block_us);
}

}  // namespace

const gemm_tile& tile_of(gemm_tiles tiles) { return kTiles[static_cast<int>(tiles)]; }

gemm_paths paths_of(const gemm_work& w) {
    return {path_of(w.a, w.m, !w.a_turned, w.lda, w.count, w.a_stride),
            path_of(w.b, w.n, w.b_turned, w.ldb, w.count, w.b_stride)};
}

std::int64_t tiles_of(const gemm_work& w, gemm_tiles tiles) {
    const gemm_tile& tile = tile_of(tiles);
    return ratio_up(w.m, tile.rows) * ratio_up(w.n, tile.cols) * w.count;
}

gemm_work as_computed(const gemm_work& work) {
    gemm_work result = work;
    if (work.alpha == 0) result.k = 0;
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
gemm_tuning with_parts(gemm_tuning tuned, const gemm_work& w, const gemm_paths& lie, const gemm_machine& machine) {
    const gemm_tile& tile = tile_of(tuned.tiles);
    const std::int64_t count = tiles_of(w, tuned.tiles), steps = steps_of(w, tile);
    double before = kFirstUs, slower = 1;
    const auto bring = [&](gemm_path path, std::int64_t extent, std::int64_t stride, bool packed) {
        if (packed)
            before += kPackUs + static_cast<double>(to_four(extent)) * static_cast<double>(w.k) *
                                    static_cast<double>(packed_count(w.count, stride)) / kPackedFloats;
        else if (path != gemm_path::vectors)
            slower *= tile.unaligned[path == gemm_path::turned ? 1 : 0];
    };
    bring(lie.a, w.m, w.a_stride, tuned.pack_a);
    bring(lie.b, w.n, w.b_stride, tuned.pack_b);
    const std::int64_t left = count % machine.multiprocessors;
    const double whole = blocks_us(tile, static_cast<double>(count - left), static_cast<double>(steps), machine);
    tuned.us = before + slower * blocks_us(tile, static_cast<double>(count), static_cast<double>(steps), machine);
    const std::int64_t most = std::min(kMostParts, steps / kLeastSteps);
    gemm_tuning best = tuned;
    // As many parts as fill so many rounds of all multiprocessors: fewer would be no quicker.
    for (std::int64_t round = 1; left > 0 && round <= kMostRounds; ++round) {
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

}  // namespace

gemm_tuning choose(const gemm_work& w, const gemm_paths& lie, const gemm_machine& machine) {
    gemm_tuning best{};
    for (gemm_tiles tiles : {gemm_tiles::small, gemm_tiles::large}) {
        const bool large = tiles == gemm_tiles::large;
        if (large && !large_tiles_fit(machine.compute_capability)) continue;
        // What is narrower than a vector would be mostly padding.
        const auto can_be = [&](gemm_path path, std::int64_t extent, bool packed) {
            return packed ? path != gemm_path::vectors && w.k > 0 && extent >= 4 : !large || path != gemm_path::words;
        };
        for (bool a : {false, true}) {
            for (bool b : {false, true}) {
                if (!can_be(lie.a, w.m, a) || !can_be(lie.b, w.n, b)) continue;
                const gemm_tuning tuned =
                    with_parts({.tiles = tiles, .pack_a = a, .pack_b = b, .parts = 1, .us = 0}, w, lie, machine);
                if (best.us == 0 || tuned.us < best.us) best = tuned;
            }
        }
    }
    return best;
}

gemm_tuning choose_without_workspace() {
    return {.tiles = gemm_tiles::small, .pack_a = false, .pack_b = false, .parts = 1, .us = 0};
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
    std::int64_t most = 0;
    for (gemm_path a : {gemm_path::vectors, gemm_path::words}) {
        for (gemm_path b : {gemm_path::vectors, gemm_path::words}) {
            const gemm_paths lie{work.a_turned ? a : gemm_path::turned, work.b_turned ? gemm_path::turned : b};
            most = std::max(most, workspace_of(work, choose(work, lie, machine), machine).floats);
        }
    }
    return most;
}

std::string explain(const gemm_work& work, const gemm_machine& machine) {
    using std::to_string;
    const gemm_paths lie = paths_of(work);
    const gemm_tuning tuned = choose(work, lie, machine);
    const gemm_tile& tile = tile_of(tuned.tiles);
    const std::int64_t tiles = tiles_of(work, tuned.tiles), whole = whole_tiles(tiles, tuned.parts, machine);
    const auto operand = [](const char* name, gemm_path path, bool packed) {
        const std::string come = path == gemm_path::vectors ? "16 bytes at a time"
                                 : path == gemm_path::words ? "unaligned"
                                                            : "along k";
        const std::string does = packed ? (path == gemm_path::turned ? ", transposed first" : ", copied first")
                                 : path == gemm_path::vectors ? ""
                                 : path == gemm_path::words   ? ", a float at a time"
                                                              : ", turned a float at a time";
        return std::string(name) + " " + come + does;
    };
    std::string text = std::string(tile.name) + ": tiles of " + to_string(tile.rows) + " x " + to_string(tile.cols) +
                       " by " + to_string(tile.threads) + " threads, " + to_string(tile.depth) + " of k at a time, " +
                       "up to " + to_string(tile.resident) + " blocks a multiprocessor; " +
                       operand("A", lie.a, tuned.pack_a) + "; " + operand("B", lie.b, tuned.pack_b) + "; ";
    if (tuned.parts == 1)
        text += to_string(tiles) + (tiles == 1 ? " tile" : " tiles");
    else
        text += to_string(whole) + " whole tiles and " + to_string(tiles - whole) + " in " + to_string(tuned.parts) +
                " parts along k, for " + to_string(machine.multiprocessors) + " multiprocessors";
    const std::int64_t bytes = workspace_of(work, tuned, machine).floats * static_cast<std::int64_t>(sizeof(float));
    return text + "; workspace " + to_string(bytes) + " bytes";
}

}  // namespace cornerturn::production
