/// @file
/// Tests of CUDA kernels without a GPU: a program reads what the emulator counted and checked in its kernels.
///
/// This header is for programs that are linked with the emulator, by cornerturn_emulate(TARGET) in CMake or by
/// `cornerturn cc`.
///
/// @code
/// cornerturn::emulator::session session;                          // counts from here on
/// run_my_kernel(in, out, n);                                      // ordinary CUDA code
/// const auto report = session.report();
/// EXPECT_EQ(report["my_kernel"].shared_conflicts, 0);
/// EXPECT_LE(report["my_kernel"].load_sectors_per_request(), 4);
/// EXPECT_EQ(session.hazards(), std::vector<std::string>{});
/// @endcode
///
/// It needs C++17 or later. docs/emulator.md explains the counters and how exact they are. If the same test also runs
/// on a GPU, put the session behind `#ifdef CORNERTURN_EMULATED_PROGRAM`.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// The emulator: it runs CUDA kernels without a GPU, checks them and counts their memory accesses.
namespace cornerturn::emulator {

/// Counters of memory accesses.
///
/// - A **request** is one instruction of a warp.
/// - A **sector** is 32 bytes of global memory that a request touches.
/// - A **wavefront** is one pass of a request over the banks of shared memory.
/// - **Bank conflicts** are the wavefronts above the least possible number.
/// - A **reduction** is an atomic operation whose old value is unused. All others are **atomics**.
///
/// The members have the names of the metrics of `cornerturn emulate --budget`, with _ instead of dots.
struct access_counters {
    std::int64_t load_requests = 0,           ///< Requests that load global memory.
        load_sectors = 0;                     ///< Their sectors.
    std::int64_t store_requests = 0,          ///< Requests that store to global memory.
        store_sectors = 0;                    ///< Their sectors.
    std::int64_t reduction_requests = 0,      ///< Requests for reductions in global memory.
        reduction_sectors = 0;                ///< Their sectors.
    std::int64_t atomic_requests = 0,         ///< Requests for atomics in global memory.
        atomic_sectors = 0;                   ///< Their sectors.
    std::int64_t shared_load_requests = 0,    ///< Requests that load shared memory.
        shared_load_wavefronts = 0,           ///< Their wavefronts.
        shared_load_conflicts = 0;            ///< Their bank conflicts.
    std::int64_t shared_store_requests = 0,   ///< Requests that store to shared memory.
        shared_store_wavefronts = 0,          ///< Their wavefronts.
        shared_store_conflicts = 0;           ///< Their bank conflicts.
    std::int64_t shared_atomic_requests = 0,  ///< Requests for atomics and reductions in shared memory.
        shared_atomic_wavefronts = 0,         ///< Their wavefronts.
        shared_atomic_conflicts = 0;          ///< Their bank conflicts.
    std::int64_t shared_conflicts = 0;        ///< The bank conflicts of all accesses to shared memory.

    /// Adds other counters to these.
    /// @param other The other counters.
    /// @return *this
    access_counters& operator+=(const access_counters& other);

    /// @return Sectors per request that loads global memory. Like the ratios below, it is 0 if there are no requests.
    double load_sectors_per_request() const { return ratio(load_sectors, load_requests); }
    /// @return Sectors per request that stores to global memory.
    double store_sectors_per_request() const { return ratio(store_sectors, store_requests); }
    /// @return Sectors per request for reductions in global memory.
    double reduction_sectors_per_request() const { return ratio(reduction_sectors, reduction_requests); }
    /// @return Sectors per request for atomics in global memory.
    double atomic_sectors_per_request() const { return ratio(atomic_sectors, atomic_requests); }
    /// @return Wavefronts per request that loads shared memory.
    double shared_load_wavefronts_per_request() const { return ratio(shared_load_wavefronts, shared_load_requests); }
    /// @return Wavefronts per request that stores to shared memory.
    double shared_store_wavefronts_per_request() const { return ratio(shared_store_wavefronts, shared_store_requests); }
    /// @return Wavefronts per request for atomics and reductions in shared memory.
    double shared_atomic_wavefronts_per_request() const {
        return ratio(shared_atomic_wavefronts, shared_atomic_requests);
    }

private:
    static double ratio(std::int64_t of, std::int64_t by) {
        return by == 0 ? 0 : static_cast<double>(of) / static_cast<double>(by);
    }
};

/// Counters of one launch, or the sum over several.
struct kernel_counters : access_counters {
    std::int64_t launches = 0;  ///< The number of launches.
    std::int64_t hazards = 0;   ///< The number of times that a rule was broken: a race, an access out of bounds, ...

