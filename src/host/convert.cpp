// cornerturn::convert: conversions in host memory.
//
// A tensor is cut into boxes that fit the nearest caches. A box is permuted into a buffer as it is, by the engine that
// moves all other copies, and each of its lines is then converted out of the buffer, straight into the destination. So
// nothing here knows how elements are transposed, and the casts know nothing of axes.
#include "cornerturn/convert.hpp"

#include <array>
#include <optional>
#include <vector>

#include "core/conversions.hpp"
#include "core/tensors.hpp"
#include "host/casts.hpp"
#include "host/choice.hpp"
#include "host/float_environment.hpp"
#include "host/job.hpp"

namespace cornerturn::host {
namespace {

// Of a box, on the side with the larger elements. The smaller ones are for tensors that would not occupy all threads.
constexpr std::int64_t kMostBox = 256 * kKiB, kLeastBox = 64 * kKiB;
constexpr std::int64_t kLine = 1 * kKiB;  // bytes that a line of a box should have, on either side
constexpr std::int64_t kOut = 4 * kKiB;   // bytes that are converted before they are streamed

// An axis of a copy and of its boxes. Strides are in bytes, but `factor` and `packed` in elements.
struct boxed_axis {
    std::int64_t extent, source, destination, factor, steps = 1, packed = 0;

    std::int64_t boxes() const { return divide_up(extent, steps); }
};

class converter {
public:
    converter(const strided_copy& c, std::int64_t threads)
        : c_(c), from_size_(c.source_unit()), to_size_(c.unit()), larger_(std::max(from_size_, to_size_)) {
        const std::int64_t bytes = std::max(c.bytes(), c.source_bytes());
        const std::int64_t box = std::clamp(bytes / (2 * threads), kLeastBox, kMostBox);
        if (c.run > to_size_) axes_[static_cast<std::size_t>(rank_++)] = {c.run / to_size_, from_size_, to_size_, 0};
        for (int i = 0; i < c.rank; ++i) {
            const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
            axes_[static_cast<std::size_t>(rank_++)] = {a.extent, a.source, a.destination, a.factor};
        }
        cut(box / larger_);
        in_real64_ = is_worked_out_in_f64(c.cast);
    }

    std::int64_t boxes() const { return boxes_; }
    void run(const team& threads) const {
        share_out(c_.bytes() + c_.source_bytes(), threads, boxes_, [&](std::int64_t i) {
            const ieee_arithmetic modes;
            convert_box(i);
        });
    }

private:
    const boxed_axis& axis(int i) const { return axes_[static_cast<std::size_t>(i)]; }
    boxed_axis& axis(int i) { return axes_[static_cast<std::size_t>(i)]; }

