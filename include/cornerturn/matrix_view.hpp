/// @file
/// Views of matrices and batches of matrices. A view says where elements lie, and does not own them.
///
/// @code
/// matrix_view{data, rows, cols}             // a row-major matrix at the pointer `data`
/// matrix_view{data, rows, cols, ld}         // a part of a larger one: ld elements from row to row
/// matrix_view{vector, rows, cols[, ld]}     // the elements of a std::vector, std::span, std::array, ...
/// matrix_view{m}                            // a std::mdspan m of two axes whose rows are contiguous
/// batch_view{matrix, count}                 // `count` matrices like that matrix_view, one after the other
/// batch_view{matrix, count, stride}         // `stride` elements from one matrix to the next
/// batch_view{vector, rows, cols, ld, count[, stride]}
/// batch_view{m}                             // a std::mdspan m of three axes
/// @endcode
///
/// - **Const**: a view of const elements can be a source, but not a destination.
/// - **Sizes** (`detail::extent` below) are integers of any type up to 64 bits, enumerators or std::integral_constant.
/// - **Containers** are types with data() and size(). The size of a container is checked. The size of a C array is not
///   checked, because it becomes a pointer. batch_view{matrix_view{vector, ...}, count} checks the first matrix only.
/// - **Shapes** are checked when a view is used: sizes and strides are not negative, ld >= cols, and the size in bytes
///   fits 64 bits.
/// - **Empty**: a view with a size of 0 has no elements, and its pointer may be null.
///
/// **Column-major matrices** (Fortran, Eigen, Julia, cuBLAS): a column-major m x n matrix with leading dimension ld is,
/// byte for byte, the row-major n x m matrix_view{data, n, m, ld}. To transpose it into a column-major n x m matrix:
///
/// @code
/// transpose(matrix_view{in, n, m, ld_in}, matrix_view{out, m, n, ld_out});
/// @endcode
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

// From one matrix of a packed batch to the next. A stride that does not fit 64 bits is refused when the view is used.
constexpr std::int64_t packed_stride(extent rows, extent ld) {
    std::int64_t stride = 0;
    return __builtin_mul_overflow(rows.value, ld.value, &stride) ? INT64_MAX : stride;
}

// Both throw invalid_argument: the first if a container is too small for a batch, the second always.
CORNERTURN_EXPORT void check_holds(std::size_t size, const batch_layout& batch);
[[noreturn]] CORNERTURN_EXPORT void refuse_row_stride(std::int64_t stride);

// The type that a pointer or a handle points to.
template <class Pointer>
using pointed_to = std::remove_pointer_t<std::remove_cvref_t<Pointer>>;
// Whether both types are the same, or the second is the first with const.
template <class From, class To>
inline constexpr bool same_but_const = std::is_same_v<From, To> || std::is_same_v<const From, To>;

// Eigen's matrices and blocks. Their columns may have padding.
template <class Elements>
concept has_outer_stride = requires(Elements& elements) {
    elements.outerStride();
};
// A container with data() and size() whose elements are T. T may add const.
template <class Elements, class T>
concept elements_of = !has_outer_stride<Elements> && requires(Elements && elements) {
    std::size(elements);
    requires same_but_const<pointed_to<decltype(std::data(std::forward<Elements>(elements)))>, T>;
};

// A std::mdspan, or a type like it, of kAxes axes whose elements are T. T may add const.
template <class M, class T, std::size_t kAxes>
concept mdspan_of =
    std::is_same_v<std::integral_constant<std::size_t, M::rank()>, std::integral_constant<std::size_t, kAxes>> &&
    same_but_const<pointed_to<decltype(std::declval<M&>().data_handle())>, T> && requires(const M& m) {
    m.extent(0);
    m.stride(0);
};

// The elements from row to row, of the last two axes.
template <class M>
std::int64_t ld_of(const M& m) {
    constexpr auto kRow = M::rank() - 2, kCol = M::rank() - 1;
    const auto cols = static_cast<std::int64_t>(m.extent(kCol)), row = static_cast<std::int64_t>(m.stride(kRow));
    if (m.extent(kRow) == 0 || cols == 0) return cols;
    if (cols > 1 && m.stride(kCol) != 1) refuse_row_stride(static_cast<std::int64_t>(m.stride(kCol)));
    return m.extent(kRow) > 1 ? row : cols;
}
}  // namespace detail

/// A row-major matrix: element (row, col) is data[row * ld + col].
///
/// Here 0 <= row < rows, 0 <= col < cols, and ld >= cols. The ld - cols elements after each row are padding. They are
/// never written. They may be read, in host memory too, and their values do not matter.
/// @tparam T The type of an element. It is const for a source that must not be written.
template <class T>
struct matrix_view {
    static_assert(!std::is_array_v<T>, "cornerturn: of an array of arrays, view the first element: &a[0][0]");

