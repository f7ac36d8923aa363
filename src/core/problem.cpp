#include "core/problem.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <limits>
#include <mutex>

#include "core/element.hpp"
#include "core/parallel.hpp"
#include "core/pattern.hpp"
#include "core/sizes.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn {
namespace {

constexpr std::int64_t kWorthAThread = 1 << 16;  // elements

// What the source holds, and what the destination must.
template <class T>
pattern_elements<T> source_elements(const problem_shape& shape) {
    return {shape.cols, shape.seed, false, shape.numbers};
}
template <class T>
pattern_elements<T> destination_elements(const problem_shape& shape) {
    return {shape.cols, shape.seed, shape.does == operation::transpose, shape.numbers};
}

std::int64_t bytes_needed(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t offset, int size) {
    if (rows == 0 || cols == 0) return 0;
    return (offset + (rows - 1) * ld + cols) * size;
}

template <class T>
std::string hex(const T& value) {
    if constexpr (sizeof(T) == 16) {
        return fmt::format("0x{:016x}{:016x}", value.high, value.low);
    } else {
        return fmt::format("0x{:0{}x}", value, 2 * sizeof(T));
    }
}

// The lowest position that any thread has found wrong.
class first_wrong {
public:
    void note(std::int64_t row, std::int64_t col) {
        std::lock_guard lock(mutex_);
        if (row < row_ || (row == row_ && col < col_)) {
            row_ = row;
            col_ = col;
        }
    }
    bool any() const { return row_ != std::numeric_limits<std::int64_t>::max(); }
    std::int64_t row() const { return row_; }
    std::int64_t col() const { return col_; }

private:
    std::mutex mutex_;
    std::int64_t row_ = std::numeric_limits<std::int64_t>::max(), col_ = 0;
};

// The gap behind a row: from its last column to the leading dimension. The last row has none.
template <class F>
void for_each_gap_byte(unsigned char* base, std::int64_t row, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                       int size, F f) {
    if (row + 1 == rows) return;
    for (std::int64_t i = (row * ld + cols) * size; i < (row + 1) * ld * size; ++i) f(base[i], i);
}

// What the system can give without swapping: memory that is mapped but not there ends the program without a word.
std::int64_t available_memory() {
    std::ifstream info("/proc/meminfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("MemAvailable:")) return std::stoll(line.substr(line.find(':') + 1)) * 1024;
    }
    return std::numeric_limits<std::int64_t>::max();
}

}  // namespace

problem_shape problem_shape::checked() const {
    problem_shape result = *this;
    for (const auto& [name, value] : {std::pair{"rows", rows},
                                      {"cols", cols},
                                      {"source offset", source_offset},
                                      {"destination offset", destination_offset}}) {
        if (value < 0) throw invalid_argument(fmt::format("{} is {}: it must not be negative", name, value));
    }
    const auto check_ld = [&](const char* name, std::int64_t& ld, std::int64_t row_length) {
        if (ld == 0) ld = row_length;
        if (ld < row_length)
            throw invalid_argument(fmt::format("{} is {}: a row has {} elements", name, ld, row_length));
    };
    check_ld("the source's leading dimension", result.source_ld, cols);
    check_ld("the destination's leading dimension", result.destination_ld, destination_cols());
    constexpr std::int64_t kRoom = 2 * kGuardBytes + 256;
    const auto check_bytes = [&](std::int64_t r, std::int64_t ld, std::int64_t offset) {
        const std::int64_t elements = checked_multiply(r, ld, "rows x leading dimension");
        const std::int64_t bytes = checked_multiply(elements, element_size, "elements x bytes");
        if (bytes > (std::int64_t{1} << 46) - kRoom || offset > (std::int64_t{1} << 40)) {
            throw invalid_argument(
                fmt::format("a matrix of {} x {} elements of {} bytes: no machine has that much address space", rows,
                            cols, element_size));
        }
    };
    check_bytes(rows, result.source_ld, source_offset);
    check_bytes(destination_rows(), result.destination_ld, destination_offset);
    return result;
}

std::int64_t problem_shape::source_bytes() const {
    return bytes_needed(rows, cols, source_ld, source_offset, element_size);
}
std::int64_t problem_shape::destination_bytes() const {
    return bytes_needed(destination_rows(), destination_cols(), destination_ld, destination_offset, element_size);
}

