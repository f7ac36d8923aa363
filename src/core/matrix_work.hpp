// The validated arguments of a kernel that moves matrices.
#pragma once

#include <cstdint>

namespace cornerturn {

// A matrix to move. The source is rows x cols. The destination is cols x rows for a transpose, rows x cols for a copy.
// All members are checked; they come from a view, a transpose_layout or, in the lab, a problem_shape.
// Elements have element_size bytes. If that is a power of two, they are aligned to it (the ladder takes 1, 2, 4, 8 and
// 16). Leading dimensions and strides count elements. A batch is `count` such matrices, each a stride after the one
// before; only kernels that take batches read these members. Square matrices may be their own destination, for kernels
// that say so.
struct matrix_work {
    const void* source;
    void* destination;
    std::int64_t rows, cols, source_ld, destination_ld;
    int element_size;
    std::int64_t count = 1, source_stride = 0, destination_stride = 0;
    bool keeps_lines = true;  // kernels may ask the GPU's L2 to keep some of the moved lines longer
};

inline constexpr std::int64_t kMaxGridZ = 65535;  // CUDA's limit, and so that of the matrices of one launch

// Leaves out the first n matrices of a batch.
inline void leave_out(matrix_work& work, std::int64_t n) {
    work.source = static_cast<const unsigned char*>(work.source) + n * work.source_stride * work.element_size;
    work.destination = static_cast<unsigned char*>(work.destination) + n * work.destination_stride * work.element_size;
}

// Whether all matrices of a batch are equally far apart.
inline bool is_even(const matrix_work&) { return true; }

// Bytes of an element of the source.
inline int source_size_of(const matrix_work& work) { return work.element_size; }

}  // namespace cornerturn
