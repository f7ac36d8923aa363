// Copies between tensors, tile by tile.
#include <array>
#include <atomic>
#include <cstdlib>

#include "host/methods.hpp"
#include "host/tiling.hpp"

namespace cornerturn::host {
namespace {

constexpr std::int64_t kOwnedEarly = 2 * kKiB;  // how far ahead of the writes the destination's lines are fetched
constexpr std::int64_t kMostOwnedEarly = 64;    // pieces
constexpr std::int64_t kShortPiece = 160;       // has few whole lines, if any, and is not streamed
constexpr std::int64_t kJoinedBytes = 8 * kKiB;

// Where a tile begins, and its steps along each axis: fewer at an edge.
struct place {
    const byte* from;
    byte* to;
    std::array<std::int64_t, kMostAxes> steps;

    std::int64_t along(int axis) const { return steps[static_cast<std::size_t>(axis)]; }
    std::int64_t along(const axis_numbers& axes) const {
        std::int64_t all = 1;
        for (int i : axes) all *= along(i);
        return all;
    }
};

// Takes all steps of a tile along some axes, the first axis fastest, on two sides.
class walk {
public:
    using stride = std::ptrdiff_t tiled_axis::*;
    walk(const tiling& t, const place& p, const axis_numbers& axes, stride one, stride other)
        : t_(t), p_(p), axes_(axes), one_stride_(one), other_stride_(other) {}

    std::ptrdiff_t one() const { return one_; }
    std::ptrdiff_t other() const { return other_; }
    void step() {
        for (int i : axes_) {
            const tiled_axis& a = t_.axis(i);
            std::int64_t& index = index_[static_cast<std::size_t>(i)];
            if (++index < p_.along(i)) {
                one_ += a.*one_stride_;
                other_ += a.*other_stride_;
                return;
            }
            index = 0;
            one_ -= (p_.along(i) - 1) * (a.*one_stride_);
            other_ -= (p_.along(i) - 1) * (a.*other_stride_);
        }
    }

private:
    const tiling& t_;
    const place& p_;
    const axis_numbers& axes_;
    stride one_stride_, other_stride_;
    std::ptrdiff_t one_ = 0, other_ = 0;
    std::array<std::int64_t, kMostAxes> index_{};
};

// Divides these lines into equal shares of the work, and returns the share with this number.
fetched_lines share_of(const fetched_lines& all, std::int64_t number, std::int64_t shares) {
    fetched_lines its = all;
    const std::int64_t before = all.count * number / shares;
    its.first = all.first + before;
    its.count = all.count * (number + 1) / shares - before;
    return its;
}

class tile_mover {
public:
    tile_mover(const strided_copy& c, const tiling& t, const kernels& use)
        : t_(t),
          use_(use),
          source_(reinterpret_cast<const byte*>(c.source)),
          destination_(reinterpret_cast<byte*>(c.destination)) {}

    // Tiles that repeat the same part of the source follow each other.
    place tile(std::int64_t number) const {
        place p{source_, destination_, {}};
        const auto take = [&](int i) {
            const tiled_axis& a = t_.axis(i);
            const std::int64_t first = number % a.chunks * a.tile;
            number /= a.chunks;
            p.from += first * a.source;
            p.to += first * a.destination;
            p.steps[static_cast<std::size_t>(i)] = std::min(a.tile, a.extent - first);
        };
        for (int i = 0; i < t_.rank; ++i)
            if (t_.axis(i).source == 0) take(i);
        for (int i = 0; i < t_.rank; ++i)
            if (t_.axis(i).source != 0) take(i);
        return p;
    }

    // What must be fetched before the first tile is moved.
    void begin(const place& p) const { fetch(lines_of(p, nullptr, 0, t_.ahead_of_tile), 0, t_.ahead_of_tile); }

    // `before`: the tile that this thread moved last. If its image is also the image of this tile, nothing is moved.
    // Fetches for the next tile. Null: there is no such tile.
    void move(const place* before, const place& p, const place* next) const {
        if (next != nullptr && has_image_of(p, *next)) next = nullptr;
        const std::int64_t end = next != nullptr ? t_.lines() + t_.ahead_of_tile : t_.lines();
        if (t_.image_bytes == 0) return move_planes(p, p.to, lines_of(p, next, t_.ahead_of_tile, end));
        byte* const image = scratch(t_.room);
        if (before != nullptr && has_image_of(*before, p))
            return write_out(p, image, lines_of(p, next, t_.lines(), end));
        const std::int64_t middle = next != nullptr ? t_.lines() + t_.ahead : t_.lines();
        move_planes(p, image, lines_of(p, next, t_.ahead_of_tile, middle));
        write_out(p, image, lines_of(p, next, middle, end));
    }

private:
    fetched_lines lines_of(const place& p, const place* next, std::int64_t begin, std::int64_t end) const {
        return {p.from, next != nullptr ? next->from : nullptr, t_.lines_at.data(), t_.lines(), begin, end - begin};
    }