guarded_buffer::guarded_buffer(std::int64_t bytes) : bytes_(bytes), mapped_(bytes + 2 * kGuardBytes) {
    // Not reserved: a sampled run touches a few pages of a matrix that may be larger than memory.
    void* const memory = mmap(nullptr, static_cast<std::size_t>(mapped_), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw error(fmt::format("the system has no {} bytes of memory for a matrix", bytes));
    mapping_ = static_cast<unsigned char*>(memory);
    data_ = mapping_ + kGuardBytes;
}

guarded_buffer::~guarded_buffer() { munmap(mapping_, static_cast<std::size_t>(mapped_)); }

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
            return fmt::format("the byte {} behind the end of the {} was overwritten", i, name);
        const std::int64_t before = kGuardBytes - 1 - i;
        if (mapping_[before] != guard_byte(before))
            return fmt::format("the byte {} before the beginning of the {} was overwritten", i + 1, name);
    }
    return {};
}

host_problem::host_problem(const problem_shape& shape)
    : shape_(shape.checked()), source_(shape_.source_bytes()), destination_(shape_.destination_bytes()) {}

matrix_work host_problem::work() const {
    const std::int64_t size = shape_.element_size;
    return {source_.data() + shape_.source_offset * size,
            destination_.data() + shape_.destination_offset * size,
            shape_.rows,
            shape_.cols,
            shape_.source_ld,
            shape_.destination_ld,
            shape_.element_size};
}

void host_problem::prepare() {
    const std::int64_t needed = source_.size() + destination_.size(), available = available_memory();
    if (needed > available) {
        throw error(fmt::format(
            "{} x {} elements of {} bytes need {:.1f} GB of memory, and {:.1f} GB are available: choose fewer",
            shape_.rows, shape_.cols, shape_.element_size, static_cast<double>(needed) / 1e9,
            static_cast<double>(available) / 1e9));
    }
    source_.fill_guards();
    destination_.fill_guards();
    with_element_type(shape_.element_size, [&]<class T>(T) {
        const int size = sizeof(T);
        const auto fill = [&](const guarded_buffer& buffer, std::int64_t offset, std::int64_t rows, std::int64_t cols,
                              std::int64_t ld, auto value) {
            unsigned char* const base = buffer.data() + offset * size;
            if (rows == 0 || cols == 0) return;
            std::generate(buffer.data(), base, [i = std::int64_t{0}]() mutable { return guard_byte(i++); });
            parallel_ranges(
                rows, std::max<std::int64_t>(1, kWorthAThread / cols), [=](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t row = begin; row < end; ++row) {
                        T* const line = reinterpret_cast<T*>(base) + row * ld;
                        for (std::int64_t col = 0; col < cols; ++col) line[col] = value(row, col);
                        for_each_gap_byte(base, row, rows, cols, ld, size,
                                          [](unsigned char& byte, std::int64_t i) { byte = guard_byte(i); });
                    }
                });
        };
        const problem_shape s = shape_;
        fill(source_, s.source_offset, s.rows, s.cols, s.source_ld, source_elements<T>(s));
        fill(destination_, s.destination_offset, s.destination_rows(), s.destination_cols(), s.destination_ld,
             [wanted = destination_elements<T>(s)](std::int64_t row, std::int64_t col) {
                 return opposite(wanted(row, col));
             });
    });
}

