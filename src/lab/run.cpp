#include "lab/run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cornerturn/error.hpp"
#include "emulator/session.hpp"

namespace cornerturn::lab {
namespace {

// Why the emulator cannot run the kernel; empty where it can.
std::string emulator_cannot(const kernel& k) {
    if (k.needs.feature != nullptr) return fmt::format("needs {}, which the emulator does not model", k.needs.feature);
    if (!k.is_built_for(backend::emulator)) return "is not a kernel that the emulator can run";
    return {};
}

// Fills in what came of a run.
void note(const emulated& found, result& r) {
    r.fault = found.found.fault;
    r.checked_elements = found.found.elements;
    if (found.found.passed()) r.verified = found.every_block ? verification::passed : verification::sampled;
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

emulated run_on_emulator(const kernel& k, const request& what, bool every_block) {
    emulator::options how{.every_block = every_block, .lines = what.lines, .seed = what.seed, .watch = what.watch};
    if (k.does != operation::multiply) return emulate(k, shape_of(k, what), how);
    how.witnesses = 4;  // a block of a product takes as long as thousands that move a tile
    return emulate(k, product_of(what), how);
}

class emulator_run : public runner {
public:
    device_info device() const override { return {.kind = "emulator"}; }
    result run(const kernel& k, const request& what) override {
        result r = begin_result(k, what);
        r.skipped = emulator_cannot(k);
        if (!r.ran()) return r;
        const emulated found = run_on_emulator(k, what, what.full || r.work() <= kEveryBlockUpTo);
        if (found.refused) {
            r.skipped = found.found.fault;
        } else {
            note(found, r);
        }
        return r;
    }
};

class host_run : public runner {
public:
    device_info device() const override { return {.kind = "host"}; }
    result run(const kernel& k, const request& what) override {
        result r = begin_result(k, what);
        r.device = device();
        if (k.run(backend::host) == nullptr) {
            r.skipped = "does not run on the host";
            return r;
        }
        host_problem problem(shape_of(k, what));
        problem.prepare();
        k.run(backend::host)(problem.work());
        const verdict found = problem.check();
        r.fault = found.fault;
        r.checked_elements = found.elements;
        if (found.passed()) r.verified = verification::passed;
        return r;
    }
};

}  // namespace

result begin_result(const kernel& k, const request& what) {
    if (!k.takes(what.dtype.size)) {
        std::string sizes;
        for (int size : {1, 2, 4, 8, 16}) {
            if (k.takes(size)) sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", size);
        }
        throw invalid_argument(
            fmt::format("{} does not take dtype {} ({} bytes an element): it takes elements of {} bytes", k.id,
                        what.dtype.name, what.dtype.size, sizes));
    }
    if (k.does == operation::multiply && what.dtype.name != std::string_view("f32"))
        throw invalid_argument(fmt::format("{} does not take dtype {}: it multiplies f32", k.id, what.dtype.name));
    result r;
    r.kernel = k.id;
    r.origin = k.origin;
    r.dtype = what.dtype.name;
    r.rows = what.rows;
    r.cols = what.cols;
    if (k.does == operation::multiply) r.k = what.k;
    r.element_size = what.dtype.size;
    r.placement = what.placement;
    r.checked_of =
        k.does == operation::multiply ? product_of(what).checked().elements() : shape_of(k, what).checked().elements();
    r.noted_gflops = k.noted_gflops;
    return r;
}

gemm_shape product_of(const request& what) {
    return {.m = what.rows,
            .n = what.cols,
            .k = what.k,
            .values = gemm_values::integers,  // exact: no error hides behind what rounding may cost
            .seed = what.seed};
}

problem_shape shape_of(const kernel& k, const request& what) {
    return {.does = k.does,
            .rows = what.rows,
            .cols = what.cols,
            .element_size = what.dtype.size,
            .seed = what.seed,
            .numbers = k.arithmetic};
}

namespace {

// Problems, as emulate_case() wants them.
struct matrices_to_move {
    const kernel& k;
    host_problem problem;

    void add_to(emulator::session& session) const {
        const auto add = [&](const char* name, const guarded_buffer& buffer, bool writable) {
            session.add_buffer(name, buffer.data(), static_cast<std::size_t>(buffer.size()), writable);
        };
        add("source", problem.source(), false);
        add("destination", problem.destination(), true);
    }
    std::int64_t elements() const { return problem.shape().elements(); }
    static constexpr int kOfTile = 0;  // of a tile's operands, the one that tells which it is
    void prepare_for_tiles() {}
    void run() const { k.run(backend::emulator)(problem.work()); }
};
struct product_to_compute {
    const kernel& k;
    host_gemm problem;

    void add_to(emulator::session& session) const {
        for (const host_gemm::named_buffer& b : problem.buffers())
            session.add_buffer(b.name, b.buffer->data(), static_cast<std::size_t>(b.buffer->size()), b.writable);
    }
    std::int64_t elements() const { return problem.shape().elements(); }
    static constexpr int kOfTile = 2;
    void prepare_for_tiles() { problem.prepare_inputs(); }
    void run() const { k.multiply(backend::emulator)(problem.work()); }
};

template <class Case>
emulated emulate_case(Case& of, const emulator::options& options) {
    emulator::session session(options);
    of.add_to(session);
    emulated result;
    result.every_block = options.every_block || of.elements() == 0;
    // Where only classes run, each launch's tiles are prepared just before it and checked at the end.
    std::vector<tile> tiles;
    session.on_sample([&](std::span<const emulator::sampled_tile> touched) {
        std::vector<tile> now;
        for (const auto& t : touched) now.push_back(of.problem.tile_at(t.operands[Case::kOfTile], t.rows, t.cols));
        of.problem.prepare(now);
        tiles.insert(tiles.end(), now.begin(), now.end());
    });
    if (result.every_block) {
        of.problem.prepare();
    } else {
        of.prepare_for_tiles();
    }
    try {
        of.run();
        result.finished = true;
    } catch (const error& broken) {
        result.found.fault = broken.what();
        result.refused = dynamic_cast<const unsupported*>(&broken) != nullptr;
        const auto* const found = dynamic_cast<const emulator::hazard*>(&broken);
        if (found != nullptr) result.hazard = found->kind();
    }
    result.report = session.report();
    if (!result.finished) return result;
    std::sort(tiles.begin(), tiles.end());
    tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
    result.found = result.every_block ? of.problem.check() : of.problem.check(tiles);
    return result;
}

}  // namespace

emulated emulate(const kernel& k, problem_shape shape, const emulator::options& options) {
    shape.does = k.does;
    matrices_to_move move{k, host_problem(shape)};
    return emulate_case(move, options);
}

emulated emulate(const kernel& k, const gemm_shape& shape, const emulator::options& options) {
    const gemm_work sizes = shape.checked().work(nullptr, nullptr, nullptr, nullptr);
    product_to_compute product{k, host_gemm(shape, k.workspace(backend::emulator, sizes))};
    emulator::options blocks = options;
    blocks.every_block = options.every_block || k.whole_only;
    return emulate_case(product, blocks);
}

void count_on_emulator(const kernel& k, const request& what, result& r) {
    if (!emulator_cannot(k).empty()) return;
    const emulated found = run_on_emulator(k, what, false);
    if (!found.finished && !found.hazard) return;
    result counted = begin_result(k, what);
    note(found, counted);
    r.launched = counted.launched;
    r.launches = counted.launches;
    r.grid = counted.grid;
    r.block = counted.block;
    r.counts = counted.counts;
    r.lines = counted.lines;
    if (counted.failed()) {
        r.verified = verification::failed;
        r.fault = counted.fault;
    }
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
