// The families of transposes of matrices.
#include <algorithm>
#include <bit>

#include "move/converted_pairs.hpp"
#include "move/cuts.hpp"
#include "move/family.hpp"
#include "move/machine.hpp"
#include "move/unit_cut.hpp"

namespace cornerturn::moves {
namespace {

constexpr std::int64_t kSmallBytes = 40 << 10;  // bytes of a matrix that a block may hold
constexpr std::int64_t kFewElements = 32;       // of a row or a column: with more, other tiles are faster
constexpr int kManyUnits = 32;                  // units of an element: with more, a tile in place would be small

// Whether the family's kernel for this row can convert: a pair that has it, single elements, in one launch.
bool can_convert(kernel_family by, const tuning& t, const problem& p) {
    constexpr std::int64_t kMostColumns = 65535, kMostCount = 65535;  // of tiles; of matrices
    const int pair = pair_of(p.copy.cast);
    const matrices& m = *p.as_matrices;
    if (pair < 0 || !p.is_aligned || p.copy.run != p.copy.unit() || m.work.count > kMostCount) return false;
    if (by == kernel_family::vector)
        return converts_at_load(kConvertedPairs[pair]) && t.unit == p.copy.unit() && m.vectors &&
               m.work.cols <= kMostColumns * t.tile_cols;
    if (by != kernel_family::tall || t.tile_cols > kMostConvertedColumns || m.work.cols != t.tile_cols ||
        t.unit != p.copy.source_unit() || !has_few_columns(kConvertedPairs[pair]) || !m.packed_source)
        return false;
    // A line has one scale and bias.
    const int factor = p.copy.factor_axis();
    return factor == p.copy.rank || &p.copy.axes[static_cast<std::size_t>(factor)] != transposed_axes_of(p.copy)->rows;
}

// Whether the family's kernel for this row is correct for the work.
bool can(kernel_family by, const tuning& t, const problem& p) {
    const matrices& m = *p.as_matrices;
    const matrix_work& w = m.work;
    if (p.copy.converts()) return can_convert(by, t, p);
    if (t.unit != m.unit) return false;
    const bool squares = w.rows == w.cols && w.source_ld == w.destination_ld && w.source_stride == w.destination_stride;
    if (m.in_place && !squares) return false;
    // Of the tile and its padding.
    if (t.tile_rows * t.tile_cols * t.unit * 9 / 8 > p.on.shared_bytes_of_block) return false;
    const bool large = w.element_size >= kBlocksFrom || w.element_size / m.unit >= kManyUnits;
    const int line = std::max(kVectorBytes, m.unit < 4 ? 0 : kSector);
    switch (by) {
        case kernel_family::vector_in_place:
            return m.in_place && m.whole_elements && m.from_alignment >= line && m.to_alignment >= line;
        case kernel_family::elements_in_place: return m.in_place && !large;
        case kernel_family::blocks_in_place: return m.in_place && large;
        case kernel_family::elements:
            return !m.in_place && !large && (!m.whole_elements || std::min(w.rows, w.cols) <= kFewElements);
        default: break;
    }
    if (m.in_place || !m.whole_elements) return false;
    switch (by) {
        case kernel_family::direct: {
            const auto extents = bits(w.rows * w.element_size) | bits(w.cols * w.element_size);
            return w.count == 1 &&
                   std::min({m.from_alignment, m.to_alignment, alignment(extents, kVectorBytes)}) >= t.detail;
        }
        case kernel_family::vector: return m.vectors;
        case kernel_family::vector_apart: return m.vectors && w.count == 1;
        case kernel_family::ragged: return true;
        case kernel_family::tall: return m.packed_source && w.cols == t.tile_cols;
        case kernel_family::wide: return m.packed_destination && w.rows == t.tile_rows;
        case kernel_family::small: return m.packed_batch && w.rows * w.cols * w.element_size <= kSmallBytes;
        default: return false;
    }
}

double real(std::int64_t x) { return static_cast<double>(x); }

// The bytes of 64-byte pieces that stretches of this length touch, if they begin at multiples of `begins`.
double touched(double length, std::int64_t begins) {
    if (begins == kFetched && static_cast<std::int64_t>(length) % kFetched == 0) return length;
    return std::max(1.0, (length - std::min(real(begins), length)) / kFetched + 1) * kFetched;
}

// How tiles cover the matrices.
struct cover {
    std::int64_t rows, cols;  // of a tile, that it moves
    std::int64_t back = 0;    // rows before these, which it reads too
    std::int64_t down, across;
    double blocks;