    // Takes steps along the destination's first axes until a line there is long, then along the source's, and then
    // along the destination's again until the box is full.
    void cut(std::int64_t most) {
        std::int64_t room = most;
        grow([](const boxed_axis& a) { return a.destination; }, to_size_, std::min(room, kLine / to_size_), room);
        grow([](const boxed_axis& a) { return std::abs(a.source); }, from_size_, most, room);
        grow([](const boxed_axis& a) { return a.destination; }, to_size_, most, room);
        std::int64_t packed = 1;
        boxes_ = 1;
        for (int i = 0; i < rank_; ++i) {
            boxed_axis& a = axis(i);
            a.packed = packed;
            packed *= a.steps;
            boxes_ *= a.boxes();
        }
        in_box_ = packed;
        // A line: the axes without gaps in the destination. Only the last one may be cut.
        line_ = 1;
        std::int64_t next = to_size_;
        for (line_axes_ = 0; line_axes_ < rank_ && axis(line_axes_).destination == next; ++line_axes_) {
            const boxed_axis& a = axis(line_axes_);
            line_ *= a.steps;
            next *= a.extent;
            if (a.steps < a.extent) {
                ++line_axes_;
                break;
            }
        }
        // If lines are short, the whole box is converted at once, and then moved to where it belongs.
        scatters_ = line_ * to_size_ < 64 && line_ < in_box_;
        if (scatters_) line_axes_ = rank_, line_ = in_box_;
        // A source without an order of its own needs no buffer.
        is_straight_ = aligned() && !scatters_;
        std::int64_t source = from_size_;
        for (int i = 0; i < line_axes_; ++i) {
            if (axis(i).steps == 1) continue;
            if (axis(i).source != source) is_straight_ = false;
            source *= axis(i).steps;
        }
        if (!aligned()) scatters_ = true, line_axes_ = rank_, line_ = in_box_;
        streams_ = c_.bytes() >= kStreamFrom && !scatters_ && !is_onto_itself(c_);
        for (int i = 0; i < line_axes_; ++i)
            factor_in_line_ = factor_in_line_ || (axis(i).factor != 0 && axis(i).steps > 1);
    }
    bool aligned() const {
        return c_.source % static_cast<unsigned>(from_size_) == 0 &&
               c_.destination % static_cast<unsigned>(to_size_) == 0;
    }
    // Takes steps along the axes whose strides continue each other, the smallest first, up to `wanted` elements.
    template <class Stride>
    void grow(Stride stride, std::int64_t unit, std::int64_t wanted, std::int64_t& room) {
        std::int64_t reached = unit, length = 1;
        for (;;) {
            int next = -1;
            for (int i = 0; i < rank_; ++i) {
                const std::int64_t s = stride(axis(i));
                if (s >= reached && (next < 0 || s < stride(axis(next)))) next = i;
            }
            if (next < 0 || length >= wanted) return;
            boxed_axis& a = axis(next);
            const std::int64_t more = std::min(divide_up(wanted, length), a.steps * std::max<std::int64_t>(1, room));
            const std::int64_t steps = std::clamp<std::int64_t>(more, a.steps, a.extent);
            room /= std::max<std::int64_t>(1, steps / a.steps);
            a.steps = steps;
            length *= steps;
            if (steps < a.extent) {  // equally large boxes
                a.steps = divide_up(a.extent, divide_up(a.extent, steps));
                return;
            }
            reached = stride(a) + 1;
        }
    }

    // A box: where it begins, its first scale and bias, and its steps along each axis.
    struct box_at {
        const byte* from;
        byte* to;
        std::int64_t factor;
        std::array<std::int64_t, kMostAxes + 1> steps;
    };
    box_at at(std::int64_t number) const {
        box_at box{reinterpret_cast<const byte*>(c_.source), reinterpret_cast<byte*>(c_.destination), c_.by.first, {}};
        for (int i = 0; i < rank_; ++i) {
            const boxed_axis& a = axis(i);
            const std::int64_t first = number % a.boxes() * a.steps;
            number /= a.boxes();
            box.from += first * a.source;
            box.to += first * a.destination;
            box.factor += first * a.factor;
            box.steps[static_cast<std::size_t>(i)] = std::min(a.steps, a.extent - first);
        }
        return box;
    }

    // Fetches the source of a box into the cache, some lines at a time, while the box before it is converted.
    class fetched_box {
    public:
        fetched_box(const converter& all, const box_at& box, int rank) : piece_(all.from_size_), at_(box.from) {
            // A piece: the axes along which elements follow each other.
            std::array<int, kMostAxes + 1> by_source;
            for (int i = 0; i < rank; ++i) {
                int k = i;
                for (; k > 0 && distance(all, by_source[static_cast<std::size_t>(k - 1)]) > distance(all, i); --k)
                    by_source[static_cast<std::size_t>(k)] = by_source[static_cast<std::size_t>(k - 1)];
                by_source[static_cast<std::size_t>(k)] = i;
            }
            for (int k = 0; k < rank; ++k) {
                const int i = by_source[static_cast<std::size_t>(k)];
                const std::int64_t steps = box.steps[static_cast<std::size_t>(i)], source = all.axis(i).source;
                if (steps == 1 || source == 0) continue;
                if (distance(all, i) <= piece_) {
                    piece_ += (steps - 1) * distance(all, i);
                    if (source < 0) at_ += (steps - 1) * source;
                } else {
                    others_[static_cast<std::size_t>(count_++)] = {steps, source, 0};
                }
            }
            in_piece_ = -in_line(at_);
        }
        // That many bytes more.
        void fetch(std::int64_t bytes) {
            for (; bytes > 0 && at_ != nullptr; bytes -= kLineBytes) {
                __builtin_prefetch(at_ + in_piece_, 0, 2);
                in_piece_ += kLineBytes;
                if (in_piece_ >= piece_) next_piece();
            }
        }

