// What the cost of a transpose by each method is predicted from, and the prediction. Only costs of the same work are
// compared, so a cost is a logarithm: of the time, less what all methods share.
#pragma once

#include <array>
#include <bit>

#include "host/job.hpp"

namespace cornerturn::host {

// The methods among which predicted costs decide. machine.hpp has a list of numbers for each.
enum class costed { direct, lines, image, strips, tiles };
inline constexpr int kCosted = 5;

// Numbers that describe a job.
class features {
public:
    static constexpr int kCount = 145;

    explicit features(const job& j) {
        const std::int64_t row_of_destination = j.rows * j.size, row_of_source = j.cols * j.size;
        for (const bool counts : {true, j.threads.most() == 1}) {
            place(j.size, 0, 4, counts);
            add(counts && !std::has_single_bit(static_cast<std::uint64_t>(j.size)));
        }
        for (const bool counts : {true, j.packed_destination(), j.size < 4}) place(row_of_destination, 1, 12, counts);
        for (const bool counts : {true, j.packed_source()}) place(row_of_source, 1, 12, counts);
        place(j.rows, 1, 7);
        place(j.cols, 1, 7);
        place(j.matrix_bytes(), 5, 20);
        place(j.bytes(), 23, 28);
        place(j.destination_pitch, 8, 20);
        place(j.source_pitch, 8, 20);
        place(j.threads.most(), 0, 5);
        add(j.packed_source());
        add(j.packed_destination());
        add(j.destination_pitch % kLineBytes != 0);
        add(j.destination_pitch % kPageBytes == 0);
        add(j.source_pitch % kPageBytes == 0);
    }
    const std::array<float, kCount>& all() const { return all_; }

private:
    void add(float x) { all_[static_cast<std::size_t>(count_++)] = x; }
    // A number for each power of two from 2^least to 2^most. The two next to x share 1, if it counts.
    void place(std::int64_t x, int least, int most, bool counts = true) {
        const auto whole = static_cast<std::uint64_t>(std::max<std::int64_t>(x, 1));  // a single row has any distance
        const int log = std::bit_width(whole) - 1;
        const float part = static_cast<float>(whole) / static_cast<float>(std::uint64_t{1} << log) - 1;
        for (int i = least; i <= most; ++i) {
            const bool ends = (i == least && log < least) || (i == most && log >= most);
            const float share = ends ? 1 : log < least ? 0 : i == log ? 1 - part : i == log + 1 ? part : 0;
            add(counts ? share : 0);
        }
    }

    std::array<float, kCount> all_;
    int count_ = 0;
};

float cost_of(costed method, const features& of);

}  // namespace cornerturn::host
