#include "core/arguments.hpp"

#include <limits>
#include <utility>

#include "core/overlap.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn {
namespace {

using std::to_string;

named_batch source_of(const transpose_layout& l) {
    return {{l.rows, l.cols, l.source_ld, l.count, l.source_stride}, "source"};
}
named_batch destination_of(const transpose_layout& l) {
    return {{l.cols, l.rows, l.destination_ld, l.count, l.destination_stride}, "destination"};
}

}  // namespace

void refuse(const std::string& argument, const std::string& value, const std::string& rule) {
    throw invalid_argument(argument + " is " + value + ": " + rule);
}

std::string hex(std::uintptr_t address) {
    std::string digits;
    do digits.insert(digits.begin(), "0123456789abcdef"[address & 15]);
    while ((address >>= 4) != 0);
    return "0x" + digits;
}

void check_not_negative(const char* name, const char* member, std::int64_t value) {
    if (value < 0) refuse(std::string(name) + member, to_string(value), "it must not be negative");
}

std::string named_batch::shape() const { return to_string(rows) + " x " + to_string(cols); }

void named_batch::check_not_negative() const {
    if ((rows | cols | ld | count | stride) >= 0) return;  // none of them has the sign bit
    for (const auto& [member, value] : {std::pair{members->rows, rows},
                                        {members->cols, cols},
                                        {members->ld, ld},
                                        {members->count, count},
                                        {members->stride, stride}}) {
        cornerturn::check_not_negative(name, member, value);
    }
}

void named_batch::check_ld() const {
    if (ld < cols) {
        refuse(std::string(name) + members->ld, to_string(ld),
               "it must be at least " + to_string(cols) + ", the length of a row");
    }
}

void named_batch::check_extent(std::int64_t element_size) const {
    if (is_empty(*this)) return;
    check_ld();
    std::int64_t last = 0, down = 0, bytes = 0;
    if (__builtin_mul_overflow(count - 1, count > 1 ? stride : 0, &last) ||
        __builtin_mul_overflow(rows - 1, ld, &down) || __builtin_add_overflow(last, down, &last) ||
        __builtin_add_overflow(last, cols, &last) || __builtin_mul_overflow(last, element_size, &bytes)) {
        const bool is_batch = count > 1;
        throw invalid_argument(std::string(name) + " is a " +
                               (is_batch ? "batch of " + to_string(count) + " matrices" : "matrix") + " of " + shape() +
                               " (ld " + to_string(ld) + (is_batch ? ", stride " + to_string(stride) : "") + ", " +
                               to_string(element_size) + "-byte elements): its size does not fit in 64 bits");
    }
}

void named_batch::check_no_overlap() const {
    if (is_empty(*this) || count == 1 || one_after_another(*this) || side_by_side(*this)) return;
    refuse(std::string(name) + members->stride, to_string(stride),
           "with this stride, matrices of " + shape() + " with ld " + to_string(ld) + " overlap; it must be at least " +
               to_string(matrix_span(*this)) + ", or, for matrices side by side in longer rows, at least " +
               to_string(cols) + " with an ld of at least (count - 1) * stride + " + to_string(cols));
}

void detail::check_holds(std::size_t size, const batch_layout& layout) {
    const named_batch view{layout, "view"};
    view.check_not_negative();
    view.check_extent(1);
    if (is_empty(layout) || static_cast<std::uint64_t>(batch_span(layout)) <= size) return;
    const std::string shape = view.shape() + " with ld " + to_string(layout.ld);
    refuse("elements.size()", to_string(size),
           (layout.count == 1 ? "a matrix of " + shape + " needs "
                              : to_string(layout.count) + " matrices of " + shape + " and stride " +
                                    to_string(layout.stride) + " need ") +
               to_string(batch_span(layout)) + " elements");
}

void detail::refuse_row_stride(std::int64_t stride) {
    refuse("the last stride of the mdspan", to_string(stride),
           "it must be 1, because the elements of a row must be contiguous; view a column-major matrix as "
           "matrix_view{data, cols, rows, ld}");
}

void check_address(const char* name, std::uintptr_t address, std::int64_t alignment) {
    if (address == 0) refuse(std::string(name) + ".data", "null", "it must be the address of the first element");
    if (address % static_cast<std::uintptr_t>(alignment) != 0) {
        refuse(std::string(name) + ".data", hex(address),
               "its elements must be aligned to " + to_string(alignment) + " bytes");
    }
}

void check_element(std::int64_t size, std::int64_t alignment) {
    if (size < 1 || size > std::numeric_limits<int>::max())
        refuse("element_size", to_string(size), "it must be 1 to 2147483647 bytes");
    if (alignment < 1 || (alignment & (alignment - 1)) != 0 || size % alignment != 0) {
        refuse("element_alignment", to_string(alignment),
               "it must be a power of two that divides the element's size, " + to_string(size));
    }
}

void check_layout(const transpose_layout& l) {
    check_element(l.element_size, l.element_alignment);
    const named_batch source = source_of(l), destination = destination_of(l);
    source.check_not_negative();  // this covers the destination's rows, cols and count
    check_not_negative(destination.name, kInCode.ld, destination.ld);
    check_not_negative(destination.name, kInCode.stride, destination.stride);
    source.check_extent(l.element_size);
    destination.check_extent(l.element_size);
    destination.check_no_overlap();
}

bool is_empty(const transpose_layout& l) { return is_empty(source_of(l)); }

transpose_layout checked_layout(const batch_layout& source, const batch_layout& destination, std::int64_t element_size,
                                std::int64_t element_alignment) {
    const transpose_layout layout{source.rows,       source.cols,  source.ld,     destination.ld,    element_size,
                                  element_alignment, source.count, source.stride, destination.stride};
    check_layout(layout);
    if (destination.rows != source.cols || destination.cols != source.rows) {
        refuse("destination", to_string(destination.rows) + " x " + to_string(destination.cols),
               "it must be " + to_string(source.cols) + " x " + to_string(source.rows) +
                   ", the transpose of the source's " + to_string(source.rows) + " x " + to_string(source.cols));
    }
    if (destination.count != source.count) {
        refuse("destination.count", to_string(destination.count),
               "it must be " + to_string(source.count) + ", the source's count");
    }
    return layout;
}

bool has_equal_squares(const transpose_layout& l) {
    return l.rows == l.cols && l.source_ld == l.destination_ld &&
           (l.count == 1 || l.source_stride == l.destination_stride);
}

void check_addresses(const transpose_layout& l, std::uintptr_t source, std::uintptr_t destination) {
    check_address("source", source, l.element_alignment);
    check_address("destination", destination, l.element_alignment);
    if (source == destination && has_equal_squares(l))
        return;  // the destination's matrices do not overlap, so neither do the source's
    const named_batch from = source_of(l), to = destination_of(l);
    if (share_bytes(bytes_of(from, source, l.element_size), bytes_of(to, destination, l.element_size))) {
        throw invalid_argument(
            "destination (" + to.shape() + " at " + hex(destination) + ") overlaps source (" + from.shape() + " at " +
            hex(source) + "): they must not overlap, or must be the same square matrix with the same ld and stride");
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
