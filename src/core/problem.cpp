#include "core/problem.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "core/arguments.hpp"
#include "core/available_memory.hpp"
#include "core/lowest_noted.hpp"
#include "core/parallel.hpp"
#include "core/sizes.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn {
namespace {

constexpr std::int64_t kWorthAThread = 1 << 16;  // elements

// Calls on_row(coordinates, address) for each row of each matrix, and on_gap(byte, index) for each byte of the gaps
// after them. The last row has no gap. Several threads share the rows.
template <class OnRow, class OnGap>
void for_each_row(const guarded_buffer& buffer, const patterned_batch& batch, OnRow on_row, OnGap on_gap) {
    const std::int64_t size = batch.element_size, rows = batch.row_count();
    unsigned char* const base = buffer.data() + batch.offset * size;
    const std::int64_t worth_a_thread = std::max<std::int64_t>(1, kWorthAThread / batch.cols);
    parallel_ranges(rows, worth_a_thread, [=](std::int64_t begin, std::int64_t end) {
        coordinates row = batch.row_start(begin);
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t start = batch.position(row);
            on_row(row, base + start * size);
            if (i + 1 == rows) return;
            row = batch.row_after(row);
            const std::int64_t gap_end = batch.position(row) * size;
            for (std::int64_t byte = (start + batch.cols) * size; byte < gap_end; ++byte) on_gap(base[byte], byte);
        }
    });
}

void fill(const guarded_buffer& buffer, const patterned_batch& batch) {
    if (batch.empty()) return;
    const std::int64_t before = batch.offset * batch.element_size;
    for (std::int64_t i = 0; i < before; ++i) buffer.data()[i] = guard_byte(i);
    with_elements(batch, [&](auto elements) {
        for_each_row(
            buffer, batch,
            [&](coordinates at, unsigned char* row) {
                const auto values = elements;  // local copies make the loop fast: stores of bytes cannot alias them
                const patterned_batch b = batch;
                for (at.col = 0; at.col < b.cols; ++at.col) values.put(row + at.col * values.size(), b.index(at));
            },
            [](unsigned char& byte, std::int64_t i) { byte = guard_byte(i); });
    });
}

wrong_positions find_wrong(const guarded_buffer& buffer, const patterned_batch& batch) {
    lowest_noted wrong_element, wrong_gap;
    with_elements(batch, [&](auto elements) {
        for_each_row(
            buffer, batch,
            [&](coordinates at, const unsigned char* row) {
                for (at.col = 0; at.col < batch.cols; ++at.col) {
                    if (elements.holds(row + at.col * elements.size(), batch.index(at))) continue;
                    wrong_element.note(batch.position(at));
                    return;
                }
            },
            [&](const unsigned char& byte, std::int64_t i) {
                if (byte != guard_byte(i)) wrong_gap.note(i);
            });
    });
    return {wrong_element.number(), wrong_gap.number()};
}

// A sentence about the first error in the matrices, the gaps or the guard bytes; empty if there is none.
std::string wrong_in(const guarded_buffer& buffer, const problem_shape& shape, side which) {
    const patterned_batch batch = shape.after(which);
    if (batch.empty()) return buffer.check_guards(name_of(which));
    const std::int64_t before = batch.offset * batch.element_size;
    const wrong_positions wrong = find_wrong(buffer, batch);
    if (wrong.element != kNothingNoted) {
        const auto position = static_cast<std::int64_t>(wrong.element);
        return describe_wrong_element(shape, which, batch.coordinates_at(position),
                                      buffer.data() + before + position * batch.element_size);
    }
    if (wrong.gap != kNothingNoted) return describe_wrong_gap(shape, which, static_cast<std::int64_t>(wrong.gap));
    for (std::int64_t i = 0; i < before; ++i) {
        if (buffer.data()[i] != guard_byte(i))
            return fmt::format("the guard byte {} bytes before the first element of the {} was overwritten", before - i,
                               name_of(which));
    }
    return buffer.check_guards(name_of(which));
}

