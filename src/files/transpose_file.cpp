#include "files/transpose_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "core/available_memory.hpp"
#include "core/sizes.hpp"
#include "cornerturn/error.hpp"
#include "cornerturn/transpose.hpp"
#include "files/file.hpp"
#include "files/npy.hpp"

namespace cornerturn::files {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kLeastForTiles = 1 * kMiB;
constexpr std::int64_t kLater = 3 * kMiB;          // of the program, which is not in use from the beginning
constexpr std::int64_t kMostOfATile = 256 * kMiB;  // more gains nothing, and keeps threads waiting for each other
constexpr std::int64_t kMostOfACopy = 1 * kMiB;
constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kLongRuns = 256 * 1024;  // of bytes, which the system reads well wherever they are
constexpr std::int64_t kAhead = kMiB / 2;       // read at a time, ahead of the tiles
constexpr int kHigher = 8;                      // than wide: tiles, for writing costs the system more than reading
constexpr int kMostWorkers = 2;                 // tiles at a time: one is read and transposed, one written
constexpr std::int64_t kStack = kMiB / 4;       // and whatever else a thread has of its own
constexpr std::int64_t kTransposedAtOnce = 16 * kMiB;  // a smaller tile and its transpose need no more memory
constexpr std::int64_t kTransposing = 2 * kMiB;        // what a thread takes to transpose its part of a tile

// Bytes of memory that the process has in use.
std::int64_t resident_bytes() {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6)) * 1024;
    }
    return 32 * kMiB;
}

// Bytes that each thread takes, before it does anything: the program's thread-local variables, which may be many.
std::int64_t thread_bytes() {
    std::int64_t local = 0;
    const auto add = [](dl_phdr_info* object, std::size_t, void* sum) {
        for (int i = 0; i < object->dlpi_phnum; ++i) {
            const auto& part = object->dlpi_phdr[i];
            if (part.p_type == PT_TLS) *static_cast<std::int64_t*>(sum) += static_cast<std::int64_t>(part.p_memsz);
        }
        return 0;
    };
    dl_iterate_phdr(add, &local);
    return local + kStack;
}

// What the work may take: threads, and memory for the tiles.
struct means {
    int workers = 1;         // threads that move tiles, the caller's among them
    int transposing = 1;     // threads that transpose a tile in host memory; 0: all cores
    std::int64_t bytes = 0;  // for each worker
    bool ahead = false;      // another thread reads ahead
};

means means_of(std::int64_t memory, std::int64_t threads, std::int64_t element_size, bool transposed_elsewhere) {
    const std::int64_t thread = thread_bytes(), all_cores = std::max(1u, std::thread::hardware_concurrency());
    means m;
    std::int64_t left = memory;
    m.ahead = (threads == 0 || threads > 2) && memory / 8 >= thread + kAhead;
    if (m.ahead) left -= thread + kAhead;
    if (m.ahead && threads > 0) --threads;
    const std::int64_t cores = threads > 0 ? std::min(threads, all_cores) : all_cores;
    const std::int64_t most_workers = threads > 0 ? std::min<std::int64_t>(threads, kMostWorkers) : kMostWorkers;
    if (!transposed_elsewhere && memory / 4 >= cores * (thread + kTransposing)) {
        m.transposing = 0;
        left -= cores * (thread + kTransposing);
    }
    // Rather fewer workers than tiles that are narrower than a page either way.
    const std::int64_t worth = 2 * std::max(element_size, kPage * kPage / element_size) + thread;
    m.workers =
        static_cast<int>(std::clamp<std::int64_t>(std::min(left / worth, memory / 4 / thread), 1, most_workers));
    if (threads > 0 && m.transposing == 0)
        m.transposing = static_cast<int>(std::max<std::int64_t>(1, cores / m.workers));
    if (m.workers > 1) left -= m.workers * thread + (m.transposing != 1 ? (m.workers - 1) * kTransposing : 0);
    m.bytes = left / m.workers;
    if (!transposed_elsewhere && m.transposing == 1 && m.bytes > kTransposedAtOnce) m.bytes -= kTransposing;
    return m;
}

// Elements as they lie in a file, row after row from `offset` on.
struct stored {
    std::int64_t rows, cols, offset;
};

struct plan {
    std::string from, to, header = {};  // in words; what comes before the result's elements
    stored source = {}, destination = {};
    std::int64_t element_size = 0;
    bool copies = false;

    std::int64_t bytes() const { return source.rows * source.cols * element_size; }
};

std::string describe(const npy_header& h, const std::vector<std::int64_t>& shape, bool fortran) {
    return fmt::format("({}{}) {} in {} order", fmt::join(shape, ", "), shape.size() == 1 ? "," : "", h.descr,
                       fortran ? "Fortran" : "C");
}

