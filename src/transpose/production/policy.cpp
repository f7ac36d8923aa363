#include "transpose/production/policy.hpp"

#include <bit>
#include <cstdint>

namespace cornerturn::production {
namespace {

// Tiles of the two tiled paths, for one element size on GPUs of a compute capability and above: large ones, and small
// ones that give every multiprocessor work where the matrix is small. docs/experiments.md has what was tried.
struct tile_tuning {
    int architecture, element;
    tuning large, small;
    std::int64_t large_from;  // bytes of the matrix
};

constexpr std::int64_t kMiB = 1 << 20;

constexpr tile_tuning kTiles[] = {
    {90, 1, {path::vector, 1, 256, 256, 512}, {path::vector, 1, 128, 128, 256}, 64 * kMiB},
    {90, 2, {path::vector, 2, 128, 128, 1024}, {path::vector, 2, 64, 64, 256}, 16 * kMiB},
    {90, 4, {path::vector, 4, 64, 64, 512}, {path::vector, 4, 32, 32, 256}, 16 * kMiB},
    {90, 8, {path::vector, 8, 32, 32, 256}, {path::vector, 8, 32, 32, 256}, 0},
    {90, 16, {path::vector, 16, 32, 16, 256}, {path::vector, 16, 16, 16, 128}, 16 * kMiB},
    // Untuned: tiles whose shared memory every GPU has without asking.
    {0, 1, {path::vector, 1, 128, 128, 256}, {path::vector, 1, 128, 128, 256}, 0},
    {0, 2, {path::vector, 2, 64, 64, 256}, {path::vector, 2, 64, 64, 256}, 0},
    {0, 4, {path::vector, 4, 64, 64, 512}, {path::vector, 4, 32, 32, 256}, 16 * kMiB},
    {0, 8, {path::vector, 8, 32, 32, 256}, {path::vector, 8, 32, 32, 256}, 0},
    {0, 16, {path::vector, 16, 32, 16, 256}, {path::vector, 16, 16, 16, 128}, 16 * kMiB},
};

// By width, of one path: the first that is as wide as the matrix, or the last; among those whose shared memory the GPU
// has without asking, where nothing is tuned.
constexpr tuning kByWidth[] = {
    {path::ragged, 1, 2016, 16, 256},  {path::ragged, 1, 992, 32, 256},   {path::ragged, 1, 480, 64, 256},
    {path::ragged, 1, 480, 128, 512},  {path::ragged, 1, 224, 256, 512},  {path::ragged, 2, 1008, 16, 256},
    {path::ragged, 2, 496, 32, 256},   {path::ragged, 2, 496, 64, 512},   {path::ragged, 2, 240, 128, 512},
    {path::ragged, 4, 504, 8, 512},    {path::ragged, 4, 248, 16, 256},   {path::ragged, 4, 120, 32, 256},
    {path::ragged, 4, 56, 64, 256},    {path::ragged, 8, 252, 8, 256},    {path::ragged, 8, 124, 16, 256},
    {path::ragged, 8, 60, 32, 256},    {path::ragged, 8, 60, 64, 512},    {path::ragged, 16, 254, 4, 256},
    {path::ragged, 16, 126, 8, 256},   {path::ragged, 16, 62, 16, 256},   {path::ragged, 16, 62, 32, 512},  //
    {path::stacked, 1, 1024, 16, 256}, {path::stacked, 1, 512, 32, 256},  {path::stacked, 1, 256, 64, 256},
    {path::stacked, 1, 256, 128, 512}, {path::stacked, 2, 512, 16, 256},  {path::stacked, 2, 256, 32, 256},
    {path::stacked, 2, 128, 64, 256},  {path::stacked, 2, 128, 128, 512}, {path::stacked, 4, 256, 8, 256},
    {path::stacked, 4, 128, 16, 256},  {path::stacked, 4, 128, 32, 256},  {path::stacked, 4, 64, 64, 256},
    {path::stacked, 4, 32, 128, 256},  {path::stacked, 8, 128, 8, 256},   {path::stacked, 8, 64, 32, 256},
    {path::stacked, 8, 32, 64, 256},   {path::stacked, 16, 64, 8, 256},   {path::stacked, 16, 32, 32, 256},
};

constexpr tuning by_width(path p, int element, std::int64_t cols, int architecture) {
    tuning found{};
    for (const tuning& t : kByWidth) {
        if (t.by != p || t.unit != element) continue;
        if (architecture < 90 && t.tile_rows * t.tile_cols * t.unit > 40 << 10) continue;
        found = t;
        if (t.tile_cols >= cols) break;
    }
    return found;
}

constexpr tuning in_place_tile(int element) {
    switch (element) {
        case 1: return {path::vector_in_place, 1, 128, 128, 256};
        case 2: return {path::vector_in_place, 2, 64, 64, 256};
        case 4: return {path::vector_in_place, 4, 64, 64, 512};
        case 8: return {path::vector_in_place, 8, 32, 32, 256};
        default: return {path::vector_in_place, 16, 16, 16, 128};
    }
}

constexpr int kLow = 256;                  // rows of a matrix that leaves a tile half empty
constexpr int kNarrow = 64;                // rows or columns that make a matrix narrow
constexpr int kFew = 8;                    // rows or columns that kernels are made for, one by one
constexpr std::int64_t kLong = 4096;       // the others, then
constexpr std::int64_t kSmall = 2048;      // bytes of a matrix, of which many go to one block
constexpr int kBlocksFrom = 128;           // bytes of an element that is coalesced by itself
constexpr int kVector = 16, kSector = 32;  // bytes

constexpr int kNarrowThreads = 256, kUnitThreads = 256, kInPlaceSide = 32;

// What the choice hangs on, taken apart once.
struct view_of_work {
    int unit;
    bool whole_elements;  // an element is one unit
    bool aligned;         // every row begins at a vector; of elements of 4 bytes and more, at a sector
    bool stackable;       // the source's rows follow each other through the batch; the destination's words are aligned
    bool in_place;
    bool packed_source, packed_destination;  // no gap behind the rows
    bool packed_batch;                       // nor between the matrices, on either side
    std::int64_t bytes;                      // of all matrices