// The bytes of a little-endian number, in hexadecimal.
std::string hex(const unsigned char* bytes, std::size_t count) {
    std::string digits = "0x";
    while (count > 0) digits += fmt::format("{:02x}", bytes[--count]);
    return digits;
}

// "3 x 4 elements of 8 bytes" or "2 matrices of 3 x 4 elements of 8 bytes".
std::string extent_of(const problem_shape& s) {
    const std::string one = fmt::format("{} x {} elements of {} bytes", s.rows, s.cols, s.element_size);
    return s.count == 1 ? one : fmt::format("{} matrices of {}", s.count, one);
}

// " of matrix 1"; empty if there is only one matrix.
std::string of_matrix(const problem_shape& s, std::int64_t matrix) {
    return s.count == 1 ? std::string() : fmt::format(" of matrix {}", matrix);
}

}  // namespace

batch_layout problem_shape::layout(side which) const {
    if (which == side::source) return {rows, cols, source_ld, count, source_stride};
    const arrangement to = arranged(rows, cols);
    return {to.rows, to.cols, destination_ld, count, destination_stride};
}

problem_shape problem_shape::checked() const {
    problem_shape result = *this;
    if (element_size < 1 || element_size > kMostElementBytes) {
        throw invalid_argument(
            fmt::format("the element size is {} bytes: the verifier takes 1 to {}", element_size, kMostElementBytes));
    }
    const auto check_side = [&](side which, std::int64_t& ld, std::int64_t& stride, std::int64_t offset) {
        named_batch batch{layout(which), name_of(which), &kInEnglish};
        batch.check_not_negative();
        check_not_negative(batch.name, " offset", offset);
        if (batch.ld == 0) batch.ld = batch.cols;
        batch.check_ld();
        const std::int64_t packed = checked_multiply(batch.rows, batch.ld, "rows x leading dimension");
        checked_multiply(packed, element_size, "elements x bytes");
        if (batch.stride == 0) batch.stride = packed;
        batch.check_extent(element_size);
        batch.check_no_overlap();
        constexpr std::int64_t kMostBytes = (std::int64_t{1} << 46) - 2 * kGuardBytes - 256;
        const std::int64_t most = kMostBytes / element_size, positions = is_empty(batch) ? 0 : batch_span(batch);
        if (offset > most || positions > most - offset) {
            throw invalid_argument(fmt::format("{}{}: this is more than the address space of any machine",
                                               count == 1 ? "a matrix of " : "", extent_of(*this)));
        }
        ld = batch.ld;
        stride = batch.stride;
    };
    check_side(side::source, result.source_ld, result.source_stride, source_offset);
    check_side(side::destination, result.destination_ld, result.destination_stride, destination_offset);
    if (in_place && (arranged != transposed || rows != cols || result.source_ld != result.destination_ld ||
                     result.source_stride != result.destination_stride || source_offset != destination_offset)) {
        throw invalid_argument(
            "in place works only for square matrices, with the same leading dimension, stride and offset on both "
            "sides");
    }
    return result;
}

patterned_batch problem_shape::after(side which) const {
    const bool of_source = which == side::source;
    patterned_batch result{layout(which),
                           element_size,
                           seed,
                           of_source ? source_offset : destination_offset,
                           (of_source ? copied : arranged)(rows, cols).order,
                           false,
                           finite_only};
    if (of_source && in_place) result.count = 0;
    return result;
}

patterned_batch problem_shape::before(side which) const {
    patterned_batch result = after(which);
    if (which == side::destination && in_place) result.order = copied(rows, cols).order;
    if (which == side::destination && !in_place) result.poison = true;
    return result;
}

std::int64_t problem_shape::capacity(side which) const {
    const std::int64_t bytes = before(which).bytes();
    if (which != side::source || !reads_stride || bytes == 0) return bytes;
    return std::max(bytes, (source_offset + count * source_stride) * element_size);
}

