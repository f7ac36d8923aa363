// The bench of multiplications: one beside cublasSgemm over a grid of shapes, in one run and in turn.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/gemm_problem.hpp"
#include "device/registry.hpp"
#include "lab/bench.hpp"
#include "lab/table.hpp"

namespace cornerturn::lab {

struct gemm_cell {
    std::string group;
    gemm_shape shape;

    std::string text() const;  // "4095 x 4097 x 4099", "4096 x 4096 x 4096, A transposed": m x n x k
    double operations() const;
};

// The groups of shapes that there are.
const std::vector<std::string>& gemm_bench_groups();
std::vector<gemm_cell> gemm_bench_grid(const std::vector<std::string>& groups);

struct gemm_entry {
    std::string kernel, skipped = {}, fault = {};
    timing time = {};
    gemm_errors errors = {};  // after the timed runs

    bool timed() const { return skipped.empty() && fault.empty(); }
};

struct gemm_bench_result {
    gemm_cell cell;
    std::string skipped = {}, method = {};  // the whole cell, and why; how it was timed
    gemm_entry yardstick = {}, subject = {};

    double gflops(const gemm_entry& e) const { return cell.operations() / e.time.median_s / 1e9; }
    double ratio() const { return yardstick.time.median_s / subject.time.median_s; }
    bool compared() const { return skipped.empty() && yardstick.timed() && subject.timed(); }
};

struct gemm_bench_report {
    device_info device = {};
    double peak_flops = 0;
    const kernel* subject = nullptr;
    const kernel* yardstick = nullptr;
    double seconds = 0.5;
    std::uint64_t seed = 1;
    bool warm = false;
    std::vector<gemm_bench_result> results = {};
    nlohmann::ordered_json provenance = nullptr;
};

// A row a cell, then a row a group with the worst and the median ratio; then what was skipped and what failed.
std::string show_gemm_bench(const gemm_bench_report& report, format as);

class gemm_bencher {
public:
    virtual ~gemm_bencher() = default;
    virtual device_info device() const = 0;
    virtual double peak_flops() const = 0;
    virtual gemm_bench_result run(const gemm_cell& cell, const gemm_bench_report& what) = 0;
};
// Throws unsupported, saying what was found instead, where no GPU answers or the program was built without CUDA.
std::unique_ptr<gemm_bencher> cuda_gemm_bencher();

}  // namespace cornerturn::lab
