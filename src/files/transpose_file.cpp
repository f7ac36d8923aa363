#include "files/transpose_file.hpp"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "core/available_memory.hpp"
#include "core/host_threads.hpp"
#include "core/parallel.hpp"
#include "core/strided.hpp"
#include "cornerturn/convert.hpp"
#include "cornerturn/copy.hpp"
#include "cornerturn/error.hpp"
#include "files/file.hpp"
#include "files/file_move.hpp"
#include "files/file_tiles.hpp"

namespace cornerturn::files {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kLeastForTiles = 1 * kMiB;
constexpr std::int64_t kLaterBytes = 3 * kMiB;       // memory that the program does not use yet at the start
constexpr std::int64_t kMostTileBytes = 512 * kMiB;  // more gains nothing, and makes threads wait for each other
constexpr std::int64_t kMostCopiedBytes = 1 * kMiB;  // of one piece of a copy
constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kLongRun = 256 * 1024;          // the system reads such runs fast, wherever they are
constexpr std::int64_t kAheadBytes = kMiB / 2;         // read at a time, ahead of the tiles
constexpr int kMostWorkers = 2;                        // one tile is read and transposed while another is written
constexpr std::int64_t kStack = kMiB / 4;              // a thread's stack and other private memory
constexpr std::int64_t kTransposedAtOnce = 16 * kMiB;  // transposing a smaller tile needs no further memory
constexpr std::int64_t kTransposeBytes = 2 * kMiB;     // for a thread that transposes a larger tile, or converts one

// Bytes of memory that the process uses.
std::int64_t resident_bytes() {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6)) * 1024;
    }
    return 32 * kMiB;
}

// Bytes that each new thread takes: its stack, and the program's thread-local variables, which may be large.
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

// Threads, and memory for the tiles.
struct resources {
    int workers = 1;           // threads that move tiles, including the calling thread
    int threads_per_tile = 1;  // threads that transpose a tile in host memory; 0: all cores
    std::int64_t bytes = 0;    // for each worker
    bool ahead = false;        // another thread reads ahead
};

resources resources_for(std::int64_t memory, std::int64_t threads, element_bytes element, bool converts, bool on_gpu) {
    const std::int64_t thread = thread_bytes(), all_cores = std::max(1u, std::thread::hardware_concurrency());
    resources r;
    std::int64_t left = memory;
    r.ahead = (threads == 0 || threads > 2) && memory / 8 >= thread + kAheadBytes;
    if (r.ahead) left -= thread + kAheadBytes;
    if (r.ahead && threads > 0) --threads;
    const std::int64_t cores = threads > 0 ? std::min(threads, all_cores) : all_cores;
    const std::int64_t most_workers = threads > 0 ? std::min<std::int64_t>(threads, kMostWorkers) : kMostWorkers;
    if (!on_gpu && memory / 4 >= cores * (thread + kTransposeBytes)) {
        r.threads_per_tile = 0;
        left -= cores * (thread + kTransposeBytes);
    }
    // Fewer workers are better than tiles that are narrower than a page in both files.
    const std::int64_t two_pages = kPage * kPage / (element.read * element.written);  // elements
    const std::int64_t bytes_worth_a_worker = element.both() * std::max<std::int64_t>(1, two_pages) + thread;
    r.workers = static_cast<int>(
        std::clamp<std::int64_t>(std::min(left / bytes_worth_a_worker, memory / 4 / thread), 1, most_workers));
    if (threads > 0 && r.threads_per_tile == 0)
        r.threads_per_tile = static_cast<int>(std::max<std::int64_t>(1, cores / r.workers));
    if (r.workers > 1) left -= r.workers * thread + (r.threads_per_tile != 1 ? (r.workers - 1) * kTransposeBytes : 0);
    r.bytes = left / r.workers;
    if (!on_gpu && r.threads_per_tile == 1 && (converts || r.bytes > kTransposedAtOnce)) r.bytes -= kTransposeBytes;
    return r;
}

// ---- The work -------------------------------------------------------------------------------------------------------

// Reports the progress of the work, and notices requests to stop it.
class work_monitor {
public:
    work_monitor(const file_request& request, std::int64_t bytes) : request_(request), bytes_(bytes) {}

    void wrote(std::int64_t bytes) {
        if (!request_.progress) return;
        const std::lock_guard lock(mutex_);
        done_ += bytes;
        request_.progress(done_, bytes_);
    }
    void check() const {
        if (stopped()) throw error("interrupted");
    }
    bool stopped() const { return request_.stop != nullptr && request_.stop->load(std::memory_order_relaxed); }

private:
    const file_request& request_;
    const std::int64_t bytes_;
    std::mutex mutex_;
    std::int64_t done_ = 0;
};