// What follows the header must be the elements, and nothing more: it would be lost.
void require_size(const input_file& source, std::int64_t header, std::int64_t elements) {
    const std::int64_t found = source.size() - header;
    if (found == elements) return;
    throw error(fmt::format("{} is too {}: it has {} bytes of elements, and its shape wants {}", source.path(),
                            found < elements ? "short" : "long", found, elements));
}

plan plan_npy(const input_file& source, order layout) {
    std::string beginning(static_cast<std::size_t>(std::min(source.size(), kNpyPrefixBytes)), '\0');
    source.read(beginning.data(), static_cast<std::int64_t>(beginning.size()), 0);
    npy_header h;
    try {
        const std::int64_t bytes = npy_header_bytes(beginning);
        beginning.resize(static_cast<std::size_t>(std::min(source.size(), bytes)));
        source.read(beginning.data(), static_cast<std::int64_t>(beginning.size()), 0);
        h = parse_npy(beginning);
    } catch (const error& why) {
        throw error(fmt::format("{}: {}", source.path(), why.what()));
    }
    require_size(source, h.data_offset, h.data_bytes());
    if (h.shape.size() > 2) {
        throw error(fmt::format("{} has {} dimensions: only arrays of up to 2 can be transposed so far", source.path(),
                                h.shape.size()));
    }
    // As numpy's transpose: an array of fewer dimensions is its own.
    const bool matrix = h.shape.size() == 2;
    const std::vector<std::int64_t> shape(h.shape.rbegin(), h.shape.rend());
    const bool fortran = matrix ? layout == order::fortran : h.fortran_order;
    plan p{.from = describe(h, h.shape, h.fortran_order),
           .to = describe(h, shape, fortran),
           .header = make_npy(h, shape, fortran),
           .element_size = h.element_size,
           .copies = !matrix || fortran != h.fortran_order};
    const std::int64_t rows = matrix ? h.shape[h.fortran_order ? 1 : 0] : 1;
    const std::int64_t cols = matrix ? h.shape[h.fortran_order ? 0 : 1] : h.elements();
    p.copies = p.copies || rows <= 1 || cols <= 1;
    p.source = {rows, cols, h.data_offset};
    p.destination = {cols, rows, static_cast<std::int64_t>(p.header.size())};
    return p;
}

plan plan_raw(const input_file& source, const raw_shape& shape, order layout) {
    const std::int64_t elements = checked_multiply(shape.rows, shape.cols, "rows x cols");
    require_size(source, 0, checked_multiply(elements, shape.element_size, "the bytes of the matrix"));
    const auto text = [&](std::int64_t rows, std::int64_t cols, bool fortran) {
        return fmt::format("{} x {} of {} bytes in {} order", rows, cols, shape.element_size,
                           fortran ? "Fortran" : "C");
    };
    const bool fortran = layout == order::fortran;
    return {.from = text(shape.rows, shape.cols, false),
            .to = text(shape.cols, shape.rows, fortran),
            .source = {shape.rows, shape.cols, 0},
            .destination = {shape.cols, shape.rows, 0},
            .element_size = shape.element_size,
            .copies = fortran || shape.rows <= 1 || shape.cols <= 1};
}

// ---- The work -------------------------------------------------------------------------------------------------------

class interruptible {
public:
    interruptible(const file_request& what, std::int64_t bytes) : what_(what), bytes_(bytes) {}

    void wrote(std::int64_t bytes) {
        if (!what_.progress) return;
        const std::lock_guard lock(mutex_);
        done_ += bytes;
        what_.progress(done_, bytes_);
    }
    void check() const {
        if (stopped()) throw error("interrupted");
    }
    bool stopped() const { return what_.stop != nullptr && what_.stop->load(std::memory_order_relaxed); }

private:
    const file_request& what_;
    const std::int64_t bytes_;
    std::mutex mutex_;
    std::int64_t done_ = 0;
};

// Runs work(i, worker) for i in [0, count), on so many threads, this one among them; the first error ends all of them.
template <class Work>
void run_all(std::int64_t count, int workers, const interruptible& run, Work work) {
    std::atomic<std::int64_t> next = 0;
    std::atomic<bool> failed = false;
    std::exception_ptr first;
    std::mutex mutex;
    const auto body = [&](int worker) {
        try {
            while (!failed && !run.stopped()) {
                const std::int64_t i = next++;
                if (i >= count) return;
                work(i, worker);
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!first) first = std::current_exception();
            failed = true;
        }
    };
    {
        std::vector<std::jthread> threads;
        try {
            for (int worker = 1; worker < workers; ++worker) threads.emplace_back(body, worker);
        } catch (const std::system_error&) {
            // Fewer threads will do.
        }
        body(0);
    }
    if (first) std::rethrow_exception(first);
    run.check();
}