    T* data = nullptr;      ///< The address of element (0, 0).
    std::int64_t rows = 0,  ///< The number of rows.
        cols = 0,           ///< The number of columns.
        ld = 0;             ///< The leading dimension: the elements from one row to the next.

    /// Views an empty matrix.
    constexpr matrix_view() = default;
    /// Views a matrix without padding: ld is cols.
    /// @param at The address of element (0, 0).
    /// @param rows_ The number of rows.
    /// @param cols_ The number of columns.
    constexpr matrix_view(T* at, detail::extent rows_, detail::extent cols_) : matrix_view(at, rows_, cols_, cols_) {}
    /// Views a matrix, or a part of a larger one.
    /// @param at The address of element (0, 0).
    /// @param rows_ The number of rows.
    /// @param cols_ The number of columns.
    /// @param ld_ The leading dimension.
    constexpr matrix_view(T* at, detail::extent rows_, detail::extent cols_, detail::extent ld_)
        : data(at), rows(rows_.value), cols(cols_.value), ld(ld_.value) {}

    /// Views the elements of a container as a matrix without padding: ld is cols.
    /// @param elements The container.
    /// @param rows_ The number of rows.
    /// @param cols_ The number of columns.
    /// @throws invalid_argument if the container has too few elements.
    template <detail::elements_of<T> Elements>
    matrix_view(Elements&& elements, detail::extent rows_, detail::extent cols_)
        : matrix_view(std::forward<Elements>(elements), rows_, cols_, cols_) {}
    /// Views the elements of a container as a matrix.
    /// @param elements The container.
    /// @param rows_ The number of rows.
    /// @param cols_ The number of columns.
    /// @param ld_ The leading dimension.
    /// @throws invalid_argument if the container has too few elements.
    template <detail::elements_of<T> Elements>
    matrix_view(Elements&& elements, detail::extent rows_, detail::extent cols_, detail::extent ld_)
        : matrix_view(std::data(std::forward<Elements>(elements)), rows_, cols_, ld_) {
        detail::check_holds(static_cast<std::size_t>(std::size(elements)), {rows, cols, ld, 1, 0});
    }

    /// Views a std::mdspan of two axes: rows and columns.
    /// @param m The mdspan.
    /// @throws invalid_argument if the elements of a row are not contiguous, as in layout_left.
    template <detail::mdspan_of<T, 2> Mdspan>
    explicit matrix_view(const Mdspan& m) : matrix_view(m.data_handle(), m.extent(0), m.extent(1), detail::ld_of(m)) {}

    /// @return The same matrix with const elements.
    template <class U>
    requires(std::is_same_v<U, const T> && !std::is_const_v<T>) constexpr operator matrix_view<U>() const {
        return {data, rows, cols, ld};
    }
};

/// @cond
// Deduction guides.
template <class Elements>
matrix_view(Elements&&, detail::extent, detail::extent)
    -> matrix_view<detail::pointed_to<decltype(std::data(std::declval<Elements>()))>>;
template <class Elements>
matrix_view(Elements&&, detail::extent, detail::extent, detail::extent)
    -> matrix_view<detail::pointed_to<decltype(std::data(std::declval<Elements>()))>>;
template <class Mdspan>
matrix_view(const Mdspan&) -> matrix_view<typename Mdspan::element_type>;
/// @endcond

/// A batch: `count` matrices of one shape. Matrix i is {data + i * stride, rows, cols, ld}.
///
/// The stride counts elements and is 0 or more. If it is not given, it is rows * ld. The matrices lie in one of two
/// ways:
/// - one after the other: stride >= (rows - 1) * ld + cols;
/// - side by side in the rows of a larger matrix: stride >= cols and ld >= (count - 1) * stride + cols.
///
/// Functions check this for a destination, when the view is used.
/// @tparam T The type of an element. It is const for a source that must not be written.
template <class T>
struct batch_view {
    static_assert(!std::is_array_v<T>, "cornerturn: of an array of arrays, view the first element: &a[0][0][0]");

    T* data = nullptr;      ///< The address of element (0, 0) of matrix 0.
    std::int64_t rows = 0,  ///< The rows of each matrix.
        cols = 0,           ///< The columns of each matrix.
        ld = 0,             ///< The leading dimension of each matrix.
        count = 0,          ///< The number of matrices.
        stride = 0;         ///< The elements from one matrix to the next.

