// Permutes the axes of an array in a file, and converts its elements. The array may be larger than memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cornerturn/element.hpp"
#include "files/tile.hpp"

namespace cornerturn::files {

enum class storage_order { c, fortran };

// The shape of a file without a header. Its elements are in C order.
struct raw_shape {
    std::vector<std::int64_t> extents = {};
    std::int64_t element_size = 0;
};

struct file_request {
    std::string source, destination;                     // may be the same file
    std::optional<raw_shape> raw = {};                   // without it, both files are .npy files
    std::optional<std::vector<std::int64_t>> axes = {};  // as in numpy.transpose; default: all axes reversed
    storage_order layout = storage_order::c;             // of the result
    // With a type of the result, a scale or a bias, the elements are converted. Without the types, the source's header
    // tells its type, and the result has the same.
    std::optional<element_type> source_type = {}, type = {};
    std::vector<double> scale = {}, bias = {};    // none, one for all, or one for each index of scale_axis
    std::optional<std::int64_t> scale_axis = {};  // of the result
    bool saturate = true;
    std::int64_t memory = 1 << 30;  // the bytes of memory that the process may use
    std::int64_t threads = 0;       // the most threads at a time; 0: one for each core
    tile_maker tiles = {};          // decides where tiles are moved
    // Called from time to time with the number of bytes written so far. Any thread may call it, but only one at a time.
    std::function<void(std::int64_t done, std::int64_t of)> progress = {};
    const std::atomic<bool>* stop = nullptr;  // set it to true to stop the work, which then throws error("interrupted")

    bool converts() const { return type || !scale.empty() || !bias.empty(); }
};

struct file_result {
    std::string from, to;    // "(3, 5) '<f8' in C order"
    std::int64_t bytes = 0;  // of the result's elements
    bool copied = false;     // the elements keep their order, and only the header differs
    std::int64_t tiles = 0;  // the number of tiles
    double seconds = 0;      // until the result was on the disk
};

// The destination appears, or is replaced, only when it is complete and on the disk. If anything fails, it is
// untouched.
//
// The source is read once and the destination is written once, in tiles as large as the memory allows. Elements are
// converted while they are in a tile. If a tile has
// less than about 32 MiB for an element size of 1 (16 MiB for 2, and so on), or if axes are short, its pieces of the
// files are shorter than a page. Then the system's file cache has to keep these pages until the next tile. If the
// system has memory for a few bands of tiles, a thread reads the source ahead of the tiles, into that cache.
//
// Throws error if a file cannot be read or written, or is invalid. Throws invalid_argument if the memory is too little,
// or if the axes or the conversion do not fit the file. Also throws what tile_maker and its tiles throw.
file_result transpose_file(const file_request& request);

}  // namespace cornerturn::files