// Runs work(i, worker) for i in [0, count) on `workers` threads, including the calling one. The first error stops all
// of them.
template <class Work>
void run_all(std::int64_t count, int workers, const work_monitor& monitor, Work work) {
    std::atomic<std::int64_t> next = 0;
    std::atomic<bool> failed = false;
    std::exception_ptr first;
    std::mutex mutex;
    const auto body = [&](int worker) {
        try {
            while (!failed && !monitor.stopped()) {
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
        const auto others = start_threads(workers - 1, [&](std::int64_t i) { body(static_cast<int>(i) + 1); });
        body(0);
    }
    if (first) std::rethrow_exception(first);
    monitor.check();
}

std::unique_ptr<unsigned char[]> memory_of(std::int64_t bytes) {
    try {
        return std::make_unique_for_overwrite<unsigned char[]>(static_cast<std::size_t>(bytes));
    } catch (const std::bad_alloc&) {
        throw error(
            fmt::format("cannot allocate {} bytes of memory for a tile of the file: choose a smaller --memory", bytes));
    }
}

class host_tile : public tile_memory {
public:
    host_tile(std::int64_t elements, element_bytes element, const element_conversion& conversion, int threads)
        : element_(element),
          conversion_(conversion),
          threads_(threads),
          read_(memory_of(elements * element.read)),
          written_(memory_of(elements * element.written)) {
        read = read_.get();
        written = written_.get();
    }

    void move(const file_tiling::tile_layout& layout) override {
        const detail::any_tensor from{reinterpret_cast<std::uintptr_t>(read), layout.extents, layout.read};
        const detail::any_tensor to{reinterpret_cast<std::uintptr_t>(written), layout.extents, layout.written};
        if (!conversion_.converts()) return detail::copy(from, to, element_.written, 1, {.threads = threads_});
        detail::convert({from, conversion_.from, 1}, detail::same_order(layout.extents), {to, conversion_.to, 1},
                        conversion_.of_tile(layout, conversion_.scale.data(), conversion_.bias.data()),
                        {.threads = threads_});
    }

private:
    element_bytes element_;
    const element_conversion& conversion_;
    int threads_;
    std::unique_ptr<unsigned char[]> read_, written_;
};

// Reverses the bytes of each number of `kSize` bytes.
template <std::int64_t kSize>
void reverse_each(unsigned char* at, std::int64_t bytes) {
    for (const unsigned char* const end = at + bytes; at < end; at += kSize) std::reverse(at, at + kSize);
}
void reverse_each(unsigned char* at, std::int64_t bytes, std::int64_t size) {
    if (size == 2) reverse_each<2>(at, bytes);
    if (size == 4) reverse_each<4>(at, bytes);
    if (size == 8) reverse_each<8>(at, bytes);
}

std::int64_t copy_elements(const file_move& move, const input_file& source, new_file& destination, const resources& use,
                           work_monitor& monitor) {
    const std::int64_t piece = std::min(use.bytes, kMostCopiedBytes), pieces = (move.bytes + piece - 1) / piece;
    std::vector<std::unique_ptr<unsigned char[]>> buffers(static_cast<std::size_t>(use.workers));
    std::mutex writing;  // as in move_tiles()
    run_all(pieces, use.workers, monitor, [&](std::int64_t i, int worker) {
        auto& buffer = buffers[static_cast<std::size_t>(worker)];
        if (!buffer) buffer = memory_of(piece);
        const std::int64_t begin = i * piece, bytes = std::min(piece, move.bytes - begin);
        source.read(buffer.get(), bytes, static_cast<std::int64_t>(move.copy.source) + begin);
        {
            const std::lock_guard lock(writing);
            destination.write(buffer.get(), bytes, static_cast<std::int64_t>(move.copy.destination) + begin);
        }
        monitor.wrote(bytes);
    });
    return pieces;
}

// Reads the source from beginning to end, ahead of the tiles, so that its bytes are in the system's file cache when the
// tiles need them. Long reads take less time than the short runs of a tile. It skips bytes that tiles already reached.
// It stays one band of tiles ahead, and does nothing if the system has too little memory for that.
class reader_ahead {
public:
    reader_ahead(const strided_copy& c, const input_file& source, std::int64_t bands)
        : source_(source),
          begin_(static_cast<std::int64_t>(c.source)),
          bytes_(c.source_bytes()),
          band_((bytes_ + bands - 1) / bands) {
        if (available_memory() / 8 < band_) return;
        try {
            thread_ = std::jthread([this] { run(); });
        } catch (const std::system_error&) {
            // Reading ahead is optional.
        }
    }
    ~reader_ahead() {
        stop_ = true;
        start_band(bytes_ / band_ + 1);
    }
    reader_ahead(const reader_ahead&) = delete;
    reader_ahead& operator=(const reader_ahead&) = delete;

    // Call this before a tile of the band is read.
    void start_band(std::int64_t band) {
        std::int64_t old = to_, to = (band + 2) * band_;
        while (old < to && !to_.compare_exchange_weak(old, to)) {
        }
        to_.notify_all();
    }

private:
    void run() {
        try {
            const auto buffer = memory_of(kAheadBytes);
            for (std::int64_t at = 0; at < bytes_; at += kAheadBytes) {
                std::int64_t to;
                while ((to = to_) <= at) to_.wait(to);
                if (stop_) return;
                at = std::max(at, to - 2 * band_);  // not before the band of the current tiles
                source_.read(buffer.get(), std::min(kAheadBytes, bytes_ - at), begin_ + at);
            }
        } catch (...) {
            // Reading ahead is optional. If bytes cannot be read, the thread that needs them reports it.
        }
    }

    const input_file& source_;
    const std::int64_t begin_, bytes_, band_;
    std::atomic<std::int64_t> to_ = 0;
    std::atomic<bool> stop_ = false;
    std::jthread thread_;  // declared last, because it uses the other members
};

std::int64_t move_tiles(const file_move& move, const input_file& source, new_file& destination, const resources& use,
                        const tile_maker& maker, work_monitor& monitor) {
    const file_tiling tiling(move.copy, move.element, std::min(use.bytes, kMostTileBytes));
    const auto make_tile = [&] { return maker.make(tiling.tile_elements(), tiling.element(), move.conversion); };
    std::vector<std::unique_ptr<tile_memory>> tiles(
        static_cast<std::size_t>(std::min<std::int64_t>(use.workers, tiling.tiles())));
    tiles[0] = make_tile();
    if (use.threads_per_tile != 1) {
        // Allocates all tiles before the threads start, because fewer threads are also enough.
        for (std::size_t i = 1; i < tiles.size(); ++i) tiles[i] = make_tile();
        limit_host_threads(std::ssize(tiles) - 1 + (use.ahead ? 1 : 0));
    }
    std::optional<reader_ahead> ahead;
    if (use.ahead && tiling.tiles_of_band() > 1 && tiling.read_piece_bytes() < kLongRun)
        ahead.emplace(move.copy, source, tiling.bands());
    std::vector<std::atomic<std::int64_t>> moved(static_cast<std::size_t>(tiling.parts()));  // tiles of each part
    const std::int64_t tiles_of_part = tiling.tiles() / tiling.parts();
    std::mutex writing;
    run_all(tiling.tiles(), static_cast<int>(tiles.size()), monitor, [&](std::int64_t i, int worker) {
        auto& tile = tiles[static_cast<std::size_t>(worker)];
        if (!tile) tile = make_tile();
        const region r = tiling.at(i);
        if (ahead) ahead->start_band(i / tiling.tiles_of_band());
        tiling.read_pieces(r, [&](std::int64_t at, std::int64_t bytes, std::int64_t offset) {
            if (monitor.stopped()) return;
            source.read(tile->read + at, bytes, offset);
            reverse_each(tile->read + at, bytes, move.reversed);
        });
        tile->move(tiling.layout_of(r));
        std::int64_t all = 0;
        {
            // The system lets only one thread at a time write to a file, and the others would spin.
            const std::lock_guard lock(writing);
            tiling.write_pieces(r, [&](std::int64_t at, std::int64_t bytes, std::int64_t offset) {
                if (!monitor.stopped()) destination.write(tile->written + at, bytes, offset);
                all += bytes;
            });
        }
        // Starts to sync a part as soon as it is complete, so that the sync at the end has less to do.
        const std::int64_t part = tiling.part_of(r);
        if (++moved[static_cast<std::size_t>(part)] == tiles_of_part)
            destination.begin_sync(tiling.part_bytes(part), tiling.part_offset(part));
        monitor.wrote(all);
    });
    return tiling.tiles();
}

}  // namespace

file_result transpose_file(const file_request& request) {
    const auto start = std::chrono::steady_clock::now();
    const input_file source(request.source);
    const file_move move = move_of(source, request);
    const std::int64_t used = resident_bytes() + kLaterBytes + request.tiles.later_bytes, left = request.memory - used;
    const bool converts = move.conversion.converts(), on_gpu = static_cast<bool>(request.tiles.make);
    const std::int64_t run = std::clamp<std::int64_t>(move.copy.run, 1, kMostCopiedBytes);
    const element_bytes element = converts ? move.element : element_bytes{run, run};
    const std::int64_t least = kLeastForTiles + element.both() + (converts && !on_gpu ? kTransposeBytes : 0);
    if (left < least) {
        throw invalid_argument(
            fmt::format("--memory is {} bytes, which is too little: the program itself uses {} bytes and needs {} more",
                        request.memory, used, least));
    }
    new_file destination(request.destination);
    destination.reserve(static_cast<std::int64_t>(move.header.size()) + move.bytes);
    destination.write(move.header.data(), static_cast<std::int64_t>(move.header.size()), 0);
    work_monitor monitor(request, move.bytes);
    file_result result{.from = move.from, .to = move.to, .bytes = move.bytes, .copied = move.keeps_bytes()};
    const resources use = resources_for(left, request.threads, element, converts, on_gpu);
    const tile_maker in_host_memory{[&](std::int64_t elements, element_bytes sizes, const element_conversion& how) {
        return std::make_unique<host_tile>(elements, sizes, how, use.threads_per_tile);
    }};
    if (move.bytes > 0) {
        result.tiles = move.keeps_bytes() ? copy_elements(move, source, destination, use, monitor)
                                          : move_tiles(move, source, destination, use,
                                                       on_gpu ? request.tiles : in_host_memory, monitor);
    }
    destination.sync();
    monitor.check();
    destination.commit();
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

}  // namespace cornerturn::files