    // Whether the image of one tile has all that the other needs.
    bool has_image_of(const place& one, const place& other) const {
        if (t_.image_bytes == 0 || one.from != other.from) return false;
        for (int i = 0; i < t_.rank; ++i) {
            const tiled_axis& a = t_.axis(i);
            if (a.image == 0) continue;
            if (a.source == 0 ? other.along(i) > one.along(i) : other.along(i) != one.along(i)) return false;
        }
        return true;
    }

    // Calls run(source, image, lines) for each plane: its distances from the first plane, and what to fetch with it.
    template <class Run>
    void each_plane(const place& p, const fetched_lines& lines, Run run) const {
        walk plane(t_, p, t_.planes, &tiled_axis::source, &tiled_axis::image);
        const std::int64_t planes = p.along(t_.planes);
        for (std::int64_t n = 0; n < planes; ++n, plane.step())
            run(plane.one(), plane.other(), share_of(lines, n, planes));
    }

    void move_planes(const place& p, byte* to, const fetched_lines& lines) const {
        if (t_.how == tiling::transfer::shuffled) return shuffle_planes(p, to, lines);
        listed_move m{.from = p.from,
                      .to = to,
                      .rows_at = t_.rows_at.data(),
                      .cols_at = t_.cols_at.data(),
                      .rows = p.along(t_.rows),
                      .cols = t_.columns([&](int i) { return p.along(i); }),
                      .size = t_.size,
                      .step = t_.axis(0).image,
                      .loose = end_of(p) <= t_.loose_until,
                      .fetch = {}};
        for (int i : t_.cols) {  // columns are numbered in the source's order
            const tiled_axis& a = t_.axis(i);
            if (a.source >= 0) continue;
            m.from += (p.along(i) - 1) * a.source;
            m.to += (p.along(i) - 1) * a.image;
        }
        const bool in_vectors = t_.how == tiling::transfer::in_vectors && m.rows >= rows_of_vectors(m.size);
        const listed_function move = t_.how == tiling::transfer::streamed ? use_.stream_listed
                                     : in_vectors                         ? use_.transpose_listed
                                                                          : use_.gather;
        each_plane(p, lines, [&](std::ptrdiff_t source, std::ptrdiff_t image, const fetched_lines& its_lines) {
            listed_move its = m;
            its.from += source;
            its.to += image;
            its.fetch = its_lines;
            if (t_.how != tiling::transfer::packed && t_.how != tiling::transfer::joined) return move(its);
            if (t_.how == tiling::transfer::joined) {
                join(its);
            } else {
                use_.transpose_tile(its.from, t_.axis(0).source, its.to, t_.axis(t_.cols[0]).image, its.rows, its.cols,
                                    its.size);
            }
            fetch(its_lines, 0, its_lines.count);
        });
    }

    // The end of the last byte of the source that a tile holds.
    std::uintptr_t end_of(const place& p) const {
        std::int64_t bytes = t_.size;
        for (int i = 0; i < t_.rank; ++i) bytes += std::max<std::ptrdiff_t>(0, t_.axis(i).source) * (p.along(i) - 1);
        return reinterpret_cast<std::uintptr_t>(p.from) + static_cast<std::uintptr_t>(bytes);
    }

    // Packs the rows, and moves each packed row as one larger element.
    void join(const listed_move& m) const {
        alignas(kLineBytes) byte packed[kJoinedBytes + kLineBytes];
        static constexpr std::ptrdiff_t kHere[] = {0};
        const std::int64_t bytes = m.rows * m.size, at_a_time = kJoinedBytes / bytes;
        const listed_function move = kernels_for(bytes).gather;
        for (std::int64_t col = 0; col < m.cols; col += at_a_time) {
            const std::int64_t cols = std::min(at_a_time, m.cols - col);
            use_.transpose_tile(m.from + col * m.size, t_.axis(0).source, packed, bytes, m.rows, cols, m.size);
            move({.from = packed,
                  .to = m.to,
                  .rows_at = kHere,
                  .cols_at = m.cols_at + col,
                  .rows = 1,
                  .cols = cols,
                  .size = bytes,
                  .step = 0,
                  .loose = false,
                  .fetch = {}});
        }
    }

