// The bench: one transpose beside its peers over a grid of shapes. Everything in a cell of the grid is measured in one
// run, sampled in turn.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "device/registry.hpp"
#include "lab/result.hpp"

namespace cornerturn::lab {

struct bench_cell {
    std::string group;
    problem_shape shape;  // a batch is packed: in memory it is one long matrix

    std::string text() const;  // "8192 x 8192, ld + 1", "32768 of 32 x 32"
    std::int64_t elements() const;
    std::int64_t bytes() const;  // read plus written
    // Of the 32-byte sectors that must be read, and those that must be written: no kernel can move less.
    std::int64_t sector_bytes() const;
};

// The element sizes and the groups of shapes that there are.
const std::vector<int>& bench_sizes();
const std::vector<std::string>& bench_groups();

// Element sizes outermost.
std::vector<bench_cell> bench_grid(const std::vector<int>& sizes, const std::vector<std::string>& groups);

// How many 32-byte sectors hold `rows` rows of row_bytes each, pitch >= row_bytes apart, that begin `offset` bytes
// behind a sector's first byte.
std::int64_t touched_sectors(std::int64_t offset, std::int64_t rows, std::int64_t row_bytes, std::int64_t pitch);

struct bench_request {
    const kernel* subject = nullptr;
    const kernel* yardstick = nullptr;      // copies; a copy is measured on half the cell's sector_bytes
    std::vector<const kernel*> peers = {};  // neither of these two
    double seconds = 0.5;                   // a cell is sampled for
    std::uint64_t seed = 1;
    bool warm = false;
    int placement = 0;  // cuda: as in lab/run.hpp
};

// What transposes of a cell move, and what copies do: half of the sectors' bytes, as whole 16-byte elements, since half
// are read, and half written. All in one place: where in memory that is makes a difference to some.
struct bench_shapes {
    problem_shape matrix, copy;

    // What both sides need that either fits.
    std::int64_t bytes() const;
};
bench_shapes shapes_of(const bench_cell& cell, const bench_request& what);

// What one kernel gave in one cell.
struct bench_entry {
    std::string kernel;
    std::int64_t bytes = 0;                // read plus written
    std::string skipped = {}, fault = {};  // why it did not run, or what it did wrong; both empty where all is well
    timing time = {};

    bool timed() const { return skipped.empty() && fault.empty(); }
    double bandwidth_gbps() const { return static_cast<double>(bytes) / time.median_s / 1e9; }
};

struct bench_result {
    bench_cell cell;
    std::string skipped = {};  // the whole cell, and why
    std::string method = {};   // how it was timed, in words
    bench_entry yardstick = {}, subject = {};
    std::vector<bench_entry> peers = {};

    // The yardstick's time divided by the entry's.
    double ratio(const bench_entry& e) const { return yardstick.time.median_s / e.time.median_s; }
    std::vector<const bench_entry*> entries() const;
};

// Names and bytes, before anything runs. Each skipped that does not take the elements or the batch.
bench_result begin_bench(const bench_cell& cell, const bench_request& what);

// Where cells are measured.
class bencher {
public:
    virtual ~bencher() = default;
    virtual device_info device() const = 0;
    // Before the cells of a grid are run, so that what they share is made for the largest of them. Throws cuda_error.
    virtual void expect(const std::vector<bench_cell>&, const bench_request&) {}
    // Never throws for what a kernel did wrong: that is in its entry. Throws cuda_error.
    virtual bench_result run(const bench_cell& cell, const bench_request& what) = 0;
};

// Throws unsupported, saying what was found instead, where no GPU answers or the program was built without CUDA.
std::unique_ptr<bencher> cuda_bencher();
std::unique_ptr<bencher> host_bencher();

}  // namespace cornerturn::lab
