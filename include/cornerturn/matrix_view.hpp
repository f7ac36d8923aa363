// Matrices somewhere in memory, not owned.
//
//     matrix_view{data, rows, cols}             a row-major matrix that begins at the pointer `data`
//     matrix_view{data, rows, cols, ld}         a part of a larger one: ld elements from row to row
//     matrix_view{vector, rows, cols[, ld]}     in what has data() and size(), as std::vector, std::span, std::array
//     have matrix_view{m}                            of a std::mdspan m of two axes, whose rows are contiguous
//     batch_view{matrix, count}                 `count` matrices like that matrix_view, one behind the other
//     batch_view{matrix, count, stride}         `stride` elements from matrix to matrix
//     batch_view{vector, rows, cols, ld, count[, stride]}, batch_view{m}, of an mdspan of three axes
//
// A view of const elements can be a source, and never a destination. Sizes are integers of any type up to 64 bits. The
// size of a vector is checked; that of a C array is not, which counts as a pointer, nor are matrices of a batch behind
// the one that is viewed.
//
// Column-major matrices (Fortran, Eigen, Julia, cuBLAS): a column-major m x n matrix with leading dimension ld is, byte
// for byte, the row-major n x m matrix_view{data, n, m, ld}. To transpose it into a column-major n x m one:
//
//     transpose(matrix_view{in, n, m, ld_in}, matrix_view{out, m, n, ld_out});
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include "cornerturn/export.h"
#include "cornerturn/version.h"

namespace cornerturn {

namespace detail {
// A batch_view without its address.
struct batch_layout {
    std::int64_t rows, cols, ld, count, stride;
};
// A batch_view without its type.
struct any_batch {
    std::uintptr_t data;
    batch_layout layout;
};

// A number of elements, from an integer of any type, an enumerator or a std::integral_constant.
struct extent {
    std::int64_t value;

    template <class I>
    requires(std::is_convertible_v<I, std::int64_t> && !std::is_floating_point_v<I> && !std::is_same_v<I, bool> &&
             sizeof(I) <= sizeof(std::int64_t)) constexpr extent(I i)
        : value(static_cast<std::int64_t>(i)) {}
};

// From one matrix of a packed batch to the next. What does not fit 64 bits is refused where the view is used.
constexpr std::int64_t packed_stride(extent rows, extent ld) {
    std::int64_t stride = 0;
    return __builtin_mul_overflow(rows.value, ld.value, &stride) ? INT64_MAX : stride;
}

// Throw invalid_argument: where a container is too small for a batch; where elements of a row are `stride` apart.
CORNERTURN_EXPORT void check_holds(std::size_t size, const batch_layout& batch);
[[noreturn]] CORNERTURN_EXPORT void refuse_row_stride(std::int64_t stride);

// What a pointer or a handle points to.
template <class Pointer>
using pointed_to = std::remove_pointer_t<std::remove_cvref_t<Pointer>>;
// Elements of the one type are of the other, or of it with const.
template <class From, class To>
inline constexpr bool same_but_const = std::is_same_v<From, To> || std::is_same_v<const From, To>;

// Eigen's matrices and blocks, whose columns may be apart.
template <class Elements>
concept has_outer_stride = requires(Elements& elements) {
    elements.outerStride();
};
// What has data() and size(), with elements that are T, where T may add const.
template <class Elements, class T>
concept elements_of = !has_outer_stride<Elements> && requires(Elements && elements) {
    std::size(elements);
    requires same_but_const<pointed_to<decltype(std::data(std::forward<Elements>(elements)))>, T>;
};

// A std::mdspan, or one like it, with so many axes and elements that are T, where T may add const.
template <class M, class T, std::size_t kAxes>
concept mdspan_of =
    std::is_same_v<std::integral_constant<std::size_t, M::rank()>, std::integral_constant<std::size_t, kAxes>> &&
    same_but_const<pointed_to<decltype(std::declval<M&>().data_handle())>, T> && requires(const M& m) {
    m.extent(0);
    m.stride(0);
};

// From row to row, of the last two axes.
template <class M>
std::int64_t ld_of(const M& m) {
    constexpr auto kRow = M::rank() - 2, kCol = M::rank() - 1;
    const auto cols = static_cast<std::int64_t>(m.extent(kCol)), row = static_cast<std::int64_t>(m.stride(kRow));
    if (m.extent(kRow) == 0 || cols == 0) return cols;
    if (cols > 1 && m.stride(kCol) != 1) refuse_row_stride(static_cast<std::int64_t>(m.stride(kCol)));
    return m.extent(kRow) > 1 ? row : cols;
}
}  // namespace detail

// Row-major: element (row, col) is data[row * ld + col], 0 <= row < rows, 0 <= col < cols, ld >= cols.
// rows, cols and ld count elements. The ld - cols elements behind each row are never written, and never matter: a GPU's
// kernels may read some of them along with their neighbours.
template <class T>
struct matrix_view {
    static_assert(!std::is_array_v<T>, "cornerturn: of an array of arrays, view the first element: &a[0][0]");

    T* data = nullptr;
    std::int64_t rows = 0, cols = 0, ld = 0;

    constexpr matrix_view() = default;
    constexpr matrix_view(T* at, detail::extent rows_, detail::extent cols_) : matrix_view(at, rows_, cols_, cols_) {}
    constexpr matrix_view(T* at, detail::extent rows_, detail::extent cols_, detail::extent ld_)
        : data(at), rows(rows_.value), cols(cols_.value), ld(ld_.value) {}