    void shuffle_planes(const place& p, byte* to, const fetched_lines& lines) const {
        const int last = t_.rows[t_.rows.size() - 1];
        const tiled_axis& a = t_.axis(last);
        const std::int64_t steps = t_.steps_of_group, left = p.along(last) % steps;
        const std::int64_t left_bytes = t_.group.bytes / steps * left;
        const shuffle_order& shorter = t_.shorter[left_bytes == t_.shorter[0].bytes ? 0 : 1];
        const shuffled_move m{.from = p.from,
                              .to = to,
                              .from_at = t_.rows_at.data(),
                              .to_at = t_.cols_at.data(),
                              .places = p.along(t_.cols),
                              .groups = p.along(last) / steps,
                              .step = steps * a.source,
                              .to_step = steps * a.image,
                              .order = &t_.group,
                              .last = left > 0 ? &shorter : nullptr,
                              .fetch = {}};
        each_plane(p, lines, [&](std::ptrdiff_t source, std::ptrdiff_t image, const fetched_lines& its_lines) {
            shuffled_move its = m;
            its.from += source;
            its.to += image;
            its.fetch = its_lines;
            use_.shuffle(its);
        });
    }

    // First fetches, early enough, the lines that a piece fills only in part.
    void write_out(const place& p, const byte* image, const fetched_lines& lines) const {
        std::int64_t bytes = t_.size, pieces = p.along(t_.pieces);
        for (int i = 0; i < t_.rank - t_.pieces.size(); ++i) bytes *= p.along(i);
        const bool streamed = bytes >= kShortPiece || bytes % kLineBytes == 0;
        walk now(t_, p, t_.pieces, &tiled_axis::image, &tiled_axis::destination), soon = now;
        std::int64_t owned = 0;
        const auto own = [&](std::int64_t until) {
            for (; owned < std::min(until, pieces); ++owned, soon.step()) {
                const byte* const piece = p.to + soon.other();
                __builtin_prefetch(piece, 1, 3);
                for (std::int64_t at = kLineBytes; !streamed && at < bytes; at += kLineBytes)
                    __builtin_prefetch(piece + at, 1, 3);
                if (bytes > kLineBytes) __builtin_prefetch(piece + bytes - 1, 1, 3);
            }
        };
        const std::int64_t early = std::clamp<std::int64_t>(kOwnedEarly / bytes, 2, kMostOwnedEarly);
        for (std::int64_t n = 0; n < pieces; ++n, now.step()) {
            own(n + early);
            const fetched_lines its_lines = share_of(lines, n, pieces);
            fetch(its_lines, 0, its_lines.count);
            streamed ? use_.stream(image + now.one(), p.to + now.other(), bytes, nullptr)
                     : copy(image + now.one(), p.to + now.other(), bytes);
        }
    }

    const tiling& t_;
    const kernels& use_;
    const byte* source_;
    byte* destination_;
};

}  // namespace

void run_tiles(const strided_copy& c, bool large, const team& threads) {
    const kernels use = kernels_for(c.run);
    const tiling t = tile(c, large, use);
    const tile_mover mover(c, t, use);
    const std::int64_t tasks = std::clamp<std::int64_t>(c.bytes() / kTaskBytes, 1, t.tiles);
    const auto first_of = [&](std::int64_t task) { return t.tiles * task / tasks; };
    std::atomic<std::int64_t> next_task = 0;
    // While it moves a tile, a thread knows the next one. After a task's last tile, it is the first of the next task.
    threads.run(tasks, [&](std::int64_t) {
        std::int64_t task = next_task.fetch_add(1, std::memory_order_relaxed);
        if (task >= tasks) return;
        std::int64_t number = first_of(task), end = first_of(task + 1);
        place here = mover.tile(number), before = here;
        bool is_first = true;
        const auto move = [&](const place* next) {
            mover.move(is_first ? nullptr : &before, here, next);
            is_first = false;
            before = here;
        };
        mover.begin(here);
        for (;;) {
            if (++number == end) {
                task = next_task.fetch_add(1, std::memory_order_relaxed);
                if (task >= tasks) break;
                number = first_of(task);
                end = first_of(task + 1);
            }
            const place next = mover.tile(number);
            move(&next);
            here = next;
        }
        move(nullptr);
        end_stream();
    });
}

std::string explain_tiles(const strided_copy& c, bool large) { return text(tile(c, large, kernels_for(c.run))); }

}  // namespace cornerturn::host
