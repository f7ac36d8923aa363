// Random conversions between tensors, and a reference that converts element by element.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "conversion_values.hpp"
#include "core/conversions.hpp"
#include "strided_problems.hpp"

namespace cornerturn::tests {

// Two buffers, and numbers for scale and bias.
struct conversion_problem {
    std::vector<std::int64_t> extents, source_strides, destination_strides;  // of the destination's axes; in elements
    element_type from{}, to{};
    std::int64_t source_at = 0, destination_at = 0, source_bytes = 0, destination_bytes = 0;
    bool aligned = true, saturates = true;
    enum class kind { none, number, one, each } scale = kind::none, bias = kind::none;
    bool scale_doubles = false, bias_doubles = false;
    int axis = 0;
    std::vector<double> scales, biases;  // one for each index of the axis, or one

    std::string text() const {
        const auto all = [](const std::vector<std::int64_t>& numbers) {
            std::string out = "{";
            for (std::int64_t n : numbers) out += (out.size() > 1 ? ", " : "") + std::to_string(n);
            return out + "}";
        };
        return std::string(name_of(from)) + " to " + name_of(to) + ", extents " + all(extents) + ", strides " +
               all(source_strides) + " to " + all(destination_strides) + ", at " + std::to_string(source_at) + " and " +
               std::to_string(destination_at) + (saturates ? "" : ", does not saturate") + ", scale of kind " +
               std::to_string(static_cast<int>(scale)) + ", bias of kind " + std::to_string(static_cast<int>(bias)) +
               ", axis " + std::to_string(axis);
    }
};

inline conversion_problem draw_conversion(std::mt19937_64& random, std::int64_t most_bytes) {
    const auto up_to = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % (most + 1)); };
    const auto one_in = [&](int n) { return up_to(n - 1) == 0; };
    conversion_problem p;
    p.from = kRealTypes[random() % std::size(kRealTypes)];
    p.to = kRealTypes[random() % std::size(kRealTypes)];
    strided_problem shape;
    do shape = draw_strided(random, most_bytes);
    while (shape.elements() * 8 > 4 * most_bytes);
    p.extents = shape.extents;
    p.source_strides = shape.source_strides;
    p.destination_strides = shape.destination_strides;
    p.aligned = !one_in(6);
    p.saturates = !one_in(5);
    const auto side = [&](const std::vector<std::int64_t>& strides, std::int64_t size, std::int64_t& at,
                          std::int64_t& bytes) {
        const std::int64_t past = one_in(2) ? 0 : up_to(31) / size * size, wrong = p.aligned ? 0 : up_to(7);
        std::int64_t low = 0, high = size;
        for (std::size_t i = 0; i < p.extents.size(); ++i) {
            const std::int64_t reach = p.extents[i] > 0 ? (p.extents[i] - 1) * strides[i] * size : 0;
            (reach < 0 ? low : high) += reach;
        }
        at = 64 + past + wrong - low;
        bytes = 64 + past + wrong + high - low + 64;
    };
    side(p.source_strides, size_of(p.from), p.source_at, p.source_bytes);
    side(p.destination_strides, size_of(p.to), p.destination_at, p.destination_bytes);
    const auto rank = static_cast<std::int64_t>(p.extents.size());
    p.axis = rank > 0 ? static_cast<int>(up_to(rank - 1)) : 0;
    const auto factor = [&](conversion_problem::kind& kind, bool& doubles, std::vector<double>& numbers) {
        kind = one_in(2) ? conversion_problem::kind::none : static_cast<conversion_problem::kind>(up_to(3));
        if (kind == conversion_problem::kind::each && rank == 0) kind = conversion_problem::kind::one;
        doubles = one_in(3);
        const std::int64_t count =
            kind == conversion_problem::kind::each ? p.extents[static_cast<std::size_t>(p.axis)] : 1;
        for (std::int64_t i = 0; i < count; ++i) {
            const double number =
                std::ldexp(static_cast<double>(up_to(1 << 20)) - (1 << 19), static_cast<int>(up_to(24)) - 30);
            numbers.push_back(kind == conversion_problem::kind::number || doubles ? number
                                                                                  : static_cast<float>(number));
        }
    };
    factor(p.scale, p.scale_doubles, p.scales);
    factor(p.bias, p.bias_doubles, p.biases);
    return p;
}

// The memory of a problem, and the call's arguments.
class conversion_case {
public:
    conversion_case(const conversion_problem& p, std::uint64_t seed) : p_(p), random_(seed) {
        source_.resize(static_cast<std::size_t>(p.source_bytes));
        destination_.resize(static_cast<std::size_t>(p.destination_bytes));
        for (auto* bytes : {&source_, &destination_}) {
            for (unsigned char& b : *bytes) b = static_cast<unsigned char>(random_());
        }
        each([&](std::int64_t from, std::int64_t, std::int64_t) {
            const std::uint64_t bits = drawn_bits(p.from, random_);
            std::memcpy(&source_[static_cast<std::size_t>(from)], &bits, static_cast<std::size_t>(size_of(p.from)));
        });
        for (double x : p.scales) scale_floats_.push_back(static_cast<float>(x));
        for (double x : p.biases) bias_floats_.push_back(static_cast<float>(x));
    }

    const std::vector<unsigned char>& source() const { return source_; }
    const std::vector<unsigned char>& destination() const { return destination_; }

