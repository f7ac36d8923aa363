#include "ops/copy/strided_shape.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/tensors.hpp"

namespace cornerturn {
namespace {

using numbers = std::vector<std::int64_t>;

// Elements from the lowest address to the highest, and how far the lowest is before index 0.
struct reach {
    std::int64_t below = 0, span = 1;

    reach(const numbers& extents, const numbers& strides) {
        for (std::size_t i = 0; i < extents.size(); ++i) {
            const std::int64_t step = std::max<std::int64_t>(0, extents[i] - 1) * strides[i];
            span += std::abs(step);
            if (step < 0) below -= step;
        }
    }
};

numbers packed(const numbers& extents) {
    numbers strides(extents.size());
    std::int64_t stride = 1;
    for (std::size_t i = extents.size(); i-- > 0; stride *= extents[i]) strides[i] = stride;
    return strides;
}

std::int64_t element(random_bits& random) {
    constexpr std::int64_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 8, 8, 16, 3, 6, 12};
    return kSizes[draw_up_to(random, std::size(kSizes) - 1)];
}

}  // namespace

std::int64_t strided_shape::elements() const {
    std::int64_t count = 1;
    for (std::int64_t n : extents) count *= n;
    return count;
}

std::int64_t strided_shape::source_bytes() const {
    return elements() == 0 ? 0 : (source_offset + reach(extents, source_strides).span) * source_size();
}
std::int64_t strided_shape::destination_bytes() const {
    return elements() == 0 ? 0 : (destination_offset + reach(extents, destination_strides).span) * element_size;
}

std::int64_t strided_shape::source_first() const { return source_offset + reach(extents, source_strides).below; }
std::int64_t strided_shape::destination_first() const {
    return destination_offset + reach(extents, destination_strides).below;
}

strided_work strided_shape::work(const void* source, void* destination, const float* numbers) const {
    strided_work work{.source = static_cast<const unsigned char*>(source) + source_first() * source_size(),
                      .destination = static_cast<unsigned char*>(destination) + destination_first() * element_size,
                      .element_size = static_cast<int>(element_size),
                      .rank = static_cast<int>(extents.size()),
                      .extents = {},
                      .source_strides = {},
                      .destination_strides = {},
                      .cast = conversion.cast};
    std::copy(extents.begin(), extents.end(), work.extents);
    std::copy(source_strides.begin(), source_strides.end(), work.source_strides);
    std::copy(destination_strides.begin(), destination_strides.end(), work.destination_strides);
    if (conversion.factors == factor_kind::one) work.by.scales.number = conversion.scale;
    if (conversion.factors == factor_kind::each) {
        work.by.scales.address = reinterpret_cast<std::uintptr_t>(numbers);
        work.by.biases.address = reinterpret_cast<std::uintptr_t>(numbers + factors());
        work.factor_axis = conversion.axis;
    }
    return work;
}

strided_copy strided_shape::copy(const void* source, void* destination, const float* numbers) const {
    const strided_work w = work(source, destination, numbers);
    const detail::axis_list n(extents), s(source_strides), d(destination_strides);
    const detail::any_tensor from{reinterpret_cast<std::uintptr_t>(w.source), n, s};
    const detail::any_tensor to{reinterpret_cast<std::uintptr_t>(w.destination), n, d};
    if (conversion.cast.converts())
        check_sides(from, source_size(), to, element_size);
    else
        check_tensors(from, to, element_size, 1);
    return canonical(w);
}

std::string strided_shape::text() const {
    std::string out = fmt::format("{} from {}", fmt::join(extents, " x "), fmt::join(source_strides, ", "));
    if (destination_strides != packed(extents)) out += fmt::format(" to {}", fmt::join(destination_strides, ", "));
    if (source_offset > 0 || destination_offset > 0)
        out += fmt::format(", offsets {} and {}", source_offset, destination_offset);
    return out;
}

strided_shape draw_transpose(random_bits& random, std::int64_t least, std::int64_t most) {
    strided_shape s;
    s.element_size = element(random);
    const std::int64_t bytes = draw_log_uniform(random, static_cast<double>(least), static_cast<double>(most));
    std::int64_t size = std::max<std::int64_t>(1, bytes / s.element_size), count = 1;
    const std::int64_t kind = draw_up_to(random, 3);
    if (kind == 3) {
        const std::int64_t all = size;
        size = draw_log_uniform(random, 4,
                                static_cast<double>(std::min<std::int64_t>(1 << 20, std::max<std::int64_t>(all, 4))));
        count = std::max<std::int64_t>(1, all / size);
    }
    const std::int64_t rows = draw_log_uniform(random, 1, static_cast<double>(size));
    const std::int64_t cols = std::max<std::int64_t>(1, size / rows);
    std::int64_t source_ld = cols, destination_ld = rows;
    if (kind == 1) {
        source_ld += draw_up_to(random, 7);
        destination_ld += draw_up_to(random, 7);
    }
    if (kind == 2) {
        s.source_offset = 1 + draw_up_to(random, 4);
        s.destination_offset = 1 + draw_up_to(random, 4);
    }
    constexpr const char* kNames[] = {"packed", "padded", "offset", "batched"};
    s.kind = kNames[kind];
    s.extents = {count, cols, rows};
    s.source_strides = {rows * source_ld, 1, source_ld};
    s.destination_strides = {cols * destination_ld, destination_ld, 1};
    return s;
}

