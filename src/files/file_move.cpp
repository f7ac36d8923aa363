#include "files/file_move.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/conversions.hpp"
#include "core/sizes.hpp"
#include "cornerturn/error.hpp"
#include "files/npy.hpp"

namespace cornerturn::files {
namespace {

// The element types of both files, where they matter.
struct element_types {
    element_type from{}, to{};

    bool known() const { return to != element_type{}; }
};

// How the source's elements lie in the result: with the axes in a new order, after `offset` bytes.
struct destination {
    std::vector<int> axes;
    bool fortran = false;
    std::int64_t offset = 0;
    int scale_axis = -1;  // the one that has a scale or a bias for each index; -1: none
};

// From offset to offset in the files.
strided_copy copy_of(const npy_header& h, const destination& to, element_bytes element, element_cast cast) {
    const std::size_t rank = h.shape.size();
    std::vector<strided_axis> all(rank);
    std::int64_t stride = element.read, to_stride = element.written;
    const auto at = [&](std::size_t i, bool fortran) { return fortran ? i : rank - 1 - i; };
    std::vector<std::int64_t> source(rank);
    for (std::size_t i = 0; i < rank; ++i) {
        source[at(i, h.fortran_order)] = stride;
        stride *= h.shape[at(i, h.fortran_order)];
    }
    for (std::size_t i = 0; i < rank; ++i) {
        const std::size_t k = at(i, to.fortran), from = static_cast<std::size_t>(to.axes[k]);
        all[k] = {h.shape[from], source[from], to_stride, static_cast<int>(k) == to.scale_axis ? 1 : 0};
        to_stride *= h.shape[from];
    }
    std::erase_if(all, [](const strided_axis& a) { return a.extent == 1; });
    if (all.size() > kMostAxes) throw error(fmt::format("it has {} axes longer than 1: the limit is 32", all.size()));
    return canonical(static_cast<std::uintptr_t>(h.data_offset), static_cast<std::uintptr_t>(to.offset),
                     element.written, all.data(), static_cast<int>(all.size()), cast);
}

// The requested axes, counted from 0. Without a request, all axes reversed.
std::vector<int> axes_of(const std::optional<std::vector<std::int64_t>>& asked, std::size_t rank,
                         const std::string& path) {
    std::vector<int> axes;
    if (!asked) {
        for (std::size_t i = rank; i-- > 0;) axes.push_back(static_cast<int>(i));
        return axes;
    }
    const std::string prefix = fmt::format("--axes is {}: ", fmt::join(*asked, ","));
    const auto all = static_cast<std::int64_t>(rank);
    if (asked->size() != rank)
        throw invalid_argument(fmt::format("{}it must name each axis once, and {} has {} axes", prefix, path, rank));
    for (const std::int64_t given : *asked) {
        const std::int64_t axis = given < 0 ? given + all : given;
        if (axis < 0 || axis >= all)
            throw invalid_argument(fmt::format("{}axis {} must be from {} to {}, because {} has {} axes", prefix, given,
                                               -all, all - 1, path, rank));
        if (std::find(axes.begin(), axes.end(), axis) != axes.end())
            throw invalid_argument(fmt::format("{}axis {} appears twice", prefix, axis));
        axes.push_back(static_cast<int>(axis));
    }
    return axes;
}

std::vector<std::int64_t> permuted(const std::vector<std::int64_t>& shape, const std::vector<int>& axes) {
    std::vector<std::int64_t> all;
    for (int axis : axes) all.push_back(shape[static_cast<std::size_t>(axis)]);
    return all;
}

// Refuses bytes after the elements, because the result would not contain them.
void require_size(const input_file& source, std::int64_t header, std::int64_t elements) {
    const std::int64_t found = source.size() - header;
    if (found == elements) return;
    throw error(fmt::format("{} is too {}: it has {} bytes of elements, but its shape needs {}", source.path(),
                            found < elements ? "short" : "long", found, elements));
}

npy_header read_header(const input_file& source) {
    std::string beginning(static_cast<std::size_t>(std::min(source.size(), kNpyPrefixBytes)), '\0');
    source.read(beginning.data(), static_cast<std::int64_t>(beginning.size()), 0);
    try {
        const std::int64_t bytes = npy_header_bytes(beginning);
        beginning.resize(static_cast<std::size_t>(std::min(source.size(), bytes)));
        source.read(beginning.data(), static_cast<std::int64_t>(beginning.size()), 0);
        return parse_npy(beginning);
    } catch (const error& why) {
        throw error(fmt::format("cannot read {}: {}", source.path(), why.what()));
    }
}

// What a header would say about a file without one.
npy_header header_of(const raw_shape& raw) {
    const auto zero = std::find(raw.extents.begin(), raw.extents.end(), 0);
    std::int64_t elements = zero == raw.extents.end() ? 1 : 0;
    for (std::int64_t extent : raw.extents) elements = checked_multiply(elements, extent, "the number of elements");
    checked_multiply(elements, raw.element_size, "the size of the elements");
    npy_header h;
    h.element_size = raw.element_size;
    h.shape = raw.extents;
    return h;
}

// No types if elements are moved as bytes.
element_types types_of(const npy_header& h, const file_request& request, const std::string& path) {
    if (request.source_type && size_of(*request.source_type) != h.element_size)
        throw invalid_argument(fmt::format("--source-dtype is {}, of {} bytes: an element of {} has {} bytes",
                                           name_of(*request.source_type), size_of(*request.source_type), path,
                                           h.element_size));
    if (!request.converts()) return {};
    const element_type from = request.source_type.value_or(h.type), to = request.type.value_or(from);
    if (from == element_type{})
        throw invalid_argument(
            fmt::format("elements of the dtype {} cannot be converted: if those of {} are bf16, e4m3fn or e5m2, give "
                        "--source-dtype",
                        h.descr, path));
    if (is_complex(from) != is_complex(to))
        throw invalid_argument(
            fmt::format("--dtype is {}: the elements of {} are {}; complex elements can only be "
                        "converted to complex ones, and others only to others",
                        name_of(to), path, name_of(from)));
    if (is_complex(from) && !request.bias.empty())
        throw invalid_argument(
            fmt::format("--bias is for other elements than {}: complex elements have no bias", name_of(from)));
    return {from, to};
}

// The axis of the result that has a scale or a bias for each index; -1 if there is none.
int scale_axis_of(const file_request& request, const std::vector<std::int64_t>& shape) {
    const auto rank = static_cast<std::int64_t>(shape.size());
    const std::int64_t given = request.scale_axis.value_or(0), axis = given < 0 ? given + rank : given;
    if (request.scale_axis && (axis < 0 || axis >= rank))
        throw invalid_argument(rank == 0
                                   ? fmt::format("--scale-axis is {}: OUT has no axes", given)
                                   : fmt::format("--scale-axis is {}: OUT has {} axes, so it must be from {} to {}",
                                                 given, rank, -rank, rank - 1));
    bool needed = false;
    for (const auto& [name, numbers] : {std::pair{"--scale", &request.scale}, {"--bias", &request.bias}}) {
        if (numbers->size() <= 1) continue;
        needed = true;
        if (!request.scale_axis)
            throw invalid_argument(
                fmt::format("{} has {} numbers: give --scale-axis, the axis of OUT that they belong "
                            "to",
                            name, numbers->size()));
        const std::int64_t extent = shape[static_cast<std::size_t>(axis)];
        if (std::ssize(*numbers) != extent)
            throw invalid_argument(fmt::format("{} has {} numbers: it must have 1, or {}, the extent of axis {} of OUT",
                                               name, numbers->size(), extent, given));
    }
    return needed ? static_cast<int>(axis) : -1;
}

std::string describe(const npy_header& h, element_type type) {
    const char* const order = h.fortran_order ? "Fortran" : "C";
    const std::string known = type != element_type{} ? name_of(type) : h.descr;
    if (!h.descr.empty())
        return fmt::format("({}{}) {} in {} order", fmt::join(h.shape, ", "), h.shape.size() == 1 ? "," : "", known,
                           order);
    return fmt::format("{} {} in {} order", fmt::join(h.shape, " x "),
                       known.empty() ? fmt::format("of {} bytes", h.element_size) : known, order);
}

}  // namespace

file_move move_of(const input_file& source, const file_request& request) {
    const npy_header h = request.raw ? header_of(*request.raw) : read_header(source);
    require_size(source, h.data_offset, h.data_bytes());
    destination to{.axes = axes_of(request.axes, h.shape.size(), source.path())};
    const element_types types = types_of(h, request, source.path());
    npy_header result = h;
    result.shape = permuted(h.shape, to.axes);
    if (request.raw || h.shape.size() > 1) result.fortran_order = request.layout == storage_order::fortran;
    to.fortran = result.fortran_order;
    to.scale_axis = scale_axis_of(request, result.shape);
    file_move move;
    element_bytes element{h.element_size, h.element_size};
    element_cast cast{};
    if (types.known()) {
        move.element = element = {size_of(types.from), size_of(types.to)};
        if (h.big_endian) move.reversed = size_of(part_of(types.from));
        if (!request.raw) result.descr = npy_descr(types.to);
        const bool scaled = !request.scale.empty() || !request.bias.empty();
        if (scaled || types.from != types.to) {
            move.conversion = {types.from, types.to, request.scale, request.bias, request.saturate};
            cast = {part_of(types.from), part_of(types.to), request.saturate, scaled};
        }
    }
    result.element_size = element.written;
    move.from = describe(h, types.from);
    move.to = describe(result, types.to);
    move.bytes = checked_multiply(h.elements(), element.written, "the size of the result's elements");
    if (!request.raw) move.header = make_npy(result, result.shape, result.fortran_order);
    to.offset = static_cast<std::int64_t>(move.header.size());
    try {
        move.copy = copy_of(h, to, element, cast);
    } catch (const error& why) {
        throw error(fmt::format("cannot transpose {}: {}", source.path(), why.what()));
    }
    return move;
}

}  // namespace cornerturn::files
