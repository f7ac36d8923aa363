#include "ops/transpose/kernels/policy.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "ops/copy/kernels/policy.hpp"

namespace cornerturn::production {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// GPUs whose multiprocessors have 227 KiB of shared memory and more: large tiles need it, and are tuned on Hopper.
constexpr bool has_large_shared_memory(int architecture) { return architecture >= 90 && architecture < 120; }

// Tiles of vectors for an element size, for matrices of so many bytes and more: see square_tile(). Small ones give
// every multiprocessor work where the matrix is small. docs/experiments.md has what was tried.
struct tile_tuning {
    bool large;
    std::int64_t from;
    tuning use;
};

constexpr tile_tuning kTiles[] = {
    {true, 144 * kMiB, {path::vector, 1, 256, 256, 512}},
    {true, 16 * kMiB, {path::vector, 1, 128, 256, 256}},
    {true, 0, {path::vector, 1, 64, 128, 128}},
    {true, 96 * kMiB, {path::vector, 2, 128, 128, 512}},
    {true, 16 * kMiB, {path::vector, 2, 64, 128, 512}},
    {false, 0, {path::vector, 1, 128, 128, 256}},
    {false, 0, {path::vector, 2, 64, 64, 256}},
    {false, 16 * kMiB, {path::vector, 4, 64, 64, 512}},
    {false, 0, {path::vector, 4, 32, 32, 256}},
    {false, 512 * kMiB, {path::vector, 8, 64, 32, 512}},
    {false, 0, {path::vector, 8, 32, 32, 256}},
    {false, 512 * kMiB, {path::vector, 16, 64, 16, 512}},
    {false, 20 * kMiB, {path::vector, 16, 32, 16, 256}},
    {false, 0, {path::vector, 16, 16, 32, 128}},
    // Where rows collide.
    {true, 256 * kMiB, {path::vector_apart, 1, 256, 256, 512}},
    {true, 256 * kMiB, {path::vector_apart, 2, 128, 128, 512}},
    {false, 256 * kMiB, {path::vector_apart, 4, 64, 64, 512}},
    {false, 256 * kMiB, {path::vector_apart, 8, 64, 32, 512}},
    {false, 256 * kMiB, {path::vector_apart, 16, 64, 16, 512}},
};

// Small matrices, up to so many bytes, moved `access` bytes at a time.
struct direct_tuning {
    int access;
    std::int64_t up_to;
    tuning use;
};
constexpr direct_tuning kDirect[] = {
    {4, 128 << 10, {path::direct, 1, 32, 32, 64}},  {8, kMiB, {path::direct, 1, 128, 32, 64}},
    {8, 512 << 10, {path::direct, 2, 64, 16, 64}},  {4, 256 << 10, {path::direct, 2, 32, 16, 128}},
    {8, 2 * kMiB, {path::direct, 2, 128, 16, 128}}, {8, 512 << 10, {path::direct, 4, 64, 8, 128}},
    {16, 4 * kMiB, {path::direct, 4, 64, 16, 64}},  {16, 4 * kMiB, {path::direct, 8, 64, 8, 128}},
    {16, 4 * kMiB, {path::direct, 16, 64, 4, 256}},
};

// Strips of vectors, by the width of what they hold. A tall one is as many columns wide, a low one as many rows high.
struct strip {
    int element, side, length;

