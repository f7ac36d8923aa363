// Rows and columns at any positions, given in lists. Compiled once for each instruction set, like the file that
// includes it.
#if defined(CORNERTURN_HOST_LISTED_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CORNERTURN_HOST_LISTED_INL
#undef CORNERTURN_HOST_LISTED_INL
#else
#define CORNERTURN_HOST_LISTED_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "host/squares-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace cornerturn::host::HWY_NAMESPACE {
namespace {

// Prefetches lines while others are moved: after a quarter of the rows, a quarter of the lines, and so on.
class fetched_with {
public:
    fetched_with(const fetched_lines& what, std::int64_t rows) : what_(what), rows_(rows) {}

    HWY_INLINE void after(std::int64_t rows) {
        if (what_.count == 0) return;
        const std::int64_t until = what_.count * rows / rows_;
        fetch(what_, done_, until);
        done_ = until;
    }

private:
    const fetched_lines& what_;
    std::int64_t rows_, done_ = 0;
};

// copy(to, from) copies an element. end(to, from) copies the last of contiguous elements.
template <class Copy, class End>
HWY_INLINE void gather_by(const listed_move& m, Copy copy, End end) {
    fetched_with fetched(m.fetch, m.rows);
    // Local copies: the compiler must assume that a store of bytes changes the members of `m`.
    const std::ptrdiff_t step = m.step, size = m.size;
    const std::int64_t at_a_time = gathered_rows(m.cols), cols = m.cols, all = m.rows;
    const std::ptrdiff_t* const cols_at = m.cols_at;
    if (all == 1) {
        const byte* from = m.from + m.rows_at[0];
        byte* const to = m.to;
        std::int64_t col = 0;
        for (; col + 4 <= cols; col += 4, from += 4 * size) {
            HWY_UNROLL(4)
            for (int i = 0; i < 4; ++i) end(to + cols_at[col + i], from + i * size);
        }
        for (; col < cols; ++col, from += size) end(to + cols_at[col], from);
        return fetched.after(1);
    }
    for (std::int64_t first = 0; first < all; first += at_a_time) {
        const std::int64_t rows = std::min(at_a_time, all - first);
        const std::int64_t whole = first + rows < all ? rows : rows - 1;
        const std::ptrdiff_t* const at = m.rows_at + first;
        const byte* from = m.from;
        for (std::int64_t col = 0; col < cols; ++col, from += size) {
            byte* to = m.to + cols_at[col] + first * step;
            std::int64_t row = 0;
            for (; row + 4 <= whole; row += 4, to += 4 * step) {
                HWY_UNROLL(4)
                for (int i = 0; i < 4; ++i) copy(to + i * step, from + at[row + i]);
            }
            for (; row < whole; ++row, to += step) copy(to, from + at[row]);
            if (row < rows) end(to, from + at[row]);
        }
        fetched.after(first + rows);
    }
}

template <int kBytes>
HWY_INLINE void copy_bytes(byte* to, const byte* from) {
    std::memcpy(to, from, kBytes);
}

template <int kSize>
void gather(const listed_move& m) {
    gather_by(m, copy_bytes<kSize>, copy_bytes<kSize>);
}

// Copies elements of kBytes to 2 * kBytes bytes with two accesses that may overlap, one at each end.
template <int kBytes>
HWY_INLINE auto both_ends(std::ptrdiff_t size) {
    const std::ptrdiff_t second = size - kBytes;
    return [=](byte* to, const byte* from) {
        byte ends[2][kBytes];
        std::memcpy(ends[0], from, kBytes);
        std::memcpy(ends[1], from + second, kBytes);
        std::memcpy(to, ends[0], kBytes);
        std::memcpy(to + second, ends[1], kBytes);
    };
}

// The same; or it also copies what follows an element, which the next element overwrites.
template <int kBytes>
void gather_ends(const listed_move& m) {
    const auto ends = both_ends<kBytes>(m.size);
    constexpr int kLooseBytes = 2 * kBytes;
    if (kLooseBytes <= 32 && m.loose && m.step == m.size) return gather_by(m, copy_bytes<kLooseBytes>, ends);
    gather_by(m, ends, ends);
}

inline void gather_any(const listed_move& m) {
    const auto size = static_cast<std::size_t>(m.size);
    const auto copy = [=](byte* to, const byte* from) { std::memcpy(to, from, size); };
    gather_by(m, copy, copy);
}

#if HWY_TARGET == HWY_SCALAR

template <int kSize>
constexpr listed_function transpose_listed = nullptr;
template <int kSize>
constexpr listed_function stream_listed = nullptr;
template <int kSize>
constexpr listed_function stream_elements = nullptr;
template <int kSize>
constexpr std::int64_t kLeastStreamed = 0;
template <int kSize>
constexpr listed_function transpose_widened = nullptr;

#else

// Loads a block from a row that is shorter than a block. Reads beyond the row only within the same page.
HWY_INLINE hn::Vec<block_tag> load_part(const byte* from, std::size_t bytes) {
    const block_tag d;
#if !defined(__SANITIZE_ADDRESS__)
    constexpr std::uintptr_t kPage = 4096;
    if (HWY_LIKELY((reinterpret_cast<std::uintptr_t>(from) & (kPage - 1)) <= kPage - kBlockBytes))
        return hn::LoadU(d, from);
#endif
    alignas(kBlockBytes) byte part[kBlockBytes] = {};
    std::memcpy(part, from, bytes);
    return hn::Load(d, part);
}

// As many rows as a vector of D has elements, and all columns.
template <int kSize, class D>
HWY_INLINE void transpose_listed_rows(D d, const byte* from, const std::ptrdiff_t* rows_at, byte* to,
                                      const std::ptrdiff_t* cols_at, std::int64_t cols) {
    constexpr int kCols = kBlockBytes / kSize;
    using T = hn::TFromD<D>;
    if (cols < kCols) {
        const auto bytes = static_cast<std::size_t>(cols * kSize);
        return transpose_block<kSize>(
            d, [&](std::int64_t row) { return load_part(from + rows_at[row], bytes); },
            [&](int col, auto v) {
                if (col < cols) hn::StoreU(v, d, at<T>(to + cols_at[col]));
            });
    }
    std::int64_t col = 0;
    if constexpr (bytes_of(D()) == kLineBytes) {
        constexpr int kSide = kLineBytes / kSize;
        for (; col + kSide <= cols; col += kSide) {
            transpose_square<kSize>(
                d, [&](std::int64_t row) { return from + rows_at[row] + col * kSize; },
                [&](int column, int, auto v) { hn::StoreU(v, d, at<T>(to + cols_at[col + column])); });
        }
    }
    const auto block = [&] {
        transpose_block<kSize>(
            d, [&](std::int64_t row) { return hn::LoadU(block_tag(), from + rows_at[row] + col * kSize); },
            [&](int column, auto v) { hn::StoreU(v, d, at<T>(to + cols_at[col + column])); });
    };
    for (; col + kCols <= cols; col += kCols) block();
    if (col < cols) {
        col = cols - kCols;  // some columns a second time
        block();
    }
}

template <int kSize>
void transpose_listed(const listed_move& m) {
    using T = lane_t<kSize>;
    constexpr int kRows = kBlockBytes / kSize, kAtATime = kRows * bytes_of(widest<T>()) / kBlockBytes;
    const widest<T> d;
    const hn::FixedTag<T, kBlockBytes / sizeof(T)> one;
    fetched_with fetched(m.fetch, m.rows);
    const auto move = [&](auto tag, std::int64_t row) {
        transpose_listed_rows<kSize>(tag, m.from, m.rows_at + row, m.to + row * kSize, m.cols_at, m.cols);
    };
    std::int64_t row = 0;
    for (; row + kAtATime <= m.rows; row += kAtATime) {
        move(d, row);
        fetched.after(row + kAtATime);
    }
    if (row < m.rows && m.rows >= kAtATime) {
        move(d, m.rows - kAtATime);  // some rows a second time
    } else {
        for (; row + kRows <= m.rows; row += kRows) move(one, row);
        if (row < m.rows) move(one, m.rows - kRows);
    }
    fetched.after(m.rows);
}

// Like transpose_listed(), but straight past the caches. Rows fill lines; `to` and all columns begin lines.
template <int kSize>
void stream_listed(const listed_move& m) {
    using T = lane_t<kSize>;
    constexpr int kSide = kLineBytes / kSize, kCols = kBlockBytes / kSize;
    const widest<T> d;
    fetched_with fetched(m.fetch, m.rows);
    for (std::int64_t row = 0; row < m.rows; row += kSide) {
        const std::ptrdiff_t* const rows_at = m.rows_at + row;
        byte* const to = m.to + row * kSize;
        const auto square = [&](std::int64_t col) {
            transpose_square<kSize>(
                d, [&](std::int64_t i) { return m.from + rows_at[i] + col * kSize; },
                [&](int column, int part, auto v) {
                    hn::Stream(v, d, at<T>(to + m.cols_at[col + column] + part * bytes_of(d)));
                });
        };
        std::int64_t col = 0;
        for (; col + kSide <= m.cols; col += kSide) square(col);
        if constexpr (bytes_of(d) == kLineBytes) {
            for (; col < m.cols; col += kCols) {
                const std::int64_t cols = std::min<std::int64_t>(kCols, m.cols - col);
                const auto load = [&](std::int64_t i) {
                    const byte* const from = m.from + rows_at[i] + col * kSize;
                    return cols < kCols ? load_part(from, static_cast<std::size_t>(cols * kSize))
                                        : hn::LoadU(block_tag(), from);
                };
                transpose_block<kSize>(d, load, [&](int column, auto v) {
                    if (column < cols) hn::Stream(v, d, at<T>(to + m.cols_at[col + column]));
                });
            }
        } else if (col < m.cols) {
            square(m.cols - kSide);  // some columns a second time
        }
        fetched.after(row + kSide);
    }
}
// The same for elements of kSize bytes, 16 or 32. kSize 0: elements of whole lines.
template <int kSize>
void stream_elements(const listed_move& m) {
    constexpr int kRows = kSize > 0 ? kLineBytes / kSize : 1;
    const widest<std::uint8_t> d;
    constexpr int kBytes = bytes_of(d);
    fetched_with fetched(m.fetch, m.rows);
    for (std::int64_t row = 0; row < m.rows; row += kRows) {
        const std::ptrdiff_t* const rows_at = m.rows_at + row;
        byte* const to = m.to + row * m.step;
        for (std::int64_t col = 0; col < m.cols; ++col) {
            const byte* const from = m.from + col * m.size;
            byte* const line = to + m.cols_at[col];
            if constexpr (kSize > 0) {
                const auto load = [&](std::int64_t block) {
                    constexpr int kBlocks = kSize / kBlockBytes;
                    return hn::LoadU(block_tag(), from + rows_at[block / kBlocks] + block % kBlocks * kBlockBytes);
                };
                for (int i = 0; i < kLineBytes; i += kBytes)
                    hn::Stream(load_blocks(d, load, i / kBlockBytes, 1), d, line + i);
            } else {
                for (std::int64_t i = 0; i < m.size; i += kBytes)
                    hn::Stream(hn::LoadU(d, from + rows_at[0] + i), d, line + i);
            }
        }
        fetched.after(row + kRows);
    }
}

// The least columns that it needs.
template <int kSize>
constexpr std::int64_t kLeastStreamed = bytes_of(widest<lane_t<kSize>>()) == kLineBytes ? 1 : kLineBytes / kSize;

// ---- Elements of 3 and 6 bytes: vectors handle them as 4 and 8 bytes ------------------------------------------------

// Widens each block's elements of kSize bytes to the next power of two; and the reverse.
template <int kSize, class D>
HWY_INLINE hn::Vec<D> widen(D d, hn::Vec<D> v) {
    constexpr int kWide = kSize == 3 ? 4 : 8;
    alignas(kBlockBytes) std::uint8_t from[kBlockBytes];
    for (int i = 0; i < kBlockBytes; ++i)
        from[i] = static_cast<std::uint8_t>(i % kWide < kSize ? i / kWide * kSize + i % kWide : 0);
    return hn::TableLookupBytes(v, hn::LoadDup128(d, from));
}

// Across all blocks: the first 3/4 of the vector then holds elements of kSize bytes.
template <int kSize, class D>
HWY_INLINE hn::Vec<D> narrow(D d, hn::Vec<D> v) {
    constexpr int kWide = kSize == 3 ? 4 : 8, kNarrow = kBlockBytes / 4 * 3;
    alignas(kBlockBytes) std::uint8_t from[kBlockBytes];
    for (int i = 0; i < kBlockBytes; ++i)
        from[i] = static_cast<std::uint8_t>(i < kNarrow ? i / kSize * kWide + i % kSize : 0);
    const auto blocks = hn::TableLookupBytes(v, hn::LoadDup128(d, from));
    if constexpr (bytes_of(D()) == kBlockBytes) {
        return blocks;
    } else {
        const hn::Repartition<std::uint32_t, D> lanes;
        constexpr int kLanes = bytes_of(D()) / 4;
        alignas(kLineBytes) std::int32_t order[kLanes];
        for (int i = 0; i < kLanes; ++i) order[i] = i < kLanes / 4 * 3 ? i / 3 * 4 + i % 3 : 0;
        return hn::BitCast(d, hn::TableLookupLanes(hn::BitCast(lanes, blocks), hn::SetTableIndices(lanes, order)));
    }
}

// As many rows from `row` on as a vector of D has, or as exist, and all columns.
template <int kSize, bool kLoose, class D>
HWY_INLINE void transpose_widened_rows(D bytes, const listed_move& m, std::int64_t row) {
    constexpr int kWide = kSize == 3 ? 4 : 8, kCols = kBlockBytes / kWide, kBytes = bytes_of(D());
    constexpr int kRows = kBytes / kWide;
    const std::int64_t last_row = m.rows - 1;
    const auto written = static_cast<std::size_t>(std::min<std::int64_t>(kRows, m.rows - row) * kSize);
    const hn::Repartition<lane_t<kWide>, D> d;
    // A vector may write past its rows if later rows overwrite those bytes.
    const bool loose = (m.rows - row) * kSize >= kBytes;
    for (std::int64_t first = 0; first < m.cols; first += kCols) {
        const std::int64_t col = m.cols < kCols ? 0 : std::min<std::int64_t>(first, m.cols - kCols);
        const std::int64_t cols = std::min<std::int64_t>(m.cols, kCols);
        const auto load = [&](std::int64_t i) {
            const std::int64_t of = kBytes > kBlockBytes ? row + i : std::min(row + i, last_row);
            const byte* const from = m.from + m.rows_at[of] + col * kSize;
            if constexpr (kLoose) return hn::LoadU(block_tag(), from);
            return load_part(from, static_cast<std::size_t>(cols * kSize));
        };
        hn::Vec<decltype(d)> rows[kCols];
        HWY_UNROLL(4)
        for (int i = 0; i < kCols; ++i)
            rows[i] = hn::BitCast(d, widen<kSize>(bytes, load_blocks(bytes, load, i, kCols)));
        interleave<kCols>(d, rows);
        HWY_UNROLL(4)
        for (int i = 0; i < kCols; ++i) {
            if (i >= cols) continue;
            const auto v = narrow<kSize>(bytes, hn::BitCast(bytes, rows[i]));
            byte* const to = m.to + m.cols_at[col + i] + row * kSize;
            if (loose) {
                hn::StoreU(v, bytes, to);
            } else {
                alignas(kLineBytes) byte last[kBytes];
                hn::Store(v, bytes, last);
                // Lengths that the compiler knows: all rows, or the few that exist.
                if (written == kRows * kSize) {
                    std::memcpy(to, last, kRows * kSize);
                    continue;
                }
                if constexpr (kRows > 2) {
                    if (written == 3 * kSize) std::memcpy(to, last, 3 * kSize);
                    if (written == 2 * kSize) std::memcpy(to, last, 2 * kSize);
                }
                if (written == kSize) std::memcpy(to, last, kSize);
            }
        }
    }
}

template <int kSize, bool kLoose>
HWY_INLINE void transpose_widened_by(const listed_move& m) {
    constexpr int kWide = kSize == 3 ? 4 : 8, kFew = kBlockBytes / kWide,
                  kRows = bytes_of(widest<std::uint8_t>()) / kWide;
    const widest<std::uint8_t> d;
    const block_tag one;
    fetched_with fetched(m.fetch, m.rows);
    std::int64_t row = 0;
    for (; row + kRows <= m.rows; row += kRows) {
        transpose_widened_rows<kSize, kLoose>(d, m, row);
        fetched.after(row + kRows);
    }
    if (row < m.rows && m.rows >= kRows) {
        transpose_widened_rows<kSize, kLoose>(d, m, m.rows - kRows);  // some rows a second time
    } else {
        for (; row + kFew <= m.rows; row += kFew) transpose_widened_rows<kSize, kLoose>(one, m, row);
        if (row < m.rows) transpose_widened_rows<kSize, kLoose>(one, m, std::max<std::int64_t>(0, m.rows - kFew));
    }
    fetched.after(m.rows);
}

template <int kSize>
void transpose_widened(const listed_move& m) {
    if (m.loose) return transpose_widened_by<kSize, true>(m);
    transpose_widened_by<kSize, false>(m);
}

#endif

}  // namespace
}  // namespace cornerturn::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
