// A tile that is read and written in 16-byte vectors. transpose_vector and transpose_vector_in_place are
// made of it.
//
// In shared memory the tile's rows follow each other. A group is kRows rows, as many as a vector has elements. Vector v
// of the tile is at v ^ swizzle(its group), within the same line of 128 bytes. A warp writes whole lines, so its writes
// have no bank conflicts. It reads words of up to 16 groups and of neighbouring columns at a time. Reads have no
// conflicts either, except for words of 4 bytes and 16 groups: there, two lanes want different words of one bank.
//
// A warp's store instruction writes 256 bytes of a row of the destination, if the tile has as many. This suits memory
// better than 128 bytes of twice as many rows, even if the other 128 follow soon (docs/experiments/transpose.md).
#pragma once

#include "move/kernels/bytes.hpp"

namespace CORNERTURN_KERNELS {

template <int kElement>
union elements_of_vector {
    uint4 vector;
    storage_t<kElement> elements[kVectorBytes / kElement];
};

// The first `count` elements of a vector.
template <int kElement>
__device__ __forceinline__ uint4 first_elements(const byte* from, int count) {
    elements_of_vector<kElement> value{};
    CORNERTURN_UNROLL
    for (int i = 0; i < kVectorBytes / kElement; ++i) {
        if (i < count) value.elements[i] = value_at<storage_t<kElement>>(from + i * kElement);
    }
    return value.vector;
}

// Makes vectors of elements as they are.
template <int kElement>
struct moved_vectors {
    static constexpr int kUnit = kElement, kSourceUnit = kElement;
    read_policy read;

    __device__ __forceinline__ uint4 vector(const byte* from, int, int) const {
        return read.load(reinterpret_cast<const uint4*>(from));
    }
    __device__ __forceinline__ uint4 first(const byte* from, int count, int, int) const {
        return first_elements<kElement>(from, count);
    }
};

template <int kElement, int kTileRows, int kTileCols, int kThreads>
struct vector_tile {
    using moved = moved_vectors<kElement>;
    static constexpr int kRows = kVectorBytes / kElement;  // source rows that make a vector of the destination
    static constexpr int kVectorsPerRow = kTileCols / kRows, kGroups = kTileRows / kRows;
    static constexpr int kVectors = kTileRows * kVectorsPerRow;
    static constexpr int kBytes = kVectors * kVectorBytes;
    static constexpr int kVectorsPerLine = 8;  // of banks
    static constexpr int kWord = kWordBytes<kElement>, kWordsPerRow = kTileCols * kElement / kWord;
    static constexpr int kLanesDown = kGroups < 8 ? kGroups : 8;             // lanes that read without bank conflicts
    static constexpr int kGroupsDown = kGroups % 16 == 0 ? 16 : kLanesDown;  // groups that a warp reads at a time
    static constexpr int kLanesAcross = 32 / kGroupsDown;
    static constexpr int kRowsAtOnce = kThreads / kVectorsPerRow;  // that a block loads
    static constexpr int kWarpsDown = kGroups / kGroupsDown;       // that store a column of words
    static constexpr int kWordsAtOnce = kThreads / 32 / kWarpsDown * kLanesAcross;
    static_assert(kThreads % kVectorsPerRow == 0 && kThreads / 32 % kWarpsDown == 0);
    static_assert(kVectors % kThreads == 0 && kGroups * kWordsPerRow % kThreads == 0);
    static_assert(kGroups % kGroupsDown == 0 && kGroupsDown % kLanesDown == 0 && kWordsPerRow % kLanesAcross == 0);
    static_assert(kVectorsPerRow % kVectorsPerLine == 0 || kVectorsPerLine % kVectorsPerRow == 0);
    static_assert(kVectors % kVectorsPerLine == 0, "vectors are swizzled within whole lines");

