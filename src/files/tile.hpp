// Where a tile of a matrix in a file is transposed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace cornerturn::files {

// Memory for a tile and for its transpose, and what transposes the one into the other. For one thread at a time.
class tile_memory {
public:
    virtual ~tile_memory() = default;

    unsigned char* read = nullptr;        // the tile, row after row, as it was read
    unsigned char* transposed = nullptr;  // its transpose, likewise

    // rows x cols elements of `read`, no more than there is memory for, to `transposed`.
    virtual void transpose(std::int64_t rows, std::int64_t cols) = 0;
};

struct tile_maker {
    // Makes the memory for tiles of so many elements of so many bytes; empty: in host memory, as the library does it.
    std::function<std::unique_ptr<tile_memory>(std::int64_t elements, std::int64_t element_size)> make = {};
    std::int64_t later = 0;  // bytes of the host's memory that it comes to take beside the tiles
};

// Tiles that CUDA's device 0 transposes, read and written by way of pinned host memory. Starts CUDA, so that what that
// takes of the host's memory is in use when this returns. Throws unsupported where the program was built without CUDA;
// it and what it makes throw cuda_error.
tile_maker cuda_tiles();

}  // namespace cornerturn::files
