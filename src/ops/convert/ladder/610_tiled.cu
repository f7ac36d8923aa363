#include "ops/convert/convert_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kTiled{
    .id = "convert/tiled",
    .idea =
        "Tiles of 32 x 32 elements, over the fastest axis of the source and that of the destination, go through shared "
        "memory as they are. Threads convert them on the way out.",
    .change = "From naive: warps read along the source's fastest axis and write along the destination's.",
    .contract =
        "Any extents and strides, if the two sides have different fastest axes. Up to 2147483647 tiles. The types of "
        "naive.",
    .bytes = "elements * (e of the source + e of the destination), in whole sectors where both axes are long",
    .limit =
        "Narrow elements: a warp reads 32 bytes of u8 at once. Short axes: with 3 channels a tile is 32 x 3, and most "
        "of a warp idles. Each element is converted by itself.",
    .source = "permute/tiled, with a conversion between shared memory and the store.",
};

constexpr int kTile = 32, kTileRows = 8;

template <element_type kFrom, element_type kTo>
__global__ void convert_tiled(tile_layout layout, rung_factors by) {
    using from = storage_of_t<kFrom>;
    __shared__ from tile[kTile][kTile + 1];  // the padding puts elements of 4 bytes of a column in different banks
    const tile_start at = start_of(layout, blockIdx.x);
    const unsigned lane = threadIdx.x % kTile, warp = threadIdx.x / kTile;
    // read[0] is the source's fastest axis, write[0] the destination's.
    const inner_digit &across = layout.read[0], &along = layout.write[0];
    for (unsigned i = warp; i < along.by.d; i += kTileRows) {
        if (lane < across.by.d && at.has(across, lane) && at.has(along, i))
            tile[i][lane] =
                *reinterpret_cast<const from*>(at.source + lane * across.stride + layout.read[1].stride * i);
    }
    __syncthreads();  // from here on, a thread reads what others have loaded
    for (unsigned i = warp; i < across.by.d; i += kTileRows) {
        if (lane < along.by.d && at.has(along, lane) && at.has(across, i))
            *reinterpret_cast<storage_of_t<kTo>*>(at.destination + lane * along.stride + layout.write[1].stride * i) =
                converted_element<kFrom, kTo>(tile[lane][i], by, at.factor + lane * along.factor + across.factor * i);
    }
}

struct tiled {
    template <element_type kFrom, element_type kTo>
    static void run(const tile_layout& layout, const rung_factors& by) {
        launch_tiles(convert_tiled<kFrom, kTo>, layout, kTile * kTileRows, 0, by);
    }
};

void run_tiled(const strided_work& work) {
    const char* why = nullptr;
    const tile_layout layout = layout_of_two_axes(words_of(work), kTile, why);
    if (why != nullptr) decline(why);
    if (layout.tiles > 0) run_with_pair<tiled>(work.cast, layout, rung_factors(work));
}

CORNERTURN_RUNG(kTiled, convert_operation(),
                variant<strided_work>{{.name = "", .origin = "-", .element_sizes = kAnyElementSize}, &run_tiled})

}  // namespace CORNERTURN_KERNELS
