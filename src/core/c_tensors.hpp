// Arguments of C functions that take tensors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/arguments.hpp"
#include "core/tensors.hpp"
#include "cornerturn/convert.h"
#include "cornerturn/convert.hpp"

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
        axes = order != nullptr ? axis_list_of(rank, order, "axes") : same_order(source_extents);
        for (int i = 0; i < rank; ++i) {  // permute() refuses axes out of range
            const std::int64_t given = axes.values[static_cast<std::size_t>(i)],
                               axis = given < 0 ? given + rank : given;
            const bool is_axis = axis >= 0 && axis < rank;
            destination_extents.add(is_axis ? source_extents.values[static_cast<std::size_t>(axis)] : 0);
        }
        destination_strides = strides_or_packed(rank, to_strides, destination_extents);
    }
};

// The arguments of a conversion in C.
struct c_conversion {
    permutation tensors;
    typed_tensor source, destination;
    conversion how;

    c_conversion(int rank, const std::int64_t* extents, const void* from, cornerturn_element from_type,
                 const std::int64_t* strides, const int* axes, const void* to, cornerturn_element to_type,
                 const std::int64_t* to_strides, const cornerturn_conversion* given)
        : tensors(rank, extents, strides, axes, to_strides),
          source{{address_of(from), tensors.source_extents, tensors.source_strides}, type_of(from_type), 1},
          destination{{address_of(to), tensors.destination_extents, tensors.destination_strides}, type_of(to_type), 1} {
        if (given == nullptr) return;
        how = {factors_of("scale", given->scale), factors_of("bias", given->bias), given->axis,
               given->unsaturated == 0};
    }
    c_conversion(const c_conversion&) = delete;  // the tensors refer to their extents

private:
    // A number that is no type is refused later.
    static element_type type_of(cornerturn_element type) {
        return type > 0 && type <= CORNERTURN_C128 ? static_cast<element_type>(type) : element_type{};
    }
    static factors factors_of(const char* name, const cornerturn_factors& f) {
        switch (f.kind) {
            case CORNERTURN_NONE: return {};
            case CORNERTURN_NUMBER: return f.number;
            case CORNERTURN_F32_NUMBERS: return {static_cast<const float*>(f.data), f.count};
            case CORNERTURN_F64_NUMBERS: return {static_cast<const double*>(f.data), f.count};
        }
        refuse(std::string(name) + ".kind", std::to_string(static_cast<int>(f.kind)), "it must be 0 to 3");
    }
};

}  // namespace cornerturn::detail