std::unique_ptr<unsigned char[]> memory_of(std::int64_t bytes) {
    return std::make_unique_for_overwrite<unsigned char[]>(static_cast<std::size_t>(bytes));
}

class host_tile : public tile_memory {
public:
    host_tile(std::int64_t elements, std::int64_t element_size, int threads)
        : element_size_(element_size),
          threads_(threads),
          read_(memory_of(elements * element_size)),
          transposed_(memory_of(elements * element_size)) {
        read = read_.get();
        transposed = transposed_.get();
    }

    void transpose(std::int64_t rows, std::int64_t cols) override {
        detail::transpose({reinterpret_cast<std::uintptr_t>(read), rows, cols, cols, 1, 0},
                          {reinterpret_cast<std::uintptr_t>(transposed), cols, rows, rows, 1, 0}, element_size_, 1,
                          {.threads = threads_});
    }

private:
    std::int64_t element_size_;
    int threads_;
    std::unique_ptr<unsigned char[]> read_, transposed_;
};

std::int64_t copy_elements(const plan& p, const input_file& source, new_file& destination, const means& m,
                           interruptible& run) {
    const std::int64_t piece = std::min(m.bytes, kMostOfACopy), pieces = (p.bytes() + piece - 1) / piece;
    std::vector<std::unique_ptr<unsigned char[]>> buffers(static_cast<std::size_t>(m.workers));
    std::mutex writing;  // as transpose_elements()
    run_all(pieces, m.workers, run, [&](std::int64_t i, int worker) {
        auto& buffer = buffers[static_cast<std::size_t>(worker)];
        if (!buffer) buffer = memory_of(piece);
        const std::int64_t begin = i * piece, bytes = std::min(piece, p.bytes() - begin);
        source.read(buffer.get(), bytes, p.source.offset + begin);
        {
            const std::lock_guard lock(writing);
            destination.write(buffer.get(), bytes, p.destination.offset + begin);
        }
        run.wrote(bytes);
    });
    return pieces;
}

struct tile_size {
    std::int64_t rows, cols;
};

// As large as `bytes` allows, higher than wide where that leaves it a page; whole pages of what is written.
tile_size tile_of(const plan& p, std::int64_t bytes) {
    const std::int64_t elements = std::max<std::int64_t>(1, bytes / p.element_size);
    const auto side = std::sqrt(static_cast<double>(elements));
    const auto least = static_cast<std::int64_t>(side / std::sqrt(kHigher)), most = static_cast<std::int64_t>(side);
    const std::int64_t pages = std::max<std::int64_t>(1, kPage / p.element_size);
    const auto whole = [&](std::int64_t extent) { return extent > 2 * pages ? extent / pages * pages : extent; };
    const auto within = [&](std::int64_t extent, std::int64_t all) {
        return std::min(all, std::max<std::int64_t>(1, whole(extent)));
    };
    tile_size t{0, within(std::max(least, std::min(most, pages)), p.source.cols)};
    t.rows = within(elements / t.cols, p.source.rows);
    t.cols = std::min(p.source.cols, std::max(t.cols, elements / t.rows));
    return t;
}

// Reads the source from its beginning to its end, but for what tiles have come to first, and keeps nothing: the system
// does, and reads so with less work, and in less time, than in the short runs that tiles are made of. A band of tiles
// ahead, if the system has room for it.
class reader_ahead {
public:
    reader_ahead(const plan& p, const input_file& source, std::int64_t band_rows)
        : source_(source),
          begin_(p.source.offset),
          bytes_(p.bytes()),
          band_(band_rows * p.source.cols * p.element_size) {
        if (available_memory() / 8 < band_) return;
        try {
            thread_ = std::jthread([this] { run(); });
        } catch (const std::system_error&) {
            // It can be done without.
        }
    }
    ~reader_ahead() {
        stop_ = true;
        began(bytes_ / band_ + 1);
    }
    reader_ahead(const reader_ahead&) = delete;
    reader_ahead& operator=(const reader_ahead&) = delete;

    // A tile of this band is to be read.
    void began(std::int64_t band) {
        std::int64_t old = to_, to = (band + 2) * band_;
        while (old < to && !to_.compare_exchange_weak(old, to)) {
        }
        to_.notify_all();
    }

private:
    void run() {
        try {
            const auto buffer = memory_of(kAhead);
            for (std::int64_t at = 0; at < bytes_; at += kAhead) {
                std::int64_t to;
                while ((to = to_) <= at) to_.wait(to);
                if (stop_) return;
                at = std::max(at, to - 2 * band_);  // the band that tiles are at
                source_.read(buffer.get(), std::min(kAhead, bytes_ - at), begin_ + at);
            }
        } catch (...) {
            // It can be done without; who wants bytes that cannot be read will say so.
        }
    }

