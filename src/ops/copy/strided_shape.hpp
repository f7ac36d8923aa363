// A copy between tensors to be measured or tested, and such copies drawn at random.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/draw.hpp"
#include "core/strided.hpp"

namespace cornerturn {

// Extents are the destination's, in its order of axes; strides and offsets count elements. An offset leads from a
// 256-byte boundary to the lowest address.
struct strided_shape {
    std::int64_t element_size = 4;
    std::vector<std::int64_t> extents, source_strides, destination_strides;
    std::int64_t source_offset = 0, destination_offset = 0;
    std::string kind;  // of a draw: "padded", "reversed"

    std::int64_t elements() const;
    // From a side's boundary to the element at index 0 of every axis.
    std::int64_t source_first() const;
    std::int64_t destination_first() const;
    // Of a side's buffer, from the boundary to behind the last element.
    std::int64_t source_bytes() const;
    std::int64_t destination_bytes() const;
    // For buffers that begin on a boundary.
    strided_copy copy(const void* source, void* destination) const;
    std::string text() const;
};

// Bytes of all elements, as a bench draws them.
struct drawn_bytes {
    std::int64_t least, most;
};
inline constexpr drawn_bytes kLargeDraws{64 << 20, 1 << 30}, kSmallDraws{1 << 20, 64 << 20},
    kHostDraws{64 << 20, 256 << 20};

// As the project's targets define them: elements of 1 to 16 bytes, also 3, 6 and 12; `least` to `most` bytes in all,
// log-uniform; rows log-uniform; a quarter each packed, padded, off a boundary, and batched.
strided_shape draw_transpose(random_bits& random, std::int64_t least, std::int64_t most);
// 3 to 8 axes, log-uniform extents, half of them powers of two; any permutation; a quarter with gaps, an eighth each
// with a reversed and a repeated axis.
strided_shape draw_permutation(random_bits& random, std::int64_t least, std::int64_t most);

// A permutation of a packed tensor: axes as numpy.transpose has them.
strided_shape permuted_shape(const std::vector<std::int64_t>& source_extents, const std::vector<int>& axes,
                             std::int64_t element_size);

}  // namespace cornerturn
