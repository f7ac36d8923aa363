#include "ops/copy/sectors.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/strided.hpp"

namespace cornerturn {
namespace {

// Counts sectors of runs on nested axes, the smallest step first: no step of an axis begins within another step's span.
// An axis then has the sum of its steps' sectors, less one wherever a step begins in the sector in which the step
// before ends. A step's count depends on where in a sector it begins. That repeats after at most 32 steps.
class nested_sectors {
public:
    explicit nested_sectors(const strided_copy& c) : c_(c), spans_{c.run}, known_(static_cast<std::size_t>(c.rank)) {
        for (int i = 0; i < c.rank; ++i) spans_.push_back(spans_.back() + (axis(i).extent - 1) * axis(i).destination);
    }
    bool are_beside_each_other() const {
        for (int i = 0; i < c_.rank; ++i) {
            if (axis(i).destination < span(i)) return false;
        }
        return true;
    }
    std::int64_t all(std::int64_t begin) { return of(c_.rank, begin % kSectorBytes); }

private:
    const strided_axis& axis(int i) const { return c_.axes[static_cast<std::size_t>(i)]; }
    // Bytes that the first `axes` axes span.
    std::int64_t span(int axes) const { return spans_[static_cast<std::size_t>(axes)]; }

    std::int64_t of(int axes, std::int64_t begin) {
        if (axes == 0) return (begin + c_.run - 1) / kSectorBytes + 1;
        std::int64_t& known = known_[static_cast<std::size_t>(axes - 1)][static_cast<std::size_t>(begin)];
        if (known > 0) return known;
        const std::int64_t n = axis(axes - 1).extent, stride = axis(axes - 1).destination;
        const std::int64_t period = kSectorBytes / std::gcd(kSectorBytes, stride);
        std::int64_t sectors = 0;
        for (std::int64_t i = 0; i < std::min(period, n); ++i)
            sectors += of(axes - 1, (begin + i * stride) % kSectorBytes) * ((n - 1 - i) / period + 1);
        for (std::int64_t i = 1; i <= std::min(period, n - 1); ++i) {
            const std::int64_t end_before = begin + (i - 1) * stride + span(axes - 1) - 1;
            if ((begin + i * stride) / kSectorBytes == end_before / kSectorBytes) sectors -= (n - 1 - i) / period + 1;
        }
        return known = sectors;
    }

    const strided_copy& c_;
    std::vector<std::int64_t> spans_;
    std::vector<std::array<std::int64_t, kSectorBytes>> known_;
};

// Marks sectors one by one, for runs that overlap or interleave.
std::int64_t marked_sectors(const strided_copy& c, std::int64_t begin) {
    std::vector<bool> touched;
    const std::int64_t runs = c.runs();
    for (std::int64_t r = 0; r < runs; ++r) {
        std::int64_t rest = r, at = begin;
        for (int i = 0; i < c.rank; ++i) {
            const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
            at += rest % a.extent * a.destination;
            rest /= a.extent;
        }
        const auto last = static_cast<std::size_t>((at + c.run - 1) / kSectorBytes);
        if (last >= touched.size()) touched.resize(last + 1);
        for (auto s = static_cast<std::size_t>(at / kSectorBytes); s <= last; ++s) touched[s] = true;
    }
    return std::count(touched.begin(), touched.end(), true);
}

}  // namespace

std::int64_t touched_sectors(std::int64_t offset, std::int64_t run, const std::vector<byte_axis>& axes) {
    std::vector<strided_axis> both;
    for (const byte_axis& a : axes) {
        if (a.stride != 0 || a.extent == 0) both.push_back({a.extent, a.stride, a.stride});
    }
    const strided_copy c = canonical(0, 0, run, both.data(), static_cast<int>(both.size()));
    if (c.is_empty()) return 0;
    nested_sectors nested(c);
    return nested.are_beside_each_other() ? nested.all(offset) : marked_sectors(c, offset % kSectorBytes);
}

std::int64_t touched_sectors(std::int64_t offset, std::int64_t rows, std::int64_t row_bytes, std::int64_t pitch) {
    return touched_sectors(offset, row_bytes, {{rows, pitch}});
}

bool fill_whole_sectors(std::int64_t offset, std::int64_t rows, std::int64_t row_bytes, std::int64_t pitch) {
    if (rows <= 1 || row_bytes == 0 || row_bytes == pitch) return true;
    const std::int64_t first = offset / kSectorBytes,
                       last = (offset + (rows - 1) * pitch + row_bytes - 1) / kSectorBytes;
    const auto full = [&](std::int64_t edge) {  // no gap begins or ends within this byte's sector
        const std::int64_t sector = edge / kSectorBytes;
        return edge % kSectorBytes == 0 || sector == first || sector == last;
    };
    // From the 33rd row on, no row is in the first sector. Where in a sector rows begin repeats after 32 rows.
    for (std::int64_t row = 0; row < std::min<std::int64_t>(rows - 1, 2 * kSectorBytes); ++row) {
        if (!full(offset + row * pitch + row_bytes) || !full(offset + (row + 1) * pitch)) return false;
    }
    return true;
}

}  // namespace cornerturn
