// Where a tile of an array in a file gets its new order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "files/file_tiles.hpp"

namespace cornerturn::files {

// Memory for a tile as it is read and as it is written, and what moves it from the one to the other. For one thread at
// a time.
class tile_memory {
public:
    virtual ~tile_memory() = default;

    unsigned char* read = nullptr;
    unsigned char* written = nullptr;

    // No more elements than there is memory for.
    virtual void move(const file_tiling::order& o) = 0;
};

struct tile_maker {
    // Makes the memory for tiles of so many elements of so many bytes; empty: in host memory, as the library does it.
    std::function<std::unique_ptr<tile_memory>(std::int64_t elements, std::int64_t element_size)> make = {};
    std::int64_t later = 0;  // bytes of the host's memory that it comes to take beside the tiles
};

// Tiles that CUDA's device 0 moves, read and written by way of pinned host memory. Starts CUDA, so that what that
// takes of the host's memory is in use when this returns. Throws unsupported where the program was built without CUDA;
// it and what it makes throw cuda_error.
tile_maker cuda_tiles();

}  // namespace cornerturn::files
