// Which blocks of a tiled launch count alike: those whose tiles lie alike within sectors, and are as large.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>

#include "emulator/counters.hpp"
#include "emulator/launch.hpp"

namespace cornerturn::emulator {

constexpr std::int64_t tiles_along(std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; }
std::int64_t matrices_of(const tiling& tiles);

// What a block's counts may depend on. On one axis: how far the tile's position shifts each operand within a sector,
// and how much of the tile is valid. For a whole tile: both axes together.
struct class_key {
    std::array<std::uint8_t, kMaxOperands> shift{};
    std::int64_t rows = 0, cols = 0;
    auto operator<=>(const class_key&) const = default;
};

struct block_class {
    std::uint64_t count = 0;
    tile_index representative{};
};

// The classes of all blocks, which stand for as many as they say.
std::map<class_key, block_class> classes_of(const tiling& tiles);

}  // namespace cornerturn::emulator