    // Throws invalid_argument where there are too few elements.
    template <detail::elements_of<T> Elements>
    matrix_view(Elements&& elements, detail::extent rows_, detail::extent cols_)
        : matrix_view(std::forward<Elements>(elements), rows_, cols_, cols_) {}
    template <detail::elements_of<T> Elements>
    matrix_view(Elements&& elements, detail::extent rows_, detail::extent cols_, detail::extent ld_)
        : matrix_view(std::data(std::forward<Elements>(elements)), rows_, cols_, ld_) {
        detail::check_holds(static_cast<std::size_t>(std::size(elements)), {rows, cols, ld, 1, 0});
    }

    // Throws invalid_argument where the elements of a row are not contiguous, as those of layout_left are not.
    template <detail::mdspan_of<T, 2> Mdspan>
    explicit matrix_view(const Mdspan& m) : matrix_view(m.data_handle(), m.extent(0), m.extent(1), detail::ld_of(m)) {}

    // What may be written may be read.
    template <class U>
    requires(std::is_same_v<U, const T> && !std::is_const_v<T>) constexpr operator matrix_view<U>() const {
        return {data, rows, cols, ld};
    }
};

template <class Elements>
matrix_view(Elements&&, detail::extent, detail::extent)
    -> matrix_view<detail::pointed_to<decltype(std::data(std::declval<Elements>()))>>;
template <class Elements>
matrix_view(Elements&&, detail::extent, detail::extent, detail::extent)
    -> matrix_view<detail::pointed_to<decltype(std::data(std::declval<Elements>()))>>;
template <class Mdspan>
matrix_view(const Mdspan&) -> matrix_view<typename Mdspan::element_type>;

// `count` matrices of one shape: matrix i is {data + i * stride, rows, cols, ld}. stride counts elements, 0 or more,
// and is rows * ld where it is not given. Matrices may lie behind each other, stride >= (rows - 1) * ld + cols, or side
// by side in the rows of a larger matrix, ld >= (count - 1) * stride + cols.
template <class T>
struct batch_view {
    static_assert(!std::is_array_v<T>, "cornerturn: of an array of arrays, view the first element: &a[0][0][0]");

    T* data = nullptr;
    std::int64_t rows = 0, cols = 0, ld = 0, count = 0, stride = 0;

    constexpr batch_view() = default;
    constexpr batch_view(matrix_view<T> first, detail::extent count_)
        : batch_view(first, count_, detail::packed_stride(first.rows, first.ld)) {}
    constexpr batch_view(matrix_view<T> first, detail::extent count_, detail::extent stride_)
        : batch_view(first.data, first.rows, first.cols, first.ld, count_, stride_) {}
    constexpr batch_view(T* at, detail::extent rows_, detail::extent cols_, detail::extent ld_, detail::extent count_)
        : batch_view(at, rows_, cols_, ld_, count_, detail::packed_stride(rows_, ld_)) {}
    constexpr batch_view(T* at, detail::extent rows_, detail::extent cols_, detail::extent ld_, detail::extent count_,
                         detail::extent stride_)
        : data(at), rows(rows_.value), cols(cols_.value), ld(ld_.value), count(count_.value), stride(stride_.value) {}

    // Throws invalid_argument where there are too few elements.
    template <detail::elements_of<T> Elements>
    batch_view(Elements&& elements, detail::extent rows_, detail::extent cols_, detail::extent ld_,
               detail::extent count_)
        : batch_view(std::forward<Elements>(elements), rows_, cols_, ld_, count_, detail::packed_stride(rows_, ld_)) {}
    template <detail::elements_of<T> Elements>
    batch_view(Elements&& elements, detail::extent rows_, detail::extent cols_, detail::extent ld_,
               detail::extent count_, detail::extent stride_)
        : batch_view(std::data(std::forward<Elements>(elements)), rows_, cols_, ld_, count_, stride_) {
        detail::check_holds(static_cast<std::size_t>(std::size(elements)), {rows, cols, ld, count, stride});
    }

    // Of three axes: matrices, rows, columns. Throws invalid_argument where the elements of a row are not contiguous.
    template <detail::mdspan_of<T, 3> Mdspan>
    explicit batch_view(const Mdspan& m)
        : batch_view(m.data_handle(), m.extent(1), m.extent(2), detail::ld_of(m), m.extent(0), m.stride(0)) {}

    template <class U>
    requires(std::is_same_v<U, const T> && !std::is_const_v<T>) constexpr operator batch_view<U>() const {
        return {data, rows, cols, ld, count, stride};
    }
};

template <class Elements>
batch_view(Elements&&, detail::extent, detail::extent, detail::extent, detail::extent)
    -> batch_view<detail::pointed_to<decltype(std::data(std::declval<Elements>()))>>;
template <class Elements>
batch_view(Elements&&, detail::extent, detail::extent, detail::extent, detail::extent, detail::extent)
    -> batch_view<detail::pointed_to<decltype(std::data(std::declval<Elements>()))>>;
template <class Mdspan>
batch_view(const Mdspan&) -> batch_view<typename Mdspan::element_type>;

namespace detail {
template <class T>
any_batch any(const batch_view<T>& view) {
    return {reinterpret_cast<std::uintptr_t>(view.data), {view.rows, view.cols, view.ld, view.count, view.stride}};
}

// A batch of one.
template <class T>
constexpr batch_view<T> one(const matrix_view<T>& m) {
    return {m.data, m.rows, m.cols, m.ld, 1, 0};
}

// What every function that moves elements asks of them, when it is compiled.
template <class T>
constexpr void check_elements() {
    static_assert(!std::is_const_v<T>,
                  "cornerturn cannot write to a view of const elements: sources come first and the destination, whose "
                  "elements must not be const, behind them");
    static_assert(std::is_trivially_copyable_v<T>,
                  "cornerturn moves elements as bytes: their type must be trivially copyable");
}
}  // namespace detail

}  // namespace cornerturn
