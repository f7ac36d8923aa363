// Transposes past the caches, line by line of the destination.
#include "host/methods.hpp"
#include "host/squares.hpp"

namespace cornerturn::host {
namespace {

constexpr std::int64_t kUnitBytes = 1 * kMiB;     // of a strip, at most
constexpr std::int64_t kAlignedBytes = 1 * kKiB;  // of a row of the source: in longer ones, its first columns go alone

// How many positions, far apart along strips of `rows` rows, are alternated between. Elements of 4 bytes are slightly
// faster with twice as many pieces of rows at a time as other elements.
std::int64_t positions_at_a_time(const job& j, std::int64_t rows) { return j.size == 4 ? 4 : kRowsAtATime / rows; }

// Columns of the source before the first one whose elements begin a line in each row, if there is one. From there on,
// squares read whole lines, not parts of two.
std::int64_t cols_before_lines(const job& j) {
    const bool alike = j.source_pitch % kLineBytes == 0 && (j.count == 1 || j.source_stride % kLineBytes == 0);
    if (!alike || in_line(j.source) % j.size != 0 || j.cols * j.size < kAlignedBytes) return 0;
    return to_next_line(j.source) / j.size;
}

}  // namespace

// Straight from the source to the destination. The destination's rows are whole lines except for their ends.
void run_lines(const job& j) {
    const std::int64_t side = j.side();
    const transpose_strip_function transpose_strip = transpose_strip_for(j);
    const std::int64_t most_rows = (transpose_strip != nullptr ? 1 : strips_at_a_time(side, j.source_pitch)) * side;
    const std::int64_t rows_before = j.rows_before_lines(), cols_before = cols_before_lines(j);
    const std::int64_t rows_in_squares = (j.rows - rows_before) / side * side, end = rows_before + rows_in_squares;
    const std::int64_t cols_behind = j.cols - cols_before;
    const std::int64_t across = divide_up(cols_behind * kLineBytes, kUnitBytes),
                       down = divide_up(rows_in_squares, most_rows);
    const std::int64_t most_cols = divide_up(divide_up(cols_behind, across), side) * side;
    // Tasks of several patches, one below the other.
    const bool narrow = most_rows * most_cols * j.size < kTaskBytes;
    share_out(j, j.count * across * down, [&](std::int64_t i) {
        // Go down the source: this writes neighbours along the destination's rows at the same time.
        const std::int64_t row = rows_before + i % down * most_rows;
        const std::int64_t col = cols_before + i / down % across * most_cols, matrix = i / down / across;
        if (col >= j.cols) return;
        const std::int64_t rows = std::min(most_rows, end - row), cols = std::min(most_cols, j.cols - col);
        const std::int64_t strips = rows / side, squares = cols / side;
        const bool follows = narrow && row + 2 * most_rows <= end;
        const auto transpose_patch = [&](std::int64_t first, std::int64_t along, std::int64_t positions) {
            transpose_squares(j, {.source = j.source_at(matrix, row, col + first),
                                  .destination = j.destination_at(matrix, col + first, row),
                                  .strips = strips,
                                  .squares = along,
                                  .positions = positions,
                                  .apart = along * side,
                                  .next = follows ? j.source_at(matrix, row + most_rows, col + first) : nullptr});
        };
        std::int64_t done = 0;
        if (transpose_strip != nullptr)
            done = transpose_strip(j, j.source_at(matrix, row, col), j.destination_at(matrix, col, row), squares);
        const std::int64_t left = squares - done;
        if (left > 0) {
            const std::int64_t positions = std::min(left, positions_at_a_time(j, most_rows));
            const std::int64_t along = left / positions;
            transpose_patch(done * side, along, positions);
            transpose_patch((done + positions * along) * side, left % positions, 1);
        }
        // Writes what is less than a square, into parts of lines.
        const auto transpose_rest = [&](std::int64_t its_row, std::int64_t its_col, std::int64_t its_rows,
                                        std::int64_t its_cols) {
            if (its_rows == 0 || its_cols == 0) return;
            j.use.transpose_tile(j.source_at(matrix, its_row, its_col), j.source_pitch,
                                 j.destination_at(matrix, its_col, its_row), j.destination_pitch, its_rows, its_cols,
                                 j.size);
        };
        const bool is_first = col == cols_before;
        if (is_first) transpose_rest(row, 0, rows, cols_before);
        transpose_rest(row, col + squares * side, rows, cols - squares * side);
        // Above and below all squares: each task gets a share, because these lines are fetched before they are written.
        const std::int64_t from = is_first ? 0 : col, width = col + cols - from;
        const std::int64_t share = from + width * (i % down) / down, next = from + width * (i % down + 1) / down;
        transpose_rest(0, share, rows_before, next - share);
        transpose_rest(end, share, j.rows - end, next - share);
    });
}

}  // namespace cornerturn::host
