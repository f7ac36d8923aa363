// Classes of blocks of a tiled launch with equal counters: their tiles have the same size and offsets within a sector.
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

// The properties on which a block's counters may depend. For a tile: each operand's offset within a sector, and the
// valid extent. For one axis: the shift within a sector by the tile's position, and the valid extent in `rows`.
struct class_key {
    std::array<std::uint8_t, kMaxOperands> shift{};
    std::int64_t rows = 0, cols = 0;
    auto operator<=>(const class_key&) const = default;
};

struct block_class {
    std::uint64_t count = 0;
    tile_index representative{};
};

// The classes of all blocks, with the number of blocks in each.
std::map<class_key, block_class> classes_of(const tiling& tiles);

}  // namespace cornerturn::emulator
