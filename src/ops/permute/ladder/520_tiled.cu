#include "ops/permute/permute_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kTiled{
    .id = "permute/tiled",
    .idea =
        "Tiles of 32 x 32 words, over the fastest axis of the source and that of the destination, go through shared "
        "memory. This transposes each of many planes.",
    .change = "From merged: warps read along the source's fastest axis and write along the destination's.",
    .contract = "Any extents and strides, if the two sides have different fastest axes. Up to 2147483647 tiles.",
    .bytes = "2 * elements * e, in whole sectors where both axes are long",
    .limit =
        "Short axes: with 3 channels a tile is 32 x 3, most of a warp idles, and pieces in memory are 12 bytes. Words "
        "of 1 and 2 bytes: a warp moves only 32 or 64 bytes at once.",
    .source = "transpose/padded@32x8, plus an index for the axes outside the tile.",
};

constexpr int kTile = 32, kTileRows = 8;

template <class T>
__global__ void permute_tiled(tile_layout layout) {
    __shared__ T tile[kTile][kTile + 1];  // the padding puts the elements of a column in different banks
    const tile_start at = start_of(layout, blockIdx.x);
    const unsigned lane = threadIdx.x % kTile, warp = threadIdx.x / kTile;
    // read[0] is the source's fastest axis, write[0] the destination's.
    const inner_digit &across = layout.read[0], &along = layout.write[0];
    for (unsigned i = warp; i < along.by.d; i += kTileRows) {
        if (lane < across.by.d && at.has(across, lane) && at.has(along, i))
            tile[i][lane] = *reinterpret_cast<const T*>(at.source + lane * across.stride + layout.read[1].stride * i);
    }
    __syncthreads();  // from here on, a thread reads what others have loaded
    for (unsigned i = warp; i < across.by.d; i += kTileRows) {
        if (lane < along.by.d && at.has(along, lane) && at.has(across, i))
            *reinterpret_cast<T*>(at.destination + lane * along.stride + layout.write[1].stride * i) = tile[lane][i];
    }
}

struct tiled {
    template <class T>
    static void run(const tile_layout& layout) {
        launch_tiles(permute_tiled<T>, layout, kTile * kTileRows, 0);
    }
};

void run_tiled(const strided_work& work) {
    const char* why = nullptr;
    const tile_layout layout = layout_of_two_axes(words_of(work), kTile, why);
    if (why != nullptr) decline(why);
    if (layout.tiles > 0) run_with_type<tiled>(layout.unit, layout);
}

CORNERTURN_RUNG(kTiled, permute_operation(),
                variant<strided_work>{{.name = "", .origin = "-", .element_sizes = kPowersOfTwo}, &run_tiled})

}  // namespace CORNERTURN_KERNELS