namespace {

// Which axes are drawn.
struct drawn_axes {
    int least, most;   // how many
    bool also_sorted;  // their order may stay as it is
};

// The rest of a draw. An element has `size_of_element` bytes in the mean of both sides.
void draw_axes(random_bits& random, std::int64_t least, std::int64_t most, double size_of_element,
               const drawn_axes& drawn, strided_shape& s) {
    const std::int64_t bytes = draw_log_uniform(random, static_cast<double>(least), static_cast<double>(most));
    const auto rank = static_cast<std::size_t>(drawn.least + draw_up_to(random, drawn.most - drawn.least));
    // Random cuts of the logarithm of the size give the source's extents.
    const double size = std::log(std::max(1.0, std::floor(static_cast<double>(bytes) / size_of_element)));
    std::vector<double> cuts{0, size};
    for (std::size_t i = 1; i < rank; ++i) cuts.push_back(draw_uniform(random) * size);
    std::sort(cuts.begin(), cuts.end());
    numbers source(rank);
    const bool powers = draw_up_to(random, 1) == 0;
    for (std::size_t i = 0; i < rank; ++i) {
        const double log = cuts[i + 1] - cuts[i];
        source[i] = powers ? std::int64_t{1} << std::lround(log / std::log(2.0))
                           : std::max<std::int64_t>(1, std::llround(std::exp(log)));
    }
    for (std::size_t i = rank - 1; i > 0; --i)
        std::swap(source[i], source[static_cast<std::size_t>(draw_up_to(random, static_cast<std::int64_t>(i)))]);
    std::vector<int> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    do {
        for (std::size_t i = rank - 1; i > 0; --i)
            std::swap(axes[i], axes[static_cast<std::size_t>(draw_up_to(random, static_cast<std::int64_t>(i)))]);
    } while (!drawn.also_sorted && std::is_sorted(axes.begin(), axes.end()));
    const bool gaps = draw_up_to(random, 3) == 0;
    const std::int64_t special = draw_up_to(random, 7);
    const auto at = static_cast<std::size_t>(draw_up_to(random, static_cast<std::int64_t>(rank) - 1));
    numbers strides(rank);
    std::int64_t stride = 1;
    for (std::size_t i = rank; i-- > 0;) {
        strides[i] = stride;
        if (special == 1 && i == at) {
            strides[i] = 0;
            continue;
        }
        stride *= source[i];
        if (gaps) stride += draw_up_to(random, 7);
    }
    if (special == 0) strides[at] = -strides[at];
    s.kind = special == 0 ? "reversed" : special == 1 ? "repeated" : gaps ? "gaps" : powers ? "powers" : "packed";
    for (int axis : axes) {
        s.extents.push_back(source[static_cast<std::size_t>(axis)]);
        s.source_strides.push_back(strides[static_cast<std::size_t>(axis)]);
    }
    s.destination_strides = packed(s.extents);
}

}  // namespace

strided_shape draw_permutation(random_bits& random, std::int64_t least, std::int64_t most) {
    strided_shape s;
    s.element_size = element(random);
    draw_axes(random, least, most, static_cast<double>(s.element_size), {3, 8, false}, s);
    return s;
}

strided_shape draw_conversion(random_bits& random, std::int64_t least, std::int64_t most,
                              const element_conversion& types) {
    strided_shape s;
    s.element_size = size_of(types.cast.to);
    s.conversion = types;
    draw_axes(random, least, most, 0.5 * static_cast<double>(s.source_size() + s.element_size), {2, 6, true}, s);
    if (types.factors == factor_kind::each) {
        // The scales and biases should be few beside the elements, as those of channels are.
        constexpr std::int64_t kMost = 4096;
        const auto rank = static_cast<std::int64_t>(s.extents.size()), first = draw_up_to(random, rank - 1);
        const auto extent_at = [&](std::int64_t i) { return s.extents[static_cast<std::size_t>((first + i) % rank)]; };
        std::int64_t i = 0;
        while (i < rank - 1 && extent_at(i) > kMost) ++i;
        s.conversion.axis = static_cast<int>((first + i) % rank);
        if (extent_at(i) > kMost) {
            s.conversion.factors = factor_kind::one;
            s.conversion.axis = 0;
        }
    }
    return s;
}

strided_shape permuted_shape(const numbers& source_extents, const std::vector<int>& axes, std::int64_t element_size) {
    strided_shape s;
    s.element_size = element_size;
    const numbers strides = packed(source_extents);
    for (int axis : axes) {
        s.extents.push_back(source_extents[static_cast<std::size_t>(axis)]);
        s.source_strides.push_back(strides[static_cast<std::size_t>(axis)]);
    }
    s.destination_strides = packed(s.extents);
    s.kind = "named";
    return s;
}

}  // namespace cornerturn
