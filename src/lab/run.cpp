#include "lab/run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cornerturn/error.hpp"
#include "emulator/races.hpp"

namespace cornerturn::lab {
namespace {

// Why the emulator cannot run the kernel; empty if it can.
std::string why_not_emulated(const kernel& k) {
    if (k.facts.needs.feature != nullptr)
        return fmt::format("needs {}, which the emulator does not model", k.facts.needs.feature);
    if (!k.is_built_for(backend::emulator)) return "does not run in the emulator";
    return {};
}

// Copies the outcome of a run in the emulator into the result.
void copy_outcome(const emulation_outcome& found, result& r) {
    r.fault = found.verdict.fault;
    r.checked_elements = found.verdict.elements;
    if (found.verdict.passed()) r.verified = found.every_block ? verification::passed : verification::some_blocks;
    const emulator::report& report = found.report;
    r.launched = report.launches > 0;
    r.launches = report.launches;
    r.grid = report.grid;
    r.block = report.block;
    if (!found.finished) return;
    r.counts = report.counts;
    r.lines = report.lines;
    r.watched = report.watched;
}

emulation_outcome run_on_emulator(const kernel& k, const run_request& request, bool every_block) {
    emulator::race_search races;
    if (request.progress != nullptr) request.progress->restart();
    return emulate(k, *request.work,
                   {.every_block = every_block,
                    .lines = request.lines,
                    .seed = request.work->seed(),
                    .witnesses = request.work->witnesses(),
                    .watch = request.watch,
                    .block_seconds = request.block_seconds,
                    .races = &races,
                    .progress = request.progress});
}

// The launches of trials are not counted.
trials_outcome run_emulated_trials(const kernel& k, const run_request& request) {
    return run_trials(*request.work, [&](const workload& trial) {
        emulator::race_search races;
        const emulation_outcome found = emulate(k, trial,
                                                {.every_block = trial.steps() <= kEveryBlockUpTo,
                                                 .seed = trial.seed(),
                                                 .witnesses = trial.witnesses(),
                                                 .block_seconds = request.block_seconds,
                                                 .races = &races});
        if (found.declined) throw unsupported(found.verdict.fault);
        return found.verdict;
    });
}

void fail(result& r, const std::string& fault) {
    r.verified = verification::failed;
    r.fault = fault;
}

// The same for the outcome of its trials.
void copy_outcome(const trials_outcome& found, result& r) {
    r.trials = found;
    if (!found.fault.empty()) fail(r, found.fault);
}

class emulator_run : public runner {
public:
    device_info device() const override { return {.kind = "emulator"}; }
    result run(const kernel& k, const run_request& request) override {
        result r = begin_result(k, request);
        r.skipped = why_not_emulated(k);
        if (!r.ran()) return r;
        const emulation_outcome found =
            run_on_emulator(k, request, request.full || request.work->steps() <= kEveryBlockUpTo);
        if (found.declined) {
            r.skipped = found.verdict.fault;
        } else {
            copy_outcome(found, r);
            if (request.tried && !r.failed()) copy_outcome(run_emulated_trials(k, request), r);
        }
        return r;
    }
};

class host_run : public runner {
public:
    device_info device() const override { return {.kind = "host"}; }
    result run(const kernel& k, const run_request& request) override {
        result r = begin_result(k, request);
        r.device = device();
        if (!k.is_built_for(backend::host)) {
            r.skipped = "does not run on the host";
            return r;
        }
        const auto problem = request.work->op().make(backend::host, {request.work.get()}, {&k}, false);
        problem->prepare();
        problem->bind(k)();
        const verdict found = problem->check();
        r.fault = found.fault;
        r.checked_elements = found.elements;
        if (found.passed()) r.verified = verification::passed;
        if (request.tried && !r.failed()) copy_outcome(run_trials(k, *request.work, backend::host, *problem), r);
        return r;
    }
};

}  // namespace

result begin_result(const kernel& k, const run_request& request) {
    const workload& work = *request.work;
    if (!work.op().accepts(k)) throw invalid_argument(fmt::format("{} is not a kernel of {}", k.id, work.op().name()));
    if (const dtype& type = work.type(); !k.takes(type.size)) {
        std::string sizes;
        for (int size : {1, 2, 4, 8, 16}) {
            if (k.takes(size)) sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", size);
        }
        throw invalid_argument(
            fmt::format("{} does not take dtype {} ({} bytes an element): it takes elements of {} bytes", k.id,
                        type.name, type.size, sizes));
    }
    result r;
    r.kernel = k.id;
    r.origin = k.facts.origin;
    r.work = request.work;
    r.placement = request.placement;
    r.checked_of = work.outputs();
    r.published_rate = k.facts.published_rate;
    return r;
}

emulation_outcome emulate(const kernel& k, const workload& work, const emulator::options& options) {
    if (!k.is_built_for(backend::emulator)) throw invalid_argument(k.id + " is not built for the emulator");
    const auto problem = work.op().make(backend::emulator, {&work}, {&k}, false);
    emulation_outcome outcome;
    emulator::options blocks = options;
    blocks.every_block = options.every_block || k.facts.whole_only || !work.has_tiles();
    outcome.every_block = blocks.every_block || work.outputs() == 0;
    if (!outcome.every_block) blocks.races = nullptr;
    emulator::emulation emulation(blocks);
    for (const problem::buffer& b : problem->buffers()) {
        const auto bytes = static_cast<std::size_t>(b.bytes);
        if (b.holds_input)
            emulation.add_buffer(b.name, b.data, bytes, b.writable);
        else
            emulation.add_output(b.name, b.data, bytes, work.type().size);
    }
    // If one block of each class runs, each launch's tiles are prepared just before it, and checked at the end.
    std::vector<tile> tiles;
    emulation.on_sample([&](std::span<const emulator::sampled_tile> touched) {
        std::vector<tile> now;
        for (const auto& t : touched) now.push_back(problem->tile_of(t));
        problem->prepare(now);
        tiles.insert(tiles.end(), now.begin(), now.end());
    });
    if (outcome.every_block) {
        problem->prepare();
    } else {
        problem->prepare_inputs();
    }
    try {
        problem->bind(k)();
        outcome.finished = true;
    } catch (const error& broken) {
        outcome.verdict.fault = broken.what();
        outcome.declined = dynamic_cast<const unsupported*>(&broken) != nullptr;
        const auto* const found = dynamic_cast<const emulator::hazard*>(&broken);
        if (found != nullptr) outcome.hazard = found->kind();
    }
    outcome.report = emulation.report();
    if (!outcome.finished) return outcome;
    std::sort(tiles.begin(), tiles.end());
    tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
    outcome.verdict = outcome.every_block ? problem->check() : problem->check(tiles);
    return outcome;
}

trials_outcome run_trials(const workload& work, const std::function<verdict(const workload&)>& run) {
    trials_outcome all;
    for (const workload_pointer& trial : work.trials()) {
        try {
            if (const verdict found = run(*trial); !found.passed()) {
                all.fault = fmt::format("in a trial ({}): {}", trial->options(), found.fault);
                return all;
            }
            ++all.passed;
        } catch (const unsupported&) {
            ++all.declined;
        }
    }
    return all;
}

trials_outcome run_trials(const kernel& k, const workload& work, backend on, problem& in) {
    return run_trials(work, [&](const workload& trial) {
        std::unique_ptr<problem> own;
        if (!in.take(trial, k)) own = trial.op().make(on, {&trial}, {&k}, false);
        problem& used = own ? *own : in;
        used.prepare();
        used.bind(k)();
        return used.check();
    });
}

void count_on_emulator(const kernel& k, const run_request& request, result& r) {
    if (!why_not_emulated(k).empty()) return;
    // Work without tiles runs every block: too slow if the work is large.
    if (!request.work->has_tiles() && request.work->steps() > kEveryBlockUpTo) return;
    const emulation_outcome found = run_on_emulator(k, request, false);
    if (!found.finished && !found.hazard) return;
    result counted = begin_result(k, request);
    copy_outcome(found, counted);
    r.launched = counted.launched;
    r.launches = counted.launches;
    r.grid = counted.grid;
    r.block = counted.block;
    r.counts = counted.counts;
    r.lines = counted.lines;
    if (counted.failed()) fail(r, counted.fault);
}

std::unique_ptr<runner> emulator_runner() { return std::make_unique<emulator_run>(); }
std::unique_ptr<runner> host_runner() { return std::make_unique<host_run>(); }

#if !defined(CORNERTURN_WITH_CUDA)
bool cuda_available(std::string& reason) {
    reason = "this program was built without CUDA";
    return false;
}
std::unique_ptr<runner> cuda_runner() {
    std::string reason;
    cuda_available(reason);
    throw unsupported("no GPU to run on: " + reason);
}
#endif

}  // namespace cornerturn::lab
