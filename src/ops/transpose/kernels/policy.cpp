#include "ops/transpose/kernels/policy.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "ops/copy/kernels/policy.hpp"
#include "ops/transpose/kernels/policy_copies.hpp"
#include "ops/transpose/kernels/tunings.hpp"

namespace cornerturn::transposes {
namespace {

// As much as Hopper has. Large tiles need it, and were tuned there.
constexpr bool has_large_shared_memory(const gpu& on) { return on.shared_bytes_of_block >= 227 << 10; }

// The first strip that is wide enough, or the last one.
constexpr strip strip_of(int element, std::int64_t side) {
    strip found{};
    for (const strip& s : kStrips) {
        if (s.element != element) continue;
        found = s;
        if (s.side >= side) break;
    }
    return found;
}

// The widest strip that is long enough, if there is one.
constexpr strip strip_as_long(int element, std::int64_t length) {
    strip found{};
    for (const strip& s : kStrips) {
        if (s.element == element && s.length >= length) found = s;
    }
    return found;
}

// Whether the tile fits. GPUs with little shared memory allow only the part that needs no request.
constexpr bool fits_shared(const tuning& ragged, const gpu& on) {
    return has_large_shared_memory(on) || ragged.tile_rows * ragged.tile_cols * ragged.unit <= 40 << 10;
}

tuning ragged_tile(int element, std::int64_t cols, const gpu& on) {
    tuning found{};
    for (const ragged_tuning& t : kRagged) {
        if (t.use.unit != element || !fits_shared(t.use, on)) continue;
        found = t.use;
        if (found.tile_cols >= cols) break;
    }
    return found;
}

// The row for a unit, and for this number of rows or columns if the table has several.
template <int kRows>
tuning row_for(const tuning_list<kRows>& list, int unit, std::int64_t few = 0) {
    for (const tuning& t : list.rows) {
        if (t.unit == unit && (few == 0 || t.tile_rows + t.tile_cols == few)) return t;
    }
    return {};
}

constexpr int kLow = 256;                       // rows of a matrix that may leave a tile half empty
constexpr std::int64_t kLong = 4096;            // rows of a matrix with up to kFew columns, and the reverse
constexpr std::int64_t kSmallBytes = 40 << 10;  // bytes of a matrix that a block may hold
constexpr int kBlocksFrom = 128;                // bytes of an element that is coalesced by itself
constexpr int kManyUnits = 32;                  // units of an element: with more, a tile in place would be small
constexpr int kSectorBytes = 32;                // bytes

// All that the choice depends on, worked out once.
struct view_of_work {
    int unit;
    bool whole_elements;                   // an element is one unit
    std::int64_t aligned_to;               // every row on both sides is aligned to the lowest bit that is set here
    bool vectors;                          // every row on both sides begins at a vector
    bool whole_source, whole_destination;  // for elements of 4 bytes and more: every row begins at a sector
    // The rows are vectors, and the source's rows follow each other through the batch. Each vector of the destination
    // then belongs to one matrix.
    bool stackable;
    bool in_place;
    bool packed_source, packed_destination;  // no gaps between rows
    bool packed_batch;                       // no gaps between rows or matrices, on either side
    bool tall, wide;     // a few long columns and a packed source; a few long rows and a packed destination
    std::int64_t bytes;  // of all matrices

