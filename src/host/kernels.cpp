// Compiled once for each set of instructions: Highway includes this file again and again.
// Vectors whose length the compiler does not know cannot stand in arrays. All sets of instructions take a build for
// sanitizers minutes: it has those of 16 and of 32 bytes that differ most.
#if defined(CORNERTURN_FEW_TARGETS)
#define CORNERTURN_LEFT_OUT (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)
#else
#define CORNERTURN_LEFT_OUT 0
#endif
#define HWY_DISABLED_TARGETS (CORNERTURN_LEFT_OUT | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#define HWY_WANT_AVX3_DL 1  // which has a byte of any of two vectors
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/kernels.cpp"
#include "host/kernels.hpp"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

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
    if ((cols == 1 && from_pitch == size) || (rows == 1 && to_pitch == size)) {
        std::memcpy(to, from, static_cast<std::size_t>(rows * cols * size));
        return;
    }
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

void stream_joined(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch, byte* waiting,
                   std::int64_t pieces, std::int64_t lines) {
    for (std::int64_t i = 0; i < pieces; ++i, from += from_pitch, to += to_pitch, waiting += kLineBytes) {
        const std::ptrdiff_t within = in_line(to);
        std::memcpy(to - within, waiting + kLineBytes - within, static_cast<std::size_t>(within));
        std::memcpy(to, from, static_cast<std::size_t>(lines * kLineBytes - within));
        std::memcpy(waiting, from + (lines - 1) * kLineBytes, kLineBytes);
    }
}

template <int kSize>
constexpr turn_lines_function turn_lines = nullptr;
template <int kSize>
constexpr turn_joined_function turn_joined = nullptr;

#else

template <class T>
T* at(byte* address) {
    return reinterpret_cast<T*>(address);
}
template <class T>
const T* at(const byte* address) {
    return reinterpret_cast<const T*>(address);
}

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
        return hn::LoadU(d, at<T>(from));
    } else {
        const hn::Half<D> half;
        const auto low = load_blocks(half, from, step);
        return hn::Combine(d, load_blocks(half, from + step * (bytes_of(half) / kBlockBytes), step), low);
    }
}

// Turns each block of kRows vectors.
template <int kSize, class D>
HWY_INLINE void interleave(D d, hn::Vec<D> (&rows)[kBlockBytes / kSize]) {
    constexpr int kRows = kBlockBytes / kSize;
    hn::Vec<D> other[kRows];
    hn::Vec<D>*x = rows, *y = other;
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
    if (x == rows) return;
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) rows[i] = other[i];
}

// Turns groups of kRows rows, as many as a vector has blocks, and kRows columns of them.
template <int kSize, class D>
HWY_INLINE void turn_block(D d, const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch) {
    constexpr int kRows = kBlockBytes / kSize;
    using T = hn::TFromD<D>;
    hn::Vec<D> rows[kRows];
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) rows[i] = load_blocks(d, from + i * from_pitch, kRows * from_pitch);
    interleave<kSize>(d, rows);
    HWY_UNROLL(16)
    for (int i = 0; i < kRows; ++i) hn::StoreU(rows[i], d, at<T>(to + i * to_pitch));
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

// ---- Squares of a line ----------------------------------------------------------------------------------------------
// kLineBytes / kSize rows and columns. Each row is read once and whole, so that it does not matter if all of them fall
// into one set of the nearest cache, as rows a power of two apart do.

