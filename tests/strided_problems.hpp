// Random small copies between tensors, of every kind, and a reference that moves element by element.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "core/strided.hpp"
#include "core/tensors.hpp"

namespace cornerturn::tests {

// A copy between tensors in two buffers. Strides are in elements. source_at and destination_at are the offsets in bytes
// of the element with index 0 on every axis.
struct strided_problem {
    std::vector<std::int64_t> extents, source_strides, destination_strides;
    std::int64_t element_size = 1;
    std::int64_t source_at = 0, destination_at = 0;
    std::int64_t source_bytes = 0, destination_bytes = 0;  // of the buffers

    std::int64_t elements() const {
        std::int64_t count = 1;
        for (std::int64_t n : extents) count *= n;
        return count;
    }

    // Sets offsets and sizes of the buffers. Each side has `around` bytes before and after it, and begins `past` bytes
    // after a boundary.
    void lay_out(std::int64_t around, std::int64_t source_past, std::int64_t destination_past) {
        const auto side = [&](const std::vector<std::int64_t>& strides, std::int64_t past, std::int64_t& at,
                              std::int64_t& bytes) {
            std::int64_t low = 0, high = element_size;
            for (std::size_t i = 0; i < extents.size(); ++i) {
                const std::int64_t reach = extents[i] > 0 ? (extents[i] - 1) * strides[i] * element_size : 0;
                (reach < 0 ? low : high) += reach;
            }
            at = around + past - low;
            bytes = around + past + high - low + around;
        };
        side(source_strides, source_past, source_at, source_bytes);
        side(destination_strides, destination_past, destination_at, destination_bytes);
    }

    detail::axis_list list(const std::vector<std::int64_t>& numbers) const { return {numbers}; }

    strided_copy canonical(const void* source, void* destination) const {
        const detail::axis_list n = list(extents), s = list(source_strides), d = list(destination_strides);
        const auto address = [](const void* p, std::int64_t at) {
            return reinterpret_cast<std::uintptr_t>(p) + static_cast<std::uintptr_t>(at);
        };
        const detail::any_tensor from{address(source, source_at), n, s}, to{address(destination, destination_at), n, d};
        check_tensors(from, to, element_size, 1);
        const strided_copy c = cornerturn::canonical(from, to, element_size);
        if (!is_empty(from)) check_tensor_addresses(from, to, 1, c);
        return c;
    }

    template <class Each>
    void each_element(Each each) const {
        if (elements() == 0) return;
        std::vector<std::int64_t> index(extents.size(), 0);
        for (;;) {
            std::int64_t from = source_at, to = destination_at;
            for (std::size_t i = 0; i < extents.size(); ++i) {
                from += index[i] * source_strides[i] * element_size;
                to += index[i] * destination_strides[i] * element_size;
            }
            each(from, to);
            std::size_t axis = extents.size();
            while (axis > 0 && ++index[axis - 1] == extents[axis - 1]) index[--axis] = 0;
            if (axis == 0) return;
        }
    }

    void reference(const unsigned char* source, unsigned char* destination) const {
        each_element([&](std::int64_t from, std::int64_t to) {
            std::memcpy(destination + to, source + from, static_cast<std::size_t>(element_size));
        });
    }

