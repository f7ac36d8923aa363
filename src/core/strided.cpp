#include "core/strided.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <span>

namespace cornerturn {
namespace {

std::span<const strided_axis> axes_of(const strided_copy& c) {
    return {c.axes.data(), static_cast<std::size_t>(c.rank)};
}

}  // namespace

std::int64_t strided_copy::runs() const {
    std::int64_t count = run > 0 ? 1 : 0;
    for (const strided_axis& a : axes_of(*this)) count *= a.extent;
    return count;
}

std::uintptr_t strided_copy::source_begin() const {
    std::int64_t lowest = 0;
    for (const strided_axis& a : axes_of(*this)) lowest += std::min<std::int64_t>(0, (a.extent - 1) * a.source);
    return source + static_cast<std::uintptr_t>(lowest);
}

std::uintptr_t strided_copy::source_end() const {
    std::int64_t highest = source_run();
    for (const strided_axis& a : axes_of(*this)) highest += std::max<std::int64_t>(0, (a.extent - 1) * a.source);
    return source + static_cast<std::uintptr_t>(highest);
}

int strided_copy::factor_axis() const {
    int i = 0;
    while (i < rank && axes[static_cast<std::size_t>(i)].factor == 0) ++i;
    return i;
}

int strided_copy::unit() const {
    if (converts()) return size_of(cast.to);
    std::uint64_t bits = 16 | static_cast<std::uint64_t>(run) | source | destination;
    for (const strided_axis& a : axes_of(*this))
        bits |= static_cast<std::uint64_t>(a.source) | static_cast<std::uint64_t>(a.destination);
    return 1 << std::countr_zero(bits);
}

strided_copy canonical(std::uintptr_t source, std::uintptr_t destination, std::int64_t run, const strided_axis* axes,
                       int count, element_cast cast, const scaling& by) {
    strided_copy c{source, destination, run, 0, {}, cast, by};
    for (int i = 0; i < count; ++i) {
        strided_axis a = axes[i];
        if (a.extent == 0) return {source, destination, 0, 0, {}, cast};
        if (a.extent == 1) continue;
        if (a.destination < 0) {  // reverse the axis on both sides
            c.source += static_cast<std::uintptr_t>((a.extent - 1) * a.source);
            c.destination += static_cast<std::uintptr_t>((a.extent - 1) * a.destination);
            c.by.first += (a.extent - 1) * a.factor;
            a.source = -a.source;
            a.destination = -a.destination;
            a.factor = -a.factor;
        }
        int at = c.rank++;
        for (; at > 0 && c.axes[static_cast<std::size_t>(at - 1)].destination > a.destination; --at)
            c.axes[static_cast<std::size_t>(at)] = c.axes[static_cast<std::size_t>(at - 1)];
        c.axes[static_cast<std::size_t>(at)] = a;
    }
    int kept = 0;
    for (int i = 0; i < c.rank; ++i) {
        const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
        if (kept == 0) {
            if (a.source == c.source_run() && a.destination == c.run && a.factor == 0) {
                c.run *= a.extent;
                continue;
            }
        } else {
            strided_axis& before = c.axes[static_cast<std::size_t>(kept - 1)];
            std::int64_t source = 0, destination = 0;  // the strides of an axis that continues `before`
            if (!__builtin_mul_overflow(before.source, before.extent, &source) && a.source == source &&
                !__builtin_mul_overflow(before.destination, before.extent, &destination) &&
                a.destination == destination && a.factor == 0 && before.factor == 0) {
                before.extent *= a.extent;
                continue;
            }
        }
        c.axes[static_cast<std::size_t>(kept++)] = a;
    }
    c.rank = kept;
    return c;
}

strided_copy canonical(const detail::any_tensor& source, const detail::any_tensor& destination,
                       std::int64_t element_size) {
    std::array<strided_axis, kMostAxes> axes;
    const std::size_t rank = destination.extents.count;
    for (std::size_t i = 0; i < rank; ++i) {
        const bool uses_strides = destination.extents.values[i] > 1;  // otherwise their values are arbitrary
        axes[i] = {destination.extents.values[i], uses_strides ? source.strides.values[i] * element_size : 0,
                   uses_strides ? destination.strides.values[i] * element_size : 0};
    }
    return canonical(source.data, destination.data, element_size, axes.data(), static_cast<int>(rank));
}

strided_copy canonical(const matrix_work& w) {
    const std::int64_t e = w.element_size;
    const strided_axis axes[] = {{w.count, w.source_stride * e, w.destination_stride * e},
                                 {w.cols, e, w.destination_ld * e},
                                 {w.rows, w.source_ld * e, e}};
    return canonical(reinterpret_cast<std::uintptr_t>(w.source), reinterpret_cast<std::uintptr_t>(w.destination), e,
                     axes, 3);
}

std::optional<transposed_axes> transposed_axes_of(const strided_copy& c) {
    transposed_axes found;
    const std::int64_t source_run = c.source_run();
    for (const strided_axis& a : axes_of(c)) {
        if (a.source % source_run != 0 || a.destination % c.run != 0) return std::nullopt;
        if (a.destination == c.run) {
            found.rows = &a;
        } else if (a.source == source_run && found.cols == nullptr) {
            found.cols = &a;
        } else {
            found.batch[static_cast<std::size_t>(found.batch_rank++)] = &a;
        }
    }
    if (found.rows == nullptr || found.cols == nullptr) return std::nullopt;
    const strided_axis &rows = *found.rows, &cols = *found.cols;
    if (rows.source < cols.extent * source_run || cols.destination < rows.extent * c.run) return std::nullopt;
    found.matrix = {reinterpret_cast<const void*>(c.source),
                    reinterpret_cast<void*>(c.destination),
                    rows.extent,
                    cols.extent,
                    rows.source / source_run,
                    cols.destination / c.run,
                    static_cast<int>(c.run)};
    return found;
}

std::optional<matrix_work> matrices_of(const strided_copy& c) {
    const bool in_place = c.source == c.destination;
    if (c.rank < 2 || c.rank > 3 || c.converts() || (c.run > 16 && !in_place)) return std::nullopt;
    const std::optional<transposed_axes> axes = transposed_axes_of(c);
    if (!axes) return std::nullopt;
    matrix_work work = axes->matrix;
    if (axes->batch_rank == 0) return work;
    const strided_axis& batch = *axes->batch[0];
    const bool interleaved = batch.source < axes->rows->extent * axes->rows->source ||
                             batch.destination < axes->cols->extent * axes->cols->destination;
    if (interleaved && !in_place) return std::nullopt;
    work.count = batch.extent;
    work.source_stride = batch.source / c.run;
    work.destination_stride = batch.destination / c.run;
    return work;
}

}  // namespace cornerturn
