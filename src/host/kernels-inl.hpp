// The kernels, in one instruction set. A file of targets/ has each set that takes long to compile; kernels.cpp has the
// rest.
#if defined(CORNERTURN_HOST_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CORNERTURN_HOST_KERNELS_INL
#undef CORNERTURN_HOST_KERNELS_INL
#else
#define CORNERTURN_HOST_KERNELS_INL
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "host/kernels.hpp"
#include "host/listed-inl.hpp"
#include "host/packed-inl.hpp"
#include "host/shuffle-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace cornerturn::host::HWY_NAMESPACE {
namespace {

// ---- Element by element: any size, and pieces too small for vectors -------------------------------------------------

// copy(to, from) copies an element.
template <class Copy>
HWY_INLINE void transpose_by(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch,
                             std::int64_t rows, std::int64_t cols, std::int64_t size, Copy copy) {
    if ((cols == 1 && from_pitch == size) || (rows == 1 && to_pitch == size)) {
        std::memcpy(to, from, static_cast<std::size_t>(rows * cols * size));
        return;
    }
    for (std::int64_t col = 0; col < cols; ++col) {
        const byte* source = from + col * size;
        byte* destination = to + col * to_pitch;
        for (std::int64_t row = 0; row < rows; ++row, source += from_pitch, destination += size)
            copy(destination, source);
    }
}

template <int kSize>
void transpose_elements(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch,
                        std::int64_t rows, std::int64_t cols, std::int64_t) {
    transpose_by(from, from_pitch, to, to_pitch, rows, cols, kSize, copy_bytes<kSize>);
}

template <int kBytes>
void transpose_ends(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch, std::int64_t rows,
                    std::int64_t cols, std::int64_t size) {
    transpose_by(from, from_pitch, to, to_pitch, rows, cols, size, both_ends<kBytes>(size));
}

inline void transpose_any(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch,
                          std::int64_t rows, std::int64_t cols, std::int64_t size) {
    transpose_by(from, from_pitch, to, to_pitch, rows, cols, size,
                 [=](byte* there, const byte* here) { std::memcpy(there, here, static_cast<std::size_t>(size)); });
}

#if HWY_TARGET == HWY_SCALAR

template <int kSize>
void transpose_tile(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch, std::int64_t rows,
                    std::int64_t cols, std::int64_t size) {
    transpose_elements<kSize>(from, from_pitch, to, to_pitch, rows, cols, size);
}

void stream(const byte* from, byte* to, std::int64_t bytes, const byte*) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

void stream_joined(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch, byte* waiting,
                   std::int64_t pieces, std::int64_t lines, const byte*) {
    for (std::int64_t i = 0; i < pieces; ++i, from += from_pitch, to += to_pitch, waiting += kLineBytes) {
        const std::ptrdiff_t within = in_line(to);
        std::memcpy(to - within, waiting + kLineBytes - within, static_cast<std::size_t>(within));
        std::memcpy(to, from, static_cast<std::size_t>(lines * kLineBytes - within));
        std::memcpy(waiting, from + (lines - 1) * kLineBytes, kLineBytes);
    }
}

template <int kSize>
constexpr transpose_lines_function transpose_lines = nullptr;
template <int kSize>
constexpr transpose_run_function transpose_run = nullptr;
template <int kSize>
constexpr transpose_copied_function transpose_copied = nullptr;
template <int kSize>
constexpr transpose_joined_function transpose_joined = nullptr;

#else

// ---- In vectors: squares-inl.hpp, packed-inl.hpp --------------------------------------------------------------------

// The same for all columns. There are kRows or more of them; the last ones may be transposed twice.
template <int kSize, class D>
HWY_INLINE void transpose_rows(D d, const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch,
                               std::int64_t cols) {
    constexpr int kRows = kBlockBytes / kSize;
    std::int64_t col = 0;
    for (; col + kRows <= cols; col += kRows)
        transpose_block<kSize>(d, from + col * kSize, from_pitch, to + col * to_pitch, to_pitch);
    if (col < cols) {
        col = cols - kRows;
        transpose_block<kSize>(d, from + col * kSize, from_pitch, to + col * to_pitch, to_pitch);
    }
}

// ---- All of it ------------------------------------------------------------------------------------------------------

template <int kSize>
void transpose_tile(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch, std::int64_t rows,
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
                transpose_square<kSize>(d, source + col * kSize, from_pitch, [&](int column, int part, auto v) {
                    hn::StoreU(v, d, at<T>(destination + (col + column) * to_pitch + part * bytes_of(d)));
                });
            }
            if (square_cols == cols) continue;
            const std::int64_t col = std::min<std::int64_t>(square_cols, cols - kRows);
            for (int i = 0; i < kSide; i += kAtATime)
                transpose_rows<kSize>(d, source + i * from_pitch + col * kSize, from_pitch,
                                      destination + i * kSize + col * to_pitch, to_pitch, cols - col);
        }
        for (; row + kAtATime <= rows; row += kAtATime)
            transpose_rows<kSize>(d, from + row * from_pitch, from_pitch, to + row * kSize, to_pitch, cols);
        for (; row + kRows <= rows; row += kRows)
            transpose_rows<kSize>(one, from + row * from_pitch, from_pitch, to + row * kSize, to_pitch, cols);
        if (row < rows) {
            row = rows - kRows;
            transpose_rows<kSize>(one, from + row * from_pitch, from_pitch, to + row * kSize, to_pitch, cols);
        }
        return;
    }
    std::int64_t done_rows = 0, done_cols = 0;
    const widest<std::uint8_t> bytes;
    const auto by_halves = [](std::int64_t count) { return kSize == 1 && count <= kHalfBytes; };
    if constexpr (kSize <= 8) {
        if (cols < kRows && from_pitch == cols * kSize) {
            switch (cols) {
                case 1: break;
                case 2: done_rows = split<2>(d, from, to, to_pitch, rows); break;
                case 3: done_rows = split<3>(d, from, to, to_pitch, rows); break;
                case 4: done_rows = split<4>(d, from, to, to_pitch, rows); break;
                default:
                    done_rows = by_halves(cols) ? split_bytes(bytes, from, to, to_pitch, rows, cols)
                                                : transpose_narrow<kSize>(d, from, to, to_pitch, rows, cols);
            }
        } else if (rows < kRows && to_pitch == rows * kSize) {
            switch (rows) {
                case 1: break;
                case 2: done_cols = join<2>(d, from, from_pitch, to, cols); break;
                case 3: done_cols = join<3>(d, from, from_pitch, to, cols); break;
                case 4: done_cols = join<4>(d, from, from_pitch, to, cols); break;
                default:
                    done_cols = by_halves(rows) ? join_bytes(bytes, from, from_pitch, to, rows, cols)
                                                : transpose_low<kSize>(one, from, from_pitch, to, rows, cols);
            }
        }
    }
    transpose_elements<kSize>(from + done_rows * from_pitch + done_cols * kSize, from_pitch,
                              to + done_cols * to_pitch + done_rows * kSize, to_pitch, rows - done_rows,
                              cols - done_cols, size);
}

