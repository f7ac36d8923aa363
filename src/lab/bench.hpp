// The bench: one kernel beside its peers over a grid of shapes. Everything in a cell of the grid is measured in one
// run, sampled in turn.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/operation.hpp"
#include "device/registry.hpp"
#include "lab/result.hpp"

namespace cornerturn::lab {

struct bench_request {
    const operation* does = nullptr;
    const kernel* subject = nullptr;
    const kernel* yardstick = nullptr;
    std::vector<const kernel*> peers = {};  // neither of these two
    double seconds = 0.5;                   // a cell is sampled for
    std::uint64_t seed = 1;
    bool warm = false;
    int placement = 0;  // cuda: as in lab/run.hpp

    std::vector<const kernel*> kernels() const;  // the yardstick, the subject, the peers
};

// What one kernel gave in one cell.
struct bench_entry {
    std::string kernel;
    double amount = 0;                     // of what the operation's rate counts
    std::string skipped = {}, fault = {};  // why it did not run, or what it did wrong; both empty where all is well
    timing time = {};
    nlohmann::ordered_json more = nlohmann::ordered_json::object();  // what else the operation's verifier told

    bool timed() const { return skipped.empty() && fault.empty(); }
    double rate() const { return amount / time.median_s / 1e9; }
};

struct bench_result {
    bench_cell cell;
    std::string skipped = {};  // the whole cell, and why
    std::string method = {};   // how it was timed, in words
    bench_entry yardstick = {}, subject = {};
    std::vector<bench_entry> peers = {};

    // The yardstick's time divided by the entry's.
    double ratio(const bench_entry& e) const { return yardstick.time.median_s / e.time.median_s; }
    bool compared(const bench_entry& e) const { return skipped.empty() && e.timed() && yardstick.timed(); }
    std::vector<const bench_entry*> entries() const;
    std::vector<bench_entry*> entries();  // in the order of bench_request::kernels()
};

// Names and amounts, before anything runs. Each skipped that does not take the work.
bench_result begin_bench(const bench_cell& cell, const bench_request& what);

// One kernel in one cell, on what lies in memory that all share.
class contestant {
public:
    contestant(const kernel& k, const workload& work, problem& in, bench_entry& entry)
        : k_(&k), work_(&work), problem_(&in), entry_(&entry) {}

    bench_entry& entry() const { return *entry_; }
    const std::function<void()>& work() const { return bound_; }

    // Fills what it works on, runs it, or what is given in its stead, and checks every element. False, and its entry
    // says why, where it cannot run or is wrong.
    bool verify(const std::function<void()>& instead = {});

private:
    const kernel* k_;
    const workload* work_;
    problem* problem_;
    bench_entry* entry_;
    std::function<void()> bound_;
};

// Where cells are measured.
class bencher {
public:
    virtual ~bencher() = default;
    virtual device_info device() const = 0;
    // Of what the rate counts, a second; 0: not known, or it counts bytes.
    virtual double peak_flops(const rate_unit&) const { return 0; }
    // Before the cells of a grid are run, so that what they share is made for the largest of them. Throws cuda_error.
    virtual void expect(const std::vector<bench_cell>&, const bench_request&) {}
    // Never throws for what a kernel did wrong: that is in its entry. Throws cuda_error.
    virtual bench_result run(const bench_cell& cell, const bench_request& what) = 0;
};

// Throws unsupported, saying what was found instead, where no GPU answers or the program was built without CUDA.
std::unique_ptr<bencher> cuda_bencher();
std::unique_ptr<bencher> host_bencher();

}  // namespace cornerturn::lab
