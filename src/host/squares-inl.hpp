// Transposes elements within registers. Compiled once for each instruction set, like the file that includes it.
#if defined(CORNERTURN_HOST_SQUARES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CORNERTURN_HOST_SQUARES_INL
#undef CORNERTURN_HOST_SQUARES_INL
#else
#define CORNERTURN_HOST_SQUARES_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "host/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace cornerturn::host::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

template <class T>
T* at(byte* address) {
    return reinterpret_cast<T*>(address);
}
template <class T>
const T* at(const byte* address) {
    return reinterpret_cast<const T*>(address);
}

// ---- Blocks of 16 bytes ---------------------------------------------------------------------------------------------
// A vector has one block or several. kRows rows of kRows elements are 16 bytes wide. To transpose them, vector i is
// interleaved with vector i + kRows / 2, log2(kRows) times. A vector of several blocks holds the same row of several
// groups of kRows rows. It ends up with an equally long piece of a row of the destination.

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

// Loads as many blocks as a vector has, of rows that are `step` apart. load(row) returns the block of one row.
template <class D, class Load>
HWY_INLINE hn::Vec<D> load_blocks(D d, Load load, std::int64_t row, std::int64_t step) {
    if constexpr (bytes_of(D()) == kBlockBytes) {
        return hn::BitCast(d, load(row));
    } else {
        const hn::Half<D> half;
        const auto low = load_blocks(half, load, row, step);
        return hn::Combine(d, load_blocks(half, load, row + step * (bytes_of(half) / kBlockBytes), step), low);
    }
}

using block_tag = hn::FixedTag<std::uint8_t, kBlockBytes>;

// Returns the blocks of rows at equal distances.
struct even_blocks {
    const byte* from;
    std::ptrdiff_t pitch;
    HWY_INLINE hn::Vec<block_tag> operator()(std::int64_t row) const {
        return hn::LoadU(block_tag(), from + row * pitch);
    }
};

// Transposes kRows rows. Each block of the vectors holds one row, or two of half a block each.
template <int kRows, class D, int kVectors>
HWY_INLINE void interleave(D d, hn::Vec<D> (&rows)[kVectors]) {
    hn::Vec<D> other[kVectors];
    hn::Vec<D>*x = rows, *y = other;
    HWY_UNROLL(4)
    for (int half = kRows; half > 1; half /= 2) {
        HWY_UNROLL(8)
        for (int i = 0; i < kVectors / 2; ++i) {
            y[2 * i] = hn::InterleaveLower(d, x[i], x[i + kVectors / 2]);
            y[2 * i + 1] = hn::InterleaveUpper(d, x[i], x[i + kVectors / 2]);
        }
        hn::Vec<D>* const transposed = y;
        y = x;
        x = transposed;
    }
    if (x == rows) return;
    HWY_UNROLL(16)
    for (int i = 0; i < kVectors; ++i) rows[i] = other[i];
}

// Transposes groups of kRows rows, as many as a vector has blocks, and kRows of their columns. store(column, vector).
template <int kSize, class D, class Load, class Store>
HWY_INLINE void transpose_block(D d, Load load, Store store) {
    constexpr int kRows = kBlockBytes / kSize;
    hn::Vec<D> rows[kRows];
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) rows[i] = load_blocks(d, load, i, kRows);
    interleave<kRows>(d, rows);
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) store(i, rows[i]);
}
template <int kSize, class D>
HWY_INLINE void transpose_block(D d, const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch) {
    transpose_block<kSize>(d, even_blocks{from, from_pitch},
                           [&](int i, auto v) { hn::StoreU(v, d, at<hn::TFromD<D>>(to + i * to_pitch)); });
}

// ---- Squares of a line ----------------------------------------------------------------------------------------------
// A square has kLineBytes / kSize rows and columns. If it has many rows, each row is read once and whole. So it does
// not matter if all rows fall into one set of the nearest cache, as they do if their distance is a power of two.