// Fetches into the second-level cache. The nearest cache has other uses for its lines, and for its pending misses.
HWY_INLINE void fetch(const byte* line) { __builtin_prefetch(line, 0, 2); }

// Fetches the square's share of the next squares: a line with each column that is transposed, so that memory always has
// requests. Lines that are neighbours in a row are fetched in succession: memory then delivers more than a line at a
// time.
template <int kSize>
HWY_INLINE void fetch_with(int column, const square& s, std::ptrdiff_t from_pitch) {
    constexpr int kLines = lines_of_fetch(kLineBytes / kSize);
    if (s.fetch != nullptr) fetch(s.fetch + column / kLines * from_pitch + column % kLines * kLineBytes);
}

template <int kSize>
void transpose_lines(const square* squares, int count, std::ptrdiff_t from_pitch, std::ptrdiff_t to_pitch) {
    using T = lane_t<kSize>;
    const widest<T> d;
    for (const square* s = squares; s != squares + count; ++s) {
        transpose_square<kSize>(d, s->from, from_pitch, [&](int column, int part, auto v) {
            if (part == 0) fetch_with<kSize>(column, *s, from_pitch);
            hn::Stream(v, d, at<T>(s->to + column * to_pitch + part * bytes_of(d)));
        });
    }
}

// Copies a line or less, and writes nothing beside it: other threads may write there.
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

HWY_INLINE void stream_line(const byte* from, byte* to) {
    const widest<std::uint8_t> d;
    constexpr int kBytes = bytes_of(widest<std::uint8_t>());
    for (int i = 0; i < kLineBytes; i += kBytes) hn::Stream(hn::Load(d, from + i), d, to + i);
}

