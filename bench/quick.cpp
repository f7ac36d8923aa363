#include <chrono>
#include <vector>
#include <fmt/core.h>
#include "device/registry.hpp"
#include "emulator/session.hpp"
using namespace cornerturn;
int main(int c, char** v) {
    std::int64_t n = c > 1 ? atoll(v[1]) : 1024; int es = c > 2 ? atoi(v[2]) : 4; bool full = c > 3 ? atoi(v[3]) : 1; int workers = c > 4 ? atoi(v[4]) : 0;
    std::vector<uint64_t> a(n*n*es/8+64), b(n*n*es/8+64);
    char* pa=(char*)((((uintptr_t)a.data())+255)&~255ull); char* pb=(char*)((((uintptr_t)b.data())+255)&~255ull);
    for (auto& k : kernels()) {
        auto run = k.run(backend::emulator);
        if (!run || !k.takes(es) || (c > 5 && k.id != v[5])) continue;
        emulator::session s({.every_block = full, .lines=true, .workers=unsigned(workers)});
        s.add_buffer("source", pa, n*n*es, false); s.add_buffer("destination", pb, n*n*es, true);
        auto t0 = std::chrono::steady_clock::now();
        try { run({pa, pb, n, n, n, n, es}); } catch (std::exception& e) { fmt::print("{}: {}\n", k.id, e.what()); continue; }
        double t = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
        auto& r = s.report();
        fmt::print("{:28} {:6.3f}s {:7.1f} M/s  rq {} {} sec {} {} sh {} {} wf {} {} cf {} {} blocks {}/{}\n", k.id, t, r.accesses / t / 1e6, r.counts.global_requests[0], r.counts.global_requests[1], r.counts.global_sectors[0], r.counts.global_sectors[1], r.counts.shared_requests[0], r.counts.shared_requests[1], r.counts.shared_wavefronts[0], r.counts.shared_wavefronts[1], r.counts.shared_conflicts[0], r.counts.shared_conflicts[1], r.blocks_run, r.blocks);
        if (k.id == "transpose/padded@32x8") for (auto& l : r.lines) fmt::print("   {}:{} {} {} {} {}\n", l.file, l.line, l.counts.global_requests[0], l.counts.global_requests[1], l.counts.shared_requests[0], l.counts.shared_requests[1]);
    }
}
