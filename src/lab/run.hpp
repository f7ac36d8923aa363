// Running one registered kernel on one device: verified, counted, and on a GPU timed.
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

struct request {
    workload_pointer work;
    bool full = false;    // emulator: run every block, however many
    bool lines = false;   // emulator: counters for each source line
    bool watch = false;   // emulator: keep what the first tile's warp 0 accesses
    bool warm = false;    // cuda: leave the L2 cache as the run before left it
    int placement = 0;    // cuda: the matrices' bytes that many times are laid aside first, so that these lie elsewhere
    bool timed = true;    // cuda
    bool counted = true;  // cuda: in the emulator too, where it can run the kernel
    bool tried = true;    // on the work's trials, too
    // emulator: seconds that a block may take; 0: as long as it likes
    double block_seconds = 300;
    emulator::block_progress* progress = nullptr;  // emulator: of the kernel that runs
};

// The emulator runs every block, and so checks every element, up to so many steps; one block of each class above that.
// A second or two.
inline constexpr std::int64_t kEveryBlockUpTo = std::int64_t{1} << 24;

// Where kernels run. Holds what is worth keeping from one run to the next, such as the GPU's buffers.
class runner {
public:
    virtual ~runner() = default;
    virtual device_info device() const = 0;
    // Never throws for what the kernel did wrong: that is in the result. Throws for what cannot be run at all:
    // invalid_argument (another operation's work, a dtype that the kernel does not take), error (no memory),
    // cuda_error.
    virtual result run(const kernel& k, const request& what) = 0;
};

std::unique_ptr<runner> emulator_runner();
std::unique_ptr<runner> host_runner();

// Throws unsupported, saying what was found instead, where no GPU answers or the program was built without CUDA.
std::unique_ptr<runner> cuda_runner();

// True where cuda_runner() would work; else `reason` says why not.
bool cuda_available(std::string& reason);

// What became of a run on the emulator.
struct emulated {
    verdict found;
    emulator::report report;
    bool every_block = false;  // else: one block of each class, and its tiles were checked
    bool finished = false;     // false: `found` says what stopped it
    bool declined = false;     // the emulator cannot run it in that way
    std::optional<emulator::hazard_kind> hazard;
};

// Prepares the work, runs the kernel and checks what it wrote. Throws for what cannot be run at all, as runner::run
// does.
emulated emulate(const kernel& k, const workload& work, const emulator::options& options);

// Has `run` do each of the work's trials, which a kernel must do right besides the work itself, up to the first that it
// does wrong. A trial that the kernel declines, by unsupported, is counted apart.
trials_outcome run_trials(const workload& work, const std::function<verdict(const workload&)>& run);
// The same of a kernel that is not emulated: in the memory of the work's problem where a trial has room there, else in
// memory of its own.
trials_outcome run_trials(const kernel& k, const workload& work, backend on, problem& in);

// Fills in the launch and the counters of a kernel that runs elsewhere, from one block of each class. Leaves `r` as it
// is where the emulator cannot run the kernel, or not in a few seconds; a fault that it finds is a fault of `r`.
void count_on_emulator(const kernel& k, const request& what, result& r);

// The fields that are known before anything runs. Throws invalid_argument where the kernel does not take the work.
result begin_result(const kernel& k, const request& what);

}  // namespace cornerturn::lab