void stream(const byte* from, byte* to, std::int64_t bytes, const byte* next) {
    const widest<std::uint8_t> d;
    constexpr int kBytes = bytes_of(widest<std::uint8_t>());
    const std::int64_t head = std::min<std::int64_t>(bytes, to_next_line(to));
    copy_part(from, to, head);
    const std::int64_t end = bytes - (bytes - head) % kLineBytes;
    for (std::int64_t i = head; i < end; i += kLineBytes) {
        if (next != nullptr) fetch(next + i);
        for (int part = 0; part < kLineBytes; part += kBytes)
            hn::Stream(hn::LoadU(d, from + i + part), d, to + i + part);
    }
    copy_part(from + end, to + end, bytes - end);
}

template <int kSize>
void transpose_run(const square_run& run, std::ptrdiff_t from_pitch, std::ptrdiff_t to_pitch) {
    constexpr int kSide = kLineBytes / kSize;
    constexpr std::ptrdiff_t kSquareBytes = kSide * kLineBytes;
    const widest<lane_t<kSize>> d;
    int column = 0, its_square = 0;  // of the streamed tile; and row and square of the next line to fetch
    for (int i = 0; i < run.squares; ++i) {
        if (run.from != nullptr) {
            transpose_square<kSize>(d, run.from + i * kLineBytes, from_pitch, [&](int its_column, int part, auto v) {
                byte* const line = run.tile + i * kSquareBytes + its_column * kLineBytes;
                hn::Store(v, d, at<lane_t<kSize>>(line + part * bytes_of(d)));
            });
        }
        for (int k = 0; k < kSide; ++k) {
            if (run.next != nullptr) fetch(run.next + column * from_pitch + its_square * kLineBytes);
            if (run.transposed != nullptr) {
                stream_line(run.transposed + its_square * kSquareBytes + column * kLineBytes,
                            run.to + (its_square * kSide + column) * to_pitch);
            }
            if (++its_square < run.squares) continue;
            its_square = 0;
            ++column;
        }
    }
}

template <int kSize>
void transpose_copied(const copied_squares& squares, std::ptrdiff_t from_pitch, std::ptrdiff_t to_pitch) {
    constexpr int kSide = kLineBytes / kSize, kPieceBytes = kCopiedSquares * kLineBytes;
    constexpr int kAhead = 8;  // rows that fit one set of the second-level cache, and one of the nearest
    const widest<lane_t<kSize>> d;
    for (int i = 0; i < kCopiedSquares; ++i) {
        transpose_square<kSize>(d, squares.copied + i * kLineBytes, kPieceBytes, [&](int column, int part, auto v) {
            byte* const line = squares.to + (i * kSide + column) * to_pitch;
            hn::Stream(v, d, at<lane_t<kSize>>(line + part * bytes_of(d)));
            if (part > 0 || squares.next == nullptr) return;
            const int copied = i * kSide + column, row = copied / kCopiedSquares, ahead = row + kAhead;
            const int in_row = copied % kCopiedSquares * kLineBytes;
            std::memcpy(squares.copy + copied * kLineBytes, squares.next + row * from_pitch + in_row, kLineBytes);
            if (ahead < kSide) {
                fetch(squares.next + ahead * from_pitch + in_row);
            } else if (squares.after != nullptr) {
                fetch(squares.after + (ahead - kSide) * from_pitch + in_row);
            }
        });
    }
}

// Streams one piece of stream_joined(). `to` is where it begins.
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
                   std::int64_t pieces, std::int64_t lines, const byte* next) {
    for (std::int64_t i = 0; i < pieces; ++i, from += from_pitch, to += to_pitch, waiting += kLineBytes) {
        stream_piece(from, to, waiting, lines);
        if (next == nullptr) continue;
        for (std::int64_t line = 0; line < lines; ++line) fetch(next + (i * lines + line) * kLineBytes);
    }
}

#if HWY_TARGET == HWY_AVX3_DL
// A line: the last `within` bytes of `before`, then the first bytes of `now`.
HWY_INLINE hn::Vec<widest<std::uint8_t>> line_of(hn::Vec<widest<std::uint8_t>> before,
                                                 hn::Vec<widest<std::uint8_t>> now, std::ptrdiff_t within) {
    const widest<std::uint8_t> d;
    const auto first = hn::Set(d, static_cast<std::uint8_t>(kLineBytes - within));
    return {_mm512_permutex2var_epi8(before.raw, hn::Add(hn::Iota(d, 0), first).raw, now.raw)};
}