// Four groups' vectors of blocks -> for each block, the groups' blocks behind each other: a line. store(block, part,
// vector) gets it vector by vector.
template <class D, class F>
HWY_INLINE void join_blocks(D d, hn::Vec<D> v0, hn::Vec<D> v1, hn::Vec<D> v2, hn::Vec<D> v3, F store) {
    constexpr int kBlocks = bytes_of(D()) / kBlockBytes;
    if constexpr (kBlocks == 1) {
        store(0, 0, v0);
        store(0, 1, v1);
        store(0, 2, v2);
        store(0, 3, v3);
    } else if constexpr (kBlocks == 2) {
        store(0, 0, hn::ConcatLowerLower(d, v1, v0));
        store(0, 1, hn::ConcatLowerLower(d, v3, v2));
        store(1, 0, hn::ConcatUpperUpper(d, v1, v0));
        store(1, 1, hn::ConcatUpperUpper(d, v3, v2));
    } else {
        static_assert(kBlocks == 4);
        const auto even_low = hn::ConcatLowerLower(d, v2, v0), odd_low = hn::ConcatLowerLower(d, v3, v1);
        const auto even_high = hn::ConcatUpperUpper(d, v2, v0), odd_high = hn::ConcatUpperUpper(d, v3, v1);
        store(0, 0, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(odd_low), even_low));
        store(1, 0, hn::OddEvenBlocks(odd_low, hn::SwapAdjacentBlocks(even_low)));
        store(2, 0, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(odd_high), even_high));
        store(3, 0, hn::OddEvenBlocks(odd_high, hn::SwapAdjacentBlocks(even_high)));
    }
}

