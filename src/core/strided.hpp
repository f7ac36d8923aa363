// A copy between two tensors in the form that engines work on: as few axes as can be, the destination's order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/work.hpp"
#include "cornerturn/tensor_view.hpp"

namespace cornerturn {

// So many steps along both sides, in bytes.
struct strided_axis {
    std::int64_t extent, source, destination;

    friend bool operator==(const strided_axis&, const strided_axis&) = default;
};

// Runs of `run` bytes that lie behind each other on both sides; the axes say where the others begin. They are sorted by
// the destination's stride, which is positive, the smallest first. The source's may be of any sign, or 0. No axis has
// an extent of 1, and no two of them, nor the first and the run, could be one.
struct strided_copy {
    std::uintptr_t source = 0, destination = 0;  // of the run at index 0 of every axis
    std::int64_t run = 0;
    int rank = 0;
    std::array<strided_axis, kMostAxes> axes;

    bool is_empty() const { return run == 0; }
    std::int64_t runs() const;
    std::int64_t bytes() const { return runs() * run; }
    // Of the source: its lowest address, and the one behind its highest.
    std::uintptr_t source_begin() const;
    std::uintptr_t source_end() const;
    // The largest power of two up to 16 that divides the run, all strides and both addresses: what can be moved at
    // once.
    int unit() const;
};

// Of tensors whose arguments have been checked (core/tensors.hpp).
strided_copy canonical(const detail::any_tensor& source, const detail::any_tensor& destination,
                       std::int64_t element_size);

// The same from axes in any order, with extents of 0 and 1 and strides of any sign.
strided_copy canonical(std::uintptr_t source, std::uintptr_t destination, std::int64_t run, const strided_axis* axes,
                       int count);

// Of transposes that are not empty, nor in place.
strided_copy canonical(const matrix_work& work);

// The copy as transposes of matrices whose elements are its runs, of up to 16 bytes, if it can be told so: rows step
// along `rows`, columns along `cols`. Matrices that interleave are none: tiles that are cut from several of them have
// longer pieces.
std::optional<matrix_work> matrices_of(const strided_copy& c);

}  // namespace cornerturn
