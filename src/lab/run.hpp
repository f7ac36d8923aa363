// Runs one registered kernel on one device: verifies it, counts its accesses and, on a GPU, times it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "device/operation.hpp"
#include "device/registry.hpp"
#include "emulator/emulation.hpp"
#include "lab/result.hpp"

namespace cornerturn::lab {

struct run_request {
    workload_pointer work;
    bool full = false;    // emulator: run every block, however many there are
    bool lines = false;   // emulator: counters for each source line
    bool watch = false;   // emulator: record the accesses of the first tile's warp 0
    bool warm = false;    // cuda: do not flush the L2 cache before a sample
    int placement = 0;    // cuda: first allocate the matrices' bytes this many times, so that these get other addresses
    bool timed = true;    // cuda
    bool counted = true;  // cuda: also count in the emulator, if it can run the kernel
    bool tried = true;    // also run the work's trials
    double block_seconds = 300;                    // emulator: time limit of a block; 0: none
    emulator::block_progress* progress = nullptr;  // emulator: of the running kernel
};

// Up to this many steps, the emulator runs every block and so checks every element, in a second or two. Above that, it
// runs one block of each class.
inline constexpr std::int64_t kEveryBlockUpTo = std::int64_t{1} << 24;

// A device on which kernels run. Keeps what the next run can use again, such as the GPU's buffers.
class runner {
public:
    virtual ~runner() = default;
    virtual device_info device() const = 0;
    // If the kernel does something wrong, the result says so, and nothing is thrown. Throws if the kernel cannot run at
    // all: invalid_argument (the work of another operation, a dtype that the kernel does not take), error (too little
    // memory), cuda_error.
    virtual result run(const kernel& k, const run_request& request) = 0;
};

std::unique_ptr<runner> emulator_runner();
std::unique_ptr<runner> host_runner();

// Throws unsupported, with the reason, if there is no usable GPU or the program was built without CUDA.
std::unique_ptr<runner> cuda_runner();

// Whether cuda_runner() would work. If not, sets `reason`.
bool cuda_available(std::string& reason);

// The outcome of a run in the emulator.
struct emulation_outcome {
    cornerturn::verdict verdict;
    emulator::report report;
    bool every_block = false;  // false: one block of each class ran, and only its tiles were checked
    bool finished = false;     // false: `verdict` names the fault that stopped the kernel
    bool declined = false;     // stopped by unsupported: the kernel cannot do this work in the emulator
    std::optional<emulator::hazard_kind> hazard;
};

// Prepares the work, runs the kernel and checks its output. Throws as runner::run does if the kernel cannot run at all.
emulation_outcome emulate(const kernel& k, const workload& work, const emulator::options& options);

// Calls `run` for each of the work's trials (workload::trials), up to the first that the kernel does wrong. If `run`
// throws unsupported, the trial counts as declined.
trials_outcome run_trials(const workload& work, const std::function<verdict(const workload&)>& run);
// The same for a kernel that is not emulated. A trial uses the memory of `in`, the work's problem, if it fits there,
// and new memory otherwise.
trials_outcome run_trials(const kernel& k, const workload& work, backend on, problem& in);

// Adds launch and counters, from one block of each class, to the result of a kernel that ran elsewhere. If the emulator
// finds a fault, `r` fails with it. Changes nothing if the emulator cannot run the kernel, or not in a few seconds.
void count_on_emulator(const kernel& k, const run_request& request, result& r);

// A result with the fields that are known before the run. Throws invalid_argument if the kernel does not take the work.
result begin_result(const kernel& k, const run_request& request);

}  // namespace cornerturn::lab
