#include "core/arguments.hpp"

#include <limits>
#include <utility>

#include "core/overlap.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn {
namespace {

using std::to_string;

// One side of a transpose, under the name that messages give it.
struct side {
    const char* name;
    std::int64_t rows, cols, ld, count, stride;

    bool empty() const { return rows == 0 || cols == 0 || count == 0; }
    std::string shape() const { return to_string(rows) + " x " + to_string(cols); }
    std::string named(const char* member) const { return std::string(name) + "." + member; }

    void check(std::int64_t element_size) const {
        const std::pair<const char*, std::int64_t> sizes[] = {
            {"rows", rows}, {"cols", cols}, {"ld", ld}, {"count", count}, {"stride", stride}};
        for (const auto& [member, value] : sizes) {
            if (value < 0) refuse(named(member), to_string(value), "it must not be negative");
        }
        if (empty()) return;
        if (ld < cols) refuse(named("ld"), to_string(ld), "a row has " + to_string(cols) + " elements");
        std::int64_t last = 0, down = 0, bytes = 0;
        if (__builtin_mul_overflow(count - 1, count > 1 ? stride : 0, &last) ||
            __builtin_mul_overflow(rows - 1, ld, &down) || __builtin_add_overflow(last, down, &last) ||
            __builtin_add_overflow(last, cols, &last) || __builtin_mul_overflow(last, element_size, &bytes)) {
            throw invalid_argument(std::string(name) + " is " + to_string(count) + " times " + shape() + ", ld " +
                                   to_string(ld) + ", stride " + to_string(stride) + ", of " + to_string(element_size) +
                                   "-byte elements: its size does not fit 64 bits");
        }
    }

    // Matrices that are written must not share elements.
    void check_apart() const {
        if (empty() || count == 1) return;
        const bool behind = stride >= (rows - 1) * ld + cols;
        const bool beside = stride >= cols && ld >= (count - 1) * stride + cols;
        if (!behind && !beside) {
            refuse(named("stride"), to_string(stride),
                   "matrices of " + shape() + ", ld " + to_string(ld) + " would share elements; they can lie behind " +
                       "each other (from " + to_string((rows - 1) * ld + cols) + " on) or side by side within ld");
        }
    }

    lattice bytes_at(std::uintptr_t address, std::int64_t element_size) const {
        return {address,
                {count, count > 1 ? stride * element_size : 0},
                {rows, rows > 1 ? ld * element_size : 0},
                cols * element_size};
    }
};

side source_of(const transpose_layout& l) { return {"source", l.rows, l.cols, l.source_ld, l.count, l.source_stride}; }
side destination_of(const transpose_layout& l) {
    return {"destination", l.cols, l.rows, l.destination_ld, l.count, l.destination_stride};
}

void check_address(const char* name, std::uintptr_t address, std::int64_t alignment) {
    if (address == 0) throw invalid_argument(std::string(name) + ".data is null");
    if (address % static_cast<std::uintptr_t>(alignment) != 0) {
        refuse(std::string(name) + ".data", hex(address),
               "its elements must be aligned to " + to_string(alignment) + " bytes");
    }
}

}  // namespace

void refuse(const std::string& what, const std::string& value, const std::string& rule) {
    throw invalid_argument(what + " is " + value + ": " + rule);
}

std::string hex(std::uintptr_t address) {
    std::string digits;
    do digits.insert(digits.begin(), "0123456789abcdef"[address & 15]);
    while ((address >>= 4) != 0);
    return "0x" + digits;
}

void check_layout(const transpose_layout& l) {
    if (l.element_size < 1 || l.element_size > std::numeric_limits<int>::max())
        refuse("element_size", to_string(l.element_size), "it must be 1 to 2147483647 bytes");
    if (l.element_alignment < 1 || (l.element_alignment & (l.element_alignment - 1)) != 0 ||
        l.element_size % l.element_alignment != 0) {
        refuse("element_alignment", to_string(l.element_alignment),
               "it must be a power of two that divides the element's size, " + to_string(l.element_size));
    }
    source_of(l).check(l.element_size);
    destination_of(l).check(l.element_size);
    destination_of(l).check_apart();
}

bool is_empty(const transpose_layout& l) { return source_of(l).empty(); }

transpose_layout checked_layout(const detail::any_batch& source, const detail::any_batch& destination,
                                std::int64_t element_size, std::int64_t element_alignment) {
    const transpose_layout layout{source.rows,       source.cols,  source.ld,     destination.ld,    element_size,
                                  element_alignment, source.count, source.stride, destination.stride};
    check_layout(layout);
    if (destination.rows != source.cols || destination.cols != source.rows) {
        refuse("destination", to_string(destination.rows) + " x " + to_string(destination.cols),
               "the transpose of a source of " + to_string(source.rows) + " x " + to_string(source.cols) + " is " +
                   to_string(source.cols) + " x " + to_string(source.rows));
    }
    if (destination.count != source.count) {
        refuse("destination.count", to_string(destination.count),
               "the source has " + to_string(source.count) + " matrices");
    }
    return layout;
}

void check_addresses(const transpose_layout& l, std::uintptr_t source, std::uintptr_t destination) {
    check_address("source", source, l.element_alignment);
    check_address("destination", destination, l.element_alignment);
    const bool in_place = source == destination && l.rows == l.cols && l.source_ld == l.destination_ld &&
                          (l.count == 1 || l.source_stride == l.destination_stride);
    if (in_place) {
        source_of(l).check_apart();
        return;
    }
    if (share_bytes(source_of(l).bytes_at(source, l.element_size),
                    destination_of(l).bytes_at(destination, l.element_size))) {
        throw invalid_argument("destination (" + destination_of(l).shape() + " at " + hex(destination) +
                               ") overlaps source (" + source_of(l).shape() + " at " + hex(source) +
                               "): they must be apart, or the same square matrix with the same ld and stride");
    }
}

matrix_work work_of(const transpose_layout& l, std::uintptr_t source, std::uintptr_t destination) {
    return {reinterpret_cast<const void*>(source),
            reinterpret_cast<void*>(destination),
            l.rows,
            l.cols,
            l.rows > 1 ? l.source_ld : l.cols,
            l.cols > 1 ? l.destination_ld : l.rows,
            static_cast<int>(l.element_size),
            l.count,
            l.count > 1 ? l.source_stride : 0,
            l.count > 1 ? l.destination_stride : 0};
}

}  // namespace cornerturn