    private:
        struct other {
            std::int64_t steps, source, index;
        };
        static std::int64_t distance(const converter& all, int i) { return std::abs(all.axis(i).source); }
        void next_piece() {
            for (int k = 0; k < count_; ++k) {
                other& o = others_[static_cast<std::size_t>(k)];
                at_ += o.source;
                if (++o.index < o.steps) {
                    in_piece_ = -in_line(at_);
                    return;
                }
                at_ -= o.steps * o.source;
                o.index = 0;
            }
            at_ = nullptr;  // that was all
        }

        std::int64_t piece_, in_piece_ = 0;
        const byte* at_;
        std::array<other, kMostAxes + 1> others_;
        int count_ = 0;
    };

    // Not inlined: the compiler knows nothing of the processor's modes, and must not move arithmetic out of it.
    [[gnu::noinline]] void convert_box(std::int64_t number) const {
        const auto [from, to, first_factor, steps] = at(number);
        std::int64_t factor = first_factor;
        std::optional<fetched_box> next;
        if (!is_straight_ && number + 1 < boxes_) next.emplace(*this, at(number + 1), rank_);
        std::int64_t line = 1;
        for (int i = 0; i < line_axes_; ++i) line *= steps[static_cast<std::size_t>(i)];
        // The buffers: the box as it is, the box or a part of a line as it is converted, and scales and biases.
        const std::int64_t box_bytes = divide_up(in_box_ * from_size_, kLineBytes) * kLineBytes;
        const std::int64_t out_bytes = divide_up(std::max(in_box_ * to_size_, kOut), kLineBytes) * kLineBytes;
        thread_local std::vector<byte> memory;
        const auto needed = static_cast<std::size_t>(box_bytes + out_bytes + kLineBytes);
        if (memory.size() < needed) memory.resize(needed);
        byte* const box = memory.data() + to_next_line(memory.data());
        byte* const out = box + box_bytes;
        if (!is_straight_) permute(from, box, steps);
        thread_local std::vector<double> scales, biases;
        line_factors by{nullptr, nullptr, c_.by.scales.number, c_.by.biases.number};
        if (factor_in_line_) {
            by.scales = spread(c_.by.scales, factor, steps, line, scales);
            by.biases = spread(c_.by.biases, factor, steps, line, biases);
        }
        // Line by line.
        std::array<std::int64_t, kMostAxes + 1> index{};
        const byte* source = from;
        byte* destination = to;
        std::int64_t packed = 0;
        for (;;) {
            if (c_.cast.scaled && !factor_in_line_) {
                by.scale = number_of(c_.by.scales, factor);
                by.bias = number_of(c_.by.biases, factor);
            }
            convert_line(is_straight_ ? source : box + packed * from_size_, scatters_ ? out : destination, line, by,
                         out, next ? &*next : nullptr);
            packed += line;
            int i = line_axes_;
            for (; i < rank_; ++i) {
                const boxed_axis& a = axis(i);
                const auto at = static_cast<std::size_t>(i);
                source += a.source, destination += a.destination, factor += a.factor;
                if (++index[at] < steps[at]) break;
                source -= steps[at] * a.source, destination -= steps[at] * a.destination;
                factor -= steps[at] * a.factor;
                index[at] = 0;
            }
            if (i == rank_) break;
        }
        if (scatters_) scatter(out, to, steps);
    }

    // Converts a line in parts, and fetches as many bytes of the next box meanwhile.
    void convert_line(const byte* from, byte* to, std::int64_t count, const line_factors& by, byte* out,
                      fetched_box* next) const {
        const std::int64_t at_a_time = kOut / to_size_;
        for (std::int64_t first = 0; first < count; first += at_a_time) {
            const std::int64_t n = std::min(at_a_time, count - first);
            if (next != nullptr) next->fetch(n * from_size_);
            line_factors its = by;
            const std::int64_t before = first * (in_real64_ ? 8 : 4);
            if (its.scales != nullptr) its.scales = static_cast<const byte*>(its.scales) + before;
            if (its.biases != nullptr) its.biases = static_cast<const byte*>(its.biases) + before;
            byte* const result = to + first * to_size_;
            cast_(from + first * from_size_, streams_ ? out : result, n, c_.cast, its);
            if (streams_) use_.stream(out, result, n * to_size_, nullptr);
        }
    }

