// What the registry and the lab know of kernels that move the elements of a matrix.
#pragma once

#include <string>

#include "core/matrix_work.hpp"
#include "device/registry.hpp"

namespace cornerturn {

template <>
struct kernel_traits<matrix_work> {
    bool copies = false;  // leaves each element in place, whatever its operation does: a ceiling for the others
    // Copies from a packed source to addresses in ascending order, and reads all of the source up to its stride. Work
    // that writes sectors in part is compared with it.
    bool ordered = false;
    bool batches = false;     // takes work of more than one matrix
    bool in_place = false;    // takes square matrices whose source is their destination
    bool arithmetic = false;  // treats elements as numbers: a NaN, infinity or denormal may come back altered
    // Says in a line how the kernel would do the work on a GPU of that compute capability (90 for 9.0), and why. Null
    // if it has only one way.
    std::string (*explain)(const matrix_work& work, int compute_capability) = nullptr;

    static const char kType;
};

// Throws unsupported unless the work is one matrix without gaps between its rows.
void decline_gaps(const matrix_work& work);

}  // namespace cornerturn
