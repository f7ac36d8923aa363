#include "host/shuffle_order.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace cornerturn::host {
namespace {

// Numbers the source's blocks in the order in which they occur.
class numbered_blocks {
public:
    explicit numbered_blocks(std::int64_t source) : shift_(std::countr_zero(static_cast<std::uint64_t>(source))) {
        numbers_.fill(-1);
    }
    int number_of(int at) {
        signed char& number = numbers_[static_cast<std::size_t>(at >> shift_)];
        if (number < 0) number = static_cast<signed char>(count_++);
        return number;
    }
    int count() const { return count_; }

private:
    int shift_, count_ = 0;
    std::array<signed char, kMostShuffled / kLeastSource> numbers_;
};

// Calls run(i, at) for each byte of a block of the destination: its number, and its position in the window.
template <class Run>
void each_byte(const shuffle_order& order, const int* from, int size, int block_bytes, int block, Run run) {
    const int bytes = static_cast<int>(order.bytes);
    const int to = std::max(0, std::min(block * block_bytes, bytes - block_bytes));
    int element = to / size, within = to % size;
    for (int i = 0; i < std::min(bytes - to, block_bytes); ++i) {
        run(i, from[element] - static_cast<int>(order.begin) + within);
        if (++within < size) continue;
        within = 0;
        ++element;
    }
}

}  // namespace

double cycles_of_shuffle(const int* from, std::int64_t elements, std::int64_t size, const shuffle_blocks& by) {
    const int begin = *std::min_element(from, from + elements);
    const std::int64_t bytes = elements * size;
    int most = 0;
    for (std::int64_t block = 0, i = 0; block < bytes; block += by.destination) {
        numbered_blocks taken(by.source);
        for (; i < elements && i * size < block + by.destination; ++i) taken.number_of(from[i] - begin);
        most = std::max(most, taken.count());
    }
    if (bytes < by.destination) return by.part_cost + most * by.step_cost;
    const std::int64_t blocks = (bytes + by.destination - 1) / by.destination;
    return static_cast<double>(blocks) * (by.block_cost + most * by.step_cost);
}

shuffle_order order_shuffle(const int* from, std::int64_t elements, std::int64_t size, const shuffle_blocks& by) {
    const auto [first, last] = std::minmax_element(from, from + elements);
    const auto source = static_cast<int>(by.source), destination = static_cast<int>(by.destination);
    const int element_bytes = static_cast<int>(size);
    shuffle_order order;
    order.begin = *first;
    order.bytes = elements * size;
    order.window = *last + size - *first;
    order.blocks = static_cast<int>((order.bytes + destination - 1) / destination);
    for (int block = 0; block < order.blocks; ++block) {
        numbered_blocks taken(source);
        each_byte(order, from, element_bytes, destination, block, [&](int, int at) { taken.number_of(at); });
        order.steps = std::max(order.steps, taken.count());
    }
    const auto all = static_cast<std::size_t>(order.blocks * order.steps);
    const int absent = by.marks_taken ? 0 : kMark, mark = kMark - absent;
    order.from.resize(all);
    order.places.resize(all * static_cast<std::size_t>(destination), static_cast<unsigned char>(absent));
    const int last_start = std::max(0, static_cast<int>(order.window) - source);
    for (int block = 0; block < order.blocks; ++block) {
        numbered_blocks taken(source);
        each_byte(order, from, element_bytes, destination, block, [&](int i, int at) {
            const int step = block * order.steps + taken.number_of(at), start = std::min(at & -source, last_start);
            order.from[static_cast<std::size_t>(step)] = start;
            order.places[static_cast<std::size_t>(step * destination + i)] =
                static_cast<unsigned char>(at - start + mark);
        });
    }
    return order;
}

}  // namespace cornerturn::host
