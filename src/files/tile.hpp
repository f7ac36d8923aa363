// Moves the elements of a tile into their new order, in host memory or on a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "files/file_tiles.hpp"

namespace cornerturn::files {

// Memory for a tile before and after the move. One thread uses it at a time.
class tile_memory {
public:
    virtual ~tile_memory() = default;

    unsigned char* read = nullptr;
    unsigned char* written = nullptr;

    // Moves the elements from `read` to `written`. There must be memory for all of them.
    virtual void move(const file_tiling::tile_layout& layout) = 0;
};

struct tile_maker {
    // Makes the memory for a tile. If it is empty, tiles are moved in host memory, by the library.
    std::function<std::unique_ptr<tile_memory>(std::int64_t elements, std::int64_t element_size)> make = {};
    std::int64_t later_bytes = 0;  // host memory that the moves will use in addition to the tiles
};

// Tiles that CUDA's device 0 moves, in pinned host memory. Starts CUDA, so that its host memory is in use when this
// returns. Throws unsupported if the program was built without CUDA. This function and the tiles throw cuda_error.
tile_maker cuda_tiles();

}  // namespace cornerturn::files