    cover(const matrix_work& w, std::int64_t tile_rows, std::int64_t tile_cols, std::int64_t before = 0)
        : rows(tile_rows),
          cols(tile_cols),
          back(before),
          down(up(w.rows + (w.rows > tile_rows ? before : 0), tile_rows)),
          across(up(w.cols, tile_cols)),
          blocks(real(down * across * w.count)) {}
};

// Memory's counts of tiles of whole rows of both sides.
void count_tiles(const matrices& m, const cover& tiles, counts& n) {
    const matrices_work& w = m.work;
    const std::int64_t e = w.element_size, from = source_size_of(w);
    const double again = tiles.down > 1 ? real(tiles.back * (tiles.down - 1)) : 0;  // rows of a matrix
    const double spans = real(w.count * tiles.across) * (real(w.rows) + again),
                 lines = real(w.count * w.cols * tiles.down);
    n.span = real(w.cols * from) / real(tiles.across);
    n.line = real(w.rows * e) / real(tiles.down);
    const std::int64_t next = tiles.across > 1 ? alignment(bits(tiles.cols * from), kFetched) : kFetched;
    double piece = touched(n.span, std::min(m.from_alignment, next));
    if (w.rows > 1) piece = std::min(piece, real(w.source_ld * from));  // short rows that are near share pieces
    n.again = spans * n.span - n.written / real(e) * real(from);
    n.again_apart = 0;
    n.over = std::max(0.0, spans * (piece - n.span) - n.waste);
    n.over_apart = tiles.across > 1 ? real(tiles.down * tiles.rows * tiles.cols * (e + from)) : 0;
    const bool gaps = w.destination_ld != w.rows;
    if (w.rows > 1 && tiles.back == 0 &&
        (m.to_alignment < kSector || (tiles.down > 1 && tiles.rows * e % kSector != 0)))
        n.parts = lines;
    if (w.rows > 1 && tiles.back > 0 && m.to_alignment < kSector) n.parts = 2 * real(w.count * w.cols);
    if (m.to_alignment >= kSector && gaps && w.rows * e % kSector != 0) n.parts += real(w.count * w.cols);
    n.instructions[1] = n.written / real(tiles.rows * tiles.cols * e) / n.blocks;  // the share of a tile that is used
    // Vectors of the destination's rows that are filled in part.
    if (m.to_alignment < kVectorBytes || w.rows * e % kVectorBytes != 0)
        n.instructions[9] = real(w.count * w.cols) * (m.to_alignment < kVectorBytes ? 2 : 1);
}

// If the distance of rows is a multiple of 128 KiB, DRAM suffers when blocks read rows below one another.
bool rows_collide(const matrices_work& w) {
    return w.source_ld * source_size_of(w) % (128 << 10) == 0 && w.rows > 1024;
}

counts count(kernel_family by, const tuning& t, const problem& p) {
    const matrices& m = *p.as_matrices;
    const matrices_work& w = m.work;
    const std::int64_t e = w.element_size, from = source_size_of(w),
                       unit = by == kernel_family::tall && p.copy.converts() ? p.copy.source_unit() : m.unit,
                       word = std::max<std::int64_t>(4, unit), of_word = word / unit;
    const bool gaps = w.source_ld != w.cols;
    counts n;
    n.written = real(m.bytes);
    n.read = real(p.copy.source_bytes()) / real(m.repeats);
    n.waste = std::max(0.0, p.touched - n.read);
    n.gaps = bytes_cut_by_gaps(p.copy);
    n.waits[0] = 1;
    double threads = t.threads, shared = 0, resident_threads = 2048;
    auto& x = n.instructions;  // 0: of warps; 1: of warps with the share of a tile that is used; others by family
    switch (by) {
        case kernel_family::ragged: {
            const cover tiles(w, t.tile_rows, t.tile_cols, std::max<std::int64_t>(1, kSector / unit));
            n.blocks = tiles.blocks;
            count_tiles(m, tiles, n);
            resident_threads = t.detail;
            shared = real((t.tile_rows + tiles.back) * (t.tile_cols + 1) * e) * 1.06;
            const double warps = threads / kWarp;
            const double at_gaps = gaps ? real(tiles.down * w.count) * (unit < 4 && tiles.across > 1 ? 2 : 1)
                                        : real(std::min<std::int64_t>(tiles.down, 2) * w.count);
            const double steps =
                unit < 4 ? real(up<std::int64_t>((t.tile_rows + tiles.back) * 2 * (of_word - 1), t.threads)) : 1;
            x[2] = at_gaps * warps;  // blocks at the edges check each row
            x[3] = at_gaps * warps * steps;
            x[4] = real(std::min<std::int64_t>(tiles.down, 2) * tiles.across * w.count) * warps;
            x[5] = m.from_alignment < 4 ? n.blocks * warps : 0;
            x[6] = m.to_alignment < kVectorBytes ? n.blocks * warps : 0;
            x[7] = n.blocks * warps * real(t.tile_rows + tiles.back) * real(t.tile_cols) / threads;
            if (rows_collide(w)) n.again += n.written;
            break;
        }
        case kernel_family::vector:
        case kernel_family::vector_apart: {
            const cover tiles(w, t.tile_rows, t.tile_cols);
            n.blocks = tiles.blocks;
            count_tiles(m, tiles, n);
            const std::int64_t vectors = t.tile_rows * t.tile_cols * e / kVectorBytes / t.threads;  // of a thread
            resident_threads = p.copy.converts() ? kResidentConverted
                                                 : resident_of_vector(static_cast<int>(e), static_cast<int>(vectors));
            shared = t.tile_rows * t.tile_cols * real(e);
            const double warps = threads / kWarp, down = real(tiles.down * w.count),
                         across = real(tiles.across * w.count);
            const bool ends = w.cols * e % kVectorBytes != 0, ends_below = w.rows * e % kVectorBytes != 0;
            x[2] = ((ends ? down : 0) + (ends_below ? across : 0)) * warps;  // blocks that move elements one by one
            x[3] = ((w.rows % t.tile_rows != 0 ? across : 0) + (w.cols % t.tile_cols != 0 ? down : 0)) * warps;
            x[4] = m.to_alignment < kSector ? n.blocks * warps : 0;
            x[7] = n.blocks * warps * real(vectors);
            if (by == kernel_family::vector && rows_collide(w)) n.again = n.written;
            break;
        }
        case kernel_family::tall:
        case kernel_family::wide: {
            const bool tall = by == kernel_family::tall;
            const std::int64_t few = tall ? w.cols : w.rows, length = tall ? w.rows : w.cols;
            const std::int64_t of_group = few * word, tile = p.copy.converts() ? kFewConvertedTileBytes : kFewTileBytes,
                               of_thread = std::max<std::int64_t>(1, tile / (kFewThreads * of_group));
            const std::int64_t groups = of_thread * kFewThreads, moved = groups * of_word;
            n.blocks = real(up(length, moved) * w.count);
            shared = real(groups * of_group);
            resident_threads = kFewBlocks * kFewThreads;
            const bool source_flat =
                alignment(bits(w.source_stride * (w.count > 1) * from) | reinterpret_cast<std::uintptr_t>(w.source),
                          kVectorBytes) == kVectorBytes;
            const bool flat = alignment(bits(w.destination_stride * (w.count > 1) * e) |
                                            reinterpret_cast<std::uintptr_t>(w.destination),
                                        kVectorBytes) == kVectorBytes;
            const bool shifted = unit < 4 && (tall ? m.to_alignment < of_word * e : m.from_alignment < 4);
            n.span = real(tall ? moved * w.cols * from : std::min(moved, w.cols) * e);
            n.line = real(tall ? std::min(moved, w.rows) * e : moved * w.rows * e);
            if (tall && m.to_alignment < kSector) n.parts = 2 * real(w.cols) * n.blocks;
            if (m.from_alignment < kFetched) n.over = n.blocks * real(tall ? 1 : w.rows) * kSector;
            const double words = real(w.rows * w.cols * w.count) / real(of_word) / kWarp;
            x[2] = words;
            x[3] = tall ? (source_flat ? 0 : words) : (flat ? 0 : words);
            x[4] = shifted ? words : 0;
            x[5] = words / real(few);
            x[6] = unit >= 4 || few * unit % 4 == 0 ? words : 0;
            break;
        }
        case kernel_family::small: {
            const std::int64_t size = w.rows * w.cols * e, matrices = std::max<std::int64_t>(1, kSmallRunBytes / size);
            n.blocks = real(up(w.count, matrices));
            const auto begins =
                reinterpret_cast<std::uintptr_t>(w.source) | reinterpret_cast<std::uintptr_t>(w.destination);
            const bool squares = of_word == 1 || ((w.rows | w.cols) * e % 4 == 0 && begins % 4 == 0);
            shared = real(matrices * size) * 1.13;
            n.span = n.line = real(matrices * size);
            if (matrices * size % kFetched != 0) n.over = n.blocks * kSector;
            if (matrices * size % kSector != 0) n.parts = 2 * n.blocks;
            const std::int64_t items = matrices * size / e / (squares ? of_word * of_word : of_word);
            const double lanes = real(up<std::int64_t>(items, t.threads)) * 8 * n.blocks * real(of_word);
            x[squares ? 2 : 3] = lanes;
            x[4] = n.written / kVectorBytes / kWarp;
            x[5] = lanes / real(of_word);
            // Neighbours down a column are in few banks.
            const std::int64_t step = w.cols * e % word == 0 ? w.cols * e / word : 1;
            n.wavefronts[0] = lanes;
            n.wavefronts[1] = lanes * real(std::min<std::int64_t>(alignment(bits(step), 32), w.rows) - 1);
            break;
        }
        case kernel_family::elements: {
            const unit_shape shape = shape_of(m.unit, w.element_size, m.from_alignment >= 4);
            const unit_cut cut = cut_into_tiles(w, p.on, m.to_alignment >= kSector, shape);
            const cover tiles(w, cut.moved, cut.cols, cut.back);
            threads = cut.threads;
            resident_threads = shape.resident();
            shared = cut.bytes;
            n.blocks = tiles.blocks;
            count_tiles(m, tiles, n);
            const double warps = threads / kWarp;
            // Loads of words; those that are transposed, or begin within words; those of tiles that check each row.
            const double loads = warps * cut.iterations * shape.rows() * shape.words();
            x[shape.transposed() ? 3 : 2] = n.blocks * loads;
            x[4] = shape.shifted ? n.blocks * loads : 0;
            const double checked = real(std::min<std::int64_t>(tiles.down, 2) * tiles.across * w.count) +
                                   (gaps ? real(tiles.down * w.count) : 0);
            x[5] = std::min(checked, n.blocks) * loads;
            // Stores: columns, and their vectors.
            const double cols = up(cut.cols, 32 >> cut.lanes_log << cut.warps_log);
            x[6] = n.blocks * warps * cols;
            const std::int64_t line_bytes =
                std::min<std::int64_t>(cut.moved, w.rows) * e + (m.to_alignment >= kSector ? 0 : 31);
            x[7] = x[6] * real(up(up<std::int64_t>(line_bytes, 16 << cut.lanes_log), std::int64_t{cut.phases}));
            break;
        }
        case kernel_family::direct: {
            const cover tiles(w, t.tile_rows, t.tile_cols);
            n.blocks = tiles.blocks;
            count_tiles(m, tiles, n);
            x[2] = n.written / t.detail / kWarp;
            break;
        }
        default:  // in place
            n.blocks = n.written / (8 << 10);
            n.span = n.line = 256;
            x[2] = n.written / real(unit) / kWarp;
            threads = 256;
    }
    if (m.repeats > 1) {
        n.again += n.written - n.read;
        n.again_apart = std::max(n.again_apart, 2 * real(m.bytes) / real(m.repeats));
    }
    x[0] = n.blocks * threads / kWarp;
    x[1] *= x[0];
    x[8] = real(up<std::int64_t>(w.count, kMaxGridZ)) - 1;  // further launches
    n.resident = std::max(1.0, real(static_cast<std::int64_t>(
                                   std::min({p.on.shared_bytes / (shared + 1024), resident_threads / threads, 32.0}))));
    return n;
}

double cost_of(kernel_family by, int row, const tuning& t, const problem& p) {
    const int unit = std::countr_zero(static_cast<unsigned>(p.as_matrices->unit));
    const bool converts = p.copy.converts();
    const row_factors f = factors_of(by, converts, row);
    return cost_of(count(by, t, p), costs_of(by, converts), unit, p.on, f.memory, f.work);
}

}  // namespace

std::span<const tuning> rows_of(kernel_family f, bool converts) {
    if (converts && f == kernel_family::vector) return kVectorConverted;
    switch (f) {
        case kernel_family::direct: return kDirect;
        case kernel_family::vector: return kVector;
        case kernel_family::vector_apart: return kVectorApart;
        case kernel_family::ragged: return kRagged;
        case kernel_family::tall: return kTall.rows;
        case kernel_family::wide: return kWide.rows;
        case kernel_family::small: return kSmall.rows;
        case kernel_family::elements: return kElements.rows;
        case kernel_family::vector_in_place: return kVectorInPlace;
        case kernel_family::elements_in_place: return kElementsInPlace.rows;
        case kernel_family::blocks_in_place: return kBlocksInPlace.rows;
        default: return {};
    }
}

std::optional<matrices> matrices_in(const strided_copy& c) {
    const bool in_place = is_in_place(c);
    const int most = in_place ? 1 : batch_axes::kMost;
    if (c.rank < 2 || c.rank > 2 + most || (c.run >= kBlocksFrom && !in_place)) return std::nullopt;
    const std::optional<transposed_axes> axes = transposed_axes_of(c);
    if (!axes) return std::nullopt;
    matrices_work work{axes->matrix, {}};
    if (c.converts()) work.source_size = c.source_unit();
    std::uint64_t source_bits = 0, destination_bits = 0;
    for (int i = 0; i < axes->batch_rank; ++i) {
        const strided_axis& a = *axes->batch[static_cast<std::size_t>(i)];
        const std::int64_t source = a.source / c.source_run(), destination = a.destination / c.run;
        work.count *= a.extent;
        work.source_stride = source, work.destination_stride = destination;
        source_bits |= bits(source), destination_bits |= bits(destination);
        // Only work in place, which has one axis at most, may have more matrices than a divider takes.
        if (axes->batch_rank > 1) work.batch.axes[i] = {divider(static_cast<unsigned>(a.extent)), source, destination};
    }
    if (axes->batch_rank > 1) {
        work.batch.rank = axes->batch_rank;
        work.source_stride = alignment(source_bits, matrices::kMostAlignment);
        work.destination_stride = alignment(destination_bits, matrices::kMostAlignment);
    }
    return matrices(work);
}

matrices::matrices(const matrices_work& w) : work(w) {
    const auto address = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
    const auto alignment_of_rows = [&](const void* data, std::int64_t rows, std::int64_t ld, std::int64_t stride,
                                       std::int64_t size) {
        return alignment(address(data) | bits(rows > 1 ? ld * size : 0) | bits(w.count > 1 ? stride * size : 0),
                         kMostAlignment);
    };
    const std::int64_t e = w.element_size, size = w.rows * w.cols;
    const std::int64_t from_size = source_size_of(w);
    unit = static_cast<int>(
        alignment(bits(e) | address(w.destination) | (w.source_size > 0 ? 0 : address(w.source)), kVectorBytes));
    whole_elements = unit == e;
    from_alignment = alignment_of_rows(w.source, w.rows, w.source_ld, w.source_stride, from_size);
    to_alignment = alignment_of_rows(w.destination, w.cols, w.destination_ld, w.destination_stride, e);
    // The source's elements of a vector of the destination, if elements are converted.
    const std::int64_t read_at_once = std::min<std::int64_t>(kVectorBytes, kVectorBytes / e * from_size);
    vectors = from_alignment >= (w.source_size > 0 ? read_at_once : kVectorBytes) && to_alignment >= kVectorBytes;
    packed_source = w.source_ld == w.cols || w.rows == 1;
    packed_destination = w.destination_ld == w.rows || w.cols == 1;
    packed_batch = packed_source && packed_destination && w.batch.rank == 0 &&
                   (w.count == 1 || (w.source_stride == size && w.destination_stride == size));
    in_place = w.source == w.destination;
    bytes = size * w.count * e;
    repeats = w.batch.rank == 0 && w.source_stride == 0 ? w.count : 1;
    for (int i = 0; i < w.batch.rank; ++i) repeats *= w.batch.axes[i].source == 0 ? w.batch.axes[i].by.d : 1;
}

void offer_matrices(kernel_family by, const problem& p, offers& to) {
    if (!p.as_matrices) return;
    const std::span<const tuning> rows = rows_of(by, p.copy.converts());
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (can(by, rows[row], p))
            to.add({by, static_cast<int>(row), cost_of(by, static_cast<int>(row), rows[row], p)});
    }
}

