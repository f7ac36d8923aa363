#include "core/tensors.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string>

#include "core/arguments.hpp"
#include "core/overlap.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn {
namespace {

using detail::any_tensor;
using detail::axis_list;
using std::to_string;

std::string text(const axis_list& list) {
    std::string all = "(";
    for (int i = 0; i < list.size(); ++i)
        all += (i > 0 ? ", " : "") + to_string(list.values[static_cast<std::size_t>(i)]);
    return all + ")";
}

std::string axis_of(const char* name, const char* member, int axis) {
    return std::string(name) + "." + member + "(" + to_string(axis) + ")";
}

void check_rank(const char* name, const any_tensor& t) {
    if (t.extents.size() > kMostAxes)
        refuse(std::string(name) + ".rank()", to_string(t.extents.size()), "it must be at most 32");
    if (t.strides.size() != t.extents.size()) {
        refuse("the number of strides of the " + std::string(name), to_string(t.strides.size()),
               "it must be " + to_string(t.extents.size()) + ", the number of extents");
    }
}

// The tensor's bytes, from its lowest address to its highest, fit in 64 bits, and so do the bytes of its elements.
void check_span(const char* name, const any_tensor& t, std::int64_t element_size) {
    std::int64_t bytes = element_size;
    for (int i = 0; i < t.extents.size(); ++i) {
        const std::int64_t extent = t.extents.values[static_cast<std::size_t>(i)];
        const std::int64_t stride = t.strides.values[static_cast<std::size_t>(i)];
        if (extent <= 1) continue;
        std::int64_t step = 0, span = 0;
        if (stride == std::numeric_limits<std::int64_t>::min() ||
            __builtin_mul_overflow(std::abs(stride), element_size, &step) ||
            __builtin_mul_overflow(extent - 1, step, &span) || __builtin_add_overflow(bytes, span, &bytes)) {
            throw invalid_argument(std::string(name) + " has extents " + text(t.extents) + " and strides " +
                                   text(t.strides) + ", of " + to_string(element_size) +
                                   "-byte elements: its size does not fit in 64 bits");
        }
    }
    std::int64_t count = 1;
    for (int i = 0; i < t.extents.size(); ++i) {
        if (__builtin_mul_overflow(count, t.extents.values[static_cast<std::size_t>(i)], &count) ||
            __builtin_mul_overflow(count, element_size, &bytes)) {
            throw invalid_argument(std::string(name) + " has extents " + text(t.extents) + ", of " +
                                   to_string(element_size) + "-byte elements: its size does not fit in 64 bits");
        }
    }
}

// No two indices of the destination have the same address.
void check_no_overlap(const any_tensor& t) {
    struct numbered_axis {
        int axis;
        std::int64_t extent, stride;
    };
    std::array<numbered_axis, kMostAxes> axes;
    int count = 0;
    for (int i = 0; i < t.extents.size(); ++i) {
        const std::int64_t extent = t.extents.values[static_cast<std::size_t>(i)];
        if (extent <= 1) continue;  // its stride does not matter
        const std::int64_t stride = std::abs(t.strides.values[static_cast<std::size_t>(i)]);
        if (stride == 0) {
            refuse(axis_of("destination", "stride", i), "0",
                   "its " + to_string(extent) +
                       " elements would have the same address; only the stride of a source may be 0");
        }
        axes[static_cast<std::size_t>(count++)] = {i, extent, stride};
    }
    std::sort(axes.begin(), axes.begin() + count,
              [](const numbered_axis& a, const numbered_axis& b) { return a.stride < b.stride; });
    // `span`: from the first element to the last, over the axes so far. `before`: the same without the latest axis.
    std::int64_t before = 0, span = 0;
    for (int i = 0; i < count; ++i) {
        const numbered_axis& a = axes[static_cast<std::size_t>(i)];
        if (a.stride <= span) {  // not for the first axis, for which span is 0
            const numbered_axis& b = axes[static_cast<std::size_t>(i - 1)];
            const std::string both = axis_of("destination", "stride", b.axis) + " is " +
                                     to_string(t.strides.values[static_cast<std::size_t>(b.axis)]) + " and " +
                                     axis_of("destination", "stride", a.axis) + " is " +
                                     to_string(t.strides.values[static_cast<std::size_t>(a.axis)]) + ", with extents " +
                                     to_string(b.extent) + " and " + to_string(a.extent);
            const std::int64_t common = std::gcd(a.stride, b.stride);
            if (before >= common)
                throw unsupported(both +
                                  ": cornerturn cannot tell whether their elements overlap; make each axis's stride "
                                  "larger than the span of all axes with smaller strides");
            if (b.stride / common < a.extent && a.stride / common < b.extent)
                throw invalid_argument(both + ": their elements overlap; only a source may repeat elements");
        }
        before = span;
        span += (a.extent - 1) * a.stride;
    }
}

// The bytes of one side of a copy.
struct byte_set {
    std::uintptr_t begin, end;
    std::int64_t run;
    int rank = 0;
    std::array<lattice::axis, kMostAxes> axes;  // by step, the smallest first; as few as possible after merge()