    const input_file& source_;
    const std::int64_t begin_, bytes_, band_;
    std::atomic<std::int64_t> to_ = 0;
    std::atomic<bool> stop_ = false;
    std::jthread thread_;  // the last: it uses the others
};

// Rows of a tile: one after the other, or all at once where nothing lies between them.
template <class Move>
void move_rows(std::int64_t rows, std::int64_t row_bytes, std::int64_t pitch, std::int64_t offset,
               const interruptible& run, Move move) {
    if (row_bytes == pitch) {
        move(0, rows * row_bytes, offset);
        return;
    }
    for (std::int64_t row = 0; row < rows && !run.stopped(); ++row)
        move(row * row_bytes, row_bytes, offset + row * pitch);
}

std::int64_t transpose_elements(const plan& p, const input_file& source, new_file& destination, const means& m,
                                const tile_maker& maker, interruptible& run) {
    const std::int64_t e = p.element_size;
    const tile_size t = tile_of(p, std::min(m.bytes / 2, kMostOfATile));
    const std::int64_t across = (p.source.cols + t.cols - 1) / t.cols, down = (p.source.rows + t.rows - 1) / t.rows;
    std::vector<std::unique_ptr<tile_memory>> tiles(static_cast<std::size_t>(m.workers));
    std::optional<reader_ahead> ahead;
    if (m.ahead && across > 1 && t.cols * e < kLongRuns) ahead.emplace(p, source, t.rows);
    std::mutex writing;
    run_all(across * down, m.workers, run, [&](std::int64_t i, int worker) {
        auto& tile = tiles[static_cast<std::size_t>(worker)];
        if (!tile) tile = maker.make(t.rows * t.cols, e);
        const std::int64_t row = i / across * t.rows, col = i % across * t.cols;
        const std::int64_t rows = std::min(t.rows, p.source.rows - row), cols = std::min(t.cols, p.source.cols - col);
        if (ahead) ahead->began(i / across);
        move_rows(rows, cols * e, p.source.cols * e, p.source.offset + (row * p.source.cols + col) * e, run,
                  [&](std::int64_t at, std::int64_t bytes, std::int64_t offset) {
                      source.read(tile->read + at, bytes, offset);
                  });
        tile->transpose(rows, cols);
        {
            // The system lets one thread at a time write to a file, and others spin.
            const std::lock_guard lock(writing);
            move_rows(cols, rows * e, p.source.rows * e, p.destination.offset + (col * p.source.rows + row) * e, run,
                      [&](std::int64_t at, std::int64_t bytes, std::int64_t offset) {
                          destination.write(tile->transposed + at, bytes, offset);
                      });
        }
        // The last tile of these rows, or about the last: what comes after it need not wait for them at the end.
        if (row + rows == p.source.rows)
            destination.begin_sync(cols * p.source.rows * e, p.destination.offset + col * p.source.rows * e);
        run.wrote(rows * cols * e);
    });
    return across * down;
}

}  // namespace

file_result transpose_file(const file_request& what) {
    const auto start = std::chrono::steady_clock::now();
    const input_file source(what.source);
    const plan p = what.raw ? plan_raw(source, *what.raw, what.layout) : plan_npy(source, what.layout);
    const std::int64_t used = resident_bytes() + kLater + what.tiles.later, left = what.memory - used;
    const std::int64_t least = kLeastForTiles + 2 * p.element_size;
    if (left < least) {
        throw invalid_argument(fmt::format("the memory is {} bytes: the program itself takes {}, and it needs {} more",
                                           what.memory, used, least));
    }
    new_file destination(what.destination);
    destination.reserve(p.destination.offset + p.bytes());
    destination.write(p.header.data(), static_cast<std::int64_t>(p.header.size()), 0);
    interruptible run(what, p.bytes());
    file_result result{.from = p.from, .to = p.to, .bytes = p.bytes(), .copied = p.copies};
    const means m = means_of(left, what.threads, p.element_size, static_cast<bool>(what.tiles.make));
    const tile_maker in_host_memory{[&](std::int64_t elements, std::int64_t element_size) {
        return std::make_unique<host_tile>(elements, element_size, m.transposing);
    }};
    if (p.bytes() > 0) {
        result.tiles = p.copies ? copy_elements(p, source, destination, m, run)
                                : transpose_elements(p, source, destination, m,
                                                     what.tiles.make ? what.tiles : in_host_memory, run);
    }
    destination.sync();
    run.check();
    destination.commit();
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

}  // namespace cornerturn::files