    // A copy of the box between one side and a buffer without gaps.
    void permute(const byte* from, byte* box, const std::array<std::int64_t, kMostAxes + 1>& steps) const {
        move(reinterpret_cast<std::uintptr_t>(from), reinterpret_cast<std::uintptr_t>(box), from_size_, steps,
             [&](const boxed_axis& a, std::int64_t packed) {
                 return std::pair{a.source, packed * from_size_};
             });
    }
    void scatter(const byte* out, byte* to, const std::array<std::int64_t, kMostAxes + 1>& steps) const {
        move(reinterpret_cast<std::uintptr_t>(out), reinterpret_cast<std::uintptr_t>(to), to_size_, steps,
             [&](const boxed_axis& a, std::int64_t packed) {
                 return std::pair{packed * to_size_, a.destination};
             });
    }
    template <class Strides>
    void move(std::uintptr_t from, std::uintptr_t to, std::int64_t size,
              const std::array<std::int64_t, kMostAxes + 1>& steps, Strides strides) const {
        std::array<strided_axis, kMostAxes + 1> axes;
        int count = 0;
        std::int64_t packed = 1;
        for (int i = 0; i < rank_; ++i) {
            const std::int64_t n = steps[static_cast<std::size_t>(i)];
            if (n == 1) continue;
            const auto [source, destination] = strides(axis(i), packed);
            axes[static_cast<std::size_t>(count++)] = {n, source, destination};
            packed *= n;
        }
        static const team kAlone({.threads = 1});
        host::run(canonical(from, to, size, axes.data(), count), kAlone);
    }

    double number_of(const factors_in_memory& f, std::int64_t at) const {
        if (f.address == 0) return f.number;
        if (f.one) at = 0;
        return f.doubles ? reinterpret_cast<const double*>(f.address)[at]
                         : double{reinterpret_cast<const float*>(f.address)[at]};
    }
    // The numbers of a line's elements, in the type that the conversion is worked out in.
    const void* spread(const factors_in_memory& f, std::int64_t first,
                       const std::array<std::int64_t, kMostAxes + 1>& steps, std::int64_t line,
                       std::vector<double>& to) const {
        if (f.address == 0) return nullptr;
        to.resize(static_cast<std::size_t>(line));
        int at = 0;
        std::int64_t inner = 1;
        while (axis(at).factor == 0) inner *= steps[static_cast<std::size_t>(at++)];
        const std::int64_t n = steps[static_cast<std::size_t>(at)], factor = axis(at).factor;
        auto* const floats = reinterpret_cast<float*>(to.data());
        std::int64_t filled = 0;
        for (std::int64_t i = 0; filled < line; i = i + 1 == n ? 0 : i + 1) {
            const double number = number_of(f, first + i * factor);
            for (std::int64_t k = 0; k < inner; ++k, ++filled) {
                if (in_real64_) {
                    to[static_cast<std::size_t>(filled)] = number;
                } else {
                    floats[filled] = static_cast<float>(number);
                }
            }
        }
        return to.data();
    }

    const strided_copy& c_;
    std::int64_t from_size_, to_size_, larger_;
    int rank_ = 0, line_axes_ = 0;
    std::array<boxed_axis, kMostAxes + 1> axes_;  // in the destination's order
    std::int64_t boxes_ = 1, in_box_ = 1, line_ = 1;
    bool scatters_ = false, is_straight_ = false, streams_ = false, factor_in_line_ = false, in_real64_ = false;
    cast_function cast_ = cast_elements();
    kernels use_ = kernels_for(1);
};

}  // namespace
}  // namespace cornerturn::host

namespace cornerturn::detail {

void convert(const typed_tensor& source, const axis_list& axes, const typed_tensor& destination, const conversion& how,
             host_options options) {
    const strided_copy c = checked_conversion(source, axes, destination, how);
    host::check_options(options);
    if (c.is_empty() || is_same(c)) return;
    const host::team threads(options);
    if (!c.converts()) return host::run(c, threads);
    host::converter(c, threads.most()).run(threads);
}

}  // namespace cornerturn::detail
