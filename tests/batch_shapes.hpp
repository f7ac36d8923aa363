// Batches as the verifier must know them, on the host and on a GPU.
#pragma once

#include <string>
#include <vector>

#include "core/problem.hpp"

namespace cornerturn::tests {

inline std::vector<problem_shape> batch_shapes(int element_size) {
    std::vector<problem_shape> shapes = {
        {.rows = 5, .cols = 3, .count = 4},
        {.rows = 1, .cols = 1, .count = 5},
        {.rows = 4, .cols = 1, .count = 3},
        {.rows = 5, .cols = 3, .count = 0},
        {.rows = 0, .cols = 3, .count = 2},
        // With gaps behind the rows, and between the matrices; and a stride that ends with the last row.
        {.rows = 5,
         .cols = 3,
         .source_ld = 4,
         .destination_ld = 7,
         .source_offset = 3,
         .destination_offset = 1,
         .count = 4,
         .source_stride = 29,
         .destination_stride = 19},
        // Side by side, on one side or on both.
        {.rows = 5,
         .cols = 3,
         .source_ld = 14,
         .destination_ld = 22,
         .count = 4,
         .source_stride = 3,
         .destination_stride = 5},
        {.rows = 5, .cols = 3, .source_ld = 17, .source_offset = 2, .count = 4, .source_stride = 4},
        {.rows = 5, .cols = 3, .destination_ld = 30, .destination_offset = 2, .count = 4, .destination_stride = 6},
        // In place.
        {.rows = 6, .cols = 6, .in_place = true},
        {.rows = 5,
         .cols = 5,
         .source_ld = 6,
         .destination_ld = 6,
         .source_offset = 2,
         .destination_offset = 2,
         .count = 3,
         .source_stride = 32,
         .destination_stride = 32,
         .in_place = true},
        {.rows = 4,
         .cols = 4,
         .source_ld = 15,
         .destination_ld = 15,
         .count = 3,
         .source_stride = 5,
         .destination_stride = 5,
         .in_place = true},
    };
    for (problem_shape& shape : shapes) shape.element_size = element_size;
    return shapes;
}

inline std::string name(const problem_shape& s) {
    return std::to_string(s.count) + " of " + std::to_string(s.rows) + " x " + std::to_string(s.cols) + " of " +
           std::to_string(s.element_size) + " bytes, strides " + std::to_string(s.source_stride) + " and " +
           std::to_string(s.destination_stride) + (s.in_place ? ", in place" : "");
}

}  // namespace cornerturn::tests
