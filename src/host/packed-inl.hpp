// Packed rows or columns that are too few to fill a block. Compiled once for each instruction set, like the file that
// includes it.
#if defined(CORNERTURN_HOST_PACKED_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CORNERTURN_HOST_PACKED_INL
#undef CORNERTURN_HOST_PACKED_INL
#else
#define CORNERTURN_HOST_PACKED_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "host/squares-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace cornerturn::host::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

// ---- Two, three or four packed rows or columns ----------------------------------------------------------------------

// Packed columns: each vector of a row of the destination is every kCols-th element. Returns how many rows it moved.
template <int kCols, class D>
HWY_INLINE std::int64_t split(D d, const byte* from, byte* to, std::ptrdiff_t to_pitch, std::int64_t rows) {
    using T = hn::TFromD<D>;
    constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
    if (rows < kLanes) {
        if constexpr (bytes_of(D()) > kBlockBytes) return split<kCols>(hn::Half<D>(), from, to, to_pitch, rows);
        return 0;
    }
    for (std::int64_t next = 0; next < rows; next += kLanes) {
        const std::int64_t row = std::min(next, rows - kLanes);  // some rows a second time
        const T* const source = at<T>(from) + row * kCols;
        hn::Vec<D> v[4];
        if constexpr (kCols == 2) hn::LoadInterleaved2(d, source, v[0], v[1]);
        if constexpr (kCols == 3) hn::LoadInterleaved3(d, source, v[0], v[1], v[2]);
        if constexpr (kCols == 4) hn::LoadInterleaved4(d, source, v[0], v[1], v[2], v[3]);
        for (int col = 0; col < kCols; ++col) hn::StoreU(v[col], d, at<T>(to + col * to_pitch) + row);
    }
    return rows;
}

// Packed rows of the destination: the reverse. Returns how many columns it moved.
template <int kRows, class D>
HWY_INLINE std::int64_t join(D d, const byte* from, std::ptrdiff_t from_pitch, byte* to, std::int64_t cols) {
    using T = hn::TFromD<D>;
    constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
    if (cols < kLanes) {
        if constexpr (bytes_of(D()) > kBlockBytes) return join<kRows>(hn::Half<D>(), from, from_pitch, to, cols);
        return 0;
    }
    for (std::int64_t next = 0; next < cols; next += kLanes) {
        const std::int64_t col = std::min(next, cols - kLanes);
        hn::Vec<D> v[4];
        for (int row = 0; row < kRows; ++row) v[row] = hn::LoadU(d, at<T>(from + row * from_pitch) + col);
        T* const destination = at<T>(to) + col * kRows;
        if constexpr (kRows == 2) hn::StoreInterleaved2(v[0], v[1], d, destination);
        if constexpr (kRows == 3) hn::StoreInterleaved3(v[0], v[1], v[2], d, destination);
        if constexpr (kRows == 4) hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, destination);
    }
    return cols;
}

// ---- Five to eight packed rows or columns of bytes: half a block ----------------------------------------------------

constexpr int kHalfBytes = kBlockBytes / 2;

// Each block gets 8 bytes from the beginning of a row, and 8 of the next row.
template <class D>
HWY_INLINE hn::Vec<D> load_halves(D d, const byte* from, std::ptrdiff_t pitch) {
    const hn::Half<D> half;
    constexpr int kBytes = bytes_of(D());
    constexpr int kRows = kBytes == kBlockBytes ? 1 : kBytes / 2;  // from its first half to its second
    const auto load = [&](const byte* first) {
        if constexpr (kBytes == kBlockBytes) {
            return hn::LoadU(half, first);
        } else {
            return load_halves(half, first, pitch);
        }
    };
    return hn::Combine(d, load(from + kRows * pitch), load(from));
}

// Packed columns. Returns how many rows it moved.
template <class D>
HWY_INLINE std::int64_t split_bytes(D d, const byte* from, byte* to, std::ptrdiff_t to_pitch, std::int64_t rows,
                                    std::int64_t cols) {
    constexpr int kAtATime = bytes_of(D());
    std::int64_t row = 0;
    for (; (row + kAtATime - 1) * cols + kHalfBytes <= rows * cols; row += kAtATime) {
        hn::Vec<D> v[kHalfBytes];
        HWY_UNROLL(8)
        for (int i = 0; i < kHalfBytes; ++i) v[i] = load_halves(d, from + (row + 2 * i) * cols, cols);
        interleave<kBlockBytes>(d, v);
        HWY_UNROLL(8)
        for (int col = 0; col < kHalfBytes; ++col) {
            if (col < cols) hn::StoreU(v[col], d, to + col * to_pitch + row);
        }
    }
    if constexpr (kAtATime > kBlockBytes)
        row += split_bytes(hn::Half<D>(), from + row * cols, to + row, to_pitch, rows - row, cols);
    return row;
}

