// Where the elements of a file go, and what happens to them.
#pragma once

#include <cstdint>
#include <string>

#include "core/strided.hpp"
#include "files/file.hpp"
#include "files/tile.hpp"
#include "files/transpose_file.hpp"

namespace cornerturn::files {

struct file_move {
    std::string from, to;         // descriptions for the user
    std::string header = {};      // the bytes before the result's elements
    std::int64_t bytes = 0;       // of the result's elements
    element_bytes element{1, 1};  // of what must not be cut
    std::int64_t reversed = 1;    // of so many bytes of the source, the order is reversed
    strided_copy copy = {};       // from offset to offset in the files
    element_conversion conversion = {};

    // Only the header differs.
    bool keeps_bytes() const { return copy.rank == 0 && reversed == 1 && !conversion.converts(); }
};

// Throws as transpose_file().
file_move move_of(const input_file& source, const file_request& request);

}  // namespace cornerturn::files