    constexpr tuning tall(path p) const { return {p, element, length, side, kStripThreads}; }
    constexpr tuning low() const { return {path::vector, element, side, length, kStripThreads}; }
    static constexpr int kStripThreads = 256;
};
constexpr strip kStrips[] = {
    {1, 16, 1024}, {1, 32, 512}, {1, 64, 256}, {1, 128, 128}, {2, 16, 512}, {2, 32, 256}, {2, 64, 128},
    {4, 16, 256},  {4, 32, 128}, {4, 64, 64},  {8, 16, 128},  {8, 32, 64},  {16, 16, 64}, {16, 32, 32},
};

// The first strip that is as wide, or the last.
constexpr strip strip_of(int element, std::int64_t side) {
    strip found{};
    for (const strip& s : kStrips) {
        if (s.element != element) continue;
        found = s;
        if (s.side >= side) break;
    }
    return found;
}

// The widest strip that is as long, if one is.
constexpr strip strip_as_long(int element, std::int64_t length) {
    strip found{};
    for (const strip& s : kStrips) {
        if (s.element == element && s.length >= length) found = s;
    }
    return found;
}

// Tiles of any alignment, by width: the first that is as wide as the matrix, or the last, which therefore may be there
// twice; among those whose shared memory every GPU has without asking, where there is not much of it.
constexpr tuning kRagged[] = {
    {path::ragged, 1, 992, 16, 256},  {path::ragged, 1, 480, 24, 256},  {path::ragged, 1, 480, 32, 256},
    {path::ragged, 1, 224, 64, 256},  {path::ragged, 1, 224, 120, 512}, {path::ragged, 1, 224, 128, 512},
    {path::ragged, 1, 128, 248, 256}, {path::ragged, 2, 496, 16, 256},  {path::ragged, 2, 240, 28, 256},
    {path::ragged, 2, 240, 32, 256},  {path::ragged, 2, 112, 60, 512},  {path::ragged, 2, 112, 64, 512},
    {path::ragged, 2, 64, 124, 256},  {path::ragged, 2, 64, 128, 256},  {path::ragged, 2, 64, 124, 256},
    {path::ragged, 4, 504, 8, 512},   {path::ragged, 4, 248, 16, 256},  {path::ragged, 4, 56, 32, 256},
    {path::ragged, 8, 252, 8, 256},   {path::ragged, 8, 124, 16, 256},  {path::ragged, 8, 60, 32, 256},
    {path::ragged, 8, 60, 64, 512},   {path::ragged, 16, 254, 4, 256},  {path::ragged, 16, 126, 8, 256},
    {path::ragged, 16, 62, 16, 256},  {path::ragged, 16, 62, 32, 512},
};

constexpr tuning ragged_tile(int element, std::int64_t cols, int architecture) {
    tuning found{};
    for (const tuning& t : kRagged) {
        if (t.unit != element) continue;
        if (!has_large_shared_memory(architecture) && t.tile_rows * t.tile_cols * t.unit > 40 << 10) continue;
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

constexpr int kLow = 256;                  // rows of a matrix that may leave a tile half empty
constexpr int kFew = 8;                    // rows or columns that kernels are made for, one by one
constexpr std::int64_t kLong = 4096;       // the others, then
constexpr std::int64_t kSmall = 40 << 10;  // bytes of a matrix that a block may hold
constexpr int kBlocksFrom = 128;           // bytes of an element that is coalesced by itself
constexpr int kManyUnits = 32;             // of an element: a tile of them in place would be small
constexpr int kVector = 16, kSector = 32;  // bytes

constexpr int kNarrowThreads = 256, kUnitThreads = 256;

// What the choice hangs on, taken apart once.
struct view_of_work {
    int unit;
    bool whole_elements;                   // an element is one unit
    std::int64_t aligned_to;               // to the lowest bit that is set here every row is aligned, on both sides
    bool vectors;                          // every row begins at a vector, on both sides
    bool whole_source, whole_destination;  // and, of elements of 4 bytes and more, at a sector
    bool stackable;  // vectors, and the source's rows follow each other through the batch: each vector of the
                     // destination is some matrix's own
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
        const auto bits = [&](const void* data, std::int64_t rows, std::int64_t ld, std::int64_t stride) {
            return address(data) | (rows > 1 ? ld * e : 0) | (w.count > 1 ? stride * e : 0);
        };
        const std::int64_t from = bits(w.source, w.rows, w.source_ld, w.source_stride);
        const std::int64_t to = bits(w.destination, w.cols, w.destination_ld, w.destination_stride);
        const int line = e < 4 ? kVector : kSector;
        aligned_to = from | to;
        vectors = aligned_to % kVector == 0;
        whole_source = from % line == 0;
        whole_destination = to % line == 0;
        // Groups of rows are counted in 32 bits.
        stackable = w.count > 1 && w.source_stride == w.rows * w.source_ld && vectors && w.rows * e % kVector == 0 &&
                    w.rows * w.count * e / kVector <= std::numeric_limits<std::uint32_t>::max();
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

// Where the copy between tensors is the faster one, off alignment and for elements of odd sizes, by the narrower side
// of the matrices: kernels with fixed tiles leave them half empty. Compared for shapes drawn at random
// (docs/experiments.md).
constexpr std::int64_t kNarrowForCopies = 160;

bool copies_better(const tuning& t, const matrix_work& w) {
    if (w.rows == 1 || w.cols == 1) return true;  // a copy of runs
    const std::int64_t narrow = w.rows < w.cols ? w.rows : w.cols;
    const bool gaps = w.source_ld != w.cols;
    switch (t.by) {
        case path::wide: return w.count > 1 || (t.unit == 2 && w.rows % 2 == 0);
        case path::small: {
            if (t.unit >= 4) return w.rows * w.cols * w.element_size >= 16 << 10;
            // Rows and columns of whole words are moved by words here; there, columns of eight times any lie in few
            // banks.
            const bool words = w.rows * w.element_size % 4 == 0 && w.cols * w.element_size % 4 == 0;
            return !words && w.cols % 8 != 0;
        }
        case path::units:
            if (w.count > 1) return true;
            if (t.unit == 1) return w.rows < w.cols ? w.rows <= 170 : w.cols > 4 && w.cols <= kNarrowForCopies;
            return narrow <= (t.unit == 2 && w.rows < w.cols ? kNarrowForCopies : 500);
        case path::vector: return narrow <= 4 && gaps;
        case path::vector_stacked: return w.count > 1 && w.rows < kFew;
        case path::ragged:
            switch (t.unit) {
                case 1:
                    if (w.rows < w.cols) return w.rows <= 160;
                    return narrow <= kFew || (gaps && w.cols <= 80) || (w.count > 1 && w.cols <= 100);
                case 2: return w.rows < w.cols ? w.rows <= 256 : (w.cols > 20 || gaps) && w.cols <= 256;
                case 4: return narrow <= 600;
                default: return w.rows < w.cols ? w.rows <= 90 : w.cols <= kFew || (w.cols > 64 && w.cols <= 200);
            }
        default: return false;
    }
}

// Rows that are multiples of 128 KiB apart are where DRAM minds that blocks read one below the other, more or less as
// the matrix happens to lie: after a column of tiles comes one further on then. For other distances that costs a point.
bool rows_collide(const matrix_work& w) { return w.source_ld * w.element_size % (128 << 10) == 0 && w.rows > 1024; }

// How much of the tiles that cover the matrix is used.
double fill_of(const tuning& tile, const matrix_work& w) {
    const auto used = [](std::int64_t extent, int side) {
        return static_cast<double>(extent) / side / static_cast<double>((extent - 1) / side + 1);
    };
    return used(w.rows, tile.tile_rows) * used(w.cols, tile.tile_cols);
}
constexpr double kMostlyFull = 0.5;

// Tiles of vectors for what is neither narrow nor low: the first that is mostly full, or the fullest. No choice: .by is
// path::nothing.
tuning square_tile(path by, const matrix_work& w, const view_of_work& v, int architecture) {
    tuning found{};
    double fill = 0;
    for (const tile_tuning& t : kTiles) {
        if (t.use.by != by || t.use.unit != w.element_size || v.bytes < t.from) continue;
        if (t.large && !has_large_shared_memory(architecture)) continue;
        if (const double f = fill_of(t.use, w); f > fill) {
            found = t.use;
            fill = f;
        }
        if (fill > kMostlyFull) break;
    }
    return found;
}

bool is_narrow(const matrix_work& w) { return w.cols <= w.rows && w.cols <= strip_of(w.element_size, w.cols).side; }
bool is_low(const matrix_work& w) { return w.rows < w.cols && w.rows <= strip_of(w.element_size, w.rows).side; }

// A batch of matrices that alone might not fill a tile. No choice: .by is path::nothing.
decision decide_batch(const matrix_work& w, const view_of_work& v, int architecture) {
    // Where one block writes whole rows of the destination, it shares no sector with another.
    const strip across = strip_of(v.unit, w.cols), down = strip_as_long(v.unit, w.rows);
    const tuning tile = is_narrow(w)       ? across.tall(path::vector)
                        : is_low(w)        ? strip_of(v.unit, w.rows).low()
                        : down.element > 0 ? down.tall(path::vector)
                                           : square_tile(path::vector, w, v, architecture);
    if (v.vectors && fill_of(tile, w) > kMostlyFull) return {tile, "a batch, every row aligned to 16 bytes"};
    const bool fits = v.packed_batch && w.rows * w.cols * w.element_size <= kSmall;
    if (v.stackable && (!fits || w.cols % across.side == 0)) {
        return {across.tall(path::vector_stacked),
                "a batch of low matrices, whose rows follow each other, aligned to 16 bytes"};
    }
    if (fits) return {{path::small, v.unit, 0, 0, kNarrowThreads}, "the matrices are small and lie behind each other"};
    return {};
}

// No choice: .by is path::nothing.
tuning direct_tile(const matrix_work& w, const view_of_work& v) {
    const std::int64_t extents = v.aligned_to | w.rows * w.element_size | w.cols * w.element_size;
    for (const direct_tuning& d : kDirect) {
        if (d.use.unit == w.element_size && v.bytes <= d.up_to && extents % d.access == 0) return d.use;
    }
    return {};
}

decision decide_for_matrices(const matrix_work& w, int architecture) {
    if (w.rows == 0 || w.cols == 0 || w.count == 0) return {{path::nothing, 0, 0, 0, 0}, "there is nothing to move"};
    const view_of_work v(w);
    if (v.in_place) {
        if (v.whole_elements && v.whole_source && v.whole_destination)
            return {in_place_tile(v.unit), "in place, every row aligned"};
        if (w.element_size >= kBlocksFrom || w.element_size / v.unit >= kManyUnits)
            return {{path::blocks_in_place, v.unit, 0, 0, kUnitThreads},
                    "in place, elements of 128 bytes or of 32 units and more, one by one"};
        return {{path::units_in_place, v.unit, 0, 0, 0}, "in place, of any size and alignment"};
    }
    if (!v.whole_elements) {
        if (w.element_size >= kBlocksFrom)
            return {{path::blocks, v.unit, 0, 0, kUnitThreads},
                    "elements of 128 bytes and more are coalesced by themselves"};
        return {{path::units, v.unit, 0, 0, 0},
                "the element's size is no power of two, or its address no multiple of it"};
    }
    if (w.count > 1 && (w.rows <= kLow || w.rows * w.cols * w.element_size <= kSmall)) {
        if (const decision d = decide_batch(w, v, architecture); d.use.by != path::nothing) return d;
    }
    if (w.cols >= 2 && w.cols <= kFew && w.rows >= kLong && v.packed_source)
        return {{path::tall, v.unit, 0, static_cast<int>(w.cols), kNarrowThreads},
                "a few columns without gaps: the source is read as it lies"};
    if (w.rows >= 2 && w.rows <= kFew && w.cols >= kLong && v.packed_destination)
        return {{path::wide, v.unit, static_cast<int>(w.rows), 0, kNarrowThreads},
                "a few rows without gaps: the destination is written as it lies"};
    if (w.count == 1) {
        if (const tuning t = direct_tile(w, v); t.by != path::nothing)
            return {t, "a small matrix, of whole words: through registers alone"};
    }
    // Strips hold whole rows of what is narrow: its sectors need not be aligned. But a vector that its rows fill in
    // part is moved element by element, and they have few others.
    const auto fills_vectors = [&](std::int64_t elements) { return v.vectors && elements * v.unit % kVector == 0; };
    if (is_low(w) && fills_vectors(w.rows))
        return {strip_of(v.unit, w.rows).low(), "few rows, every one aligned to 16 bytes"};
    if (is_narrow(w) && fills_vectors(w.cols) && v.whole_destination)
        return {strip_of(v.unit, w.cols).tall(path::vector), "few columns, every row aligned to 16 bytes"};
    if (!is_narrow(w) && v.whole_source && v.whole_destination) {
        if (rows_collide(w)) {
            if (const tuning t = square_tile(path::vector_apart, w, v, architecture); t.by != path::nothing)
                return {t, "every row is aligned to 16 bytes, and the next one multiples of 128 KiB away"};
        }
        return {square_tile(path::vector, w, v, architecture), "every row is aligned to 16 bytes"};
    }
    return {ragged_tile(v.unit, w.cols, architecture), "not every row is aligned to a vector, or to a sector"};
}

decision decide(const matrix_work& w, int architecture) {
    const decision d = decide_for_matrices(w, architecture);
    if (w.source == w.destination || d.use.by == path::nothing || !copies_better(d.use, w)) return d;
    return {{path::strided, 0, 0, 0, 0}, ""};
}

}  // namespace

const char* name(path p) {
    switch (p) {
        case path::nothing: return "nothing";
        case path::direct: return "direct";
        case path::vector: return "vector";
        case path::vector_apart: return "vector_apart";
        case path::vector_stacked: return "vector_stacked";
        case path::ragged: return "ragged";
        case path::tall: return "tall";
        case path::wide: return "wide";
        case path::strided: return "strided";
        case path::small: return "small";
        case path::units: return "units";
        case path::blocks: return "blocks";
        case path::vector_in_place: return "vector_in_place";
        case path::units_in_place: return "units_in_place";
        case path::blocks_in_place: return "blocks_in_place";
    }
    return "?";
}

std::string name(const tuning& t) {
    std::string text = name(t.by);
    if (t.tile_rows > 0) text += " " + std::to_string(t.tile_rows) + " x " + std::to_string(t.tile_cols);
    if (t.unit > 0) text += ", " + std::to_string(t.unit) + "-byte units";
    if (t.threads > 0) text += ", " + std::to_string(t.threads) + " threads";
    return text;
}

int unit_of(const matrix_work& w) {
    const auto bits = static_cast<std::uint64_t>(w.element_size) | reinterpret_cast<std::uintptr_t>(w.source) |
                      reinterpret_cast<std::uintptr_t>(w.destination) | kVector;
    return 1 << std::countr_zero(bits);
}

strided_copy strided_of(const matrix_work& w) {
    const std::int64_t e = w.element_size;
    const strided_axis axes[] = {{w.count, w.source_stride * e, w.destination_stride * e},
                                 {w.cols, e, w.destination_ld * e},
                                 {w.rows, w.source_ld * e, e}};
    return canonical(reinterpret_cast<std::uintptr_t>(w.source), reinterpret_cast<std::uintptr_t>(w.destination), e,
                     axes, 3);
}

tuning choose(const matrix_work& work, int architecture) { return decide(work, architecture).use; }

std::vector<tuning> alternatives(const matrix_work& w, int architecture) {
    const decision chosen = decide(w, architecture);
    const view_of_work v(w);
    std::vector<tuning> all;
    if (chosen.use.by == path::nothing || v.in_place) return all;
    const auto add = [&](const tuning& t) {
        if (t != chosen.use && std::find(all.begin(), all.end(), t) == all.end()) all.push_back(t);
    };
    const bool roomy = has_large_shared_memory(architecture);
    add({w.element_size >= kBlocksFrom ? path::blocks : path::units, v.unit, 0, 0,
         w.element_size >= kBlocksFrom ? kUnitThreads : 0});
    if (!v.whole_elements) return all;
    for (const tuning& t : kRagged) {
        if (t.unit == v.unit && (roomy || t.tile_rows * t.tile_cols * t.unit <= 40 << 10)) add(t);
    }
    if (w.count > 1 && v.packed_batch && w.rows * w.cols * w.element_size <= kSmall)
        add({path::small, v.unit, 0, 0, kNarrowThreads});
    if (w.cols >= 2 && w.cols <= kFew && w.rows >= kLong && v.packed_source)
        add({path::tall, v.unit, 0, static_cast<int>(w.cols), kNarrowThreads});
    if (w.rows >= 2 && w.rows <= kFew && w.cols >= kLong && v.packed_destination)
        add({path::wide, v.unit, static_cast<int>(w.rows), 0, kNarrowThreads});
    if (!v.vectors) return all;
    for (const tile_tuning& t : kTiles) {
        const bool fits = t.use.unit == v.unit && (!t.large || roomy);
        if (fits && (t.use.by == path::vector || w.count == 1)) add(t.use);
    }
    for (const strip& s : kStrips) {
        if (s.element != v.unit) continue;
        add(s.tall(path::vector));
        add(s.low());
        if (v.stackable) add(s.tall(path::vector_stacked));
    }
    return all;
}

void run_strided(const matrix_work& work, const gpu* on, void (*run)(const strided::plan&)) {
    strided::for_each_plan(strided_of(work), on != nullptr ? *on : kH200, run);
}

std::string explain(const matrix_work& work, int architecture) { return explain_on(kH200, work, architecture); }

std::string explain_on(const gpu& on, const matrix_work& work, int architecture) {
    const decision d = decide(work, architecture);
    if (d.use.by == path::strided) return name(d.use.by) + (": " + strided::explain(strided_of(work), on));
    return name(d.use) + ": " + d.why;
}

}  // namespace cornerturn::production
