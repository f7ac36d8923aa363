// How many 32-byte sectors of memory a copy must touch.
#pragma once

#include <cstdint>
#include <vector>

namespace cornerturn {

inline constexpr std::int64_t kSectorBytes = 32;

// Each step is `stride` bytes, positive or negative.
struct byte_axis {
    std::int64_t extent, stride;
};

// For runs of `run` bytes, one for each index of the axes. The lowest address is `offset` bytes after the start of a
// sector.
std::int64_t touched_sectors(std::int64_t offset, std::int64_t run, const std::vector<byte_axis>& axes);

// For `rows` rows of row_bytes each. From row to row it is `pitch` bytes, pitch >= row_bytes.
std::int64_t touched_sectors(std::int64_t offset, std::int64_t rows, std::int64_t row_bytes, std::int64_t pitch);

// Whether the rows fill all sectors that they touch, except for the first and the last of all.
bool fill_whole_sectors(std::int64_t offset, std::int64_t rows, std::int64_t row_bytes, std::int64_t pitch);

}  // namespace cornerturn
