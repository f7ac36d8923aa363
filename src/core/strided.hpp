// A copy between two tensors in canonical form: as few axes as possible, in the destination's order. Kernels work on
// this form.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/cast.hpp"
#include "core/matrix_work.hpp"
#include "cornerturn/tensor_view.hpp"

namespace cornerturn {

// `extent` indices. `source` and `destination` are the strides in bytes. `factor` is the stride of a conversion's
// scales and biases, in numbers. At most one axis of a conversion has one that is not 0.
struct strided_axis {
    std::int64_t extent, source, destination, factor = 0;

    friend bool operator==(const strided_axis&, const strided_axis&) = default;
};

// The scales or the biases of a conversion: a number, or numbers in memory, one for all elements or one for each index
// of an axis.
struct factors_in_memory {
    double number;
    std::uintptr_t address = 0;  // 0: the number
    bool doubles = false;        // f64 in memory, not f32
    bool one = false;            // one for all elements
};
struct scaling {
    factors_in_memory scales{1}, biases{-0.0};  // this bias changes nothing, not even the sign of a zero
    std::int64_t first = 0;                     // which of the numbers index 0 of every axis has
};

// Runs of `run` bytes that are contiguous on both sides. The axes say where the runs begin. They are sorted by the
// destination's stride, the smallest first. That stride is positive; the source's stride may be positive, negative or
// 0. No axis has an extent of 1. No two axes can be merged, and the first axis cannot be merged with the run.
// If elements are converted, `run` counts the bytes of the destination.
struct strided_copy {
    std::uintptr_t source = 0, destination = 0;  // of the run at index 0 of every axis
    std::int64_t run = 0;
    int rank = 0;
    std::array<strided_axis, kMostAxes> axes;
    element_cast cast{};
    scaling by{};

    bool is_empty() const { return run == 0; }
    bool converts() const { return cast.converts(); }
    std::int64_t runs() const;
    std::int64_t bytes() const { return runs() * run; }  // of the destination
    std::int64_t source_run() const { return converts() ? run / size_of(cast.to) * size_of(cast.from) : run; }
    std::int64_t source_bytes() const { return runs() * source_run(); }
    // The axis of the scales and biases; `rank` if there is none.
    int factor_axis() const;
    // The lowest address of the source, and the end of its highest run.
    std::uintptr_t source_begin() const;
    std::uintptr_t source_end() const;
    // The bytes that one access can move: the largest power of two up to 16 that divides the run, all strides and both
    // addresses. Of a conversion, the bytes of an element of the destination.
    int unit() const;
    // The same of the source.
    int source_unit() const { return converts() ? size_of(cast.from) : unit(); }
};

// The tensors must be checked (core/tensors.hpp).
strided_copy canonical(const detail::any_tensor& source, const detail::any_tensor& destination,
                       std::int64_t element_size);

// From axes in any order. Extents may be 0 or 1, and strides may have any sign. Of a conversion, `run` is one element.
strided_copy canonical(std::uintptr_t source, std::uintptr_t destination, std::int64_t run, const strided_axis* axes,
                       int count, element_cast cast = {}, const scaling& by = {});

strided_copy canonical(const matrix_work& work);

// A copy as transposes of equal matrices. The runs are their elements. The other axes are a batch, in the destination's
// order; a step along these may have any length in the source.
struct transposed_axes {
    const strided_axis *rows = nullptr, *cols = nullptr;  // of the copy
    std::array<const strided_axis*, kMostAxes> batch;
    int batch_rank = 0;
    matrix_work matrix;  // without the batch; of a conversion, with the destination's elements
};
// Nothing if the copy does not have that form.
std::optional<transposed_axes> transposed_axes_of(const strided_copy& c);

// The copy as a batch of one axis, of elements of up to 16 bytes. Returns nothing for interleaved matrices: copies that
// see several of them at once have longer contiguous pieces. Transposes in place always have that form.
std::optional<matrix_work> matrices_of(const strided_copy& c);

}  // namespace cornerturn
