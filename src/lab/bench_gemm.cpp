#include "lab/bench_gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cornerturn/error.hpp"
#include "lab/bench_views.hpp"
#include "lab/run.hpp"
#include "lab/statistics.hpp"

namespace cornerturn::lab {
namespace {

using nlohmann::ordered_json;

struct gemm_group {
    const char* name;
    std::vector<gemm_shape> (*shapes)();
};

std::vector<gemm_shape> squares() {
    std::vector<gemm_shape> all;
    for (std::int64_t side = 256; side <= 16384; side *= 2) all.push_back({.m = side, .n = side, .k = side});
    return all;
}
std::vector<gemm_shape> ragged() {
    return {{.m = 4095, .n = 4097, .k = 4099}, {.m = 1000, .n = 1000, .k = 1000}, {.m = 8191, .n = 8191, .k = 8191}};
}
std::vector<gemm_shape> oblong() {
    return {{.m = 128, .n = 8192, .k = 8192}, {.m = 8192, .n = 128, .k = 8192}, {.m = 8192, .n = 8192, .k = 128},
            {.m = 64, .n = 64, .k = 65536},   {.m = 16, .n = 8192, .k = 8192},  {.m = 8192, .n = 16, .k = 8192},
            {.m = 131072, .n = 256, .k = 256}};
}
std::vector<gemm_shape> transposes() {
    std::vector<gemm_shape> all;
    for (std::int64_t side : {1024, 4096}) {
        for (bool a : {false, true}) {
            for (bool b : {false, true}) all.push_back({.m = side, .n = side, .k = side, .a_turned = a, .b_turned = b});
        }
    }
    return all;
}
std::vector<gemm_shape> padded() {
    constexpr std::int64_t kSide = 4096;
    const gemm_shape plain{.m = kSide, .n = kSide, .k = kSide};
    gemm_shape ld = plain, offset = plain;
    ld.lda = ld.ldb = ld.ldc = kSide + 1;
    offset.a_offset = offset.b_offset = offset.c_offset = 1;
    return {ld, offset};
}

constexpr gemm_group kGroups[] = {
    {"squares", squares}, {"ragged", ragged}, {"oblong", oblong}, {"transposes", transposes}, {"padded", padded}};

std::string flops_text(const gemm_bench_result& r, const gemm_entry& e) {
    if (!r.skipped.empty() || !e.skipped.empty()) return "-";
    return e.fault.empty() ? fmt::format("{:.2f}", r.gflops(e) / 1e3) : "WRONG";
}

table cells_table(const gemm_bench_report& report) {
    table t{{{"group"},
             {"m x n x k"},
             {"us", true},
             {"TFLOP/s", true},
             {"of peak", true},
             {"cublasSgemm TFLOP/s", true},
             {"ratio", true},
             {"error, of cuBLAS's: largest", true},
             {"Frobenius", true},
             {"timed"}},
            {}};
    const auto ratio_text = [](double a, double b) { return b == 0 ? "-" : fmt::format("{:.2f}", a / b); };
    for (const gemm_bench_result& r : report.results) {
        const bool timed = r.skipped.empty() && r.subject.timed(), compared = r.compared();
        t.rows.push_back({r.cell.group, r.cell.text(),
                          timed ? fmt::format("{:.2f}", r.subject.time.median_s * 1e6) : "-", flops_text(r, r.subject),
                          timed ? fmt::format("{:.3f}", r.gflops(r.subject) * 1e9 / report.peak_flops) : "-",
                          flops_text(r, r.yardstick), compared ? fmt::format("{:.3f}", r.ratio()) : "-",
                          compared ? ratio_text(r.subject.errors.largest, r.yardstick.errors.largest) : "-",
                          compared ? ratio_text(r.subject.errors.frobenius, r.yardstick.errors.frobenius) : "-",
                          r.skipped.empty() ? r.method : "skipped"});
    }
    return t;
}

table groups_table(const gemm_bench_report& report) {
    table t{{{"group"}, {"cells", true}, {"worst", true}, {"at (m x n x k)"}, {"median", true}, {"< 1", true}}, {}};
    std::map<std::string, std::vector<const gemm_bench_result*>> by_group;
    for (const gemm_bench_result& r : report.results) {
        if (!r.compared()) continue;
        by_group[r.cell.group].push_back(&r);
        by_group["all"].push_back(&r);
    }
    std::vector<std::string> names = gemm_bench_groups();
    if (by_group.size() > 2) names.emplace_back("all");
    for (const std::string& name : names) {
        const auto& cells = by_group[name];
        if (cells.empty()) continue;
        const auto worst = *std::min_element(cells.begin(), cells.end(),
                                             [](const auto* a, const auto* b) { return a->ratio() < b->ratio(); });
        std::vector<double> ratios;
        for (const auto* r : cells) ratios.push_back(r->ratio());
        t.rows.push_back({name, std::to_string(cells.size()), fmt::format("{:.3f}", worst->ratio()), worst->cell.text(),
                          fmt::format("{:.3f}", percentile(ratios, 0.5)),
                          std::to_string(std::count_if(ratios.begin(), ratios.end(), [](double x) { return x < 1; }))});
    }
    return t;
}

std::string remarks(const gemm_bench_report& report) {
    std::string out;
    for (const gemm_bench_result& r : report.results) {
        if (!r.skipped.empty()) out += fmt::format("skipped {}: {}\n", r.cell.text(), r.skipped);
        for (const gemm_entry* e : {&r.yardstick, &r.subject}) {
            if (!e->skipped.empty()) out += fmt::format("skipped {}, {}: {}\n", e->kernel, r.cell.text(), e->skipped);
            if (!e->fault.empty()) out += fmt::format("FAILED {}, {}: {}\n", e->kernel, r.cell.text(), e->fault);
        }
    }
    return out;
}

ordered_json entry_json(const gemm_bench_result& r, const gemm_entry& e) {
    ordered_json out = outcome_json(e.kernel, e.skipped, e.fault);
    if (!e.timed()) return out;
    out["time"] = to_json(e.time);
    out["gflops"] = r.gflops(e);
    out["error"] = {{"largest", e.errors.largest}, {"frobenius", e.errors.frobenius}};
    return out;
}

ordered_json cell_json(const gemm_bench_result& r) {
    const gemm_shape s = r.cell.shape.checked();
    ordered_json out = {
        {"group", r.cell.group},      {"shape", r.cell.text()},     {"m", s.m},     {"n", s.n},     {"k", s.k},
        {"a_transposed", s.a_turned}, {"b_transposed", s.b_turned}, {"lda", s.lda}, {"ldb", s.ldb}, {"ldc", s.ldc},
        {"offset", s.a_offset}};
    out["status"] = r.skipped.empty() ? "ran" : "skipped";
    if (!r.skipped.empty()) {
        out["reason"] = r.skipped;
        return out;
    }
    out["method"] = r.method;
    out["yardstick"] = entry_json(r, r.yardstick);
    out["subject"] = entry_json(r, r.subject);
    if (r.compared()) out["ratio"] = r.ratio();
    return out;
}

}  // namespace

std::string gemm_cell::text() const {
    std::string out = fmt::format("{} x {} x {}", shape.m, shape.n, shape.k);
    if (shape.a_turned && shape.b_turned)
        out += ", A and B transposed";
    else if (shape.a_turned || shape.b_turned)
        out += shape.a_turned ? ", A transposed" : ", B transposed";
    if (shape.lda > shape.k) out += fmt::format(", ld + {}", shape.lda - shape.k);
    if (shape.a_offset > 0) out += fmt::format(", offset {}", shape.a_offset);
    return out;
}

double gemm_cell::operations() const {
    return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
}

const std::vector<std::string>& gemm_bench_groups() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const gemm_group& g : kGroups) all.emplace_back(g.name);
        return all;
    }();
    return names;
}

