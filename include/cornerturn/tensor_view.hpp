/// @file
/// Views of tensors of up to 32 axes, with strides of any sign. A view says where elements lie, and does not own them.
///
/// @code
/// tensor_view{data, {32, 256, 56, 56}}      // row-major, without gaps
/// tensor_view{data, {100, 200}, {1, 100}}   // element (i, j) is data[i + 100 * j]
/// tensor_view{data + 9, {10}, {-1}}         // ten elements, the last one first
/// tensor_view{vector, {4, 5, 6}}            // a type with data() and size(), which must hold the tensor
/// tensor_view{m}                            // a matrix_view, a batch_view or a std::mdspan m
/// @endcode
///
/// - **Extents and strides** (`detail::axis_list` below) are integers of any type up to 64 bits, in braces or in a
///   container such as std::vector or std::array.
/// - **No axes**: such a tensor has one element. A tensor with an extent of 0 has none, and its pointer may be null.
/// - **Const**: a view of const elements can be a source, but not a destination.
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

/// The most axes of a tensor.
inline constexpr int kMostAxes = 32;

namespace detail {
// A list of numbers, one for each axis. `count` is how many were given, even if they are too many. Too many are refused
// when the list is used.
struct axis_list {
    std::size_t count = 0;
    std::array<std::int64_t, kMostAxes> values{};

    constexpr axis_list() = default;
    constexpr axis_list(std::initializer_list<extent> numbers) {
        for (const extent& n : numbers) add(n.value);
    }
    // From a container of integers.
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

// The strides of a row-major tensor without gaps. Strides that do not fit 64 bits are refused when the view is used.
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

// Throws invalid_argument if a container is too small for the tensor.
CORNERTURN_EXPORT void check_holds(std::size_t size, const axis_list& extents);

// A std::mdspan, or a type like it, whose elements are T. T may add const.
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

/// A tensor: element (i, j, ...) is data()[i * stride(0) + j * stride(1) + ...].
///
/// Extents and strides count elements. Strides may have any sign. Extents and strides are checked when the view is
/// used.
/// @tparam T The type of an element. It is const for a source that must not be written.
template <class T>
class tensor_view {
public:
    static_assert(!std::is_array_v<T>, "cornerturn: of an array of arrays, view the first element: &a[0][0]");

    /// A placeholder: one element at a null pointer. Every function refuses it.
    constexpr tensor_view() = default;
    /// Views a row-major tensor without gaps.
    /// @param data The address of element (0, 0, ...).
    /// @param extents The extents.
    constexpr tensor_view(T* data, const detail::axis_list& extents)
        : tensor_view(data, extents, detail::packed_strides(extents)) {}
    /// Views a tensor of any strides.
    /// @param data The address of element (0, 0, ...).
    /// @param extents The extents.
    /// @param strides The strides: as many as extents.
    constexpr tensor_view(T* data, const detail::axis_list& extents, const detail::axis_list& strides)
        : data_(data), extents_(extents), strides_(strides) {}

    /// Views the elements of a container as a row-major tensor without gaps.
    /// @param elements The container.
    /// @param extents The extents.
    /// @throws invalid_argument if an extent is negative, there are more than #kMostAxes, or the container has too few
    /// elements.
    template <detail::elements_of<T> Elements>
    tensor_view(Elements&& elements, const detail::axis_list& extents)
        : tensor_view(std::data(std::forward<Elements>(elements)), extents) {
        detail::check_holds(static_cast<std::size_t>(std::size(elements)), extents);
    }

    /// Views a matrix as a tensor of two axes: rows and columns.
    /// @param m The matrix.
    constexpr tensor_view(const matrix_view<T>& m) : tensor_view(m.data, {m.rows, m.cols}, {m.ld, 1}) {}
    /// Views a batch as a tensor of three axes: matrices, rows and columns.
    /// @param b The batch.
    constexpr tensor_view(const batch_view<T>& b)
        : tensor_view(b.data, {b.count, b.rows, b.cols}, {b.stride, b.ld, 1}) {}
    /// Views a std::mdspan of any number of axes.
    /// @param m The mdspan.
    template <detail::any_mdspan_of<T> Mdspan>
    explicit tensor_view(const Mdspan& m)
        : tensor_view(m.data_handle(), detail::extents_of(m), detail::strides_of(m)) {}

    /// @return The address of element (0, 0, ...).
    constexpr T* data() const { return data_; }
    /// @return The number of axes.
    constexpr int rank() const { return extents_.size(); }
    /// @param axis An axis, from 0 to rank() - 1.
    /// @return Its extent.
    constexpr std::int64_t extent(int axis) const { return extents_.values[static_cast<std::size_t>(axis)]; }
    /// @param axis An axis, from 0 to rank() - 1.
    /// @return Its stride, in elements.
    constexpr std::int64_t stride(int axis) const { return strides_.values[static_cast<std::size_t>(axis)]; }

    /// @return The same tensor with const elements.
    template <class U>
    requires(std::is_same_v<U, const T> && !std::is_const_v<T>) constexpr operator tensor_view<U>() const {
        return {data_, extents_, strides_};
    }

    /// @return The view without its type. The library calls this.
    constexpr detail::any_tensor any() const { return {reinterpret_cast<std::uintptr_t>(data_), extents_, strides_}; }

private:
    T* data_ = nullptr;
    detail::axis_list extents_, strides_;
};

/// @cond
// Deduction guides.
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
/// @endcond

}  // namespace cornerturn
