#include "host/choice.hpp"

#include "host/methods.hpp"

namespace cornerturn::host {
namespace {

constexpr std::int64_t kLongRun = 1 * kKiB;  // longer runs are moved one by one
constexpr std::int64_t kFewRuns = 256;       // copied without a search for a better way
constexpr std::int64_t kDirectBytes = 128;   // of a row of the destination, written at a time
// For elements below 4 bytes; and for elements of 8 bytes and more if the destination is below kFetchedFrom.
constexpr std::int64_t kMoreDirectBytes = 256;
constexpr std::int64_t kLongTile = 4;            // factor on elements, if rows or columns are few
constexpr std::int64_t kFetchedFrom = 1 * kMiB;  // of the destination: less fits in the nearest caches
constexpr std::int64_t kImageBytes = 64 * kKiB;  // of whole rows of the destination, before they are streamed
constexpr std::int64_t kLeastImage = 2 * kKiB;   // of whole matrices
constexpr std::int64_t kImageAhead = 8 * kKiB;   // from what is transposed next to what is fetched
constexpr std::int64_t kShortRow = 1 * kKiB;     // of the destination: streamed with its neighbours
constexpr std::int64_t kLeastRow = 512;          // of the destination: shorter rows are not streamed in strips
constexpr std::int64_t kLeastTiledRow = 36;      // of a packed destination: from here to kLeastRow, tiles are faster
constexpr std::int64_t kFewCols = 128;           // of a packed source, at most: strips of them are read in order

struct method {
    void (*run)(const job&);  // null: as a copy between tensors
    const char *name, *why;
};

// For short rows of a packed destination, or small matrices.
method image_or_tiles(const job& j) {
    const std::int64_t row = j.rows * j.size;
    const bool shuffled = j.matrix_bytes() <= kMostShuffled && j.size <= 8 && j.packed_source();
    if (shuffled) return {nullptr, "tiles", "matrices are small"};
    if (j.size == 3 || (row >= kLeastTiledRow && row < kLeastRow) || (j.size == 6 && row >= kBlockBytes))
        return {nullptr, "tiles", "rows of the destination are short"};
    return {run_image, "image", "rows of the destination are short, without gaps between them"};
}

method choose(const job& j) {
    if (j.in_place()) return {run_in_place, "in_place", "source and destination are the same"};
    if (j.bytes() < kStreamFrom) return {run_direct, "direct", "it fits the caches"};
    if (j.rows == 1 || j.cols == 1 || j.size >= kLongRun) return {nullptr, "copy", "elements keep their order"};
    const bool few_cols = j.cols <= kFewCols && j.packed_source() && j.matrix_bytes() >= kTaskBytes;
    if (j.in_lines() && !few_cols)
        return {run_lines, "lines", "too large for the caches: past them, line by line of the destination"};
    if (j.packed_destination() && (j.rows * j.size <= kShortRow || j.matrix_bytes() <= kImageBytes))
        return image_or_tiles(j);
    if (j.rows * j.size < kLeastRow) return {nullptr, "tiles", "rows of the destination are short"};
    if (j.cols * j.size < kLineBytes && !j.packed_source())
        return {nullptr, "tiles", "rows of the source are short and lie apart"};
    if (j.size == 3 || j.size == 6) return {nullptr, "tiles", "vectors hold such elements as wider ones"};
    return {run_strips, "strips", "too large for the caches: past them, each line when it is whole"};
}

}  // namespace

// Straight into the destination, tile by tile. If the nearest caches do not hold all lines, it fetches the next tile's
// lines before it moves a tile.
void run_direct(const job& j) {
    const bool far = j.bytes() >= kFetchedFrom;
    const bool more = j.size < 4 || (j.size >= 8 && !far);
    const std::int64_t side = std::max<std::int64_t>(1, (more ? kMoreDirectBytes : kDirectBytes) / j.size);
    if (j.rows <= side && j.cols <= side && j.count == 1)
        return j.use.transpose_tile(j.source, j.source_pitch, j.destination, j.destination_pitch, j.rows, j.cols,
                                    j.size);
    // Tiles have more rows or columns if the other side is short and all lines are near.
    const std::int64_t of_rows = !far && j.cols < side ? kLongTile * (side / j.cols) * side : side;
    const std::int64_t of_cols = !far && j.rows < side ? kLongTile * (side / j.rows) * side : side;
    const std::int64_t across = std::max<std::int64_t>(1, j.cols / of_cols);
    // The last tiles also take the rest that is less than a tile.
    const auto rows_from = [&](std::int64_t row) {
        const std::int64_t left = j.rows - row;
        return left < 2 * of_rows ? left : of_rows;
    };
    const auto move_column = [&](std::int64_t i) {
        const std::int64_t matrix = i / across, col = i % across * of_cols;
        const std::int64_t cols = i % across == across - 1 ? j.cols - col : of_cols;
        for (std::int64_t row = 0, rows, next; row < j.rows; row = next) {
            rows = rows_from(row);
            next = row + rows;
            if (far && next < j.rows) {
                const std::int64_t next_rows = rows_from(next);
                fetch_tile(j.source_at(matrix, next, col), j.source_pitch, next_rows, cols * j.size);
                own_tile(j.destination_at(matrix, col, next), j.destination_pitch, cols, next_rows * j.size);
            }
            j.use.transpose_tile(j.source_at(matrix, row, col), j.source_pitch, j.destination_at(matrix, col, row),
                                 j.destination_pitch, rows, cols, j.size);
        }
    };
    share_out(j, j.count * across, move_column, kTaskBytes, false);
}

// Whole rows of a packed destination, across its matrices. They are transposed into an image, which is streamed.
void run_image(const job& j) {
    const std::int64_t row_bytes = j.rows * j.size, all = j.count * j.cols;
    // Whole matrices take the same bytes of the source and of the destination.
    const bool whole = j.matrix_bytes() <= kImageBytes && j.packed_source();
    const std::int64_t at_a_time =
        whole ? divide_up(kLeastImage, j.matrix_bytes()) * j.cols : std::max<std::int64_t>(1, kImageBytes / row_bytes);
    const std::int64_t ahead = kImageAhead / row_bytes;
    share_out(j, divide_up(all, at_a_time), [&](std::int64_t i) {
        const std::int64_t first = i * at_a_time, last = std::min(all, first + at_a_time);
        byte* const to = j.destination + first * row_bytes;
        byte* const image = scratch(at_a_time * row_bytes + kLineBytes) + in_line(to);
        for (std::int64_t row = first; row < last;) {
            const std::int64_t matrix = row / j.cols, col = row % j.cols;
            const std::int64_t cols = std::min(last - row, j.cols - col);
            j.use.transpose_tile(j.source_at(matrix, 0, col), j.source_pitch, image + (row - first) * row_bytes,
                                 row_bytes, j.rows, cols, j.size);
            row += cols;
        }
        const std::int64_t fetched = last + ahead;
        const byte* const next = whole && fetched + at_a_time <= all ? j.source + fetched * row_bytes : nullptr;
        j.use.stream(image, to, (last - first) * row_bytes, next);
    });
}

namespace {

bool is_large(const strided_copy& c) { return c.bytes() >= kStreamFrom; }

void run_copy(const strided_copy& c, const team& threads) {
    if (c.rank == 0 || c.run >= kLongRun) return run_runs(c, is_large(c), threads);
    c.runs() <= kFewRuns ? run_few(c) : run_tiles(c, is_large(c), threads);
}

std::string explain_copy(const strided_copy& c) {
    if (c.rank == 0) return "one run of bytes: " + std::to_string(c.run);
    if (c.run >= kLongRun) return "runs of " + std::to_string(c.run) + " bytes";
    if (c.runs() <= kFewRuns) return "so few elements that they are copied one by one";
    return explain_tiles(c, is_large(c));
}

}  // namespace

void run(const matrix_work& work, const team& threads) {
    const job j(work, threads);
    const method w = choose(j);
    w.run != nullptr ? w.run(j) : run_copy(canonical(work), threads);
}

void run(const strided_copy& copy, const team& threads) {
    const std::optional<matrix_work> work = matrices_of(copy);
    work ? run(*work, threads) : run_copy(copy, threads);
}

std::string explain(const matrix_work& work) {
    const job j(work, team({.threads = 1}));  // the answer does not depend on the number of threads
    const method w = choose(j);
    const std::string text = std::string(w.name) + ", " + j.use.target + ": " + w.why;
    return w.run != nullptr ? text : text + "; " + explain_copy(canonical(work));
}

std::string explain(const strided_copy& copy) {
    if (const std::optional<matrix_work> work = matrices_of(copy)) return "matrices: " + explain(*work);
    return "copy, " + std::string(kernels_for(copy.run).target) + ": " + explain_copy(copy);
}

}  // namespace cornerturn::host
