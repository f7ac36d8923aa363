#include "ops/permute/permute_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kVectors{
    .id = "permute/vectors",
    .idea =
        "Composite tiles that are read in vectors of 16 bytes. For the write, a thread gathers each vector from the "
        "words of the tile.",
    .change =
        "From composite: a quarter to a sixteenth of the requests to memory. Shared memory is swizzled by "
        "exclusive-or, not padded, so its vectors stay aligned.",
    .contract =
        "Any extents and strides, if the pieces of both sides are aligned to 16 bytes and hold whole vectors. Up to "
        "2147483647 tiles. Single words at the edge.",
    .bytes = "2 * elements * e, in pieces of 128 bytes on both sides where axes allow",
    .limit = "Alignment: an odd extent rules it out. A thread also looks up the words of a vector one by one.",
    .source = "transpose/swizzled@64x64, with composite tiles.",
};

constexpr int kVectorsLine = 128, kVectorsThreads = 256;

// The position of a word, in bytes. The swizzle permutes the eight vectors of each 128-byte line, and changes every
// kWords lines. So lanes that read words kWords lines apart read from different banks.
template <class T>
__device__ __forceinline__ int swizzled_offset(int word) {
    constexpr int kWords = 16 / static_cast<int>(sizeof(T));
    const int byte = word * static_cast<int>(sizeof(T)), piece = byte / 128;
    return byte ^ (piece / kWords & 7) << 4;
}

// 16 bytes made of the words that word(0), word(1), ... return.
template <class T, class Word>
__device__ __forceinline__ uint4 vector_of(Word word) {
    if constexpr (sizeof(T) == 16) {
        return word(0);
    } else if constexpr (sizeof(T) == 8) {
        const std::uint64_t a = word(0), b = word(1);
        return make_uint4(static_cast<unsigned>(a), static_cast<unsigned>(a >> 32), static_cast<unsigned>(b),
                          static_cast<unsigned>(b >> 32));
    } else {
        constexpr int kWords = 4 / static_cast<int>(sizeof(T));  // words in a 4-byte part of the vector
        unsigned parts[4] = {};
        CORNERTURN_UNROLL
        for (int i = 0; i < 4 * kWords; ++i)
            parts[i / kWords] |= static_cast<unsigned>(word(i)) << i % kWords * 8 * static_cast<int>(sizeof(T));
        return make_uint4(parts[0], parts[1], parts[2], parts[3]);
    }
}

template <class T>
__global__ void permute_vectors(tile_layout layout) {
    CORNERTURN_DYNAMIC_SHARED(uint4, image);
    unsigned char* const bytes = reinterpret_cast<unsigned char*>(image);
    const auto word = [=](int place) { return reinterpret_cast<T*>(bytes + swizzled_offset<T>(place)); };
    const tile_start at = start_of(layout, blockIdx.x);
    constexpr int kWords = 16 / static_cast<int>(sizeof(T));
    const int threads = static_cast<int>(blockDim.x);
    // The words of a vector are contiguous: if the last one is in the tensor, all are.
    for (int i = static_cast<int>(threadIdx.x) * kWords; i < layout.words; i += threads * kWords) {
        const unsigned char* const from = at.source + find_word(layout.read, layout.rank, at, i).offset;
        if (find_word(layout.read, layout.rank, at, i + (kWords - 1)).there) {
            *reinterpret_cast<uint4*>(word(i)) = *reinterpret_cast<const uint4*>(from);
            continue;
        }
        for (int k = 0; k < kWords; ++k) {
            if (find_word(layout.read, layout.rank, at, i + k).there)
                *word(i + k) = reinterpret_cast<const T*>(from)[k];
        }
    }
    __syncthreads();  // from here on, a thread reads what others have loaded
    for (int i = static_cast<int>(threadIdx.x) * kWords; i < layout.words; i += threads * kWords) {
        unsigned char* const to = at.destination + find_word(layout.write, layout.rank, at, i).offset;
        if (find_word(layout.write, layout.rank, at, i + (kWords - 1)).there) {
            *reinterpret_cast<uint4*>(to) =
                vector_of<T>([&](int k) { return *word(find_word(layout.write, layout.rank, at, i + k).place); });
            continue;
        }
        for (int k = 0; k < kWords; ++k) {
            const word_at one = find_word(layout.write, layout.rank, at, i + k);
            if (one.there) reinterpret_cast<T*>(to)[k] = *word(one.place);
        }
    }
}

struct vectors {
    template <class T>
    static void run(const tile_layout& layout) {
        const int bytes = layout.words * static_cast<int>(sizeof(T));
        launch_tiles(permute_vectors<T>, layout, threads_for(layout.words * layout.unit / 16, kVectorsThreads),
                     (bytes + 127) / 128 * 128);
    }
};

void run_vectors(const strided_work& work) {
    const tile_layout layout = layout_of_lines(words_of(work), kVectorsLine);
    if (layout.tiles == 0) return;
    if (!layout.read_vectors || !layout.write_vectors)
        decline("pieces of both sides are not aligned to 16 bytes: permute/composite moves them");
    run_with_type<vectors>(layout.unit, layout);
}

CORNERTURN_RUNG(kVectors, permute_operation(),
                variant<strided_work>{{.name = "", .origin = "-", .element_sizes = kPowersOfTwo}, &run_vectors})

}  // namespace CORNERTURN_KERNELS
