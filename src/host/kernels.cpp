// Compiled once for each set of instructions: Highway includes this file again and again.
// Vectors whose length the compiler does not know cannot stand in arrays.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/kernels.cpp"
#include "host/kernels.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace cornerturn::host::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// ---- Element by element: any size, and what is too small for vectors ------------------------------------------------

// kSize 0: the size is known at run time alone.
template <int kSize>
void turn_elements(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch, std::int64_t rows,
                   std::int64_t cols, std::int64_t run_time_size) {
    const std::int64_t size = kSize > 0 ? kSize : run_time_size;
    for (std::int64_t col = 0; col < cols; ++col) {
        const byte* source = from + col * size;
        byte* destination = to + col * to_pitch;
        for (std::int64_t row = 0; row < rows; ++row, source += from_pitch, destination += size)
            std::memcpy(destination, source, static_cast<std::size_t>(size));
    }
}

#if HWY_TARGET == HWY_SCALAR

template <int kSize>
void turn(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch, std::int64_t rows,
          std::int64_t cols, std::int64_t size) {
    turn_elements<kSize>(from, from_pitch, to, to_pitch, rows, cols, size);
}

void stream(const byte* from, byte* to, std::int64_t lines) {
    std::memcpy(to, from, static_cast<std::size_t>(lines * kLineBytes));
}

#else

// ---- Blocks of 16 bytes ---------------------------------------------------------------------------------------------
// A vector is one block or several. kRows rows of kRows elements are 16 bytes wide: interleaving row i with row
// i + kRows / 2, log2(kRows) times, turns them. A vector of several blocks holds the same row of as many groups of
// kRows rows, and ends up with as long a piece of a row of the destination.

constexpr int kBlockBytes = 16;

template <int kSize>
struct lanes {
    using type = std::uint64_t;
};
template <>
struct lanes<1> {
    using type = std::uint8_t;
};
template <>
struct lanes<2> {
    using type = std::uint16_t;
};
template <>
struct lanes<4> {
    using type = std::uint32_t;
};
template <int kSize>
using lane_t = typename lanes<kSize>::type;

template <class T>
using widest = hn::ScalableTag<T>;

template <class D>
constexpr int bytes_of(D d) {
    return static_cast<int>(hn::MaxLanes(d) * sizeof(hn::TFromD<D>));
}

// As many blocks as a vector has, each `step` bytes behind the one before.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const byte* from, std::ptrdiff_t step) {
    using T = hn::TFromD<D>;
    if constexpr (bytes_of(D()) == kBlockBytes) {
        return hn::LoadU(d, reinterpret_cast<const T*>(from));
    } else {
        const hn::Half<D> half;
        const auto low = load_blocks(half, from, step);
        return hn::Combine(d, load_blocks(half, from + step * (bytes_of(half) / kBlockBytes), step), low);
    }
}

// Turns groups of kRows rows, as many as a vector has blocks, and kRows columns of them.
template <int kSize, class D>
HWY_INLINE void turn_block(D d, const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch) {
    constexpr int kRows = kBlockBytes / kSize;
    using T = hn::TFromD<D>;
    hn::Vec<D> a[kRows], b[kRows];
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) a[i] = load_blocks(d, from + i * from_pitch, kRows * from_pitch);
    hn::Vec<D>*x = a, *y = b;
    HWY_UNROLL(4)
    for (int half = kRows; half > 1; half /= 2) {
        HWY_UNROLL(8)
        for (int i = 0; i < kRows / 2; ++i) {
            y[2 * i] = hn::InterleaveLower(d, x[i], x[i + kRows / 2]);
            y[2 * i + 1] = hn::InterleaveUpper(d, x[i], x[i + kRows / 2]);
        }
        hn::Vec<D>* const turned = y;
        y = x;
        x = turned;
    }
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) hn::StoreU(x[i], d, reinterpret_cast<T*>(to + i * to_pitch));
}