    // Loads a tile at `source`, of which rows x cols elements exist; all of it if kWhole. move.vector(from, row, col)
    // makes a vector, and move.first(from, count, row, col) its first elements. Rows and columns count from the tile's
    // first.
    template <bool kWhole, class Move>
    static __device__ __forceinline__ void load(const byte* source, std::int64_t ld, std::int64_t rows,
                                                std::int64_t cols, uint4* tile, const Move& move) {
        constexpr int kSource = Move::kSourceUnit;
        // Steps of constant distances: otherwise the compiler would compute each row's address anew.
        const int thread = static_cast<int>(threadIdx.x);
        const int row0 = thread / kVectorsPerRow, col = thread % kVectorsPerRow * kRows;
        const byte* const from0 = source + row0 * ld * kSource + col * kSource;
        const std::int64_t step = kRowsAtOnce * ld * kSource;
        uint4 vectors[kVectors / kThreads];
        CORNERTURN_UNROLL
        for (int i = 0; i < kVectors / kThreads; ++i) {
            const int row = row0 + i * kRowsAtOnce;
            const byte* const from = from0 + i * step;
            if (kWhole || (row < rows && col + kRows <= cols)) {
                vectors[i] = move.vector(from, row, col);
            } else if (row < rows && col < cols) {
                vectors[i] = move.first(from, static_cast<int>(cols - col), row, col);
            }
        }
        CORNERTURN_UNROLL
        for (int i = 0; i < kVectors / kThreads; ++i) {
            const int row = row0 + i * kRowsAtOnce;
            if (kWhole || (row < rows && col < cols)) tile[(thread + i * kThreads) ^ swizzle(row / kRows)] = vectors[i];
        }
    }

    // Writes what load() read, transposed. `destination` is where the tile begins.
    template <bool kWhole>
    static __device__ __forceinline__ void store(byte* destination, std::int64_t ld, std::int64_t rows,
                                                 std::int64_t cols, const uint4* tile, result_policy result) {
        using columns = packed_columns<kElement>;
        const int lane = static_cast<int>(threadIdx.x % 32), eighth = lane / kLanesDown;
        const int down = eighth / kLanesAcross * kLanesDown + lane % kLanesDown, across = eighth % kLanesAcross;
        const int warp = static_cast<int>(threadIdx.x / 32);
        const int group = warp % kWarpsDown * kGroupsDown + down, row = group * kRows;
        const int word0 = warp / kWarpsDown * kLanesAcross + across;
        const std::int64_t pitch = ld * kElement;
        byte* const to0 = destination + row * kElement + word0 * columns::kColumns * pitch;
        CORNERTURN_UNROLL
        for (int i = 0; i < kGroups * kWordsPerRow / kThreads; ++i) {
            const int word = word0 + i * kWordsAtOnce, col = word * columns::kColumns;
            if (!kWhole && (row >= rows || col >= cols)) continue;
            const int v = (row * kVectorsPerRow + word * kWord / kVectorBytes) ^ swizzle(group);
            const byte* const in_vector = reinterpret_cast<const byte*>(tile) + word * kWord % kVectorBytes;
            word_t<kElement> words[kRows];
            CORNERTURN_UNROLL
            for (int r = 0; r < kRows; ++r) {
                // The position of row r's vector differs from row 0's only by r's bits. Bits above a line are a
                // constant offset.
                constexpr int kInLine = kVectorsPerLine - 1;
                const int in_line = r * kVectorsPerRow & kInLine, lines = r * kVectorsPerRow & ~kInLine;
                if (kWhole || row + r < rows) {
                    words[r] =
                        value_at<word_t<kElement>>(in_vector + (v ^ in_line) * kVectorBytes + lines * kVectorBytes);
                } else {
                    words[r] = {};
                }
            }
            const columns packed(words);
            CORNERTURN_UNROLL
            for (int k = 0; k < columns::kColumns; ++k) {
                byte* const to = to0 + (i * kWordsAtOnce * columns::kColumns + k) * pitch;
                if (kWhole || (col + k < cols && row + kRows <= rows)) {
                    result.store(reinterpret_cast<uint4*>(to), packed.vectors[k]);
                } else if (col + k < cols) {
                    store_first(to, packed.vectors[k], static_cast<int>(rows - row));
                }
            }
        }
    }

private:
    // The groups that a warp reads at a time are in different parts of a line of banks.
    static __device__ __forceinline__ int swizzle(int group) {
        return group % kLanesDown * (kVectorsPerLine / kLanesDown);
    }

    static __device__ __forceinline__ void store_first(byte* to, uint4 vector, int count) {
        const elements_of_vector<kElement> value{vector};
        CORNERTURN_UNROLL
        for (int i = 0; i < kRows; ++i) {
            if (i < count) reinterpret_cast<storage_t<kElement>*>(to)[i] = value.elements[i];
        }
    }
};

}  // namespace CORNERTURN_KERNELS