    explicit view_of_work(const matrix_work& w) {
        const std::int64_t e = w.element_size;
        unit = unit_of(w);
        whole_elements = unit == e;
        const auto address = [](const void* p) {
            return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p));
        };
        std::int64_t all = address(w.source) | address(w.destination);
        if (w.rows > 1) all |= w.source_ld * e;
        if (w.cols > 1) all |= w.destination_ld * e;
        if (w.count > 1) all |= w.source_stride * e | w.destination_stride * e;
        aligned = all % (e < 4 ? kVector : kSector) == 0;
        const std::int64_t to = address(w.destination) | w.destination_ld * e | w.destination_stride * e | w.rows * e;
        stackable = w.source_stride == w.rows * w.source_ld && to % 4 == 0;
        in_place = w.source == w.destination;
        packed_source = w.source_ld == w.cols || w.rows == 1;
        packed_destination = w.destination_ld == w.rows || w.cols == 1;
        const std::int64_t size = w.rows * w.cols;
        packed_batch = packed_source && packed_destination &&
                       (w.count == 1 || (w.source_stride == size && w.destination_stride == size));
        bytes = size * w.count * e;
    }
};

struct decision {
    tuning use;
    const char* why;
};

decision decide(const matrix_work& w, int architecture) {
    if (w.rows == 0 || w.cols == 0 || w.count == 0) return {{path::nothing, 0, 0, 0, 0}, "there is nothing to move"};
    const view_of_work v(w);
    if (v.in_place) {
        if (v.whole_elements && v.aligned) return {in_place_tile(v.unit), "in place, every row aligned"};
        return {{path::units_in_place, v.unit, kInPlaceSide, kInPlaceSide, kUnitThreads}, "in place, of any alignment"};
    }
    if (!v.whole_elements) {
        if (w.element_size >= kBlocksFrom)
            return {{path::blocks, v.unit, 0, 0, kUnitThreads},
                    "elements of 128 bytes and more are coalesced by themselves"};
        return {{path::units, v.unit, 0, 0, kUnitThreads},
                "the element's size is no power of two, or its address no multiple of it"};
    }
    const tuning ragged = by_width(path::ragged, v.unit, w.cols, architecture);
    if (w.count > 1 && w.rows <= kLow) {
        if (v.stackable)
            return {by_width(path::stacked, v.unit, w.cols, architecture),
                    "a batch of low matrices, whose rows follow each other"};
        if (v.packed_batch && w.rows * w.cols * w.element_size <= kSmall)
            return {{path::small, v.unit, 0, 0, kNarrowThreads}, "the matrices are small and lie behind each other"};
    }
    if (w.cols >= 2 && w.cols <= kFew && w.rows >= kLong && v.packed_source)
        return {{path::tall, v.unit, 0, static_cast<int>(w.cols), kNarrowThreads},
                "a few columns without gaps: the source is read as it lies"};
    if (w.cols <= kNarrow && w.rows >= ragged.tile_rows) return {ragged, "few columns"};
    if (w.rows >= 2 && w.rows <= kFew && w.cols >= kLong && v.packed_destination)
        return {{path::wide, v.unit, static_cast<int>(w.rows), 0, kNarrowThreads},
                "a few rows without gaps: the destination is written as it lies"};
    if (v.packed_destination && w.rows <= kNarrow && w.cols > w.rows)
        return {{path::wide, v.unit, 0, 0, kNarrowThreads},
                "few rows without gaps: the destination is written as it lies"};
    for (const tile_tuning& t : kTiles) {
        if (t.architecture > architecture || t.element != v.unit) continue;
        if (!v.aligned) return {ragged, "not every row is aligned to a vector, or to a sector"};
        if (v.bytes >= t.large_from) return {t.large, "every row is aligned to 16 bytes"};
        return {t.small, "every row is aligned to 16 bytes; the matrix is small"};
    }
    return {{path::units, v.unit, 0, 0, kUnitThreads}, "nothing is tuned for this element"};
}

}  // namespace

const char* name(path p) {
    switch (p) {
        case path::nothing: return "nothing";
        case path::vector: return "vector";
        case path::ragged: return "ragged";
        case path::stacked: return "stacked";
        case path::tall: return "tall";
        case path::wide: return "wide";
        case path::small: return "small";
        case path::units: return "units";
        case path::blocks: return "blocks";
        case path::vector_in_place: return "vector_in_place";
        case path::units_in_place: return "units_in_place";
    }
    return "?";
}

int unit_of(const matrix_work& w) {
    const auto bits = static_cast<std::uint64_t>(w.element_size) | reinterpret_cast<std::uintptr_t>(w.source) |
                      reinterpret_cast<std::uintptr_t>(w.destination) | kVector;
    return 1 << std::countr_zero(bits);
}

tuning choose(const matrix_work& work, int architecture) { return decide(work, architecture).use; }

std::string explain(const matrix_work& work, int architecture) {
    const decision d = decide(work, architecture);
    std::string text = name(d.use.by);
    if (d.use.tile_rows > 0) text += " " + std::to_string(d.use.tile_rows) + " x " + std::to_string(d.use.tile_cols);
    if (d.use.unit > 0) {
        text += ", " + std::to_string(d.use.unit) + "-byte units, " + std::to_string(d.use.threads) + " threads";
    }
    return text + ": " + d.why;
}

}  // namespace cornerturn::production
