#include "core/patterned_tensor.hpp"

#include <algorithm>
#include <atomic>

#include "core/lowest_noted.hpp"
#include "core/parallel.hpp"

namespace cornerturn {
namespace {

constexpr std::int64_t kWorthAThread = 1 << 16;  // elements

// Calls on_element(position, index, factor) for each element, and on_gap(byte) for each byte of a gap. Several threads
// share the positions.
template <class OnElement, class OnGap>
void for_each_position(const patterned_tensor& tensor, OnElement on_element, OnGap on_gap) {
    parallel_ranges(tensor.positions(), kWorthAThread, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t position = begin; position < end;) {
            const patterned_tensor::stretch here = tensor.at(position);
            const std::int64_t stop = std::min(end, position + here.left);
            if (here.is_gap) {
                for (std::int64_t i = position * tensor.element_size; i < stop * tensor.element_size; ++i) on_gap(i);
            } else {
                std::int64_t index = here.index, factor = here.factor;
                for (std::int64_t i = position; i < stop; ++i, index += here.index_stride, factor += here.factor_stride)
                    on_element(i, static_cast<std::uint64_t>(index), factor);
            }
            position = stop;
        }
    });
}

template <class Elements>
without_factors<Elements> at_that_time(without_factors<Elements> elements, bool poison) {
    elements.elements.poison = poison;
    return elements;
}
converted_elements at_that_time(converted_elements elements, bool poison) {
    elements.poison = poison;
    return elements;
}

}  // namespace

void fill(unsigned char* buffer, const patterned_tensor& tensor) {
    with_tensor_elements(tensor, [&](auto elements) {
        for_each_position(
            tensor,
            [=](std::int64_t position, std::uint64_t index, std::int64_t factor) {
                elements.put(buffer + position * elements.size(), index, factor);
            },
            [=](std::int64_t byte) { buffer[byte] = guard_byte(static_cast<std::uint64_t>(byte)); });
    });
}

wrong_positions find_wrong(const unsigned char* buffer, const patterned_tensor& tensor) {
    lowest_noted wrong_element, wrong_gap;
    with_tensor_elements(tensor, [&](auto elements) {
        for_each_position(
            tensor,
            [&](std::int64_t position, std::uint64_t index, std::int64_t factor) {
                if (!elements.holds(buffer + position * elements.size(), index, factor)) wrong_element.note(position);
            },
            [&](std::int64_t byte) {
                if (buffer[byte] != guard_byte(static_cast<std::uint64_t>(byte))) wrong_gap.note(byte);
            });
    });
    return {wrong_element.number(), wrong_gap.number()};
}

wrong_positions find_wrong(const unsigned char* buffer, const patterned_tensor& tensor, const patterned_tensor& before,
                           std::int64_t& written) {
    lowest_noted wrong_element, wrong_gap;
    std::atomic<std::int64_t> expected = 0;
    with_tensor_elements(tensor, [&](auto elements) {
        const auto old = at_that_time(elements, before.poison);
        for_each_position(
            tensor,
            [&](std::int64_t position, std::uint64_t index, std::int64_t factor) {
                const unsigned char* const at = buffer + position * elements.size();
                if (elements.holds(at, index, factor))
                    ++expected;
                else if (!old.holds(at, index, factor))
                    wrong_element.note(position);
            },
            [&](std::int64_t byte) {
                if (buffer[byte] != guard_byte(static_cast<std::uint64_t>(byte))) wrong_gap.note(byte);
            });
    });
    written = expected;
    return {wrong_element.number(), wrong_gap.number()};
}

}  // namespace cornerturn