matrix_work problem_shape::work(unsigned char* source, unsigned char* destination) const {
    unsigned char* const to = destination + destination_offset * element_size;
    return {.source = in_place ? to : source + source_offset * element_size,
            .destination = to,
            .rows = rows,
            .cols = cols,
            .source_ld = source_ld,
            .destination_ld = destination_ld,
            .element_size = element_size,
            .count = count,
            .source_stride = source_stride,
            .destination_stride = destination_stride};
}

problem_capacities::problem_capacities(const problem_shape& given, const std::vector<problem_shape>& others)
    : shape(given.checked()) {
    const auto add = [&](const problem_shape& checked) {
        source = std::max(source, checked.capacity(side::source));
        destination = std::max(destination, checked.capacity(side::destination));
    };
    add(shape);
    for (const problem_shape& other : others) add(other.checked());
}

guarded_buffer::guarded_buffer(std::int64_t capacity) : capacity_(capacity), bytes_(capacity) {
    // MAP_NORESERVE: the matrix may be larger than memory, because a sampled run touches only a few of its pages.
    void* const memory = mmap(nullptr, static_cast<std::size_t>(capacity + 2 * kGuardBytes), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw error(fmt::format("cannot reserve {} bytes of memory for a matrix", capacity));
    mapping_ = static_cast<unsigned char*>(memory);
    data_ = mapping_ + kGuardBytes;
}

guarded_buffer::~guarded_buffer() { munmap(mapping_, static_cast<std::size_t>(capacity_ + 2 * kGuardBytes)); }

void guarded_buffer::use(std::int64_t bytes) {
    bytes_ = bytes;
    guards_filled_ = false;
}

void guarded_buffer::fill_guards() {
    if (guards_filled_) return;
    guards_filled_ = true;
    for (std::int64_t i = 0; i < kGuardBytes; ++i) {
        mapping_[i] = guard_byte(i);
        data_[bytes_ + i] = guard_byte(i);
    }
}

std::string guarded_buffer::check_guards(const char* name) const {
    for (std::int64_t i = 0; i < kGuardBytes; ++i) {
        if (data_[bytes_ + i] != guard_byte(i))
            return fmt::format("guard byte {} after the end of the {} was overwritten", i + 1, name);
        const std::int64_t before = kGuardBytes - 1 - i;
        if (mapping_[before] != guard_byte(before))
            return fmt::format("guard byte {} before the beginning of the {} was overwritten", i + 1, name);
    }
    return {};
}

void require_memory(std::int64_t needed, const std::string& what) {
    const std::int64_t available = available_memory();
    if (needed <= available) return;
    throw error(fmt::format("{} need {:.1f} GB of memory, but {:.1f} GB are available: choose a smaller problem", what,
                            static_cast<double>(needed) / 1e9, static_cast<double>(available) / 1e9));
}

void host_problem::prepare() {
    require_memory(source_.untouched() + destination_.untouched(), extent_of(shape_));
    for (guarded_buffer* buffer : {&source_, &destination_}) {
        buffer->fill_guards();
        buffer->touch();
    }
    for (side which : {side::source, side::destination}) fill(buffer(which), shape_.before(which));
}

verdict host_problem::check() const {
    verdict result{.elements = shape_.elements(), .fault = wrong_in(destination_, shape_, side::destination)};
    if (result.passed()) result.fault = wrong_in(source_, shape_, side::source);
    return result;
}

namespace {

// Calls visit(coordinates, address, elements) for each element of the tiles, on the side of `batch`. It uses one
// thread, because tiles are few and small.
template <class Visit>
void for_each_element(const guarded_buffer& buffer, const patterned_batch& batch, const std::vector<tile>& tiles,
                      bool is_transposed, Visit visit) {
    with_elements(batch, [&](auto elements) {
        for (const tile& t : tiles) {
            for (std::int64_t row = t.row; row < t.row + t.rows; ++row) {
                for (std::int64_t col = t.col; col < t.col + t.cols; ++col) {
                    const coordinates at =
                        is_transposed ? coordinates{t.matrix, col, row} : coordinates{t.matrix, row, col};
                    visit(at, buffer.data() + (batch.offset + batch.position(at)) * elements.size(), elements);
                }
            }
        }
    });
}

}  // namespace

void host_problem::prepare(const std::vector<tile>& tiles) {
    source_.fill_guards();
    destination_.fill_guards();
    for (side which : {side::source, side::destination}) {
        const patterned_batch batch = shape_.before(which);
        const bool is_transposed = which == side::destination && shape_.arranged == transposed;
        for_each_element(
            buffer(which), batch, tiles, is_transposed,
            [&](coordinates at, unsigned char* address, auto elements) { elements.put(address, batch.index(at)); });
    }
}

verdict host_problem::check(const std::vector<tile>& tiles) const {
    verdict result;
    const patterned_batch batch = shape_.after(side::destination);
    for_each_element(destination_, batch, tiles, shape_.arranged == transposed,
                     [&](coordinates at, const unsigned char* address, auto elements) {
                         ++result.elements;
                         if (result.passed() && !elements.holds(address, batch.index(at))) {
                             result.fault = describe_wrong_element(shape_, side::destination, at, address);
                         }
                     });
    if (result.passed()) result.fault = destination_.check_guards("destination");
    if (result.passed()) result.fault = source_.check_guards("source");
    return result;
}

tile host_problem::tile_at(const void* source_address, std::int64_t rows, std::int64_t cols) const {
    const std::int64_t index =
        (static_cast<const unsigned char*>(source_address) - source_.data()) / shape_.element_size -
        shape_.source_offset;
    const coordinates at = shape_.after(side::source).coordinates_at(index);
    return {at.row, at.col, rows, cols, at.matrix};
}

const char* name_of(side which) { return which == side::source ? "source" : "destination"; }

std::string describe_wrong_element(const problem_shape& shape, side which, coordinates at, const void* found) {
    const std::string matrix = of_matrix(shape, at.matrix);
    if (which == side::source)
        return fmt::format("the source was changed at row {}, column {}{}", at.row, at.col, matrix);
    const auto size = static_cast<std::size_t>(shape.element_size);
    const auto element_of = [&](const patterned_batch& batch) {
        std::vector<unsigned char> bytes(size);
        with_elements(batch, [&](auto elements) { elements.put(bytes.data(), batch.index(at)); });
        return bytes;
    };
    const auto from = static_cast<std::int64_t>(shape.after(which).index({0, at.row, at.col}));
    return fmt::format("destination (row {}, column {}){} {}, the source's (row {}, column {}) (seed {})", at.row,
                       at.col, matrix,
                       wrong_bytes_text(static_cast<const unsigned char*>(found), element_of(shape.after(which)),
                                        element_of(shape.before(which))),
                       from / shape.cols, from % shape.cols, shape.seed);
}

std::string wrong_bytes_text(const unsigned char* found, const std::vector<unsigned char>& wanted,
                             const std::vector<unsigned char>& before) {
    // Of a long element, show the part that is wrong.
    constexpr std::size_t kPart = 16;
    const std::size_t size = wanted.size();
    const auto first_wrong = std::mismatch(wanted.begin(), wanted.end(), found).first - wanted.begin();
    const std::size_t begin = static_cast<std::size_t>(first_wrong) / kPart * kPart;
    const std::size_t length = std::min(kPart, size - begin);
    return fmt::format("holds {}{}{}; it must hold {}", hex(found + begin, length),
                       size > kPart ? fmt::format(" from its byte {} on", begin) : "",
                       std::memcmp(found, before.data(), size) == 0 ? ", as before the run" : "",
                       hex(wanted.data() + begin, length));
}

std::string describe_wrong_gap(const problem_shape& shape, side which, std::int64_t byte) {
    const patterned_batch batch = shape.after(which);
    const coordinates at = batch.coordinates_at(byte / batch.element_size);
    const std::int64_t row_end = batch.position({at.matrix, at.row, batch.cols});
    return fmt::format("the gap after row {}{} of the {} was overwritten at its byte {}", at.row,
                       of_matrix(shape, at.matrix), name_of(which), byte - row_end * batch.element_size);
}

}  // namespace cornerturn
