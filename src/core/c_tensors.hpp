// Arguments of C functions that take tensors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/arguments.hpp"
#include "core/tensors.hpp"

namespace cornerturn::detail {

template <class Number>
axis_list axis_list_of(int rank, const Number* numbers, const char* name) {
    if (rank < 0 || rank > kMostAxes) refuse("rank", std::to_string(rank), "it must be 0 to 32");
    if (rank > 0 && numbers == nullptr) refuse(name, "NULL", "it must point to " + std::to_string(rank) + " numbers");
    axis_list all;
    all.count = static_cast<std::size_t>(rank);
    std::copy_n(numbers, rank, all.values.begin());
    return all;
}

// The given strides, or those of a packed tensor if `strides` is NULL.
inline axis_list strides_or_packed(int rank, const std::int64_t* strides, const axis_list& extents) {
    return strides == nullptr ? packed_strides(extents) : axis_list_of(rank, strides, "strides");
}

// Copies as much as fits, and a terminating zero.
inline void copy_text(const std::string& from, char* text, std::size_t text_size) {
    if (text == nullptr) refuse("text", "NULL", "it must point to text_size characters");
    if (text_size == 0) refuse("text_size", "0", "it must be at least 1");
    text[from.copy(text, text_size - 1)] = '\0';
}

inline std::uintptr_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

struct permutation {
    axis_list source_extents, source_strides, destination_extents, destination_strides, axes;

    permutation(int rank, const std::int64_t* extents, const std::int64_t* strides, const int* order,
                const std::int64_t* to_strides)
        : source_extents(axis_list_of(rank, extents, "extents")),
          source_strides(strides_or_packed(rank, strides, source_extents)) {
        axes = axis_list_of(rank, order, "axes");
        for (int i = 0; i < rank; ++i) {  // permute() refuses axes out of range
            const int axis = order[i] < 0 ? order[i] + rank : order[i];
            const bool is_axis = axis >= 0 && axis < rank;
            destination_extents.add(is_axis ? source_extents.values[static_cast<std::size_t>(axis)] : 0);
        }
        destination_strides = strides_or_packed(rank, to_strides, destination_extents);
    }
};

}  // namespace cornerturn::detail
