// The work of a host transpose, and how it is shared out among threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>

#include "core/matrix_work.hpp"
#include "host/kernels.hpp"
#include "host/team.hpp"

namespace cornerturn::host {

// For the sizes here and elsewhere, docs/experiments/host.md says what was tried.
inline constexpr std::int64_t kKiB = 1 << 10, kMiB = 1 << 20;
inline constexpr std::int64_t kTaskBytes = 256 * kKiB;   // the least that a thread moves before it takes the next task
inline constexpr std::int64_t kLargeElement = 4 * kKiB;  // larger elements are moved one by one, like rows

inline constexpr std::int64_t kStreamFrom = 8 * kMiB;  // of the destination: less should stay in the caches

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

inline void copy(const byte* from, byte* to, std::int64_t bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

// Fetches the lines of these rows. Always inlined: the compiler sees no effect in a function that only prefetches,
// and would drop a call of it.
[[gnu::always_inline]] inline void fetch_tile(const byte* from, std::ptrdiff_t pitch, std::int64_t rows,
                                              std::int64_t row_bytes) {
    for (std::int64_t row = 0; row < rows; ++row, from += pitch) {
        for (std::int64_t byte = -in_line(from); byte < row_bytes; byte += kLineBytes)
            __builtin_prefetch(from + byte, 0, 2);
    }
}

// The same for lines that will be written.
[[gnu::always_inline]] inline void own_tile(const byte* to, std::ptrdiff_t pitch, std::int64_t rows,
                                            std::int64_t row_bytes) {
    for (std::int64_t row = 0; row < rows; ++row, to += pitch) {
        for (std::int64_t byte = -in_line(to); byte < row_bytes; byte += kLineBytes)
            __builtin_prefetch(to + byte, 1, 2);
    }
}

// Memory that a thread keeps from one call to the next, aligned to a line.
inline byte* scratch(std::int64_t bytes) {
    struct free_aligned {
        void operator()(byte* p) const { ::operator delete(p, std::align_val_t(kLineBytes)); }
    };
    thread_local std::unique_ptr<byte, free_aligned> memory;
    thread_local std::int64_t size = 0;
    if (size < bytes) {
        memory.reset();
        size = 0;
        memory.reset(static_cast<byte*>(::operator new(static_cast<std::size_t>(bytes), std::align_val_t(kLineBytes))));
        size = bytes;
    }
    return memory.get();
}

// The work, in bytes.
struct job {
    const byte* source;
    byte* destination;
    std::int64_t rows, cols, size, count;              // in elements; bytes; matrices
    std::ptrdiff_t source_pitch, destination_pitch;    // from one row to the next
    std::ptrdiff_t source_stride, destination_stride;  // from one matrix to the next
    team threads;
    kernels use;

    job(const matrix_work& w, const team& threads)
        : source(static_cast<const byte*>(w.source)),
          destination(static_cast<byte*>(w.destination)),
          rows(w.rows),
          cols(w.cols),
          size(w.element_size),
          count(w.count),
          source_pitch(w.source_ld * size),
          destination_pitch(w.destination_ld * size),
          source_stride(w.source_stride * size),
          destination_stride(w.destination_stride * size),
          threads(threads),
          use(kernels_for(size)) {}

    std::int64_t matrix_bytes() const { return rows * cols * size; }
    std::int64_t bytes() const { return matrix_bytes() * count; }
    const byte* source_at(std::int64_t matrix, std::int64_t row, std::int64_t col) const {
        return source + matrix * source_stride + row * source_pitch + col * size;
    }
    byte* destination_at(std::int64_t matrix, std::int64_t row, std::int64_t col) const {
        return destination + matrix * destination_stride + row * destination_pitch + col * size;
    }
    bool in_place() const { return source == destination; }
    // Rows and columns of a square of lines.
    std::int64_t side() const { return kLineBytes / size; }
    // How many rows of the source come before the first one that starts a cache line in every row of the destination,
    // if there is such a row.
    std::int64_t rows_before_lines() const { return to_next_line(destination) / size; }
    // Whether rows of the destination are made of whole lines except for their ends, and elements divide a line.
    bool in_lines() const {
        return use.transpose_lines != nullptr && in_line(destination) % size == 0 &&
               destination_pitch % kLineBytes == 0 && (count == 1 || destination_stride % kLineBytes == 0) &&
               (rows - rows_before_lines()) * size >= kLineBytes && cols * size >= kLineBytes;
    }
    // Whether the source has no gaps.
    bool packed_source() const {
        return (source_pitch == cols * size || rows == 1) && (count == 1 || source_stride == matrix_bytes());
    }
    // Whether the destination has no gaps.
    bool packed_destination() const {
        return (destination_pitch == rows * size || cols == 1) && (count == 1 || destination_stride == matrix_bytes());
    }
};

// Calls body(i) for i in [0, count), in order, so that tasks that run at the same time are close together in memory.
// `bytes` is the size of all tasks.
template <class Body>
void share_out(std::int64_t bytes, const team& threads, std::int64_t count, Body body,
               std::int64_t task_bytes = kTaskBytes, bool streams = true) {
    const std::int64_t tasks = std::clamp<std::int64_t>(bytes / task_bytes, 1, count);
    if (tasks == 1) {
        for (std::int64_t i = 0; i < count; ++i) body(i);
        return streams ? end_stream() : void();
    }
    std::atomic<std::int64_t> next = 0;
    const auto take = [&](std::int64_t) {
        for (std::int64_t t; (t = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) {
            for (std::int64_t i = count * t / tasks; i < count * (t + 1) / tasks; ++i) body(i);
        }
        if (streams) end_stream();
    };
    threads.run(tasks, take);
}

template <class Body>
void share_out(const job& j, std::int64_t count, Body body, std::int64_t task_bytes = kTaskBytes, bool streams = true) {
    share_out(j.bytes(), j.threads, count, body, task_bytes, streams);
}

}  // namespace cornerturn::host