// For squares that are neither the first nor the last: straight from the registers.
template <int kSize>
void transpose_joined_within(const square* squares, int count, std::ptrdiff_t from_pitch, std::ptrdiff_t to_pitch) {
    const widest<lane_t<kSize>> d;
    const widest<std::uint8_t> bytes;
    for (const square* s = squares; s != squares + count; ++s) {
        transpose_square<kSize>(d, s->from, from_pitch, [&](int column, int, auto v) {
            fetch_with<kSize>(column, *s, from_pitch);
            byte *const to = s->to + column * to_pitch, *const waiting = s->waiting + column * kLineBytes;
            const std::ptrdiff_t within = in_line(to);
            const auto before = hn::Load(bytes, waiting), now = hn::BitCast(bytes, v);
            hn::Stream(line_of(before, now, within), bytes, to - within);
            hn::Store(now, bytes, waiting);
        });
    }
}
#endif

// Streams one square while the next one is transposed.
template <int kSize>
void transpose_joined(const square* squares, int count, std::ptrdiff_t from_pitch, std::ptrdiff_t to_pitch) {
    constexpr int kSide = kLineBytes / kSize;
    using T = lane_t<kSize>;
    const widest<T> d;
#if HWY_TARGET == HWY_AVX3_DL
    if (!squares[0].begins && !squares[count - 1].ends)
        return transpose_joined_within<kSize>(squares, count, from_pitch, to_pitch);
#endif
    // There is room before and after each piece, because loads of a piece also read there.
    alignas(kLineBytes) byte tiles[2][(kSide + 2) * kLineBytes];
    for (int i = 0; i <= count; ++i) {
        if (i < count) {
            byte* const tile = tiles[i % 2] + kLineBytes;
            transpose_square<kSize>(d, squares[i].from, from_pitch, [&](int column, int part, auto v) {
                if (part == 0) fetch_with<kSize>(column, squares[i], from_pitch);
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

template <int kSize>
constexpr listed_function streams() {
    if constexpr (kSize <= 8) {
        return stream_listed<kSize>;
    } else {
        return stream_elements<kSize>;
    }
}
// Elements whose size divides a line and a block.
template <int kSize>
kernels in_squares() {
    constexpr transpose_copied_function none = nullptr;  // up to 16 rows fit the caches at any distance
    return {transpose_tile<kSize>,
            gather<kSize>,
            kSize <= 8 ? transpose_listed<kSize> : nullptr,
            streams<kSize>(),
            kSize <= 8 ? kLeastStreamed<kSize> : 1,
            shuffle,
            kShuffledBy,
            transpose_lines<kSize>,
            transpose_run<kSize>,
            kSize <= 2 ? transpose_copied<kSize> : none,
            transpose_joined<kSize>,
            stream,
            stream_joined,
            target()};
}

// Functions that move elements one by one.
struct element_functions {
    transpose_tile_function transpose;
    listed_function gather;
};
template <int kBytes>
constexpr element_functions kBothEnds{transpose_ends<kBytes>, gather_ends<kBytes>};
element_functions functions_for(std::int64_t size) {
    if (size > 128) return {transpose_any, gather_any};
    if (size > 64) return kBothEnds<64>;
    if (size > 32) return kBothEnds<32>;
    if (size > 16) return kBothEnds<16>;
    if (size > 8) return kBothEnds<8>;
    return size > 4 ? kBothEnds<4> : kBothEnds<2>;
}
template <int kSize>
element_functions of_size() {
    return {transpose_elements<kSize>, functions_for(kSize).gather};
}
kernels by_elements(std::int64_t size, element_functions its, listed_function listed = nullptr) {
    return {its.transpose,
            its.gather,
            listed,
            size == 32               ? stream_elements<32>
            : size % kLineBytes == 0 ? stream_elements<0>
                                     : nullptr,
            1,
            shuffle,
            kShuffledBy,
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            stream,
            stream_joined,
            target()};
}

kernels kernels_for(std::int64_t size) {
    switch (size) {
        case 1: return in_squares<1>();
        case 2: return in_squares<2>();
        case 4: return in_squares<4>();
        case 8: return in_squares<8>();
        case 16: return in_squares<16>();
        case 3: return by_elements(3, of_size<3>(), transpose_widened<3>);
        case 6: return by_elements(6, of_size<6>(), transpose_widened<6>);
        case 12: return by_elements(12, of_size<12>());
        case 24: return by_elements(24, of_size<24>());
        case 32: return by_elements(32, of_size<32>());
        default: return by_elements(size, functions_for(size));
    }
}

}  // namespace cornerturn::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
