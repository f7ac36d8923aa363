// What CUDA kernels do while a test runs them, without a GPU. For programs that are linked with the emulator: by
// CMake's cornerturn_emulate(TARGET), or by `cornerturn cc`.
//
//     cornerturn::emulator::session session;                          // counts from here on
//     run_my_kernel(in, out, n);                                      // ordinary CUDA code
//     const auto report = session.report();
//     EXPECT_EQ(report["my_kernel"].shared_conflicts, 0);
//     EXPECT_LE(report["my_kernel"].load_sectors_per_request(), 4);
//     EXPECT_EQ(session.hazards(), std::vector<std::string>{});
//
// C++17 or later. docs/emulate.md says what the counters mean, and how exact they are. Where the same test runs on a
// GPU, too, keep the session behind #ifdef CORNERTURN_EMULATED_PROGRAM.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cornerturn::emulator {

// What warps did in memory. A request is one warp instruction. A sector is 32 bytes of global memory that a request
// touches. A wavefront is one pass over the banks of shared memory that a request takes; those above the least possible
// are bank conflicts. Fields are called as the metrics of `cornerturn emulate --budget`, with _ for each dot.
struct access_counters {
    std::int64_t load_requests = 0, load_sectors = 0;
    std::int64_t store_requests = 0, store_sectors = 0;
    std::int64_t reduction_requests = 0, reduction_sectors = 0;  // atomics whose old value nobody uses
    std::int64_t atomic_requests = 0, atomic_sectors = 0;        // the other atomics
    std::int64_t shared_load_requests = 0, shared_load_wavefronts = 0, shared_load_conflicts = 0;
    std::int64_t shared_store_requests = 0, shared_store_wavefronts = 0, shared_store_conflicts = 0;
    std::int64_t shared_atomic_requests = 0, shared_atomic_wavefronts = 0, shared_atomic_conflicts = 0;
    std::int64_t shared_conflicts = 0;  // of all three

    access_counters& operator+=(const access_counters& other);

    // 0 where there was no request.
    double load_sectors_per_request() const { return ratio(load_sectors, load_requests); }
    double store_sectors_per_request() const { return ratio(store_sectors, store_requests); }
    double reduction_sectors_per_request() const { return ratio(reduction_sectors, reduction_requests); }
    double atomic_sectors_per_request() const { return ratio(atomic_sectors, atomic_requests); }
    double shared_load_wavefronts_per_request() const { return ratio(shared_load_wavefronts, shared_load_requests); }
    double shared_store_wavefronts_per_request() const { return ratio(shared_store_wavefronts, shared_store_requests); }
    double shared_atomic_wavefronts_per_request() const {
        return ratio(shared_atomic_wavefronts, shared_atomic_requests);
    }

private:
    static double ratio(std::int64_t of, std::int64_t by) {
        return by == 0 ? 0 : static_cast<double>(of) / static_cast<double>(by);
    }
};

// Of one launch, or summed over several.
struct kernel_counters : access_counters {
    std::int64_t launches = 0;
    std::int64_t hazards = 0;  // how often the kernel broke a rule: a race, an access out of bounds, ...

    kernel_counters& operator+=(const kernel_counters& other);
};

struct counted_line {
    std::string file;  // "kernels.cu"
    std::string path;  // of the same file, as the compiler was given it
    int line = 0;
    access_counters counters;
};

struct kernel_launch {
    std::string kernel;  // "transpose<0>": without namespaces, with its template arguments
    std::string symbol;  // its mangled name
    std::array<unsigned, 3> grid{}, block{};
    kernel_counters counters;
    std::vector<std::string> hazards;  // a sentence each
    std::vector<counted_line> lines;   // by file and line; filled where session_options::lines is set
};

// What a session had counted when it was asked: a copy, which later launches do not change.
//
// Kernels go by the names of `--budget`: with or without namespaces and template arguments. "transpose" is every
// transpose<...>; "*" is every kernel.
class session_report {
public:
    // The sum over all launches of the kernels that the name fits. Throws std::out_of_range if none of them ran; its
    // text says which kernels did.
    kernel_counters operator[](const std::string& kernel) const;

    bool ran(const std::string& kernel) const;

    // In the order of their first launches, each once.
    std::vector<std::string> kernels() const;

    // One by one, in the order in which they ended.
    const std::vector<kernel_launch>& launches() const& { return launches_; }
    std::vector<kernel_launch> launches() && { return std::move(launches_); }

    // Each source line that accesses memory, summed over the same launches as by operator[]. Throws std::out_of_range
    // as that does, and std::logic_error where the session did not count lines.
    std::vector<counted_line> lines(const std::string& kernel) const;

    // As session::hazards().
    const std::vector<std::string>& hazards() const& { return hazards_; }
    std::vector<std::string> hazards() && { return std::move(hazards_); }

private:
    friend class session;
    std::vector<kernel_launch> launches_;
    std::vector<std::string> hazards_;
    bool with_lines_ = false;
};

struct session_options {
    bool lines = false;  // counts each source line, too: slower, and more memory for each launch
};

// Counts what every kernel of the program does while the session is alive, whichever thread launches it. A launch
// counts once it has ended, which it has when the launching call returns. Sessions may overlap or follow each other:
// each counts for itself. A session keeps a few hundred bytes for each launch.
//
// A kernel that breaks a rule of the hardware throws nothing: the launch goes on or fails as on a GPU, and the session
// has a sentence for it. As on a GPU, calls of CUDA then fail until cudaDeviceReset(), unless the kernel could go on.
//
// All functions may be called from any thread at any time, but not from kernels. They throw std::bad_alloc if there is
// no memory.
class session {
public:
    explicit session(const session_options& options = {});
    ~session();
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    session_report report() const;

    // A sentence for each rule that kernels broke, as on standard error: the kind of hazard, the kernel, the block, the
    // thread and the line. Once for each place in the code, however often it happened.
    std::vector<std::string> hazards() const;

private:
    class recorder;
    std::unique_ptr<recorder> recorder_;
};

}  // namespace cornerturn::emulator