    void add(std::int64_t count, std::int64_t step) {
        int at = rank++;
        for (; at > 0 && axes[static_cast<std::size_t>(at - 1)].step > step; --at)
            axes[static_cast<std::size_t>(at)] = axes[static_cast<std::size_t>(at - 1)];
        axes[static_cast<std::size_t>(at)] = {count, step};
    }
    static bool continues(const lattice::axis& before, std::int64_t step) {
        std::int64_t next = 0;
        return !__builtin_mul_overflow(before.step, before.count, &next) && next == step;
    }
    // Merges runs that touch or overlap into one run, and an axis that continues another one into that axis.
    void merge() {
        int kept = 0;
        for (int i = 0; i < rank; ++i) {
            const lattice::axis a = axes[static_cast<std::size_t>(i)];
            if (kept == 0 && a.step <= run) {
                run += (a.count - 1) * a.step;
            } else if (kept > 0 && continues(axes[static_cast<std::size_t>(kept - 1)], a.step)) {
                axes[static_cast<std::size_t>(kept - 1)].count *= a.count;
            } else {
                axes[static_cast<std::size_t>(kept++)] = a;
            }
        }
        rank = kept;
    }
    // There must be at most two axes.
    lattice as_lattice() const {
        const auto axis = [&](int i) { return i < rank ? axes[static_cast<std::size_t>(i)] : lattice::axis{1, 0}; };
        return {begin, axis(1), axis(0), run};
    }
    // The span in bytes of the axes with steps below `step`.
    std::int64_t span_below(std::int64_t step) const {
        std::int64_t span = run;
        for (int i = 0; i < rank && axes[static_cast<std::size_t>(i)].step < step; ++i)
            span += (axes[static_cast<std::size_t>(i)].count - 1) * axes[static_cast<std::size_t>(i)].step;
        return span;
    }
};

// Both sets repeat every `period` bytes. Returns whether the ranges of their bytes within one period are disjoint.
bool are_slices(const byte_set& a, const byte_set& b, std::int64_t period) {
    const std::int64_t of_a = a.span_below(period), of_b = b.span_below(period);
    // The two ranges of addresses overlap, so the distance fits in 64 bits.
    const std::int64_t distance = static_cast<std::int64_t>(b.begin - a.begin) % period;
    const std::int64_t apart = distance < 0 ? distance + period : distance;
    return apart >= of_a && apart + of_b <= period;
}

enum class sharing { none, some, unknown };

sharing sharing_of(const strided_copy& c) {
    byte_set from{c.source_begin(), c.source_end(), c.source_run(), 0, {}},
        to{c.destination, c.destination, c.run, 0, {}};
    to.end += static_cast<std::uintptr_t>(c.run);
    for (int i = 0; i < c.rank; ++i) {
        const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
        to.end += static_cast<std::uintptr_t>((a.extent - 1) * a.destination);
    }
    if (from.end <= to.begin || to.end <= from.begin) return sharing::none;
    for (int i = 0; i < c.rank; ++i) {
        const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
        if (a.source != 0) from.add(a.extent, std::abs(a.source));
        to.add(a.extent, a.destination);
    }
    from.merge();
    to.merge();
    // Slices of one larger tensor: all steps that are not smaller than the period are multiples of it.
    std::int64_t period = 0;
    int a = from.rank, b = to.rank;
    while (a > 0 || b > 0) {
        const std::int64_t of_a = a > 0 ? from.axes[static_cast<std::size_t>(a - 1)].step : 0;
        const std::int64_t of_b = b > 0 ? to.axes[static_cast<std::size_t>(b - 1)].step : 0;
        const std::int64_t step = std::max(of_a, of_b);
        if (of_a == step) --a;
        if (of_b == step) --b;
        period = std::gcd(period, step);
        const std::int64_t next = std::max(a > 0 ? from.axes[static_cast<std::size_t>(a - 1)].step : 0,
                                           b > 0 ? to.axes[static_cast<std::size_t>(b - 1)].step : 0);
        if (next < period && are_slices(from, to, period)) return sharing::none;
    }
    if (from.rank <= 2 && to.rank <= 2)  // share_bytes() is exact
        return share_bytes(from.as_lattice(), to.as_lattice()) ? sharing::some : sharing::none;
    return sharing::unknown;
}

}  // namespace

void detail::check_holds(std::size_t size, const axis_list& extents) {
    const axis_list strides = packed_strides(extents);
    const any_tensor view{0, extents, strides};
    check_rank("view", view);
    std::int64_t count = 1;
    for (int i = 0; i < extents.size(); ++i) {
        const std::int64_t extent = extents.values[static_cast<std::size_t>(i)];
        if (extent < 0) refuse(axis_of("view", "extent", i), to_string(extent), "it must not be negative");
        if (extent == 0) return;
    }
    check_span("view", view, 1);
    for (int i = 0; i < extents.size(); ++i) count *= extents.values[static_cast<std::size_t>(i)];
    if (static_cast<std::uint64_t>(count) > size)
        refuse("elements.size()", to_string(size),
               "a tensor with extents " + text(extents) + " needs " + to_string(count) + " elements");
}