// store(column, part, vector) gets each row of the destination vector by vector.
template <int kSize, class D, class F>
HWY_INLINE void turn_square(D d, const byte* from, std::ptrdiff_t from_pitch, F store) {
    constexpr int kRows = kBlockBytes / kSize, kVectorBytes = bytes_of(D()), kGroups = kLineBytes / kBlockBytes;
    using T = hn::TFromD<D>;
    for (int across = 0; across < kLineBytes / kVectorBytes; ++across) {
        hn::Vec<D> turned[kGroups][kRows];
        HWY_UNROLL(4)
        for (int group = 0; group < kGroups; ++group) {
            const byte* const first = from + group * kRows * from_pitch + across * kVectorBytes;
            hn::Vec<D> rows[kRows];
            HWY_UNROLL(16)
            for (int i = 0; i < kRows; ++i) rows[i] = hn::LoadU(d, at<T>(first + i * from_pitch));
            interleave<kSize>(d, rows);
            HWY_UNROLL(16)
            for (int i = 0; i < kRows; ++i) turned[group][i] = rows[i];
        }
        HWY_UNROLL(16)
        for (int i = 0; i < kRows; ++i) {
            join_blocks(d, turned[0][i], turned[1][i], turned[2][i], turned[3][i], [&](int block, int part, auto v) {
                store((across * (kVectorBytes / kBlockBytes) + block) * kRows + i, part, v);
            });
        }
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
        const T* const source = at<T>(from) + row * kCols;
        hn::Vec<D> v[4];
        if constexpr (kCols == 2) hn::LoadInterleaved2(d, source, v[0], v[1]);
        if constexpr (kCols == 3) hn::LoadInterleaved3(d, source, v[0], v[1], v[2]);
        if constexpr (kCols == 4) hn::LoadInterleaved4(d, source, v[0], v[1], v[2], v[3]);
        for (int col = 0; col < kCols; ++col) hn::StoreU(v[col], d, at<T>(to + col * to_pitch) + row);
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
        for (int row = 0; row < kRows; ++row) v[row] = hn::LoadU(d, at<T>(from + row * from_pitch) + col);
        T* const destination = at<T>(to) + col * kRows;
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
        constexpr int kSide = kLineBytes / kSize;
        const std::int64_t square_cols = rows < kSide ? 0 : cols / kSide * kSide;
        std::int64_t row = 0;
        for (; square_cols > 0 && row + kSide <= rows; row += kSide) {
            const byte* const source = from + row * from_pitch;
            byte* const destination = to + row * kSize;
            for (std::int64_t col = 0; col < square_cols; col += kSide) {
                turn_square<kSize>(d, source + col * kSize, from_pitch, [&](int column, int part, auto v) {
                    hn::StoreU(v, d, at<T>(destination + (col + column) * to_pitch + part * bytes_of(d)));
                });
            }
            if (square_cols == cols) continue;
            const std::int64_t col = std::min<std::int64_t>(square_cols, cols - kRows);
            for (int i = 0; i < kSide; i += kAtATime)
                turn_rows<kSize>(d, source + i * from_pitch + col * kSize, from_pitch,
                                 destination + i * kSize + col * to_pitch, to_pitch, cols - col);
        }
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

// Into the second-level cache: the nearest has other uses for its places, and for what waits on memory.
HWY_INLINE void fetch(const byte* line) { __builtin_prefetch(line, 0, 2); }

// What lies side by side in a row together: memory gives more at a time than a line.
template <int kSize>
HWY_INLINE void fetch_for(const square& s, std::ptrdiff_t from_pitch) {
    constexpr int kSide = kLineBytes / kSize;
    if (s.fetch == nullptr) return;
    HWY_UNROLL(8)
    for (int row = 0; row < fetched_rows(kSide); ++row) {
        HWY_UNROLL(8)
        for (int line = 0; line < fetched_lines(kSide); ++line) fetch(s.fetch + row * from_pitch + line * kLineBytes);
    }
}

template <int kSize>
void turn_lines(const square* squares, int count, std::ptrdiff_t from_pitch, std::ptrdiff_t to_pitch) {
    using T = lane_t<kSize>;
    const widest<T> d;
    for (const square* s = squares; s != squares + count; ++s) {
        fetch_for<kSize>(*s, from_pitch);
        turn_square<kSize>(d, s->from, from_pitch, [&](int column, int part, auto v) {
            hn::Stream(v, d, at<T>(s->to + column * to_pitch + part * bytes_of(d)));
        });
    }
}

void stream(const byte* from, byte* to, std::int64_t lines) {
    const widest<std::uint8_t> d;
    constexpr int kBytes = bytes_of(widest<std::uint8_t>());
    for (std::int64_t i = 0; i < lines * kLineBytes; i += kBytes) hn::Stream(hn::Load(d, from + i), d, to + i);
}

// One piece of stream_joined(): `to` is where it begins.
HWY_INLINE void stream_piece(const byte* piece, byte* to, byte* waiting, std::int64_t lines) {
    const widest<std::uint8_t> d;
    constexpr int kBytes = bytes_of(widest<std::uint8_t>());
    const std::ptrdiff_t within = in_line(to);
    const byte *const first = piece - within, *const before = waiting + kLineBytes - within;
    byte* const line = to - within;
    for (int i = 0; i < kLineBytes; i += kBytes) {
        const auto waits = hn::FirstN(d, static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(within - i, 0, kBytes)));
        hn::Stream(hn::IfThenElse(waits, hn::LoadU(d, before + i), hn::LoadU(d, first + i)), d, line + i);
    }
    for (std::int64_t i = kLineBytes; i < lines * kLineBytes; i += kBytes)
        hn::Stream(hn::LoadU(d, first + i), d, line + i);
    const byte* const last = piece + (lines - 1) * kLineBytes;
    for (int i = 0; i < kLineBytes; i += kBytes) hn::Store(hn::LoadU(d, last + i), d, waiting + i);
}

void stream_joined(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch, byte* waiting,
                   std::int64_t pieces, std::int64_t lines) {
    for (std::int64_t i = 0; i < pieces; ++i, from += from_pitch, to += to_pitch, waiting += kLineBytes)
        stream_piece(from, to, waiting, lines);
}

// A line or less, and nothing beside it: others may be writing there.
HWY_INLINE void copy_part(const byte* from, byte* to, std::ptrdiff_t bytes) {
    const auto both_ends = [&](auto size) {
        byte first[size], last[size];
        std::memcpy(first, from, size);
        std::memcpy(last, from + bytes - size, size);
        std::memcpy(to, first, size);
        std::memcpy(to + bytes - size, last, size);
    };
    if (bytes >= 32) return both_ends(std::integral_constant<int, 32>());
    if (bytes >= 16) return both_ends(std::integral_constant<int, 16>());
    if (bytes >= 8) return both_ends(std::integral_constant<int, 8>());
    if (bytes >= 4) return both_ends(std::integral_constant<int, 4>());
    if (bytes >= 2) return both_ends(std::integral_constant<int, 2>());
    if (bytes == 1) *to = *from;
}

#if HWY_TARGET == HWY_AVX3_DL
// The last `within` bytes of what lies before, and as much of what comes as completes a line.
HWY_INLINE hn::Vec<widest<std::uint8_t>> line_of(hn::Vec<widest<std::uint8_t>> before,
                                                 hn::Vec<widest<std::uint8_t>> now, std::ptrdiff_t within) {
    const widest<std::uint8_t> d;
    const auto first = hn::Set(d, static_cast<std::uint8_t>(kLineBytes - within));
    return {_mm512_permutex2var_epi8(before.raw, hn::Add(hn::Iota(d, 0), first).raw, now.raw)};
}

// Neither first nor last: straight from the registers.
template <int kSize>
void turn_joined_within(const square* squares, int count, std::ptrdiff_t from_pitch, std::ptrdiff_t to_pitch) {
    const widest<lane_t<kSize>> d;
    const widest<std::uint8_t> bytes;
    for (const square* s = squares; s != squares + count; ++s) {
        fetch_for<kSize>(*s, from_pitch);
        turn_square<kSize>(d, s->from, from_pitch, [&](int column, int, auto v) {
            byte *const to = s->to + column * to_pitch, *const waiting = s->waiting + column * kLineBytes;
            const std::ptrdiff_t within = in_line(to);
            const auto before = hn::Load(bytes, waiting), now = hn::BitCast(bytes, v);
            hn::Stream(line_of(before, now, within), bytes, to - within);
            hn::Store(now, bytes, waiting);
        });
    }
}
#endif

// One square is streamed while the next is turned.
template <int kSize>
void turn_joined(const square* squares, int count, std::ptrdiff_t from_pitch, std::ptrdiff_t to_pitch) {
    constexpr int kSide = kLineBytes / kSize;
    using T = lane_t<kSize>;
    const widest<T> d;
#if HWY_TARGET == HWY_AVX3_DL
    if (!squares[0].begins && !squares[count - 1].ends)
        return turn_joined_within<kSize>(squares, count, from_pitch, to_pitch);
#endif
    // What lies before a piece, or behind it, is loaded with it.
    alignas(kLineBytes) byte tiles[2][(kSide + 2) * kLineBytes];
    for (int i = 0; i <= count; ++i) {
        if (i < count) {
            byte* const tile = tiles[i % 2] + kLineBytes;
            fetch_for<kSize>(squares[i], from_pitch);
            turn_square<kSize>(d, squares[i].from, from_pitch, [&](int column, int part, auto v) {
                hn::Store(v, d, at<T>(tile + column * kLineBytes + part * bytes_of(d)));
            });
        }
        if (i == 0) continue;
        const square& s = squares[i - 1];
        const byte* piece = tiles[(i - 1) % 2] + kLineBytes;
        byte *to = s.to, *waiting = s.waiting;
        for (int column = 0; column < kSide; ++column, piece += kLineBytes, to += to_pitch, waiting += kLineBytes) {
            const std::ptrdiff_t within = in_line(to);
            if (s.begins) {
                copy_part(piece, to, kLineBytes - within);
                std::memcpy(waiting, piece, kLineBytes);
            } else {
                stream_piece(piece, to, waiting, 1);
            }
            if (s.ends) copy_part(piece + kLineBytes - within, to - within + kLineBytes, within);
        }
    }
}

#endif

const char* target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace

// Elements that divide a line evenly.
template <int kSize>
kernels in_squares() {
    return {turn<kSize>, turn_lines<kSize>, turn_joined<kSize>, stream, stream_joined, target()};
}
template <int kSize>
kernels by_elements() {
    return {turn_elements<kSize>, nullptr, nullptr, stream, stream_joined, target()};
}

kernels kernels_for(std::int64_t size) {
    switch (size) {
        case 1: return in_squares<1>();
        case 2: return in_squares<2>();
        case 4: return in_squares<4>();
        case 8: return in_squares<8>();
        case 16: return in_squares<16>();
        case 3: return by_elements<3>();
        case 6: return by_elements<6>();
        case 12: return by_elements<12>();
        case 24: return by_elements<24>();
        case 32: return by_elements<32>();
        default: return by_elements<0>();
    }
}

}  // namespace cornerturn::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cornerturn::host {

HWY_EXPORT(kernels_for);
kernels kernels_for(std::int64_t size) { return HWY_DYNAMIC_DISPATCH(kernels_for)(size); }

void end_stream() { hwy::FlushStream(); }

}  // namespace cornerturn::host
#endif
