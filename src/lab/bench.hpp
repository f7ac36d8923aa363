// The bench times one kernel and its peers over a grid of shapes. All kernels of a cell are measured in one run, and
// their samples alternate.
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

// A way of calling (bench_way), with its kernels.
struct way_request {
    std::string name;
    const kernel* subject = nullptr;
    const kernel* yardstick = nullptr;
    int in_a_row = 1;
};

struct bench_request {
    const operation* op = nullptr;
    const kernel* subject = nullptr;
    const kernel* yardstick = nullptr;
    std::vector<const kernel*> peers = {};  // without these two
    // Copies that write the destination in ascending order (bench_contestants). They are measured too if the work
    // writes some sectors in part.
    std::vector<const kernel*> ordered_copies = {};
    std::vector<way_request> ways = {};  // on a GPU
    double seconds = 0.5;                // time to sample each cell
    int rounds = 20;                     // the fewest samples
    std::uint64_t seed = 1;
    bool warm = false;
    int placement = 0;     // cuda: run_request::placement in lab/run.hpp
    int random_cells = 0;  // the number of cells drawn from the seed; 0: the cells are the operation's grid
    bool small = false;    // random cells fit a GPU's L2, all or in part, and are timed warm, in CUDA graphs
    bool regret = false;   // whether to time all candidates that the library has for a cell

    // The yardstick, the subject, the peers, and the ordered copies if the work writes sectors in part.
    std::vector<const kernel*> kernels(const workload& work) const;
};

// The result of one kernel in one cell.
struct bench_entry {
    std::string kernel;
    double amount = 0;                     // bytes moved, or arithmetic operations: what the rate of the bench counts
    std::string skipped = {}, fault = {};  // why it did not run; what it did wrong. Both are empty if all is well
    timing time = {};
    nlohmann::ordered_json more = nlohmann::ordered_json::object();  // further members from the verifier

    bool timed() const { return skipped.empty() && fault.empty(); }
    double rate() const { return amount / time.median_s / 1e9; }
};

// The library's choice in a cell, beside the best candidate.
struct bench_regret {
    int candidates = 0;
    std::string chosen, best;  // names
    timing chosen_time = {}, best_time = {};
    struct measured {
        std::string name;
        double median_s = 0, predicted_s = 0;  // from a few samples; 0: nothing was predicted
        std::vector<double> counts = {};       // problem::candidate::counts
    };
    std::vector<measured> all = {};  // all candidates, the chosen one first
    std::string fault = {};          // a candidate's mistake, before or after it was timed; then there are no times

    // How much longer the choice takes than the best, as a fraction of the best one's time.
    double share() const { return chosen_time.median_s / best_time.median_s - 1; }
    // What was predicted for the choice, as a part of the time that it took. 0: nothing was predicted.
    double predicted() const { return all.empty() ? 0 : all.front().predicted_s / chosen_time.median_s; }
};

// The result of one way of calling in one cell.
struct bench_way_result {
    std::string name, method = {};
    bench_entry yardstick = {}, subject = {};

    bool compared() const { return subject.timed() && yardstick.timed(); }
    double ratio() const { return yardstick.time.median_s / subject.time.median_s; }
};

struct bench_result {
    bench_cell cell;
    std::string skipped = {};  // why the whole cell was skipped
    std::string method = {};   // how it was timed
    bench_entry yardstick = {}, subject = {};
    std::vector<bench_entry> peers = {};
    std::vector<bench_entry> ordered_copies = {};  // empty if the work writes whole sectors
    std::string choice = {};                       // of a random cell: problem::choice()
    std::optional<bench_regret> regret = {};
    std::vector<bench_way_result> ways = {};  // in the order of bench_request::ways

    // The yardstick's time divided by the entry's.
    double ratio(const bench_entry& e) const { return yardstick.time.median_s / e.time.median_s; }
    bool compared(const bench_entry& e) const { return skipped.empty() && e.timed() && yardstick.timed(); }
    // The kernel that the cell is compared with: the fastest ordered copy, or the yardstick if there is none.
    const bench_entry& reference() const;
    bool has_ordered_reference() const { return &reference() != &yardstick; }
    // The reference's time divided by the entry's.
    double reference_ratio(const bench_entry& e) const { return reference().time.median_s / e.time.median_s; }
    std::vector<const bench_entry*> entries() const;
    std::vector<bench_entry*> entries();                  // in the order of bench_request::kernels(work)
    std::vector<const bench_entry*> every_entry() const;  // also those of the ways of calling
};

// A result with names and amounts, before anything runs. Kernels that do not take the work are skipped in it.
bench_result begin_bench(const bench_cell& cell, const bench_request& request);

// One kernel in one cell. All kernels of the cell use the memory of one problem.
class contestant {
public:
    contestant(const kernel& k, const workload& work, problem& in, bench_entry& entry)
        : k_(&k), work_(&work), problem_(&in), entry_(&entry) {}

    bench_entry& entry() const { return *entry_; }
    const std::function<void()>& call() const { return call_; }

    // Runs the work's trials, before anything is timed. If the kernel fails one, its entry says why, and this returns
    // false.
    bool run_trials(backend on);
    // Fills the operands, runs the kernel or `instead`, and checks every element. If it cannot run or is wrong, its
    // entry says why, and this returns false.
    bool verify(const std::function<void()>& instead = {});

private:
    const kernel* k_;
    const workload* work_;
    problem* problem_;
    bench_entry* entry_;
    std::function<void()> call_;
};

// Times the calls in turn, with at least `rounds` samples of each.
using time_in_turn = std::function<std::vector<timing>(const std::vector<std::function<void()>>&, int rounds)>;

// Verifies and times all candidates of a problem, after its take() and prepare(). First all candidates get a few
// samples, then those that may be the best. The best three and the chosen one get the most, and are verified again. A
// candidate that declines the work is left out, but the chosen one must not decline. Null if the library has no choice.
std::optional<bench_regret> regret_of(problem& of, const time_in_turn& time);

// Measures cells on one device.
class bencher {
public:
    virtual ~bencher() = default;
    virtual device_info device() const = 0;
    // Operations a second; 0: not known, or the rate counts bytes.
    virtual double peak_flops(const rate_unit&) const { return 0; }
    // To be called before the cells of a grid are run. If the cells use the same memory, allocates enough for the
    // largest. Throws cuda_error.
    virtual void expect(const std::vector<bench_cell>&, const bench_request&) {}
    // If a kernel does something wrong, its entry says so, and nothing is thrown. Throws cuda_error.
    virtual bench_result run(const bench_cell& cell, const bench_request& request) = 0;
};

// Throws unsupported, with the reason, if there is no usable GPU or the program was built without CUDA.
std::unique_ptr<bencher> cuda_bencher();
// Uses at most `threads` threads; 0: one for each core.
std::unique_ptr<bencher> host_bencher(int threads = 0);

}  // namespace cornerturn::lab
