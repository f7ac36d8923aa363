#include "ops/transpose/operation.hpp"

#include <fmt/format.h>

#include "cornerturn/error.hpp"
#include "device/explanation.hpp"
#include "host/choice.hpp"
#include "host/team.hpp"
#include "ops/copy/movement.hpp"
#include "ops/copy/ways.hpp"
#if defined(CORNERTURN_WITH_CUDA)
#include "device/cuda_check.hpp"
#include "device/cuda_device.hpp"
#endif

namespace cornerturn {
namespace {

constexpr const char *kProduction = "transpose/production", *kHostProduction = "host/production";

std::vector<problem_shape> in_place(std::int64_t) {
    std::vector<problem_shape> all;
    for (std::int64_t side : {8192, 10007, 16384}) all.push_back({.rows = side, .cols = side, .in_place = true});
    return all;
}

operation_facts transpose_facts() {
    operation_facts all = movement_facts("transpose", {"transpose", "copy"});
    all.works = "transposes";
    return all;
}

class transposition final : public movement {
public:
    transposition() : movement(transpose_facts(), transposed) {}

    std::vector<option> explain_options() const override {
        return {{"--on", "cuda|host", "Where the transpose runs. Default: cuda."},
                {"--rows", "N", "Rows of the source. Default: 4096."},
                {"--cols", "N", "Columns of the source. Default: 4096."},
                {"--dtype", "u8|u16|f32|f64|c128...", "Type of the elements. Default: f32."},
                {"--element-size", "BYTES", "Size of an element, instead of --dtype."},
                facts().layout[0],
                facts().layout[1],
                facts().layout[2],
                facts().layout[3],
                {"--count", "N", "Matrices of a batch, one after the other. Default: 1."},
                {"--in-place", "", "Source and destination are the same memory."},
                {"--compute-capability", "N", "Compute capability of the GPU: 90 means 9.0. Default: 90."}};
    }

    explanation explain(const arguments& given) const override {
        const dtype type = find_dtype(given.text("--dtype", "f32"));
        problem_shape shape{.rows = given.size("--rows", 4096),
                            .cols = given.size("--cols", 4096),
                            .element_size = given.whole("--element-size", type.size, 1, kMostElementBytes),
                            .source_ld = given.size("--source-ld", 0),
                            .destination_ld = given.size("--destination-ld", 0),
                            .source_offset = given.size("--source-offset", 0),
                            .destination_offset = given.size("--destination-offset", 0),
                            .count = given.size("--count", 1),
                            .in_place = given.has("--in-place")};
        shape = shape.checked();
        matrix_work work = shape.work(nullptr, nullptr);
        // Nothing is read. The two addresses are far apart, and the offsets move them off a boundary.
        const auto address = [&](std::uintptr_t base, std::int64_t offset) {
            return reinterpret_cast<unsigned char*>(base + static_cast<std::uintptr_t>(offset * shape.element_size));
        };
        work.source = address(std::uintptr_t{1} << 40, shape.source_offset);
        work.destination = address(std::uintptr_t{shape.in_place ? 1u : 2u} << 40, shape.destination_offset);
        const int capability = given.whole("--compute-capability", 90, 0, 9999);
        const std::string on = given.text("--on", "cuda");
        if (on != "cuda" && on != "host")
            throw invalid_argument(fmt::format("--on is '{}': it must be cuda or host", on));
        const kernel& k = find_kernel(on == "cuda" ? kProduction : kHostProduction);
        const std::string text = fmt::format("{}: {}", k.id, k.traits<matrix_work>().explain(work, capability));
        explanation e{text,
                      {{"rows", shape.rows},
                       {"cols", shape.cols},
                       {"element_size", shape.element_size},
                       {"source_ld", shape.source_ld},
                       {"destination_ld", shape.destination_ld},
                       {"count", shape.count},
                       {"on", on},
                       {"compute_capability", capability},
                       {"choice", text}}};
        if (on == "host") e.json.erase("compute_capability");
        return e;
    }

    bench_contestants contestants(backend on) const override {
        switch (on) {
            case backend::cuda:
                return {kProduction,
                        "baseline/memcpy",
                        "baseline/",
                        "memcpy,copy,geam",
                        {"baseline/ordered@1", "baseline/ordered@4", "baseline/ordered@8", "baseline/ordered@assembled",
                         "baseline/ordered@memcpy2d"}};
            case backend::host:
                return {kHostProduction, "host/copy@memcpy", "host/", "copy@streamed,openblas,eigen,hptt,loop", {}};
            default: return {};
        }
    }

    std::vector<problem::candidate> candidates(backend on, const matrix_work& work) const override {
        if (on == backend::host) {
            std::vector<problem::candidate> all;
            for (host::named_way& one : host::ways_of(work, host::team({})))
                all.push_back({one.name, [run = std::move(one.run), work] { run(work); }, 0, one.numbers});
            return all;
        }
#if defined(CORNERTURN_WITH_CUDA)
        if (on == backend::cuda)
            return ways_of(canonical(work), device::gpu_of(device::launch_device()), moves::run_on_gpu);
#endif
        return ways_of(canonical(work), kH200, moves::run_emulated);
    }

protected:
    std::vector<shape_group> shape_groups() const override {
        std::vector<shape_group> all = movement::shape_groups();
        all.push_back({"in_place", in_place});
        return all;
    }
};

}  // namespace

const operation& transpose_operation() {
    static const transposition the_one;
    return the_one;
}

void transpose_step(backend on, const matrix_work& work) {
    run_as_preparation([&] { find_kernel(kProduction).built_for<matrix_work>(on)->run(work); });
}

}  // namespace cornerturn
