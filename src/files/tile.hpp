// Moves the elements of a tile into their new order, in host memory or on a GPU, and converts them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "cornerturn/convert.hpp"
#include "files/file_tiles.hpp"

namespace cornerturn::files {

// How the elements of a file are converted. cornerturn/convert.hpp has the rules.
struct element_conversion {
    element_type from{}, to{};                  // both 0: the bytes are moved as they are
    std::vector<double> scale = {}, bias = {};  // none, one for all elements, or one for each index of an axis
    bool saturate = true;

    bool converts() const { return to != element_type{}; }
    // The same for a tile. `scales` and `biases` are where the numbers above are.
    conversion of_tile(const file_tiling::tile_layout& tile, const double* scales, const double* biases) const {
        const auto its = [&](const std::vector<double>& all, const double* numbers) {
            if (all.empty()) return factors();
            if (all.size() == 1) return factors(all[0]);
            const auto axis = static_cast<std::size_t>(tile.factor_axis);
            return factors(numbers + tile.first_factor, tile.extents.values[axis]);
        };
        return {its(scale, scales), its(bias, biases), tile.factor_axis, saturate};
    }
};

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
    // Makes the memory for a tile of so many elements. If it is empty, tiles are moved in host memory, by the library.
    // The conversion outlives the tile.
    std::function<std::unique_ptr<tile_memory>(std::int64_t elements, element_bytes element, const element_conversion&)>
        make = {};
    std::int64_t later_bytes = 0;  // host memory that the moves will use in addition to the tiles
};

// Tiles that CUDA's device 0 moves, in pinned host memory. Starts CUDA, so that its host memory is in use when this
// returns. Throws unsupported if the program was built without CUDA. This function and the tiles throw cuda_error.
tile_maker cuda_tiles();

}  // namespace cornerturn::files