// The same for all columns, kRows of them or more: the last ones may be turned twice.
template <int kSize, class D>
HWY_INLINE void turn_rows(D d, const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch,
                          std::int64_t cols) {
    constexpr int kRows = kBlockBytes / kSize;
    std::int64_t col = 0;
    for (; col + kRows <= cols; col += kRows)
        turn_block<kSize>(d, from + col * kSize, from_pitch, to + col * to_pitch, to_pitch);
    if (col < cols) {
        col = cols - kRows;
        turn_block<kSize>(d, from + col * kSize, from_pitch, to + col * to_pitch, to_pitch);
    }
}

// ---- Two, three or four packed rows or columns ----------------------------------------------------------------------

// Packed columns: each vector of a row of the destination is every kCols-th element. Returns how many rows it did.
template <int kCols, class D>
HWY_INLINE std::int64_t split(D d, const byte* from, byte* to, std::ptrdiff_t to_pitch, std::int64_t rows) {
    using T = hn::TFromD<D>;
    constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
    std::int64_t row = 0;
    for (; row + kLanes <= rows; row += kLanes) {
        const T* const source = reinterpret_cast<const T*>(from) + row * kCols;
        hn::Vec<D> v[4];
        if constexpr (kCols == 2) hn::LoadInterleaved2(d, source, v[0], v[1]);
        if constexpr (kCols == 3) hn::LoadInterleaved3(d, source, v[0], v[1], v[2]);
        if constexpr (kCols == 4) hn::LoadInterleaved4(d, source, v[0], v[1], v[2], v[3]);
        for (int col = 0; col < kCols; ++col) hn::StoreU(v[col], d, reinterpret_cast<T*>(to + col * to_pitch) + row);
    }
    return row;
}

// Packed rows of the destination, the other way round. Returns how many columns it did.
template <int kRows, class D>
HWY_INLINE std::int64_t join(D d, const byte* from, std::ptrdiff_t from_pitch, byte* to, std::int64_t cols) {
    using T = hn::TFromD<D>;
    constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
    std::int64_t col = 0;
    for (; col + kLanes <= cols; col += kLanes) {
        hn::Vec<D> v[4];
        for (int row = 0; row < kRows; ++row)
            v[row] = hn::LoadU(d, reinterpret_cast<const T*>(from + row * from_pitch) + col);
        T* const destination = reinterpret_cast<T*>(to) + col * kRows;
        if constexpr (kRows == 2) hn::StoreInterleaved2(v[0], v[1], d, destination);
        if constexpr (kRows == 3) hn::StoreInterleaved3(v[0], v[1], v[2], d, destination);
        if constexpr (kRows == 4) hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, destination);
    }
    return col;
}

// ---- Other packed rows or columns that do not fill a block ----------------------------------------------------------

// Rows of the source that are packed: a block holds one of them and what follows. Returns how many it did.
template <int kSize, class D>
HWY_INLINE std::int64_t turn_narrow(D d, const byte* from, byte* to, std::ptrdiff_t to_pitch, std::int64_t rows,
                                    std::int64_t cols) {
    constexpr int kRows = kBlockBytes / kSize, kAtATime = kRows * bytes_of(D()) / kBlockBytes;
    const std::ptrdiff_t pitch = cols * kSize;
    alignas(kLineBytes) byte turned[kRows][kLineBytes];
    std::int64_t row = 0;
    for (; (row + kAtATime - 1) * pitch + kBlockBytes <= rows * pitch; row += kAtATime) {
        turn_block<kSize>(d, from + row * pitch, pitch, turned[0], kLineBytes);
        for (std::int64_t col = 0; col < cols; ++col)
            std::memcpy(to + col * to_pitch + row * kSize, turned[col], bytes_of(D()));
    }
    return row;
}

// Rows of the destination that are packed: a block is stored over what follows, which comes next. Returns how many it
// did.
template <int kSize, class D>
HWY_INLINE std::int64_t turn_low(D d, const byte* from, std::ptrdiff_t from_pitch, byte* to, std::int64_t rows,
                                 std::int64_t cols) {
    static_assert(bytes_of(D()) == kBlockBytes);
    constexpr int kCols = kBlockBytes / kSize;
    const std::ptrdiff_t pitch = rows * kSize;
    alignas(kLineBytes) byte missing[kBlockBytes * kCols] = {}, turned[kBlockBytes * kCols];
    std::int64_t col = 0;
    for (; (col + kCols - 1) * pitch + kBlockBytes <= cols * pitch; col += kCols) {
        for (std::int64_t row = 0; row < rows; ++row)
            std::memcpy(missing + row * kBlockBytes, from + row * from_pitch + col * kSize, kBlockBytes);
        turn_block<kSize>(d, missing, kBlockBytes, turned, kBlockBytes);
        for (int i = 0; i < kCols; ++i) std::memcpy(to + (col + i) * pitch, turned + i * kBlockBytes, kBlockBytes);
    }
    return col;
}

