// A copy between tensors, or a conversion, to measure or test; and random draws of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/converted_pattern.hpp"
#include "core/draw.hpp"
#include "core/strided.hpp"
#include "ops/copy/strided_work.hpp"

namespace cornerturn {

// Extents are in the destination's order of axes. Strides and offsets count elements. An offset is the distance from a
// 256-byte boundary to the lowest address.
struct strided_shape {
    std::int64_t element_size = 4;  // of the destination
    element_conversion conversion{};
    std::vector<std::int64_t> extents, source_strides, destination_strides;
    std::int64_t source_offset = 0, destination_offset = 0;
    std::string kind;  // of a draw: "padded", "reversed"

    std::int64_t elements() const;
    // Bytes of an element of the source.
    std::int64_t source_size() const {
        return conversion.cast.converts() ? size_of(conversion.cast.from) : element_size;
    }
    // How many scales there are in memory, and how many biases.
    std::int64_t factors() const {
        return conversion.factors == factor_kind::each ? extents[static_cast<std::size_t>(conversion.axis)] : 0;
    }
    std::int64_t moved_bytes() const { return elements() * (source_size() + element_size); }  // of both sides
    // The distance from a side's boundary to the element at index 0 of every axis.
    std::int64_t source_first() const;
    std::int64_t destination_first() const;
    // The size of a side's buffer, from the boundary to the end of the last element.
    std::int64_t source_bytes() const;
    std::int64_t destination_bytes() const;
    // The buffers must begin on a boundary. `numbers`: the scales in memory, and after them the biases.
    strided_work work(const void* source, void* destination, const float* numbers = nullptr) const;
    strided_copy copy(const void* source, void* destination, const float* numbers = nullptr) const;
    std::string text() const;
};

// The range of bytes, for all elements together, from which a bench draws.
struct drawn_bytes {
    std::int64_t least, most;
};
inline constexpr drawn_bytes kLargeDraws{64 << 20, 1 << 30}, kSmallDraws{1 << 20, 64 << 20},
    kHostDraws{64 << 20, 256 << 20};

// Draws as in the project's targets. Elements of 1 to 16 bytes, also 3, 6 and 12. `least` to `most` bytes in all and
// the rows are log-uniform. A quarter each is packed, padded, off a boundary, and batched.
strided_shape draw_transpose(random_bits& random, std::int64_t least, std::int64_t most);
// Draws 3 to 8 axes with log-uniform extents, half of them powers of two, and any permutation. A quarter have gaps. An
// eighth have a reversed axis, and an eighth a repeated one.
strided_shape draw_permutation(random_bits& random, std::int64_t least, std::int64_t most);
// The same with 2 to 6 axes in any order, also as they are, between elements of two types. `least` to `most` bytes are
// the mean of both sides.
strided_shape draw_conversion(random_bits& random, std::int64_t least, std::int64_t most,
                              const element_conversion& types);

// A permutation of a packed tensor. The axes are given as in numpy.transpose.
strided_shape permuted_shape(const std::vector<std::int64_t>& source_extents, const std::vector<int>& axes,
                             std::int64_t element_size);

}  // namespace cornerturn
