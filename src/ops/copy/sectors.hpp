// How many 32-byte sectors of memory a copy must touch.
#pragma once

#include <cstdint>
#include <vector>

namespace cornerturn {

inline constexpr std::int64_t kSectorBytes = 32;

// Steps of `stride` bytes, positive or negative.
struct byte_axis {
    std::int64_t extent, stride;
};

// Of runs of `run` bytes that the axes lead to. The lowest address lies `offset` bytes behind a sector's first byte.
std::int64_t touched_sectors(std::int64_t offset, std::int64_t run, const std::vector<byte_axis>& axes);

// Of `rows` rows of row_bytes each, pitch >= row_bytes apart.
std::int64_t touched_sectors(std::int64_t offset, std::int64_t rows, std::int64_t row_bytes, std::int64_t pitch);

// Whether all sectors that such rows touch are full of them, but for the first and the last of all.
bool fill_whole_sectors(std::int64_t offset, std::int64_t rows, std::int64_t row_bytes, std::int64_t pitch);

}  // namespace cornerturn