std::vector<gemm_cell> gemm_bench_grid(const std::vector<std::string>& groups) {
    std::vector<gemm_cell> grid;
    for (const gemm_group& g : kGroups) {
        if (std::find(groups.begin(), groups.end(), g.name) == groups.end()) continue;
        for (const gemm_shape& shape : g.shapes()) grid.push_back({g.name, shape});
    }
    return grid;
}

std::string show_gemm_bench(const gemm_bench_report& report, format as) {
    if (as == format::json) {
        ordered_json out = {{"bench", "gemm"},
                            {"subject", report.subject->id},
                            {"yardstick", "cublasSgemm, pedantic FP32"},
                            {"device", to_json(report.device)},
                            {"peak_gflops", report.peak_flops / 1e9},
                            {"seed", report.seed},
                            {"seconds", report.seconds}};
        if (!report.provenance.is_null()) out["provenance"] = report.provenance;
        ordered_json cells = ordered_json::array();
        for (const gemm_bench_result& r : report.results) cells.push_back(cell_json(r));
        return print_cells(out, cells);
    }
    const std::string cells = cells_table(report).print(as);
    if (as == format::csv) return cells;
    const table groups = groups_table(report);
    const std::string more = remarks(report);
    return fmt::format("{} on {}; seed {}; ratios to cublasSgemm in pedantic FP32, measured in turn\n\n",
                       report.subject->id, report.device.text(), report.seed) +
           cells + (groups.rows.empty() ? "" : "\n" + groups.print(as)) + (more.empty() ? "" : "\n" + more);
}

#if !defined(CORNERTURN_WITH_CUDA)
std::unique_ptr<gemm_bencher> cuda_gemm_bencher() {
    std::string reason;
    cuda_available(reason);
    throw unsupported("no GPU to run on: " + reason);
}
#endif

}  // namespace cornerturn::lab
