#include "ops/permute/permute_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kComposite{
    .id = "permute/composite",
    .idea =
        "A tile takes enough axes of each side to give pieces of 128 bytes there: several short axes, and part of a "
        "long one.",
    .change =
        "From tiled: the tile's words are numbered in the source's order and in the destination's. Dividers split "
        "these numbers in find_word(). Short axes leave no lanes idle, and narrow words get wide tiles.",
    .contract = "Any extents and strides. Up to 2147483647 tiles.",
    .bytes = "2 * elements * e, in pieces of 128 bytes on both sides where axes allow",
    .limit =
        "A request moves 32 words even if they are narrow, and each word costs several multiplications. Strides in the "
        "tile that share a factor with the number of banks cause bank conflicts.",
    .source = "Beyond the notes: TTC and cuTT (Hynninen, Lyakh 2017) pack axes in this way.",
};

constexpr int kCompositeLine = 128, kCompositeThreads = 256;

// Words in shared memory: after every 128 bytes come 4 bytes of padding, or one word if words are wider.
template <class T>
constexpr int kPadded = sizeof(T) < 4 ? 4 : static_cast<int>(sizeof(T));
template <class T>
__host__ __device__ __forceinline__ int padded_offset(int word) {
    const int byte = word * static_cast<int>(sizeof(T));
    return byte + byte / 128 * kPadded<T>;
}

template <class T>
__global__ void permute_composite(tile_layout layout) {
    CORNERTURN_DYNAMIC_SHARED(uint4, image);
    unsigned char* const bytes = reinterpret_cast<unsigned char*>(image);
    const tile_start at = start_of(layout, blockIdx.x);
    const int threads = static_cast<int>(blockDim.x);
    for (int i = static_cast<int>(threadIdx.x); i < layout.words; i += threads) {
        const word_at word = find_word(layout.read, layout.rank, at, i);
        if (word.there)
            *reinterpret_cast<T*>(bytes + padded_offset<T>(i)) = *reinterpret_cast<const T*>(at.source + word.offset);
    }
    __syncthreads();  // from here on, a thread reads what others have loaded
    for (int i = static_cast<int>(threadIdx.x); i < layout.words; i += threads) {
        const word_at word = find_word(layout.write, layout.rank, at, i);
        if (word.there)
            *reinterpret_cast<T*>(at.destination + word.offset) =
                *reinterpret_cast<const T*>(bytes + padded_offset<T>(word.place));
    }
}

struct composite {
    template <class T>
    static void run(const tile_layout& layout) {
        launch_tiles(permute_composite<T>, layout, threads_for(layout.words, kCompositeThreads),
                     padded_offset<T>(layout.words));
    }
};

void run_composite(const strided_work& work) {
    const tile_layout layout = layout_of_lines(words_of(work), kCompositeLine);
    if (layout.tiles > 0) run_with_type<composite>(layout.unit, layout);
}

CORNERTURN_RUNG(kComposite, permute_operation(),
                variant<strided_work>{{.name = "", .origin = "-", .element_sizes = kPowersOfTwo}, &run_composite})

}  // namespace CORNERTURN_KERNELS
