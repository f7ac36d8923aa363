#include "ops/convert/convert_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kComposite{
    .id = "convert/composite",
    .idea =
        "A tile takes enough axes of each side to give pieces of 128 bytes there, counted in that side's elements: of "
        "u8 to f32, 128 elements of the source and 32 of the destination.",
    .change =
        "From tiled: the tile's elements are numbered in the source's order and in the destination's. Short axes leave "
        "no lanes idle, and narrow elements get wide tiles.",
    .contract = "Any extents and strides. Up to 2147483647 tiles. The types of naive.",
    .bytes = "elements * (e of the source + e of the destination), in pieces of 128 bytes where axes allow",
    .limit =
        "A request moves 32 elements even if they are narrow, and each element costs several multiplications. Strides "
        "in the tile that share a factor with the number of banks cause bank conflicts.",
    .source = "permute/composite, with a line of its own on each side.",
};

constexpr int kCompositeLine = 128, kCompositeThreads = 256;

// Elements in shared memory: after every 128 bytes come 4 bytes of padding.
template <class T>
__host__ __device__ __forceinline__ int padded_offset(int element) {
    const int byte = element * static_cast<int>(sizeof(T));
    return byte + byte / 128 * 4;
}

template <element_type kFrom, element_type kTo>
__global__ void convert_composite(tile_layout layout, rung_factors by) {
    CORNERTURN_DYNAMIC_SHARED(uint4, image);
    using from = storage_of_t<kFrom>;
    unsigned char* const bytes = reinterpret_cast<unsigned char*>(image);
    const tile_start at = start_of(layout, blockIdx.x);
    const int threads = static_cast<int>(blockDim.x);
    for (int i = static_cast<int>(threadIdx.x); i < layout.words; i += threads) {
        const word_at word = find_word(layout.read, layout.rank, at, i);
        if (word.there)
            *reinterpret_cast<from*>(bytes + padded_offset<from>(i)) =
                *reinterpret_cast<const from*>(at.source + word.offset);
    }
    __syncthreads();  // from here on, a thread reads what others have loaded
    for (int i = static_cast<int>(threadIdx.x); i < layout.words; i += threads) {
        const word_at word = find_word(layout.write, layout.rank, at, i);
        if (word.there)
            *reinterpret_cast<storage_of_t<kTo>*>(at.destination + word.offset) = converted_element<kFrom, kTo>(
                *reinterpret_cast<const from*>(bytes + padded_offset<from>(word.place)), by, at.factor + word.factor);
    }
}

struct composite {
    template <element_type kFrom, element_type kTo>
    static void run(const tile_layout& layout, const rung_factors& by) {
        launch_tiles(convert_composite<kFrom, kTo>, layout, threads_for(layout.words, kCompositeThreads),
                     padded_offset<storage_of_t<kFrom>>(layout.words), by);
    }
};

void run_composite(const strided_work& work) {
    const tile_layout layout = layout_of_lines(words_of(work), kCompositeLine);
    if (layout.tiles > 0) run_with_pair<composite>(work.cast, layout, rung_factors(work));
}

CORNERTURN_RUNG(kComposite, convert_operation(),
                variant<strided_work>{{.name = "", .origin = "-", .element_sizes = kAnyElementSize}, &run_composite})

}  // namespace CORNERTURN_KERNELS
