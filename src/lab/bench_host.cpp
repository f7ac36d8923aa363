// A cell of the bench in host memory: everyone verified, timed in turn, and verified again.
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "core/parallel.hpp"
#include "core/problem.hpp"
#include "cornerturn/error.hpp"
#include "lab/bench.hpp"
#include "lab/statistics.hpp"

namespace cornerturn::lab {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{2} << 30;  // read plus written: a second or two for all of a cell
constexpr std::int64_t kLeastCache = 32 << 20;
constexpr double kPatience = 0.5;  // seconds for a contestant in a cell: some are a hundred times slower than others

// What /proc/cpuinfo calls the processor; empty where it says nothing.
std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return {};
}

// Bytes of the processor's last-level cache, or a guess where the system does not say.
std::int64_t cache_bytes() {
    const long last = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return std::max<std::int64_t>(last, kLeastCache);
}

// Arrays of numbers get huge pages where the system grants them to those who ask (numpy asks).
void ask_for_huge_pages(const guarded_buffer& buffer) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer.data()) / page * page;
    madvise(reinterpret_cast<void*>(begin), static_cast<std::size_t>(buffer.size()), MADV_HUGEPAGE);
}

struct contestant {
    const kernel& k;
    host_problem& problem;
    bench_entry& entry;

    void work() const { k.run(backend::host)(problem.work()); }

    // Runs it, and checks every element. False, and its entry says why, where it cannot or is wrong.
    bool verify() {
        try {
            problem.prepare();
            work();
            entry.fault = problem.check().fault;
        } catch (const unsupported& why) {
            entry.skipped = why.what();
        }
        return entry.timed();
    }
};

class host_bench : public bencher {
public:
    host_bench() : flushed_with_(2 * cache_bytes()) {
        // Memory that nobody wrote is one page of zeros, again and again.
        parallel_ranges(flushed_with_.size(), 1 << 20, [&](std::int64_t begin, std::int64_t end) {
            std::fill(flushed_with_.data() + begin, flushed_with_.data() + end, 1);
        });
    }

    device_info device() const override {
        const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
        return {.kind = "host", .name = processor_name(), .cores = static_cast<int>(cores)};
    }

    bench_result run(const bench_cell& cell, const bench_request& what) override {
        bench_result r = begin_bench(cell, what);
        if (cell.bytes() > kMostBytes) {
            r.skipped = "more than 2 GiB are not measured on a host";
            return r;
        }
        // Half of the sectors' bytes are read, and half written: whole 16-byte elements.
        host_problem copies({.does = operation::copy,
                             .rows = 1,
                             .cols = cell.sector_bytes() / 2 / 16,
                             .element_size = 16,
                             .seed = what.seed});
        problem_shape matrix = cell.shape;
        matrix.seed = what.seed;
        for (const kernel* peer : what.peers) matrix.numbers = matrix.numbers || peer->arithmetic;
        host_problem matrices(matrix);
        for (const host_problem* p : {&copies, &matrices}) {
            ask_for_huge_pages(p->source());
            ask_for_huge_pages(p->destination());
        }
        std::vector<contestant> all;
        const auto enter = [&](const kernel& k, bench_entry& entry) {
            if (entry.skipped.empty() && k.run(backend::host) == nullptr) entry.skipped = "is not in this program";
            contestant c{k, k.does == operation::copy ? copies : matrices, entry};
            if (entry.skipped.empty() && c.verify()) all.push_back(c);
        };
        enter(*what.yardstick, r.yardstick);
        enter(*what.subject, r.subject);
        for (std::size_t i = 0; i < what.peers.size(); ++i) enter(*what.peers[i], r.peers[i]);
        r.method = what.warm ? "warm, single calls" : "caches flushed, single calls";
        const std::vector<timing> times = sample_in_turn(
            all.size(), what.seconds, what.seed,
            [&](std::size_t i) {
                if (!what.warm) flush();
                const auto start = std::chrono::steady_clock::now();
                all[i].work();
                return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
            },
            std::max(what.seconds, kPatience));
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i].entry.time = times[i];
            all[i].verify();
        }
        return r;
    }

private:
    // Reads as much as evicts all that was there before.
    void flush() {
        parallel_ranges(flushed_with_.size(), 1 << 20, [&](std::int64_t begin, std::int64_t end) {
            const volatile unsigned char* const bytes = flushed_with_.data();
            for (std::int64_t i = begin; i < end; i += 64) static_cast<void>(bytes[i]);
        });
    }

    guarded_buffer flushed_with_;
};

}  // namespace

std::unique_ptr<bencher> host_bencher() { return std::make_unique<host_bench>(); }

}  // namespace cornerturn::lab