    // With the numbers in memory at these addresses, which hold what scales() and biases() hold.
    conversion how(const void* scales, const void* biases) const {
        conversion c;
        c.scale = factors_of(p_.scale, p_.scales, p_.scale_doubles, scales);
        c.bias = factors_of(p_.bias, p_.biases, p_.bias_doubles, biases);
        c.axis = p_.axis;
        c.saturate = p_.saturates;
        return c;
    }
    std::vector<unsigned char> scales() const { return bytes_of(p_.scales, scale_floats_, p_.scale_doubles); }
    std::vector<unsigned char> biases() const { return bytes_of(p_.biases, bias_floats_, p_.bias_doubles); }

    // Calls use(source, destination) with both tensors at these buffers. The source has the order of the destination.
    template <class Use>
    void with(const void* source, void* destination, Use use) const {
        const detail::axis_list n{p_.extents}, s{p_.source_strides}, d{p_.destination_strides};
        const auto address = [](const void* p, std::int64_t at) {
            return reinterpret_cast<std::uintptr_t>(p) + static_cast<std::uintptr_t>(at);
        };
        const auto alignment = [&](element_type t) { return p_.aligned ? std::int64_t{size_of(t)} : 1; };
        use(detail::typed_tensor{{address(source, p_.source_at), n, s}, p_.from, alignment(p_.from)},
            detail::typed_tensor{{address(destination, p_.destination_at), n, d}, p_.to, alignment(p_.to)});
    }
    strided_copy canonical(const void* source, void* destination, const conversion& how) const {
        strided_copy c;
        with(source, destination, [&](const detail::typed_tensor& from, const detail::typed_tensor& to) {
            c = checked_conversion(from, detail::same_order(from.tensor.extents), to, how);
        });
        return c;
    }

    // What is wrong with a destination that was converted; "" if nothing is.
    std::string wrong_in(const unsigned char* found) const {
        std::vector<bool> written(destination_.size());
        std::string wrong;
        const auto to_size = static_cast<std::size_t>(size_of(p_.to));
        each([&](std::int64_t from, std::int64_t to, std::int64_t index) {
            const auto number = [&](const std::vector<double>& all) {
                return all[all.size() == 1 ? 0 : static_cast<std::size_t>(index)];
            };
            std::optional<std::pair<double, double>> scaled;
            using kind = conversion_problem::kind;
            if (p_.scale != kind::none || p_.bias != kind::none)
                scaled = {p_.scale == kind::none ? 1.0 : number(p_.scales),
                          p_.bias == kind::none ? -0.0 : number(p_.biases)};
            const unsigned char* const element = &source_[static_cast<std::size_t>(from)];
            const expected_element wanted = converted_element(element, p_.from, p_.to, p_.saturates, scaled);
            const auto at = static_cast<std::size_t>(to);
            if (wrong.empty() && !wanted.fits(found + at, p_.to)) {
                std::uint64_t got = 0, had = 0;
                std::memcpy(&got, found + at, to_size);
                std::memcpy(&had, element, static_cast<std::size_t>(size_of(p_.from)));
                char text[200];
                std::snprintf(
                    text, sizeof text, "the element at byte %lld is %llx, not %llx%s, from %llx with %g and %g",
                    static_cast<long long>(to), static_cast<unsigned long long>(got),
                    static_cast<unsigned long long>(wanted.bits), wanted.nan ? " (NaN)" : "",
                    static_cast<unsigned long long>(had), scaled ? scaled->first : NAN, scaled ? scaled->second : NAN);
                wrong = text;
            }
            for (std::size_t i = 0; i < to_size; ++i) written[at + i] = true;
        });
        for (std::size_t i = 0; wrong.empty() && i < destination_.size(); ++i) {
            if (!written[i] && found[i] != destination_[i])
                wrong = "byte " + std::to_string(i) + " beside it was written";
        }
        return wrong;
    }

private:
    static factors factors_of(conversion_problem::kind kind, const std::vector<double>& numbers, bool doubles,
                              const void* memory) {
        using enum conversion_problem::kind;
        if (kind == none) return {};
        if (kind == number) return numbers[0];
        const auto count = static_cast<std::int64_t>(numbers.size());
        return doubles ? factors(static_cast<const double*>(memory), count)
                       : factors(static_cast<const float*>(memory), count);
    }
    static std::vector<unsigned char> bytes_of(const std::vector<double>& numbers, const std::vector<float>& floats,
                                               bool doubles) {
        std::vector<unsigned char> bytes(numbers.size() * (doubles ? 8 : 4));
        if (!bytes.empty())
            std::memcpy(bytes.data(), doubles ? static_cast<const void*>(numbers.data()) : floats.data(), bytes.size());
        return bytes;
    }
    // Calls use(offset in the source, offset in the destination, index along the axis of scale and bias).
    template <class Use>
    void each(Use use) const {
        for (std::int64_t n : p_.extents) {
            if (n == 0) return;
        }
        std::vector<std::int64_t> index(p_.extents.size(), 0);
        for (;;) {
            std::int64_t from = p_.source_at, to = p_.destination_at;
            for (std::size_t i = 0; i < index.size(); ++i) {
                from += index[i] * p_.source_strides[i] * size_of(p_.from);
                to += index[i] * p_.destination_strides[i] * size_of(p_.to);
            }
            use(from, to, index.empty() ? 0 : index[static_cast<std::size_t>(p_.axis)]);
            std::size_t axis = index.size();
            while (axis > 0 && ++index[axis - 1] == p_.extents[axis - 1]) index[--axis] = 0;
            if (axis == 0) return;
        }
    }

    const conversion_problem& p_;
    std::mt19937_64 random_;
    std::vector<unsigned char> source_, destination_;
    std::vector<float> scale_floats_, bias_floats_;
};

}  // namespace cornerturn::tests