counts counts_of_matrices(const problem& p, const candidate& c) {
    return count(c.by, rows_of(c.by, p.copy.converts())[static_cast<std::size_t>(c.row)], p);
}

namespace {

// Where the axis of a conversion's scales and biases is.
void fill_factors(const strided_copy& c, plan& made) {
    const int at = c.factor_axis();
    if (at == c.rank) return;
    const strided_axis& a = c.axes[static_cast<std::size_t>(at)];
    const transposed_axes axes = *transposed_axes_of(c);
    const auto factor = static_cast<int>(a.factor);
    if (&a == axes.rows) made.cast.row_step = factor;
    if (&a == axes.cols) made.cast.col_step = factor;
    for (int i = 0; i < axes.batch_rank; ++i) {
        if (axes.batch[static_cast<std::size_t>(i)] == &a) made.cast.tile_axis = i, made.cast.tile_step = a.factor;
    }
}

}  // namespace

void fill_matrices(const problem& p, const candidate& c, plan& made) {
    made.unit = p.as_matrices->unit;
    made.row = c.row;
    made.matrices = p.as_matrices->work;
    made.on = p.on;
    fill_factors(p.copy, made);
}

std::string text_of_matrices(const problem& p, const candidate& c) {
    const tuning& t = rows_of(c.by, p.copy.converts())[static_cast<std::size_t>(c.row)];
    const matrix_work& w = p.as_matrices->work;
    using std::to_string;
    std::string text = name(c.by);
    if (t.tile_rows > 0 && t.tile_cols > 0) text += " " + to_string(t.tile_rows) + " x " + to_string(t.tile_cols);
    text += ": " + to_string(w.count) + (w.count == 1 ? " matrix of " : " matrices of ") + to_string(w.rows) + " x " +
            to_string(w.cols) + " elements of " + to_string(w.element_size) + " bytes, in " + to_string(t.unit) +
            "-byte units";
    if (t.threads > 0) text += ", " + to_string(t.threads) + " threads";
    return text;
}

}  // namespace cornerturn::moves