    /// Adds other counters to these.
    /// @param other The other counters.
    /// @return *this
    kernel_counters& operator+=(const kernel_counters& other);
};

/// The counters of one source line.
struct counted_line {
    std::string file;          ///< The name of the file: "kernels.cu".
    std::string path;          ///< The path of that file, as the compiler received it.
    int line = 0;              ///< The number of the line.
    access_counters counters;  ///< The counters of the line.
};

/// One launch of a kernel.
struct kernel_launch {
    std::string kernel;                ///< Its name without namespaces, with template arguments: "transpose<0>".
    std::string symbol;                ///< Its mangled name.
    std::array<unsigned, 3> grid{},    ///< The blocks of the grid: x, y, z.
        block{};                       ///< The threads of a block: x, y, z.
    kernel_counters counters;          ///< The counters of the launch.
    std::vector<std::string> hazards;  ///< The rules that it broke, one sentence each.
    /// Its lines, sorted by file and line. Empty unless session_options::lines is set.
    std::vector<counted_line> lines;
};

/// The results of a session up to one moment. Later launches do not change a report.
///
/// Functions take the names of kernels as `--budget` does: with or without namespaces and template arguments.
/// "transpose" matches every transpose<...>; "*" matches every kernel.
class session_report {
public:
    /// Adds up the counters of all launches of the kernels that match a name.
    /// @param kernel The name.
    /// @return The sum.
    /// @throws std::out_of_range if none of them ran. The message lists the kernels that did.
    kernel_counters operator[](const std::string& kernel) const;

    /// @param kernel The name.
    /// @return Whether a kernel that matches the name ran.
    bool ran(const std::string& kernel) const;

    /// @return The names of the kernels in the order of their first launches, each name once.
    std::vector<std::string> kernels() const;

    /// @return The launches, in the order in which they ended.
    const std::vector<kernel_launch>& launches() const& { return launches_; }
    /// @return The same, moved out of a temporary report.
    std::vector<kernel_launch> launches() && { return std::move(launches_); }

    /// Adds up the counters of each source line that accesses memory, over the launches that operator[]() adds up.
    /// @param kernel The name.
    /// @return The lines, sorted by file and line.
    /// @throws std::out_of_range if none of the kernels ran.
    /// @throws std::logic_error if the session did not count lines.
    std::vector<counted_line> lines(const std::string& kernel) const;

    /// @return The sentences that session::hazards() returned when the report was made.
    const std::vector<std::string>& hazards() const& { return hazards_; }
    /// @return The same, moved out of a temporary report.
    std::vector<std::string> hazards() && { return std::move(hazards_); }

private:
    friend class session;
    std::vector<kernel_launch> launches_;
    std::vector<std::string> hazards_;
    bool with_lines_ = false;
};

/// Options of a session.
struct session_options {
    bool lines = false;  ///< Also count each source line. This is slower, and takes more memory for each launch.
};

/// Counts the memory accesses and hazards of every kernel of the program while the session is alive, whichever thread
/// launches the kernel.
///
/// A launch is counted when it ends, which is before the launching call returns. Sessions may overlap or follow each
/// other; each counts separately. A session keeps a few hundred bytes for each launch.
///
/// A kernel that breaks a rule of the hardware throws nothing. The launch continues or fails as on a GPU, and hazards()
/// has a sentence about it. After a failure, later CUDA calls fail until cudaDeviceReset(), as on a GPU.
///
/// Any thread of the host may call any function at any time; kernels may not. The functions throw std::bad_alloc if
/// memory runs out.
class session {
public:
    /// Begins to count.
    /// @param options What to count.
    explicit session(const session_options& options = {});
    /// Stops counting.
    ~session();
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    /// @return The results so far.
    session_report report() const;

    /// The rules that kernels broke.
    /// @return A sentence for each, as on standard error: the kind of hazard, the kernel, the block, the thread and the
    /// line. Each place in the code has one sentence, however often the hazard occurred.
    std::vector<std::string> hazards() const;

private:
    class recorder;
    std::unique_ptr<recorder> recorder_;
};

}  // namespace cornerturn::emulator
