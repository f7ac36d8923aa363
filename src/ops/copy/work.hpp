// Kernels that move the elements of a matrix: what the registry and the lab know of them.
#pragma once

#include <string>

#include "core/work.hpp"
#include "device/registry.hpp"

namespace cornerturn {

template <>
struct kernel_traits<matrix_work> {
    bool copies = false;  // leaves each element where it is, whatever its operation: a ceiling for what moves them
    // Copies from a packed source to addresses in ascending order, and reads all of the source up to its stride: what
    // writes sectors in part is compared with it.
    bool ordered = false;
    bool batches = false;     // takes work of more than one matrix
    bool in_place = false;    // takes square matrices that are their own destination
    bool arithmetic = false;  // takes elements for numbers: a NaN, infinity or denormal may come back altered
    // How it would do the work on a GPU of that compute capability (90 for 9.0), and why, in a line; null where it has
    // but one way.
    std::string (*explain)(const matrix_work& work, int compute_capability) = nullptr;

    static const char kType;
};

// Throws unsupported unless it is one matrix, without gaps behind its rows.
void decline_gaps(const matrix_work& work);

}  // namespace cornerturn
