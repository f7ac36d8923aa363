// Matrices somewhere in memory, not owned.
#pragma once

#include <cstdint>
#include <type_traits>

namespace cornerturn {

// Row-major: element (row, col) is data[row * ld + col], 0 <= row < rows, 0 <= col < cols, ld >= cols.
// rows, cols and ld count elements. The ld - cols elements behind each row are never read or written.
template <class T>
struct matrix_view {
    T* data;
    std::int64_t rows, cols, ld;

    template <class U>
    requires(std::is_same_v<U, const T> && !std::is_const_v<T>) operator matrix_view<U>() const {
        return {data, rows, cols, ld};
    }
};

// `count` matrices of one shape: matrix i is {data + i * stride, rows, cols, ld}. stride counts elements, 0 or more.
// They may lie behind each other (stride >= (rows - 1) * ld + cols) or side by side in the rows of a larger matrix
// (ld >= (count - 1) * stride + cols).
template <class T>
struct batch_view {
    T* data;
    std::int64_t rows, cols, ld, count, stride;

    template <class U>
    requires(std::is_same_v<U, const T> && !std::is_const_v<T>) operator batch_view<U>() const {
        return {data, rows, cols, ld, count, stride};
    }
};

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
template <class T>
any_batch any(const batch_view<T>& view) {
    return {reinterpret_cast<std::uintptr_t>(view.data), {view.rows, view.cols, view.ld, view.count, view.stride}};
}
}  // namespace detail

}  // namespace cornerturn