    std::string text() const {
        const auto all = [](const std::vector<std::int64_t>& numbers) {
            std::string out = "{";
            for (std::int64_t n : numbers) out += (out.size() > 1 ? ", " : "") + std::to_string(n);
            return out + "}";
        };
        return "extents " + all(extents) + ", strides " + all(source_strides) + " to " + all(destination_strides) +
               ", elements of " + std::to_string(element_size) + " bytes, at " + std::to_string(source_at) + " and " +
               std::to_string(destination_at);
    }
};

// A batch of matrices to transpose. They follow each other.
inline strided_problem draw_batch(std::mt19937_64& random) {
    const auto up_to = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    const auto one_in = [&](int n) { return up_to(n - 1) == 0; };
    const auto extent = [&] { return 1 + up_to(one_in(3) ? 9 : one_in(2) ? 70 : 600); };
    strided_problem p;
    p.element_size = one_in(8) ? 1 + up_to(15) : 1 << up_to(4);
    std::int64_t rows, cols, size;
    do {
        rows = one_in(12) ? 4096 + up_to(200) : extent();
        cols = rows > 4095 ? 1 + up_to(8) : extent();
        size = rows * cols * p.element_size;
    } while (size > 1 << 20);
    const std::int64_t count = one_in(2) ? 1 : 1 + up_to(std::max<std::int64_t>(0, (1 << 18) / size));
    const std::int64_t unit = std::max<std::int64_t>(1, 32 / p.element_size);
    const auto pitch = [&](std::int64_t least) {
        return one_in(3) ? least : one_in(2) ? (least + unit - 1) / unit * unit : least + up_to(7);
    };
    const std::int64_t from = pitch(cols), to = pitch(rows);
    p.extents = {count, cols, rows};
    p.source_strides = {rows * from + (one_in(3) ? up_to(9) : 0), 1, from};
    p.destination_strides = {cols * to + (one_in(3) ? up_to(9) : 0), to, 1};
    p.lay_out(64, one_in(2) ? 0 : up_to(31), one_in(2) ? 0 : up_to(31));
    return p;
}

// Matrices of elements of 1 or 2 bytes to transpose, with two axes of rows. Kernels move these by groups of lines.
inline strided_problem draw_matrices(std::mt19937_64& random) {
    const auto up_to = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    const auto one_in = [&](int n) { return up_to(n - 1) == 0; };
    const auto pitch = [&](std::int64_t least) { return one_in(2) ? (least + 31) / 32 * 32 : least + up_to(3); };
    strided_problem p;
    p.element_size = 1 + up_to(1);
    const bool wide = one_in(2);    // tiles are cut
    const bool narrow = one_in(2);  // lines run down spans, so their units are in few banks
    const std::int64_t cols = narrow ? 8 << up_to(3) : 4 + up_to(wide ? 600 : 60);
    const std::int64_t rows = (narrow ? 200 : 4) + up_to(wide ? 600 : 60);
    const std::int64_t middle = 1 + up_to(2), count = 1 + up_to(wide ? 0 : 2);
    const std::int64_t from = narrow ? cols + 4 * up_to(1) : pitch(cols), to = pitch(middle * rows);
    p.extents = {count, cols, middle, rows};
    p.source_strides = {middle * rows * from, 1, from, middle * from};
    if (one_in(2)) std::swap(p.source_strides[2], p.source_strides[3]), p.source_strides[2] = rows * from;
    p.destination_strides = {cols * to, to, rows, 1};
    if (one_in(4)) p.source_strides[3] = -p.source_strides[3];
    p.lay_out(64, one_in(2) ? 0 : up_to(31), one_in(2) ? 0 : up_to(31));
    return p;
}

// Some columns of a wider table, or of several tables. They are packed in the destination, or their rows are.
inline strided_problem draw_columns(std::mt19937_64& random) {
    const auto up_to = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    const auto one_in = [&](int n) { return up_to(n - 1) == 0; };
    strided_problem p;
    p.element_size = one_in(3) ? 1 + up_to(11) : 1 << up_to(3);
    const std::int64_t cols = 1 + up_to(one_in(2) ? 20 : 520) / p.element_size;
    const std::int64_t pitch = cols + up_to(one_in(3) ? 2 : one_in(2) ? 40 : 4 * cols);
    const std::int64_t rows = 1 + up_to(one_in(3) ? 40 : 40000) / (pitch * p.element_size), tables = 1 + up_to(3);
    p.extents = {tables, rows, cols};
    p.source_strides = {rows * pitch + up_to(5), one_in(4) ? -pitch : pitch, 1};
    p.destination_strides = {rows * cols + (one_in(2) ? up_to(40) : 0), cols, 1};
    p.lay_out(64, one_in(2) ? 0 : up_to(31), one_in(2) ? 0 : up_to(31));
    return p;
}

// Any number of axes up to 32, extents of 0 and 1, gaps, negative strides, sources that repeat elements, any offset.
inline strided_problem draw_strided(std::mt19937_64& random, std::int64_t most_bytes) {
    const auto up_to = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    const auto one_in = [&](int n) { return up_to(n - 1) == 0; };
    constexpr std::int64_t kSizes[] = {1, 1, 2, 2, 4, 4, 8, 16, 3, 6, 12, 5, 7, 24, 40, 100};
    if (most_bytes > 1 << 14 && one_in(5)) {
        const std::int64_t kind = up_to(2);
        return kind == 0 ? draw_matrices(random) : kind == 1 ? draw_batch(random) : draw_columns(random);
    }
    strided_problem p;
    p.element_size = kSizes[up_to(15)];
    const std::int64_t rank = one_in(20) ? up_to(32) : up_to(6);
    std::int64_t budget = std::max<std::int64_t>(1, (most_bytes >> up_to(8)) / p.element_size);
    for (std::int64_t i = 0; i < rank; ++i) {
        // Log-uniform, up to the rest of the budget.
        const double most = static_cast<double>(budget);
        auto extent = static_cast<std::int64_t>(std::pow(most, std::generate_canonical<double, 53>(random)));
        if (rank > 8) extent = std::min<std::int64_t>(extent, 1 + up_to(2));
        if (one_in(3)) extent = std::int64_t{1} << (63 - __builtin_clzll(static_cast<unsigned long long>(extent)));
        if (one_in(200)) extent = 0;
        p.extents.push_back(extent);
        budget = std::max<std::int64_t>(1, budget / std::max<std::int64_t>(1, extent));
    }
    std::shuffle(p.extents.begin(), p.extents.end(), random);
    const auto strides = [&](bool may_repeat) {
        std::vector<std::int64_t> order(p.extents.size()), all(p.extents.size());
        std::iota(order.begin(), order.end(), 0);
        if (!one_in(6)) std::shuffle(order.begin(), order.end(), random);
        const bool gaps = one_in(3), backwards = one_in(4), repeats = may_repeat && one_in(6);
        std::int64_t stride = gaps && one_in(4) ? 1 + up_to(4) : 1;
        for (std::int64_t axis : order) {
            auto& to = all[static_cast<std::size_t>(axis)];
            to = backwards && one_in(2) ? -stride : stride;
            if (repeats && one_in(3)) {
                to = one_in(3) ? to / 2 : 0;
                continue;
            }
            stride *= std::max<std::int64_t>(1, p.extents[static_cast<std::size_t>(axis)]);
            if (gaps && one_in(2)) stride += up_to(one_in(4) ? 40 : 7);
        }
        return all;
    };
    do {
        p.source_strides = strides(true);
        p.destination_strides = strides(false);
        p.lay_out(64, one_in(2) ? 0 : up_to(31), one_in(2) ? 0 : up_to(31));
    } while (p.source_bytes > 16 * most_bytes || p.destination_bytes > 16 * most_bytes);
    return p;
}

}  // namespace cornerturn::tests