verdict host_problem::check() const {
    verdict result;
    result.elements = shape_.elements();
    with_element_type(shape_.element_size, [&]<class T>(T) {
        const int size = sizeof(T);
        const problem_shape s = shape_;
        const auto wrong_in = [&](const guarded_buffer& buffer, std::int64_t offset, std::int64_t rows,
                                  std::int64_t cols, std::int64_t ld, const char* name, auto value) -> std::string {
            if (rows == 0 || cols == 0) return {};
            unsigned char* const base = buffer.data() + offset * size;
            first_wrong element, gap;
            parallel_ranges(
                rows, std::max<std::int64_t>(1, kWorthAThread / cols), [&, base](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t row = begin; row < end; ++row) {
                        const T* const line = reinterpret_cast<const T*>(base) + row * ld;
                        for (std::int64_t col = 0; col < cols; ++col) {
                            if (!(line[col] == value(row, col))) {
                                element.note(row, col);
                                break;
                            }
                        }
                        for_each_gap_byte(base, row, rows, cols, ld, size, [&](unsigned char& byte, std::int64_t i) {
                            if (byte != guard_byte(i)) gap.note(row, i - (row * ld + cols) * size);
                        });
                    }
                });
            if (element.any() && &buffer == &destination_) {
                return describe_wrong_element(shape_, element.row(), element.col(),
                                              base + (element.row() * ld + element.col()) * size);
            }
            if (element.any())
                return fmt::format("the source was changed at row {}, column {}", element.row(), element.col());
            if (gap.any())
                return fmt::format("the gap behind row {} of the {} was overwritten at its byte {}", gap.row(), name,
                                   gap.col());
            for (std::int64_t i = 0; i < offset * size; ++i) {
                if (buffer.data()[i] != guard_byte(i))
                    return fmt::format("byte {} before the {} was overwritten", offset * size - i, name);
            }
            return buffer.check_guards(name);
        };
        result.fault = wrong_in(destination_, s.destination_offset, s.destination_rows(), s.destination_cols(),
                                s.destination_ld, "destination", destination_elements<T>(s));
        if (result.passed()) {
            result.fault =
                wrong_in(source_, s.source_offset, s.rows, s.cols, s.source_ld, "source", source_elements<T>(s));
        }
    });
    return result;
}

namespace {

// Calls visit(row, col, source, destination) for the elements of the tiles: the place in the source's matrix, and the
// element on either side. Tiles are few and small: one after the other.
template <class T, class Visit>
void for_each_element(const matrix_work& work, operation does, const std::vector<tile>& tiles, Visit visit) {
    const bool transposes = does == operation::transpose;
    T* const source = const_cast<T*>(static_cast<const T*>(work.source));
    T* const destination = static_cast<T*>(work.destination);
    for (const tile& t : tiles) {
        for (std::int64_t row = t.row; row < t.row + t.rows; ++row) {
            for (std::int64_t col = t.col; col < t.col + t.cols; ++col) {
                visit(row, col, source[row * work.source_ld + col],
                      destination[transposes ? col * work.destination_ld + row : row * work.destination_ld + col]);
            }
        }
    }
}

}  // namespace

void host_problem::prepare(const std::vector<tile>& tiles) {
    source_.fill_guards();
    destination_.fill_guards();
    with_element_type(shape_.element_size, [&]<class T>(T) {
        const auto value = source_elements<T>(shape_);
        for_each_element<T>(work(), shape_.does, tiles, [&](auto row, auto col, T& source, T& destination) {
            source = value(row, col);
            destination = opposite(source);
        });
    });
}

verdict host_problem::check(const std::vector<tile>& tiles) const {
    verdict result;
    with_element_type(shape_.element_size, [&]<class T>(T) {
        const bool transposes = shape_.does == operation::transpose;
        const auto wanted = destination_elements<T>(shape_);
        for_each_element<T>(work(), shape_.does, tiles, [&](auto row, auto col, T&, T& found) {
            ++result.elements;
            const std::int64_t to_row = transposes ? col : row, to_col = transposes ? row : col;
            if (result.passed() && !(found == wanted(to_row, to_col))) {
                result.fault = describe_wrong_element(shape_, to_row, to_col, &found);
            }
        });
    });
    if (result.passed()) result.fault = destination_.check_guards("destination");
    if (result.passed()) result.fault = source_.check_guards("source");
    return result;
}

tile host_problem::tile_at(const void* source_address, std::int64_t rows, std::int64_t cols) const {
    const std::int64_t index =
        (static_cast<const unsigned char*>(source_address) - source_.data()) / shape_.element_size -
        shape_.source_offset;
    return {index / shape_.source_ld, index % shape_.source_ld, rows, cols};
}

std::string describe_wrong_element(const problem_shape& shape, std::int64_t row, std::int64_t col, const void* found) {
    return with_element_type(shape.element_size, [&]<class T>(T) {
        T value;
        std::memcpy(&value, found, sizeof value);
        const T wanted = destination_elements<T>(shape)(row, col);
        const bool transposes = shape.does == operation::transpose;
        return fmt::format(
            "destination (row {}, column {}) holds {}{}; it must hold {}, the source's (row {}, column {}) (seed {})",
            row, col, hex(value), value == opposite(wanted) ? ", as before the run" : "", hex(wanted),
            transposes ? col : row, transposes ? row : col, shape.seed);
    });
}

}  // namespace cornerturn
