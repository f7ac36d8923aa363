// The bench: one kernel beside its peers over a grid of shapes. Everything in a cell of the grid is measured in one
// run, sampled in turn.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/operation.hpp"
#include "device/registry.hpp"
#include "lab/result.hpp"

namespace cornerturn::lab {

// A bench_way with its kernels.
struct way_request {
    std::string name;
    const kernel* subject = nullptr;
    const kernel* yardstick = nullptr;
    int in_a_row = 1;
};

struct bench_request {
    const operation* does = nullptr;
    const kernel* subject = nullptr;
    const kernel* yardstick = nullptr;
    std::vector<const kernel*> peers = {};  // neither of these two
    // Copies that a cell is measured beside, too, where its work writes sectors in part (bench_contestants).
    std::vector<const kernel*> ordered = {};
    std::vector<way_request> ways = {};  // on a GPU
    double seconds = 0.5;                // a cell is sampled for,
    int rounds = 20;                     // and so often at least
    std::uint64_t seed = 1;
    bool warm = false;
    int placement = 0;    // cuda: as in lab/run.hpp
    int drawn = 0;        // cells, at random from the seed; 0: they are the operation's grid
    bool small = false;   // these cells fit a GPU's L2 in part or wholly, and are timed warm, in CUDA graphs
    bool regret = false;  // whether all candidates that the library has for a cell are timed

    // The yardstick, the subject, the peers, and where they belong the ordered copies.
    std::vector<const kernel*> kernels(const workload& work) const;
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

// What the library chose in a cell, beside the best of all that it could have chosen.
struct bench_regret {
    int candidates = 0;
    std::string chosen, best;  // names
    timing chosen_time = {}, best_time = {};
    std::vector<std::pair<std::string, double>> medians = {};  // seconds, of all, from a few samples
    std::string fault = {};  // what one of them did wrong, before or after it was timed; then there are no times

    // By how much of the best one's time the chosen one takes longer.
    double share() const { return chosen_time.median_s / best_time.median_s - 1; }
};

// What one way of calling gave in one cell.
struct bench_way_result {
    std::string name, method = {};
    bench_entry yardstick = {}, subject = {};

    bool compared() const { return subject.timed() && yardstick.timed(); }
    double ratio() const { return yardstick.time.median_s / subject.time.median_s; }
};

struct bench_result {
    bench_cell cell;
    std::string skipped = {};  // the whole cell, and why
    std::string method = {};   // how it was timed, in words
    bench_entry yardstick = {}, subject = {};
    std::vector<bench_entry> peers = {};
    std::vector<bench_entry> ordered = {};  // none where all sectors are written whole
    std::string choice = {};                // of random cells: how the library does it
    std::optional<bench_regret> regret = {};
    std::vector<bench_way_result> ways = {};  // in the order of bench_request::ways

    // The yardstick's time divided by the entry's.
    double ratio(const bench_entry& e) const { return yardstick.time.median_s / e.time.median_s; }
    bool compared(const bench_entry& e) const { return skipped.empty() && e.timed() && yardstick.timed(); }
    // What a cell is judged by: the fastest of the ordered copies, or the yardstick where there is none.
    const bench_entry& judge() const;
    bool is_judged_by_order() const { return &judge() != &yardstick; }
    // The judge's time divided by the entry's.
    double figure(const bench_entry& e) const { return judge().time.median_s / e.time.median_s; }
    std::vector<const bench_entry*> entries() const;
    std::vector<bench_entry*> entries();                  // in the order of bench_request::kernels(work)
    std::vector<const bench_entry*> every_entry() const;  // and those of its ways
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

    // Runs it on the work's trials, before anything is timed. False, and its entry says why, where it is wrong.
    bool try_it(backend on);
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

// Times so many works in turn: at least so many samples of each.
using time_in_turn = std::function<std::vector<timing>(const std::vector<std::function<void()>>&, int rounds)>;

// Verifies and times all candidates of the problem, whose work was taken and whose memory is prepared: first all of
// them a little, then those that may be the best, at last the best and the one that was chosen, which are verified
// again. A candidate that declines the work is left out; the chosen one must not. None where the library has no choice.
std::optional<bench_regret> regret_of(problem& of, const time_in_turn& time);

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
// On at most so many threads; 0: as many as there are cores.
std::unique_ptr<bencher> host_bencher(int threads = 0);

}  // namespace cornerturn::lab