bool is_empty(const any_tensor& t) {
    for (int i = 0; i < t.extents.size(); ++i) {
        if (t.extents.values[static_cast<std::size_t>(i)] == 0) return true;
    }
    return false;
}

void check_tensors(const any_tensor& source, const any_tensor& destination, std::int64_t element_size,
                   std::int64_t element_alignment, const char* source_name) {
    check_element(element_size, element_alignment);
    check_sides(source, element_size, destination, element_size, source_name);
}

void check_sides(const any_tensor& source, std::int64_t source_size, const any_tensor& destination,
                 std::int64_t destination_size, const char* source_name) {
    check_rank(source_name, source);
    check_rank("destination", destination);
    if (source.extents.size() != destination.extents.size()) {
        refuse("destination.rank()", to_string(destination.extents.size()),
               "it must be " + to_string(source.extents.size()) + ", the rank of the " + source_name);
    }
    for (const auto& [name, tensor] : {std::pair{source_name, &source}, {"destination", &destination}}) {
        for (int i = 0; i < tensor->extents.size(); ++i) {
            const std::int64_t extent = tensor->extents.values[static_cast<std::size_t>(i)];
            if (extent < 0) refuse(axis_of(name, "extent", i), to_string(extent), "it must not be negative");
        }
    }
    for (int i = 0; i < source.extents.size(); ++i) {
        const std::int64_t from = source.extents.values[static_cast<std::size_t>(i)];
        const std::int64_t to = destination.extents.values[static_cast<std::size_t>(i)];
        if (from != to) {
            refuse(axis_of("destination", "extent", i), to_string(to),
                   "it must be " + to_string(from) + ", as in the " + source_name + " (extents " +
                       text(source.extents) + " and " + text(destination.extents) + ")");
        }
    }
    if (is_empty(source)) return;
    check_span(source_name, source, source_size);
    check_span("destination", destination, destination_size);
    check_no_overlap(destination);
}

bool is_same(const strided_copy& c) { return !c.converts() && is_onto_itself(c); }

bool is_onto_itself(const strided_copy& c) {
    if (c.source != c.destination || c.source_unit() != c.unit()) return false;
    for (int i = 0; i < c.rank; ++i) {
        const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
        if (a.source != a.destination) return false;
    }
    return true;
}

void check_tensor_addresses(const any_tensor& source, const any_tensor& destination, std::int64_t element_alignment,
                            const strided_copy& c, const char* source_name) {
    check_address("source", source.data, element_alignment);
    check_address("destination", destination.data, element_alignment);
    check_sharing(source, destination, c, source_name);
}

void check_sharing(const any_tensor& source, const any_tensor& destination, const strided_copy& c,
                   const char* source_name) {
    if (is_onto_itself(c)) return;
    // The two share the element at index 0 of every axis.
    const bool in_place = source.data == destination.data;
    const sharing found = in_place ? sharing::some : sharing_of(c);
    if (found == sharing::none) return;
    const auto described = [](const any_tensor& t) {
        return " (extents " + text(t.extents) + ", strides " + text(t.strides) + " at " + hex(t.data) + ")";
    };
    const std::string both = "destination" + described(destination) +
                             (found == sharing::some ? " overlaps " : " may overlap ") + source_name +
                             described(source);
    if (in_place) throw invalid_argument(both + ": copies and permutations do not work in place");
    if (found == sharing::some) throw invalid_argument(both + ": they must not share any element");
    throw unsupported(both +
                      ": cornerturn cannot tell whether they share elements; place them in separate ranges of "
                      "addresses");
}

permuted_tensor::permuted_tensor(const any_tensor& source, const axis_list& axes) {
    check_rank("source", source);
    if (axes.size() != source.extents.size()) {
        refuse("the number of axes", to_string(axes.size()),
               "it must be " + to_string(source.extents.size()) + ", the rank of the source");
    }
    std::array<int, kMostAxes> position_of;  // in `axes`, of each axis of the source
    position_of.fill(-1);
    for (int i = 0; i < axes.size(); ++i) {
        const std::int64_t given = axes.values[static_cast<std::size_t>(i)];
        const std::int64_t axis = given < 0 ? given + axes.size() : given;
        const auto name = [](int number) { return "axes[" + to_string(number) + "]"; };
        if (axis < 0 || axis >= axes.size()) {
            refuse(name(i), to_string(given),
                   "the source has " + to_string(axes.size()) + " axes, so it must be from " + to_string(-axes.size()) +
                       " to " + to_string(axes.size() - 1));
        }
        int& at = position_of[static_cast<std::size_t>(axis)];
        if (at >= 0) refuse(name(i), to_string(given), name(at) + " names the same axis; each axis must appear once");
        at = i;
        const std::int64_t extent = source.extents.values[static_cast<std::size_t>(axis)];
        if (extent < 0)
            refuse(axis_of("source", "extent", static_cast<int>(axis)), to_string(extent), "it must not be negative");
        extents.add(extent);
        strides.add(source.strides.values[static_cast<std::size_t>(axis)]);
    }
}

}  // namespace cornerturn
