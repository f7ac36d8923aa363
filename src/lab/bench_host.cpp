// Measures cells of the bench in host memory: verifies all kernels, times them in turn, and verifies them again.
#include <fmt/format.h>
#include <hwy/cache_control.h>
#include <sys/mman.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <fstream>

#include "core/parallel.hpp"
#include "core/problem.hpp"
#include "cornerturn/error.hpp"
#include "lab/bench.hpp"
#include "lab/statistics.hpp"

namespace cornerturn::lab {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{2} << 30;  // read plus written: a cell takes a second or two
constexpr std::int64_t kLeastCache = 32 << 20;
constexpr std::int64_t kPiece = 1 << 20, kLineBytes = 64;
constexpr double kPatience = 0.5;  // seconds: some contestants are a hundred times slower than others

// The processor's name in /proc/cpuinfo; empty if there is none.
std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return {};
}

// Bytes of the processor's last-level cache. At least 32 MiB: the system may not report it.
std::int64_t cache_bytes() {
    const long last = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return std::max<std::int64_t>(last, kLeastCache);
}

// numpy asks for huge pages for its arrays, so the bench does, too. The system need not grant them.
void ask_for_huge_pages(const unsigned char* data, std::int64_t bytes) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(data) / page * page;
    madvise(reinterpret_cast<void*>(begin), static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
}

using flush_function = void (*)(const void* line);

#if defined(__x86_64__)
// Unlike clflush, which Highway uses, clflushopt does not wait for the flush of the line before.
[[gnu::target("clflushopt")]] void flush_in_any_order(const void* line) { _mm_clflushopt(const_cast<void*>(line)); }

bool flushes_in_any_order() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_CLFLUSHOPT) != 0;
}
#endif

// Small data gets several calls a sample, so that the clock's resolution does not matter.
int calls_of_sample(std::int64_t bytes) {
    constexpr std::int64_t kSampleBytes = 1 << 20;
    return static_cast<int>(std::clamp<std::int64_t>(kSampleBytes / std::max<std::int64_t>(bytes, 256), 1, 2000));
}

// The fastest instruction here that removes a line from all caches.
flush_function quickest_flush() {
#if defined(__x86_64__)
    if (flushes_in_any_order()) return flush_in_any_order;
#endif
    return hwy::FlushCacheline;
}

class host_bench : public bencher {
public:
    explicit host_bench(int threads)
        : arena_(threads > 0 ? threads : tbb::task_arena::automatic), flushed_with_(2 * cache_bytes()) {
        ask_for_huge_pages(flushed_with_.data(), flushed_with_.capacity());
        // Before they are written, all pages map to the same page of zeros.
        parallel_ranges(flushed_with_.size(), kPiece, [&](std::int64_t begin, std::int64_t end) {
            std::fill(flushed_with_.data() + begin, flushed_with_.data() + end, 1);
        });
    }

    device_info device() const override {
        return {.kind = "host", .name = processor_name(), .cores = arena_.max_concurrency()};
    }

    void expect(const std::vector<bench_cell>& grid, const bench_request& request) override {
        if (!request.op->facts().shares_memory) return;
        std::vector<workload_pointer> all;
        for (const bench_cell& cell : grid) {
            if (cell.work->bytes() <= kMostBytes)
                all.push_back(cell.work->among(request.kernels(*cell.work), request.seed));
        }
        if (!all.empty()) reserve(all, request);
    }

    bench_result run(const bench_cell& cell, const bench_request& request) override {
        bench_result r = begin_bench(cell, request);
        if (cell.work->bytes() > kMostBytes) {
            r.skipped = "the bench on a host measures at most 2 GiB";
            return r;
        }
        const workload_pointer work = cell.work->among(request.kernels(*cell.work), request.seed);
        const std::vector<const kernel*> kernels = request.kernels(*work);
        const auto takes = [&](const kernel* k) { return problem_->take(*work, *k); };
        if (!problem_ || !std::all_of(kernels.begin(), kernels.end(), takes)) reserve({work}, request);
        const std::vector<bench_entry*> entries = r.entries();
        std::vector<contestant> all;
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            bench_entry& entry = *entries[i];
            if (entry.skipped.empty() && !kernels[i]->is_built_for(backend::host))
                entry.skipped = "this program was built without it";
            contestant c(*kernels[i], *work, *problem_, entry);
            if (entry.skipped.empty() && c.run_trials(backend::host) && c.verify()) all.push_back(c);
        }
        // The kernel that was verified last may have left other bytes, and the speed of some kernels depends on them.
        problem_->take(*work, *request.subject);
        problem_->prepare();
        const int calls = request.warm ? calls_of_sample(cell.work->bytes()) : 1;
        r.method = !request.warm ? "caches flushed, single calls"
                   : calls > 1   ? fmt::format("warm, {} calls in a row", calls)
                                 : "warm, single calls";
        const auto time = [&](const std::vector<std::function<void()>>& each, double seconds, int rounds) {
            return sample_in_turn(
                each.size(), {seconds, rounds}, request.seed,
                [&](std::size_t i) {
                    if (!request.warm) flush();
                    return arena_.execute([&] {
                        const auto start = std::chrono::steady_clock::now();
                        for (int n = 0; n < calls; ++n) each[i]();
                        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
                    });
                },
                std::max(seconds, kPatience));
        };
        std::vector<std::function<void()>> timed;
        for (const contestant& c : all) timed.push_back(c.call());
        const std::vector<timing> times = time(timed, request.seconds, request.rounds);
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i].entry().time = times[i];
            all[i].verify();
        }
        if (request.regret && r.subject.timed() && problem_->take(*work, *request.subject)) {
            problem_->prepare();
            r.regret = regret_of(*problem_, [&](const auto& each, int rounds) { return time(each, 0, rounds); });
        }
        return r;
    }

private:
    // Makes a problem with room for each of these works.
    void reserve(const std::vector<workload_pointer>& all, const bench_request& request) {
        std::vector<const workload*> work;
        for (const workload_pointer& w : all) work.push_back(w.get());
        problem_.reset();
        problem_ = request.op->make(backend::host, work, request.kernels(*work.front()), false);
        for (const problem::buffer& b : problem_->buffers()) ask_for_huge_pages(b.data, b.capacity);
    }

    // Flushes the operands line by line, if the processor can, and then fills the caches with other bytes. The second
    // step alone is not enough: caches may keep lines that were used more than once, whatever is read after them.
    void flush() {
        for (const problem::buffer& b : problem_->buffers()) for_each_line(b.data, b.bytes, flush_line_);
        for_each_line(flushed_with_.data(), flushed_with_.size(), [](const volatile unsigned char* line) { *line; });
    }

    // Uses TBB's threads, as other work of a program would. Otherwise they would go to sleep, and find their cores busy
    // when they wake up.
    template <class Body>
    static void for_each_line(const unsigned char* from, std::int64_t bytes, Body body) {
        tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, bytes, kPiece), [&](const auto& piece) {
            for (std::int64_t i = piece.begin(); i < piece.end(); i += kLineBytes) body(from + i);
        });
    }

    mutable tbb::task_arena arena_;  // the measured calls run in it
    guarded_buffer flushed_with_;
    flush_function flush_line_ = quickest_flush();
    std::unique_ptr<problem> problem_;  // all kernels use its memory
};

}  // namespace

std::unique_ptr<bencher> host_bencher(int threads) { return std::make_unique<host_bench>(threads); }

}  // namespace cornerturn::lab
