// The transpose of an array in a file, which may be larger than memory: its axes in any other order.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "files/tile.hpp"

namespace cornerturn::files {

enum class order { c, fortran };

// A file without a header: elements in C order.
struct raw_shape {
    std::vector<std::int64_t> extents = {};
    std::int64_t element_size = 0;
};

struct file_request {
    std::string source, destination;                     // may be the same file
    std::optional<raw_shape> raw = {};                   // else both are .npy
    std::optional<std::vector<std::int64_t>> axes = {};  // as numpy.transpose has them; else all of them backwards
    order layout = order::c;                             // of the result
    std::int64_t memory = 1 << 30;                       // bytes: what the process may use
    std::int64_t threads = 0;                            // at a time, at most; 0: as many as there are cores
    tile_maker tiles = {};                               // where they are moved
    // Called now and then, from any thread but from one at a time, with the bytes that were written.
    std::function<void(std::int64_t done, std::int64_t of)> progress = {};
    const std::atomic<bool>* stop = nullptr;  // becoming true ends it, with the error interrupted
};

struct file_result {
    std::string from, to;    // "(3, 5) '<f8' in C order"
    std::int64_t bytes = 0;  // of the elements
    bool copied = false;     // the elements lie as before: only the header differs
    std::int64_t tiles = 0;  // that the file was moved in
    double seconds = 0;      // until the result was on the disk
};

// The destination appears, or is replaced, once it is whole and on the disk; it is untouched in every other case.
//
// The source is read once and the destination written once, in tiles of as much as the memory allows. Where that is
// less than some 32 MiB for an element size of 1 (16 for 2, and so on), or axes are short, pieces of files that belong
// to a tile are shorter than a page, and the system's cache of files has to keep it until the next tile. Where the
// system has room for a few bands of tiles, a thread reads ahead of them for that cache.
//
// Throws error where a file cannot be read or written, or is not what it should be; invalid_argument where the memory
// is too little, or the axes are not those of the file; and what making and moving tiles throws.
file_result transpose_file(const file_request& what);

}  // namespace cornerturn::files