    explicit view_of_work(const matrix_work& w) {
        const std::int64_t e = w.element_size;
        unit = unit_of(w);
        whole_elements = unit == e;
        const std::uint64_t from = starts_of_source_rows(w), to = starts_of_destination_rows(w);
        const unsigned line = e < 4 ? kVectorBytes : kSectorBytes;
        aligned_to = static_cast<std::int64_t>(from | to);
        vectors = aligned_to % kVectorBytes == 0;
        whole_source = from % line == 0;
        whole_destination = to % line == 0;
        // Groups of rows are counted in 32 bits.
        stackable = w.count > 1 && w.source_stride == w.rows * w.source_ld && vectors &&
                    w.rows * e % kVectorBytes == 0 &&
                    w.rows * w.count * e / kVectorBytes <= std::numeric_limits<std::uint32_t>::max();
        in_place = w.source == w.destination;
        packed_source = w.source_ld == w.cols || w.rows == 1;
        packed_destination = w.destination_ld == w.rows || w.cols == 1;
        tall = w.cols >= 2 && w.cols <= kFew && w.rows >= kLong && packed_source;
        wide = w.rows >= 2 && w.rows <= kFew && w.cols >= kLong && packed_destination;
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

// If the distance of rows is a multiple of 128 KiB, DRAM suffers when blocks read rows below one another. How much
// depends on where the matrix is in memory. Then blocks work at two positions in each row. For other distances, this
// would cost a percent.
bool rows_collide(const matrix_work& w) { return w.source_ld * w.element_size % (128 << 10) == 0 && w.rows > 1024; }

// The used fraction of the tiles that cover the matrix.
double fill_of(const tuning& tile, const matrix_work& w) {
    const auto used = [](std::int64_t extent, int side) {
        return static_cast<double>(extent) / side / static_cast<double>((extent - 1) / side + 1);
    };
    return used(w.rows, tile.tile_rows) * used(w.cols, tile.tile_cols);
}
constexpr double kMostlyFull = 0.5;

// The sizes of matrices in kTiles and kDirect give each multiprocessor of an H200 work. For other GPUs, which were not
// measured, they are scaled by the number of multiprocessors.
std::int64_t scaled(std::int64_t bytes, const gpu& on) { return bytes * on.multiprocessors / kH200.multiprocessors; }

// Tiles of vectors for matrices that are neither narrow nor low: the first tile that is mostly full, or the fullest. If
// there is none, .by is kernel_family::nothing.
tuning square_tile(kernel_family by, const matrix_work& w, const view_of_work& v, const gpu& on) {
    tuning found{};
    double fill = 0;
    for (const tile_tuning& t : kTiles) {
        if (t.use.by != by || t.use.unit != w.element_size || v.bytes < scaled(t.from, on)) continue;
        if (t.large && !has_large_shared_memory(on)) continue;
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

// A batch of matrices that might not fill a tile by themselves. If nothing fits, .by is kernel_family::nothing.
decision decide_batch(const matrix_work& w, const view_of_work& v, const gpu& on) {
    // If one block writes whole rows of the destination, it shares no sector with another block.
    const strip across = strip_of(v.unit, w.cols), down = strip_as_long(v.unit, w.rows);
    const tuning tile = is_narrow(w)       ? across.tall(kernel_family::vector)
                        : is_low(w)        ? strip_of(v.unit, w.rows).low()
                        : down.element > 0 ? down.tall(kernel_family::vector)
                                           : square_tile(kernel_family::vector, w, v, on);
    if (v.vectors && fill_of(tile, w) > kMostlyFull) return {tile, "a batch, every row aligned to 16 bytes"};
    const bool fits = v.packed_batch && w.rows * w.cols * w.element_size <= kSmallBytes;
    if (v.stackable && (!fits || w.cols % across.side == 0)) {
        return {across.tall(kernel_family::vector_stacked),
                "a batch of low matrices, whose rows follow each other, aligned to 16 bytes"};
    }
    if (fits) return {row_for(kSmall, v.unit), "the matrices are small, without gaps between them"};
    return {};
}

// If nothing fits, .by is kernel_family::nothing.
tuning direct_tile(const matrix_work& w, const view_of_work& v, const gpu& on) {
    const std::int64_t extents = v.aligned_to | w.rows * w.element_size | w.cols * w.element_size;
    for (const direct_tuning& d : kDirect) {
        if (d.use.unit == w.element_size && v.bytes <= scaled(d.up_to, on) && extents % d.access == 0) return d.use;
    }
    return {};
}

decision decide_for_matrices(const matrix_work& w, const gpu& on) {
    if (w.rows == 0 || w.cols == 0 || w.count == 0)
        return {{kernel_family::nothing, 0, 0, 0, 0}, "there is nothing to move"};
    const view_of_work v(w);
    if (v.in_place) {
        if (v.whole_elements && v.whole_source && v.whole_destination)
            return {row_for(kVectorInPlace, v.unit), "in place, every row aligned"};
        if (w.element_size >= kBlocksFrom || w.element_size / v.unit >= kManyUnits)
            return {row_for(kBlocksInPlace, v.unit),
                    "in place, elements of 128 bytes or of 32 units and more, one by one"};
        return {row_for(kUnitsInPlace, v.unit), "in place, of any size and alignment"};
    }
    if (!v.whole_elements) {
        if (w.element_size >= kBlocksFrom)
            return {row_for(kBlocks, v.unit), "elements of 128 bytes and more are coalesced by themselves"};
        return {row_for(kUnits, v.unit),
                "the element's size is not a power of two, or an address is not a multiple of it"};
    }
    if (w.count > 1 && (w.rows <= kLow || w.rows * w.cols * w.element_size <= kSmallBytes)) {
        if (const decision d = decide_batch(w, v, on); d.use.by != kernel_family::nothing) return d;
    }
    if (v.tall)
        return {row_for(kTall, v.unit, w.cols),
                "a few columns without gaps: the source is read in the order of its addresses"};
    if (v.wide)
        return {row_for(kWide, v.unit, w.rows),
                "a few rows without gaps: the destination is written in the order of its addresses"};
    if (w.count == 1) {
        if (const tuning t = direct_tile(w, v, on); t.by != kernel_family::nothing)
            return {t, "a small matrix, of whole words: through registers only"};
    }
    // A strip holds whole rows of narrow matrices, so its sectors need not be aligned. But if rows fill their last
    // vector only in part, its elements are moved one by one, and narrow rows have few others.
    const auto fills_vectors = [&](std::int64_t elements) {
        return v.vectors && elements * v.unit % kVectorBytes == 0;
    };
    if (is_low(w) && fills_vectors(w.rows))
        return {strip_of(v.unit, w.rows).low(), "few rows, every one aligned to 16 bytes"};
    if (is_narrow(w) && fills_vectors(w.cols) && v.whole_destination)
        return {strip_of(v.unit, w.cols).tall(kernel_family::vector), "few columns, every row aligned to 16 bytes"};
    if (!is_narrow(w) && v.whole_source && v.whole_destination) {
        if (rows_collide(w)) {
            if (const tuning t = square_tile(kernel_family::vector_apart, w, v, on); t.by != kernel_family::nothing)
                return {t, "every row is aligned to 16 bytes, and the next one multiples of 128 KiB away"};
        }
        return {square_tile(kernel_family::vector, w, v, on), "every row is aligned to 16 bytes"};
    }
    return {ragged_tile(v.unit, w.cols, on), "not every row is aligned to a vector, or to a sector"};
}

decision decide(const matrix_work& w, const gpu& on) {
    const decision d = decide_for_matrices(w, on);
    if (w.source == w.destination || d.use.by == kernel_family::nothing || !copies_better(d.use, w)) return d;
    return {{kernel_family::strided, 0, 0, 0, 0}, ""};
}

const tuning& use_of(const tuning& t) { return t; }
const tuning& use_of(const direct_tuning& t) { return t.use; }
const tuning& use_of(const ragged_tuning& t) { return t.use; }

// Calls visit(rows) with the table of a path's kernels.
template <class Visit>
void visit_rows(kernel_family p, Visit visit) {
    switch (p) {
        case kernel_family::nothing:
        case kernel_family::strided: return;
        case kernel_family::direct: return visit(kDirect);
        case kernel_family::vector:
        case kernel_family::vector_apart:
        case kernel_family::vector_stacked: return visit(kVector.rows);
        case kernel_family::ragged: return visit(kRagged);
        case kernel_family::tall: return visit(kTall.rows);
        case kernel_family::wide: return visit(kWide.rows);
        case kernel_family::small: return visit(kSmall.rows);
        case kernel_family::units: return visit(kUnits.rows);
        case kernel_family::blocks: return visit(kBlocks.rows);
        case kernel_family::vector_in_place: return visit(kVectorInPlace.rows);
        case kernel_family::units_in_place: return visit(kUnitsInPlace.rows);
        case kernel_family::blocks_in_place: return visit(kBlocksInPlace.rows);
    }
}

}  // namespace

const char* name(kernel_family p) {
    switch (p) {
        case kernel_family::nothing: return "nothing";
        case kernel_family::direct: return "direct";
        case kernel_family::vector: return "vector";
        case kernel_family::vector_apart: return "vector_apart";
        case kernel_family::vector_stacked: return "vector_stacked";
        case kernel_family::ragged: return "ragged";
        case kernel_family::tall: return "tall";
        case kernel_family::wide: return "wide";
        case kernel_family::strided: return "strided";
        case kernel_family::small: return "small";
        case kernel_family::units: return "units";
        case kernel_family::blocks: return "blocks";
        case kernel_family::vector_in_place: return "vector_in_place";
        case kernel_family::units_in_place: return "units_in_place";
        case kernel_family::blocks_in_place: return "blocks_in_place";
    }
    return "?";
}

std::string name(const tuning& t) {
    std::string text = name(t.by);
    if (t.tile_rows > 0 && t.tile_cols > 0)
        text += " " + std::to_string(t.tile_rows) + " x " + std::to_string(t.tile_cols);
    if (t.unit > 0) text += ", " + std::to_string(t.unit) + "-byte units";
    if (t.threads > 0) text += ", " + std::to_string(t.threads) + " threads";
    return text;
}

int unit_of(const matrix_work& w) {
    const auto bits = static_cast<std::uint64_t>(w.element_size) | reinterpret_cast<std::uintptr_t>(w.source) |
                      reinterpret_cast<std::uintptr_t>(w.destination) | kVectorBytes;
    return 1 << std::countr_zero(bits);
}

int row_of(const tuning& t) {
    int found = -1;
    visit_rows(t.by, [&](const auto& rows) {
        const auto row = std::find_if(std::begin(rows), std::end(rows), [&](const auto& r) { return use_of(r) == t; });
        if (row != std::end(rows)) found = static_cast<int>(row - std::begin(rows));
    });
    if (found < 0) throw std::logic_error("no kernel is tuned as " + name(t));
    return found;
}

std::vector<tuning> all_tunings() {
    std::vector<tuning> all;
    for (int p = 0; p <= static_cast<int>(kernel_family::blocks_in_place); ++p) {
        visit_rows(static_cast<kernel_family>(p), [&](const auto& rows) {
            for (const auto& row : rows) {
                if (std::find(all.begin(), all.end(), use_of(row)) == all.end()) all.push_back(use_of(row));
            }
        });
    }
    return all;
}

tuning choose(const matrix_work& work, const gpu& on) { return decide(work, on).use; }

std::vector<tuning> alternatives(const matrix_work& w, const gpu& on) {
    const decision chosen = decide(w, on);
    const view_of_work v(w);
    std::vector<tuning> all;
    if (chosen.use.by == kernel_family::nothing || v.in_place) return all;
    const auto add = [&](const tuning& t) {
        if (t != chosen.use && std::find(all.begin(), all.end(), t) == all.end()) all.push_back(t);
    };
    const bool roomy = has_large_shared_memory(on);
    add(w.element_size >= kBlocksFrom ? row_for(kBlocks, v.unit) : row_for(kUnits, v.unit));
    if (!v.whole_elements) return all;
    for (const ragged_tuning& t : kRagged) {
        if (t.use.unit == v.unit && fits_shared(t.use, on)) add(t.use);
    }
    if (w.count > 1 && v.packed_batch && w.rows * w.cols * w.element_size <= kSmallBytes) add(row_for(kSmall, v.unit));
    if (v.tall) add(row_for(kTall, v.unit, w.cols));
    if (v.wide) add(row_for(kWide, v.unit, w.rows));
    if (!v.vectors) return all;
    for (const tile_tuning& t : kTiles) {
        const bool fits = t.use.unit == v.unit && (!t.large || roomy);
        if (fits && (t.use.by == kernel_family::vector || w.count == 1)) add(t.use);
    }
    for (const strip& s : kStrips) {
        if (s.element != v.unit) continue;
        add(s.tall(kernel_family::vector));
        add(s.low());
        if (v.stackable) add(s.tall(kernel_family::vector_stacked));
    }
    return all;
}

void run_strided(const matrix_work& work, const gpu& on, void (*run)(const strided::plan&)) {
    strided::for_each_plan(canonical(work), on, run);
}

std::string explain(const matrix_work& work, const gpu& on) {
    const decision d = decide(work, on);
    if (d.use.by == kernel_family::strided) return name(d.use.by) + (": " + strided::explain(canonical(work), on));
    return name(d.use) + ": " + d.why;
}

std::string explain_for(const matrix_work& work, int capability) {
    return explain(work, gpu_of_capability(capability));
}

}  // namespace cornerturn::transposes
