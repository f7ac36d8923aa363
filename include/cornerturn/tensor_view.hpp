// Tensors somewhere in memory, not owned: any number of axes up to 32, strides of any sign.
//
//     tensor_view{data, {32, 256, 56, 56}}                        row-major, without gaps
//     tensor_view{data, {100, 200}, {1, 100}}                     element (i, j) is data[i + 100 * j]
//     tensor_view{data + 9, {10}, {-1}}                           ten elements, the last one first
//     tensor_view{vector, {4, 5, 6}}                              in what has data() and size(), which is checked
//     tensor_view{m}                                              of a matrix_view, a batch_view or a std::mdspan m
//
// Extents and strides are integers of any type up to 64 bits, in braces or in a container such as std::vector or
// std::array. A tensor of no axes is one element; one with an extent of 0 has none. A view of const elements can be a
// source, and never a destination.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "cornerturn/export.h"
#include "cornerturn/matrix_view.hpp"

namespace cornerturn {

inline constexpr int kMostAxes = 32;

namespace detail {
// A list of numbers, one for each axis. `count` tells how many were given, should they be too many: that is refused
// where the list is used.
struct axis_list {
    std::size_t count = 0;
    std::array<std::int64_t, kMostAxes> values{};

    constexpr axis_list() = default;
    constexpr axis_list(std::initializer_list<extent> numbers) {
        for (const extent& n : numbers) add(n.value);
    }
    // Of a container of integers.
    template <class Numbers>
    requires(!std::is_convertible_v<Numbers, extent> && requires(const Numbers& numbers) {
        extent(*std::begin(numbers));
        std::end(numbers);
    }) constexpr axis_list(const Numbers& numbers) {
        for (const auto& n : numbers) add(extent(n).value);
    }

    constexpr void add(std::int64_t value) {
        if (count < values.size()) values[count] = value;
        ++count;
    }
    constexpr int size() const { return static_cast<int>(count); }
};

// Of a row-major tensor without gaps. What does not fit 64 bits is refused where the view is used.
constexpr axis_list packed_strides(const axis_list& extents) {
    axis_list strides = extents;
    std::int64_t stride = 1;
    for (std::size_t i = extents.count < kMostAxes ? extents.count : std::size_t{kMostAxes}; i-- > 0;) {
        strides.values[i] = stride;
        if (extents.values[i] > 0 && __builtin_mul_overflow(stride, extents.values[i], &stride)) stride = INT64_MAX;
    }
    return strides;
}

// A tensor_view without its type.
struct any_tensor {
    std::uintptr_t data;
    const axis_list& extents;
    const axis_list& strides;
};

// Throws invalid_argument where a container is too small for the tensor.
CORNERTURN_EXPORT void check_holds(std::size_t size, const axis_list& extents);

// A std::mdspan, or one like it, with elements that are T, where T may add const.
template <class M, class T>
concept any_mdspan_of = same_but_const<pointed_to<decltype(std::declval<M&>().data_handle())>, T> &&
    requires(const M& m) {
    M::rank();
    m.extent(0);
    m.stride(0);
};

template <class M>
constexpr axis_list extents_of(const M& m) {
    axis_list list;
    for (std::size_t i = 0; i < M::rank(); ++i) list.add(static_cast<std::int64_t>(m.extent(i)));
    return list;
}
template <class M>
constexpr axis_list strides_of(const M& m) {
    axis_list list;
    for (std::size_t i = 0; i < M::rank(); ++i) list.add(static_cast<std::int64_t>(m.stride(i)));
    return list;
}
}  // namespace detail

// Element (i, j, ...) is data()[i * stride(0) + j * stride(1) + ...]. Extents and strides count elements.
template <class T>
class tensor_view {
public:
    static_assert(!std::is_array_v<T>, "cornerturn: of an array of arrays, view the first element: &a[0][0]");

    // One element; or none, at a null pointer, which no function takes.
    constexpr tensor_view() = default;
    constexpr tensor_view(T* data, const detail::axis_list& extents)
        : tensor_view(data, extents, detail::packed_strides(extents)) {}
    // As many strides as extents: that is checked where the view is used.
    constexpr tensor_view(T* data, const detail::axis_list& extents, const detail::axis_list& strides)
        : data_(data), extents_(extents), strides_(strides) {}

    // Throws invalid_argument where there are too few elements.
    template <detail::elements_of<T> Elements>
    tensor_view(Elements&& elements, const detail::axis_list& extents)
        : tensor_view(std::data(std::forward<Elements>(elements)), extents) {
        detail::check_holds(static_cast<std::size_t>(std::size(elements)), extents);
    }

    constexpr tensor_view(const matrix_view<T>& m) : tensor_view(m.data, {m.rows, m.cols}, {m.ld, 1}) {}
    constexpr tensor_view(const batch_view<T>& b)
        : tensor_view(b.data, {b.count, b.rows, b.cols}, {b.stride, b.ld, 1}) {}
    template <detail::any_mdspan_of<T> Mdspan>
    explicit tensor_view(const Mdspan& m)
        : tensor_view(m.data_handle(), detail::extents_of(m), detail::strides_of(m)) {}

    constexpr T* data() const { return data_; }
    constexpr int rank() const { return extents_.size(); }
    constexpr std::int64_t extent(int axis) const { return extents_.values[static_cast<std::size_t>(axis)]; }
    constexpr std::int64_t stride(int axis) const { return strides_.values[static_cast<std::size_t>(axis)]; }

    // What may be written may be read.
    template <class U>
    requires(std::is_same_v<U, const T> && !std::is_const_v<T>) constexpr operator tensor_view<U>() const {
        return {data_, extents_, strides_};
    }

    constexpr detail::any_tensor any() const { return {reinterpret_cast<std::uintptr_t>(data_), extents_, strides_}; }

private:
    T* data_ = nullptr;
    detail::axis_list extents_, strides_;
};

template <class Elements>
tensor_view(Elements&&, const detail::axis_list&)
    -> tensor_view<detail::pointed_to<decltype(std::data(std::declval<Elements>()))>>;
template <class T>
tensor_view(T*, const detail::axis_list&) -> tensor_view<T>;
template <class T>
tensor_view(T*, const detail::axis_list&, const detail::axis_list&) -> tensor_view<T>;
template <class T>
tensor_view(matrix_view<T>) -> tensor_view<T>;
template <class T>
tensor_view(batch_view<T>) -> tensor_view<T>;
template <class Mdspan>
requires requires { Mdspan::rank(); }
tensor_view(const Mdspan&)->tensor_view<typename Mdspan::element_type>;

}  // namespace cornerturn