    /// Views an empty batch.
    constexpr batch_view() = default;
    /// Views matrices that follow each other: the stride is rows * ld.
    /// @param first Matrix 0.
    /// @param count_ The number of matrices.
    constexpr batch_view(matrix_view<T> first, detail::extent count_)
        : batch_view(first, count_, detail::packed_stride(first.rows, first.ld)) {}
    /// Views matrices at any stride.
    /// @param first Matrix 0.
    /// @param count_ The number of matrices.
    /// @param stride_ The elements from one matrix to the next.
    constexpr batch_view(matrix_view<T> first, detail::extent count_, detail::extent stride_)
        : batch_view(first.data, first.rows, first.cols, first.ld, count_, stride_) {}
    /// Views matrices that follow each other: the stride is rows * ld.
    /// @param at The address of matrix 0.
    /// @param rows_ The rows of each matrix.
    /// @param cols_ The columns of each matrix.
    /// @param ld_ The leading dimension of each matrix.
    /// @param count_ The number of matrices.
    constexpr batch_view(T* at, detail::extent rows_, detail::extent cols_, detail::extent ld_, detail::extent count_)
        : batch_view(at, rows_, cols_, ld_, count_, detail::packed_stride(rows_, ld_)) {}
    /// Views matrices at any stride.
    /// @param at The address of matrix 0.
    /// @param rows_ The rows of each matrix.
    /// @param cols_ The columns of each matrix.
    /// @param ld_ The leading dimension of each matrix.
    /// @param count_ The number of matrices.
    /// @param stride_ The elements from one matrix to the next.
    constexpr batch_view(T* at, detail::extent rows_, detail::extent cols_, detail::extent ld_, detail::extent count_,
                         detail::extent stride_)
        : data(at), rows(rows_.value), cols(cols_.value), ld(ld_.value), count(count_.value), stride(stride_.value) {}

    /// Views the elements of a container as matrices that follow each other: the stride is rows * ld.
    /// @param elements The container.
    /// @param rows_ The rows of each matrix.
    /// @param cols_ The columns of each matrix.
    /// @param ld_ The leading dimension of each matrix.
    /// @param count_ The number of matrices.
    /// @throws invalid_argument if the container has too few elements.
    template <detail::elements_of<T> Elements>
    batch_view(Elements&& elements, detail::extent rows_, detail::extent cols_, detail::extent ld_,
               detail::extent count_)
        : batch_view(std::forward<Elements>(elements), rows_, cols_, ld_, count_, detail::packed_stride(rows_, ld_)) {}
    /// Views the elements of a container as matrices at any stride.
    /// @param elements The container.
    /// @param rows_ The rows of each matrix.
    /// @param cols_ The columns of each matrix.
    /// @param ld_ The leading dimension of each matrix.
    /// @param count_ The number of matrices.
    /// @param stride_ The elements from one matrix to the next.
    /// @throws invalid_argument if the container has too few elements.
    template <detail::elements_of<T> Elements>
    batch_view(Elements&& elements, detail::extent rows_, detail::extent cols_, detail::extent ld_,
               detail::extent count_, detail::extent stride_)
        : batch_view(std::data(std::forward<Elements>(elements)), rows_, cols_, ld_, count_, stride_) {
        detail::check_holds(static_cast<std::size_t>(std::size(elements)), {rows, cols, ld, count, stride});
    }

    /// Views a std::mdspan of three axes: matrices, rows and columns.
    /// @param m The mdspan.
    /// @throws invalid_argument if the elements of a row are not contiguous.
    template <detail::mdspan_of<T, 3> Mdspan>
    explicit batch_view(const Mdspan& m)
        : batch_view(m.data_handle(), m.extent(1), m.extent(2), detail::ld_of(m), m.extent(0), m.stride(0)) {}

    /// @return The same batch with const elements.
    template <class U>
    requires(std::is_same_v<U, const T> && !std::is_const_v<T>) constexpr operator batch_view<U>() const {
        return {data, rows, cols, ld, count, stride};
    }
};

/// @cond
// Deduction guides.
template <class Elements>
batch_view(Elements&&, detail::extent, detail::extent, detail::extent, detail::extent)
    -> batch_view<detail::pointed_to<decltype(std::data(std::declval<Elements>()))>>;
template <class Elements>
batch_view(Elements&&, detail::extent, detail::extent, detail::extent, detail::extent, detail::extent)
    -> batch_view<detail::pointed_to<decltype(std::data(std::declval<Elements>()))>>;
template <class Mdspan>
batch_view(const Mdspan&) -> batch_view<typename Mdspan::element_type>;
/// @endcond

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

// Checks at compile time what every function that moves elements asks of them.
template <class T>
constexpr void check_elements() {
    static_assert(!std::is_const_v<T>,
                  "cornerturn cannot write to a view of const elements: the sources come first, the destination comes "
                  "last, and its elements must not be const");
    static_assert(std::is_trivially_copyable_v<T>,
                  "cornerturn moves elements as bytes: their type must be trivially copyable");
}
}  // namespace detail

}  // namespace cornerturn