// From four groups' vectors of blocks, makes a line for each block: the groups' blocks in order. store(block, line).
template <class D, class F>
HWY_INLINE void join_blocks(D d, hn::Vec<D> v0, hn::Vec<D> v1, hn::Vec<D> v2, hn::Vec<D> v3, F store) {
    static_assert(bytes_of(D()) == kLineBytes);
    const auto even_low = hn::ConcatLowerLower(d, v2, v0), odd_low = hn::ConcatLowerLower(d, v3, v1);
    const auto even_high = hn::ConcatUpperUpper(d, v2, v0), odd_high = hn::ConcatUpperUpper(d, v3, v1);
    store(0, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(odd_low), even_low));
    store(1, hn::OddEvenBlocks(odd_low, hn::SwapAdjacentBlocks(even_low)));
    store(2, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(odd_high), even_high));
    store(3, hn::OddEvenBlocks(odd_high, hn::SwapAdjacentBlocks(even_high)));
}

// For vectors of a line: each is a row.
template <int kSize, class D, class Row, class F>
HWY_INLINE void transpose_square_of_rows(D d, Row row, F store) {
    constexpr int kRows = kBlockBytes / kSize, kGroups = kLineBytes / kBlockBytes;
    using T = hn::TFromD<D>;
    hn::Vec<D> transposed[kGroups][kRows];
    HWY_UNROLL(4)
    for (int group = 0; group < kGroups; ++group) {
        HWY_UNROLL(16)
        for (int i = 0; i < kRows; ++i) transposed[group][i] = hn::LoadU(d, at<T>(row(group * kRows + i)));
        interleave<kRows>(d, transposed[group]);
    }
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) {
        join_blocks(d, transposed[0][i], transposed[1][i], transposed[2][i], transposed[3][i],
                    [&](int block, auto line) { store(block * kRows + i, 0, line); });
    }
}

// For shorter vectors: blocks are joined when they are loaded.
template <int kSize, class D, class Row, class F>
HWY_INLINE void transpose_square_of_blocks(D d, Row row, F store) {
    constexpr int kRows = kBlockBytes / kSize, kVectorBytes = bytes_of(D()), kParts = kLineBytes / kVectorBytes;
    constexpr int kSide = kLineBytes / kSize, kFewRows = 16;  // these are faster without a copy
    using T = hn::TFromD<D>;
    alignas(kLineBytes) byte copied[kSide * kLineBytes];
    if constexpr (kSide > kFewRows) {
        for (int i = 0; i < kSide; ++i) {
            for (int part = 0; part < kLineBytes; part += kVectorBytes)
                hn::Store(hn::LoadU(d, at<T>(row(i) + part)), d, at<T>(copied + i * kLineBytes + part));
        }
    }
    for (int across = 0; across < kLineBytes; across += kBlockBytes) {
        hn::Vec<D> transposed[kParts][kRows];
        HWY_UNROLL(4)
        for (int part = 0; part < kParts; ++part) {
            const auto load = [&](std::int64_t i) {
                return hn::LoadU(block_tag(), (kSide > kFewRows ? copied + i * kLineBytes : row(i)) + across);
            };
            HWY_UNROLL(16)
            for (int i = 0; i < kRows; ++i)
                transposed[part][i] = load_blocks(d, load, part * (kSide / kParts) + i, kRows);
            interleave<kRows>(d, transposed[part]);
        }
        HWY_UNROLL(16)
        for (int i = 0; i < kRows; ++i) {
            HWY_UNROLL(4)
            for (int part = 0; part < kParts; ++part) store(across / kSize + i, part, transposed[part][i]);
        }
    }
}

// row(i) is the address of row i. store(column, part, vector) gets each row of the destination vector by vector.
template <int kSize, class D, class Row, class F>
HWY_INLINE void transpose_square(D d, Row row, F store) {
    if constexpr (bytes_of(D()) == kLineBytes) {
        transpose_square_of_rows<kSize>(d, row, store);
    } else {
        transpose_square_of_blocks<kSize>(d, row, store);
    }
}
template <int kSize, class D, class F>
HWY_INLINE void transpose_square(D d, const byte* from, std::ptrdiff_t from_pitch, F store) {
    transpose_square<kSize>(
        d, [=](std::int64_t i) { return from + i * from_pitch; }, store);
}

#endif

}  // namespace
}  // namespace cornerturn::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