// ---- All of it ------------------------------------------------------------------------------------------------------

template <int kSize>
void turn(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch, std::int64_t rows,
          std::int64_t cols, std::int64_t size) {
    constexpr int kRows = kBlockBytes / kSize;
    using T = lane_t<kSize>;
    const widest<T> d;
    const hn::FixedTag<T, kBlockBytes / sizeof(T)> one;
    constexpr int kAtATime = kRows * bytes_of(widest<T>()) / kBlockBytes;
    if (rows >= kRows && cols >= kRows) {
        std::int64_t row = 0;
        for (; row + kAtATime <= rows; row += kAtATime)
            turn_rows<kSize>(d, from + row * from_pitch, from_pitch, to + row * kSize, to_pitch, cols);
        for (; row + kRows <= rows; row += kRows)
            turn_rows<kSize>(one, from + row * from_pitch, from_pitch, to + row * kSize, to_pitch, cols);
        if (row < rows) {
            row = rows - kRows;
            turn_rows<kSize>(one, from + row * from_pitch, from_pitch, to + row * kSize, to_pitch, cols);
        }
        return;
    }
    std::int64_t done_rows = 0, done_cols = 0;
    if constexpr (kSize <= 8) {
        if (cols < kRows && from_pitch == cols * kSize) {
            switch (cols) {
                case 1: break;
                case 2: done_rows = split<2>(d, from, to, to_pitch, rows); break;
                case 3: done_rows = split<3>(d, from, to, to_pitch, rows); break;
                case 4: done_rows = split<4>(d, from, to, to_pitch, rows); break;
                default: done_rows = turn_narrow<kSize>(d, from, to, to_pitch, rows, cols);
            }
        } else if (rows < kRows && to_pitch == rows * kSize) {
            switch (rows) {
                case 1: break;
                case 2: done_cols = join<2>(d, from, from_pitch, to, cols); break;
                case 3: done_cols = join<3>(d, from, from_pitch, to, cols); break;
                case 4: done_cols = join<4>(d, from, from_pitch, to, cols); break;
                default: done_cols = turn_low<kSize>(one, from, from_pitch, to, rows, cols);
            }
        }
    }
    turn_elements<kSize>(from + done_rows * from_pitch + done_cols * kSize, from_pitch,
                         to + done_cols * to_pitch + done_rows * kSize, to_pitch, rows - done_rows, cols - done_cols,
                         size);
}

void stream(const byte* from, byte* to, std::int64_t lines) {
    const widest<std::uint8_t> d;
    constexpr int kBytes = bytes_of(widest<std::uint8_t>());
    for (std::int64_t i = 0; i < lines * kLineBytes; i += kBytes) hn::Stream(hn::Load(d, from + i), d, to + i);
}

#endif

const char* target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace

turn_function turn_of(std::int64_t size) {
    switch (size) {
        case 1: return turn<1>;
        case 2: return turn<2>;
        case 4: return turn<4>;
        case 8: return turn<8>;
        case 16: return turn<16>;
        case 3: return turn_elements<3>;
        case 6: return turn_elements<6>;
        case 12: return turn_elements<12>;
        case 24: return turn_elements<24>;
        case 32: return turn_elements<32>;
        default: return turn_elements<0>;
    }
}

kernels kernels_for(std::int64_t size) { return {turn_of(size), stream, target()}; }

}  // namespace cornerturn::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cornerturn::host {

HWY_EXPORT(kernels_for);
kernels kernels_for(std::int64_t size) { return HWY_DYNAMIC_DISPATCH(kernels_for)(size); }

void end_stream() { hwy::FlushStream(); }

}  // namespace cornerturn::host
#endif