// Packed rows of the destination. A half is stored over what follows, which is written next. Returns how many columns
// it moved.
template <class D>
HWY_INLINE std::int64_t join_bytes(D d, const byte* from, std::ptrdiff_t from_pitch, byte* to, std::int64_t rows,
                                   std::int64_t cols) {
    constexpr int kAtATime = bytes_of(D());
    std::int64_t col = 0;
    for (; (col + kAtATime - 1) * rows + kHalfBytes <= cols * rows; col += kAtATime) {
        hn::Vec<D> v[kHalfBytes];
        HWY_UNROLL(8)
        for (int row = 0; row < kHalfBytes; ++row)
            v[row] = row < rows ? hn::LoadU(d, from + row * from_pitch + col) : hn::Zero(d);
        interleave<kHalfBytes>(d, v);
        alignas(kLineBytes) byte transposed[kHalfBytes][kAtATime];
        HWY_UNROLL(8)
        for (int i = 0; i < kHalfBytes; ++i) hn::Store(v[i], d, transposed[i]);
        for (int block = 0; block < kAtATime; block += kBlockBytes) {
            HWY_UNROLL(16)
            for (int i = 0; i < kBlockBytes; ++i)
                std::memcpy(to + (col + block + i) * rows, transposed[i / 2] + block + i % 2 * kHalfBytes, kHalfBytes);
        }
    }
    if constexpr (kAtATime > kBlockBytes)
        col += join_bytes(hn::Half<D>(), from + col, from_pitch, to + col * rows, rows, cols - col);
    return col;
}

// ---- Others ---------------------------------------------------------------------------------------------------------

// Packed rows of the source: a block holds one of them and what follows. Returns how many rows it moved.
template <int kSize, class D>
HWY_INLINE std::int64_t transpose_narrow(D d, const byte* from, byte* to, std::ptrdiff_t to_pitch, std::int64_t rows,
                                         std::int64_t cols) {
    constexpr int kRows = kBlockBytes / kSize, kAtATime = kRows * bytes_of(D()) / kBlockBytes;
    const std::ptrdiff_t pitch = cols * kSize;
    alignas(kLineBytes) byte transposed[kRows][kLineBytes];
    std::int64_t row = 0;
    for (; (row + kAtATime - 1) * pitch + kBlockBytes <= rows * pitch; row += kAtATime) {
        transpose_block<kSize>(d, from + row * pitch, pitch, transposed[0], kLineBytes);
        for (std::int64_t col = 0; col < cols; ++col)
            std::memcpy(to + col * to_pitch + row * kSize, transposed[col], bytes_of(D()));
    }
    return row;
}

// Packed rows of the destination: a block is stored over what follows, which is written next. Returns how many columns
// it moved.
template <int kSize, class D>
HWY_INLINE std::int64_t transpose_low(D d, const byte* from, std::ptrdiff_t from_pitch, byte* to, std::int64_t rows,
                                      std::int64_t cols) {
    static_assert(bytes_of(D()) == kBlockBytes);
    constexpr int kCols = kBlockBytes / kSize;
    const std::ptrdiff_t pitch = rows * kSize;
    alignas(kLineBytes) byte missing[kBlockBytes * kCols] = {}, transposed[kBlockBytes * kCols];
    std::int64_t col = 0;
    for (; (col + kCols - 1) * pitch + kBlockBytes <= cols * pitch; col += kCols) {
        for (std::int64_t row = 0; row < rows; ++row)
            std::memcpy(missing + row * kBlockBytes, from + row * from_pitch + col * kSize, kBlockBytes);
        transpose_block<kSize>(d, missing, kBlockBytes, transposed, kBlockBytes);
        for (int i = 0; i < kCols; ++i) std::memcpy(to + (col + i) * pitch, transposed + i * kBlockBytes, kBlockBytes);
    }
    return col;
}

#endif

}  // namespace
}  // namespace cornerturn::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
