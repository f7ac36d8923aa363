// What rungs need that move a tensor in tiles: launches, and the words of a tile.
#pragma once

#include "device/rung.hpp"
#include "ops/copy/strided_work.hpp"
#include "ops/copy/tiles.hpp"

namespace CORNERTURN_KERNELS {

// Launches a block for each tile. `more` are further arguments of the kernel.
template <class... More>
void launch_tiles(void (*kernel)(tile_layout, More...), const tile_layout& p, int threads, int shared_bytes,
                  const More&... more) {
    emulator::outer_axis outer[kMostAxes + 1];
    for (int i = 0; i < p.outer_rank; ++i) outer[i] = {p.outer_extents[i], {p.outer[i].source, p.outer[i].destination}};
    const emulator::tiling tiles{
        p.rows.extent,
        p.cols.extent,
        p.rows.steps,
        p.cols.steps,
        2,
        {{p.source, p.rows.steps * p.rows.source, p.cols.steps * p.cols.source},
         {p.destination, p.rows.steps * p.rows.destination, p.cols.steps * p.cols.destination}},
        nullptr,
        nullptr,
        p.outer_rank,
        outer,
        static_cast<std::int64_t>(p.elements) * p.words / (p.rows.steps * p.cols.steps)};
    launch(launch_shape{dim3(p.tiles), dim3(static_cast<unsigned>(threads)), static_cast<std::size_t>(shared_bytes),
                        &tiles},
           kernel, p, more...);
}

// For kernels whose launches describe no tiles.
inline void decline_what_takes_long(const strided_work& work) {
    constexpr double kMost = 1 << 28;
    double elements = 1;
    for (int axis = 0; axis < work.rank; ++axis) elements *= static_cast<double>(work.extents[axis]);
    if (kEmulated && elements > kMost)
        decline("takes the emulator long, which runs every block of it: it can move 268435456 elements");
}

// Threads for `tasks` tasks at once: whole warps, at most `most` threads.
constexpr int threads_for(int tasks, int most) {
    const int warps = (tasks + 31) / 32 * 32;
    return warps < 32 ? 32 : warps < most ? warps : most;
}

// Where a tile begins on both sides, and how much of it is in the tensor.
struct tile_start {
    const unsigned char* source;
    unsigned char* destination;
    std::int64_t rows, cols;
    std::int64_t factor;  // of its first element

    // Whether this step along a digit of the tile is in the tensor.
    __device__ __forceinline__ bool has(const inner_digit& digit, unsigned step) const {
        return digit.cut < 0 || step < (digit.cut == 0 ? rows : cols);
    }
};

__device__ __forceinline__ tile_start start_of(const tile_layout& p, unsigned number) {
    const unsigned rows = p.cols.tiles.quotient(number), col = number - rows * p.cols.tiles.d;
    unsigned rest = p.rows.tiles.quotient(rows);
    const std::int64_t row_at = static_cast<std::int64_t>(rows - rest * p.rows.tiles.d) * p.rows.steps;
    const std::int64_t col_at = static_cast<std::int64_t>(col) * p.cols.steps;
    tile_start at{p.source + row_at * p.rows.source + col_at * p.cols.source,
                  p.destination + row_at * p.rows.destination + col_at * p.cols.destination, p.rows.extent - row_at,
                  p.cols.extent - col_at, p.first_factor + row_at * p.rows.factor + col_at * p.cols.factor};
    for (int i = 0; i < p.outer_rank; ++i) {
        const unsigned next = p.outer[i].by.quotient(rest);
        const std::int64_t digit = rest - next * p.outer[i].by.d;
        at.source += digit * p.outer[i].source;
        at.destination += digit * p.outer[i].destination;
        at.factor += digit * p.outer_factors[i];
        rest = next;
    }
    return at;
}

// A word of a tile on one side: its distance from the tile's first word, in bytes; its position in the tile as it is
// read; whether it is in the tensor; and how many scales it is after that of the first word.
struct word_at {
    std::int64_t offset;
    int place;
    bool there;
    std::int64_t factor;
};
// Finds a word by its number in the order of that side. Its digits are `read` or `write` of the layout. Dividers split
// the number.
__device__ __forceinline__ word_at find_word(const inner_digit* digits, int rank, const tile_start& at, int number) {
    word_at w{0, 0, true, 0};
    unsigned rest = static_cast<unsigned>(number);
    for (int k = 0; k < rank; ++k) {
        const unsigned next = digits[k].by.quotient(rest), digit = rest - next * digits[k].by.d;
        w.offset += digit * digits[k].stride;
        w.factor += digit * digits[k].factor;
        w.place += static_cast<int>(digit) * digits[k].place;
        w.there = w.there && at.has(digits[k], digit);
        rest = next;
    }
    return w;
}

}  // namespace CORNERTURN_KERNELS
