#include "ops/transpose/kernels/policy_copies.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>

#include "ops/transpose/kernels/tunings.hpp"

namespace cornerturn::transposes {
namespace {

std::uint64_t starts_of_rows(const matrix_work& w, const void* data, std::int64_t rows, std::int64_t ld,
                             std::int64_t stride) {
    const std::int64_t between = (rows > 1 ? ld * w.element_size : 0) | (w.count > 1 ? stride * w.element_size : 0);
    return reinterpret_cast<std::uintptr_t>(data) | static_cast<std::uint64_t>(between);
}

bool always(const matrix_work&) { return true; }
bool is_batch(const matrix_work& w) { return w.count > 1; }
bool has_source_gaps(const matrix_work& w) { return w.source_ld != w.cols; }
bool has_no_source_gaps(const matrix_work& w) { return !has_source_gaps(w); }
bool has_gaps(const matrix_work& w) { return has_source_gaps(w) || w.destination_ld != w.rows; }
// The narrower side is not a multiple of a vector. So the last elements of each long row are moved one by one.
bool ends_within_vectors(const matrix_work& w) { return std::min(w.rows, w.cols) * w.element_size % kVectorBytes != 0; }
// In a batch, the number of rows is not a multiple of a vector. So the same is true of each row of the destination.
bool has_odd_rows_in_batch(const matrix_work& w) { return is_batch(w) && w.rows * w.element_size % kVectorBytes != 0; }
// Matrices of few rows leave most of a tall tile empty.
bool is_batch_of_few_rows(const matrix_work& w) { return is_batch(w) && w.rows <= 200; }
template <int kBytes>
bool is_batch_of_less(const matrix_work& w) {
    return is_batch(w) && w.rows * w.cols * w.element_size < kBytes;
}
// A row of the source begins inside a word. So all of it is shifted as it is read.
bool is_shifted(const matrix_work& w) { return starts_of_source_rows(w) % 4 != 0; }
// For smaller work, the simpler kernel is faster.
bool is_large(const matrix_work& w) { return w.rows * w.cols * w.count * w.element_size >= 32 << 20; }
bool is_large_and_shifted(const matrix_work& w) { return is_large(w) && is_shifted(w); }
bool is_large_and_odd(const matrix_work& w) { return is_large(w) && w.rows % 2 != 0; }
bool has_16_kib(const matrix_work& w) { return w.rows * w.cols * w.element_size >= 16 << 10; }
// All rows of the source begin at the same position in a word of four.
bool has_alike_rows(const matrix_work& w) {
    return has_no_source_gaps(w) && w.cols % 4 == 0 && (w.count == 1 || w.source_stride % 4 == 0);
}
// For elements of 3 bytes, kernel_family::units moves whole words in two cases. The first: the longer rows begin at
// words. These are the destination's rows for a low matrix, else the source's, which must also end at words or be long.
// The second: the source's rows begin alike, and there are 1,000 rows or more, or a batch of fewer whose rows and
// columns are multiples of four.
bool is_of_words(const matrix_work& w) {
    if (w.element_size != 3) return false;
    const bool fours = is_batch(w) && has_alike_rows(w) && w.rows % 4 == 0 && starts_of_destination_rows(w) % 4 == 0;
    if (fours && w.rows >= 32 && w.rows * w.cols >= 384) return true;
    if (w.rows < w.cols) return w.rows >= 128 && starts_of_destination_rows(w) % 4 == 0;
    if (w.cols < 4) return false;
    if (starts_of_source_rows(w) % 4 == 0 && (w.cols % 4 == 0 || w.cols > 160)) return w.rows >= 200;
    return has_alike_rows(w) && w.rows >= 1000;
}
bool is_not_of_words(const matrix_work& w) { return !is_of_words(w); }
bool is_batch_not_of_words(const matrix_work& w) {
    const bool large = w.element_size == 3 && std::min(w.rows, w.cols) > 250;
    return is_batch(w) && is_not_of_words(w) && !large;
}
bool has_3_bytes(const matrix_work& w) { return w.element_size == 3; }
bool has_3_bytes_and_gaps(const matrix_work& w) { return has_3_bytes(w) && has_source_gaps(w); }
// The kernel for small matrices moves words if both sides have whole words. Otherwise it is still faster for 300 rows
// and more of 2 or 4 elements.
bool has_no_words_when_small(const matrix_work& w) {
    if (w.rows >= 300 && (w.cols == 2 || w.cols == 4)) return false;
    return w.rows * w.element_size % 4 != 0 || w.cols * w.element_size % 4 != 0;
}

// The side to which a limit applies: the rows of a matrix with fewer rows than columns, the columns of any other
// matrix, the narrower side of the two, or the rows.
enum class side { rows_of_low, cols_of_tall, narrower, rows };
constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

// Matrices that the copy between tensors moves faster than their own kernel does. Most leave the kernel's tiles half
// empty. All were compared on an H200. The number after each row is that of its experiment in the full log.
// docs/experiments/copies.md says how to show the log.
struct copies_tuning {
    kernel_family instead_of;
    int least_unit, most_unit;
    side of;
    std::int64_t least, most;  // of that side, in elements
    bool (*if_it)(const matrix_work&);
};
constexpr copies_tuning kCopies[] = {
    {kernel_family::wide, 1, 1, side::rows, 2, 4, is_batch_of_less<1 << 20>},           // 98
    {kernel_family::wide, 1, 1, side::rows, 5, 7, is_batch_of_less<200 << 10>},         // 98
    {kernel_family::wide, 1, 1, side::rows, 8, 8, is_batch_of_less<1 << 20>},           // 98
    {kernel_family::wide, 1, 1, side::rows, 2, 2, is_large_and_shifted},                // 98
    {kernel_family::wide, 1, 1, side::rows, 4, 4, is_large_and_shifted},                // 98
    {kernel_family::wide, 1, 1, side::rows, 8, 8, is_large_and_shifted},                // 98
    {kernel_family::wide, 2, 2, side::rows, 2, 8, is_batch_of_less<1 << 20>},           // 98
    {kernel_family::wide, 2, 2, side::rows, 3, 5, is_large_and_odd},                    // 98
    {kernel_family::wide, 2, 2, side::rows, 2, 8, is_large_and_shifted},                // 98
    {kernel_family::wide, 4, 4, side::rows, 2, 8, is_batch_of_less<128 << 10>},         // 98
    {kernel_family::small, 1, 2, side::narrower, 0, kAny, has_no_words_when_small},     // 104
    {kernel_family::small, 4, 16, side::narrower, 0, kAny, has_16_kib},                 // 82
    {kernel_family::units, 1, 1, side::narrower, 0, kAny, is_batch_not_of_words},       // 104
    {kernel_family::units, 2, 16, side::narrower, 0, kAny, is_batch},                   // 82
    {kernel_family::units, 1, 1, side::rows_of_low, 0, 170, is_not_of_words},           // 98
    {kernel_family::units, 1, 1, side::cols_of_tall, 2, 7, has_3_bytes_and_gaps},       // 104
    {kernel_family::units, 1, 1, side::cols_of_tall, 3, 3, has_3_bytes},                // 104
    {kernel_family::units, 1, 1, side::cols_of_tall, 5, 160, is_not_of_words},          // 98
    {kernel_family::units, 2, 2, side::rows_of_low, 0, 160, always},                    // 82
    {kernel_family::units, 2, 2, side::cols_of_tall, 0, 500, always},                   // 89
    {kernel_family::units, 4, 16, side::narrower, 0, 500, always},                      // 89
    {kernel_family::vector, 1, 1, side::rows_of_low, 0, 400, ends_within_vectors},      // 106
    {kernel_family::vector, 1, 1, side::rows_of_low, 0, 32, has_gaps},                  // 106
    {kernel_family::vector, 1, 1, side::cols_of_tall, 0, kAny, ends_within_vectors},    // 106
    {kernel_family::vector, 1, 1, side::cols_of_tall, 0, kAny, has_odd_rows_in_batch},  // 106
    {kernel_family::vector, 2, 2, side::rows_of_low, 0, 100, ends_within_vectors},      // 106
    {kernel_family::vector, 2, 2, side::rows_of_low, 0, 8, has_gaps},                   // 106
    {kernel_family::vector, 2, 2, side::cols_of_tall, 0, 250, ends_within_vectors},     // 106
    {kernel_family::vector, 2, 2, side::cols_of_tall, 8, 8, has_odd_rows_in_batch},     // 106
    {kernel_family::vector, 4, 8, side::rows_of_low, 0, 8, ends_within_vectors},        // 106
    {kernel_family::vector, 8, 8, side::rows_of_low, 0, 4, has_gaps},                   // 106
    {kernel_family::vector, 4, 8, side::cols_of_tall, 0, 12, has_odd_rows_in_batch},    // 106
    {kernel_family::vector, 4, 16, side::narrower, 0, 4, has_source_gaps},              // 89
    {kernel_family::vector_stacked, 1, 1, side::rows_of_low, 0, 48, has_source_gaps},   // 106
    {kernel_family::vector_stacked, 2, 2, side::rows_of_low, 0, 64, has_gaps},          // 106
    {kernel_family::vector_stacked, 8, 16, side::rows_of_low, 0, 32, has_gaps},         // 106
    {kernel_family::vector_stacked, 2, 16, side::cols_of_tall, 0, 4, has_gaps},         // 106
    {kernel_family::vector_stacked, 2, 2, side::cols_of_tall, 5, 8, has_gaps},          // 106
    {kernel_family::vector_stacked, 8, 8, side::cols_of_tall, 5, 8, has_gaps},          // 106
    {kernel_family::vector_stacked, 1, 16, side::rows, 0, kFew - 1, always},            // 89
    {kernel_family::ragged, 1, 1, side::rows_of_low, 0, 160, always},                   // 89
    {kernel_family::ragged, 1, 1, side::cols_of_tall, 0, kFew, always},                 // 82
    {kernel_family::ragged, 1, 1, side::cols_of_tall, 0, 128, has_source_gaps},         // 106
    {kernel_family::ragged, 1, 1, side::cols_of_tall, 0, 100, is_batch},                // 89
    {kernel_family::ragged, 2, 2, side::rows_of_low, 0, 256, always},                   // 82
    {kernel_family::ragged, 2, 2, side::cols_of_tall, 21, 256, always},                 // 82
    {kernel_family::ragged, 2, 2, side::cols_of_tall, 0, 256, has_source_gaps},         // 89
    {kernel_family::ragged, 4, 4, side::narrower, 0, 600, always},                      // 89
    {kernel_family::ragged, 8, 16, side::rows_of_low, 0, 90, always},                   // 89
    {kernel_family::ragged, 8, 16, side::cols_of_tall, 0, kFew, has_no_source_gaps},    // 104
    {kernel_family::ragged, 8, 8, side::cols_of_tall, 0, 24, is_batch_of_few_rows},     // 106
    {kernel_family::ragged, 8, 16, side::cols_of_tall, 65, 200, always},                // 89
};

}  // namespace

std::uint64_t starts_of_source_rows(const matrix_work& w) {
    return starts_of_rows(w, w.source, w.rows, w.source_ld, w.source_stride);
}
std::uint64_t starts_of_destination_rows(const matrix_work& w) {
    return starts_of_rows(w, w.destination, w.cols, w.destination_ld, w.destination_stride);
}

bool copies_better(const tuning& t, const matrix_work& w) {
    if (w.rows == 1 || w.cols == 1) return true;  // a copy of runs: experiment 82
    const bool low = w.rows < w.cols;
    return std::any_of(std::begin(kCopies), std::end(kCopies), [&](const copies_tuning& c) {
        if (c.instead_of != t.by || t.unit < c.least_unit || t.unit > c.most_unit) return false;
        if ((c.of == side::rows_of_low && !low) || (c.of == side::cols_of_tall && low)) return false;
        const std::int64_t extent = low || c.of == side::rows ? w.rows : w.cols;
        return extent >= c.least && extent <= c.most && c.if_it(w);
    });
}

}  // namespace cornerturn::transposes
