#include "emulator/block_classes.hpp"

#include <algorithm>

namespace cornerturn::emulator {
namespace {

struct axis_class {
    std::uint64_t count = 0;
    std::int64_t first = 0;
};

std::uint8_t within_sector(std::int64_t bytes) {
    return static_cast<std::uint8_t>((bytes % kSectorBytes + kSectorBytes) % kSectorBytes);
}

// Shifts repeat after at most 32 tiles, so a long axis takes no longer. A key's `rows` is the extent along this axis.
std::map<class_key, axis_class> classes_along(const tiling& tiles, std::int64_t extent, std::int64_t tile,
                                              std::int64_t operand::*step) {
    const auto key_of = [&](std::int64_t index, std::int64_t valid) {
        class_key key;
        for (int i = 0; i < tiles.operand_count; ++i)
            key.shift[i] = within_sector(tiles.operands[i].*step % kSectorBytes * (index % kSectorBytes));
        key.rows = valid;
        return key;
    };
    const std::int64_t full = extent / tile;
    std::map<class_key, axis_class> result;
    for (std::int64_t first = 0; first < std::min<std::int64_t>(full, kSectorBytes); ++first) {
        axis_class& found = result.try_emplace(key_of(first, tile), axis_class{0, first}).first->second;
        found.count += static_cast<std::uint64_t>((full - first + kSectorBytes - 1) / kSectorBytes);
    }
    if (extent % tile != 0) result.emplace(key_of(full, extent % tile), axis_class{1, full});
    return result;
}

// The same for all outer axes together; `rows` stays 0.
std::map<class_key, axis_class> classes_outside(const tiling& tiles) {
    std::map<class_key, axis_class> result{{class_key{}, axis_class{1, 0}}};
    std::int64_t scale = 1;
    for (int axis = 0; axis < tiles.outer_count; ++axis) {
        const outer_axis& a = tiles.outer[axis];
        std::map<class_key, axis_class> all;
        for (const auto& [inside, found] : result) {
            for (std::int64_t i = 0; i < std::min<std::int64_t>(a.extent, kSectorBytes); ++i) {
                class_key key;
                for (int k = 0; k < tiles.operand_count; ++k)
                    key.shift[k] = within_sector(inside.shift[k] + a.pitches[k] % kSectorBytes * i);
                axis_class& here = all.try_emplace(key, axis_class{0, found.first + i * scale}).first->second;
                here.count += found.count * static_cast<std::uint64_t>((a.extent - 1 - i) / kSectorBytes + 1);
            }
        }
        result = std::move(all);
        scale *= a.extent;
    }
    return result;
}

class_key combine(const tiling& tiles, const class_key& down, const class_key& across, const class_key& outside) {
    class_key key;
    for (int i = 0; i < tiles.operand_count; ++i) {
        const auto base =
            static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(tiles.operands[i].base) % kSectorBytes);
        key.shift[i] = within_sector(base + down.shift[i] + across.shift[i] + outside.shift[i]);
    }
    key.rows = down.rows;
    key.cols = across.rows;
    return key;
}

}  // namespace

std::int64_t matrices_of(const tiling& tiles) {
    std::int64_t count = 1;
    for (int axis = 0; axis < tiles.outer_count; ++axis) count *= tiles.outer[axis].extent;
    return count;
}

std::map<class_key, block_class> classes_of(const tiling& tiles) {
    std::map<class_key, block_class> classes;
    const auto down = classes_along(tiles, tiles.rows, tiles.tile_rows, &operand::row_pitch);
    const auto across = classes_along(tiles, tiles.cols, tiles.tile_cols, &operand::col_pitch);
    const auto outside = classes_outside(tiles);
    for (const auto& [row_key, row_class] : down) {
        for (const auto& [col_key, col_class] : across) {
            for (const auto& [outer_key, outer_class] : outside) {
                const tile_index first{row_class.first, col_class.first, outer_class.first};
                block_class& found =
                    classes.try_emplace(combine(tiles, row_key, col_key, outer_key), block_class{0, first})
                        .first->second;
                found.count += row_class.count * col_class.count * outer_class.count;
            }
        }
    }
    return classes;
}

}  // namespace cornerturn::emulator
