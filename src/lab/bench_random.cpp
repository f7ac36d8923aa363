#include "lab/bench_random.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <span>

#include "lab/statistics.hpp"

namespace cornerturn::lab {
namespace {

using nlohmann::ordered_json;
using cells = std::vector<const bench_result*>;

constexpr std::size_t kWorst = 10;
constexpr const char* kOrderedCopy = "ordered copy";
// A small cell should take at most this many times a copy's time.
constexpr double kMostTimes = 1.25;

struct share_of_cells {
    const char *name, *json;
    double share;
};
constexpr share_of_cells kLow[] = {{"minimum", "min", 0}, {"1 %", "p1", 0.01},   {"5 %", "p5", 0.05},
                                   {"10 %", "p10", 0.1},  {"25 %", "p25", 0.25}, {"median", "median", 0.5}};
constexpr share_of_cells kHigh[] = {{"median", "median", 0.5}, {"75 %", "p75", 0.75}, {"90 %", "p90", 0.9},
                                    {"95 %", "p95", 0.95},     {"99 %", "p99", 0.99}, {"maximum", "max", 1}};
// A cell with a larger regret counts as regretted.
constexpr double kRegretted = 0.05;

std::set<std::string> classes_of(const bench_result& r) {
    const std::vector<std::string> names = r.cell.work->shape_classes();
    return {names.begin(), names.end()};
}

cells compared_cells(const bench_report& report) {
    cells all;
    for (const bench_result& r : report.results) {
        if (r.compared(r.subject)) all.push_back(&r);
    }
    return all;
}

// ---- Ways of calling ------------------------------------------------------------------------------------------------

// The value of a cell in tables: the reference's time divided by the entry's. For small cells the inverse.
double value_of(const bench_report& report, const bench_result& r, const bench_entry& e) {
    const double ratio = reference_ratio_of(report, r, e);
    return report.request.small ? 1 / ratio : ratio;
}

std::string yardstick_name(const bench_report& report) {
    return report.request.small ? "the fastest copy" : short_name(*report.request.yardstick);
}

// The usual way, or one of bench_request::ways.
class way_of_calling {
public:
    explicit way_of_calling(const bench_report& report) : report_(&report) {}
    way_of_calling(const bench_report& report, std::size_t way) : report_(&report), way_(way) {}

    std::string name() const {
        return way_ ? report_->request.ways[*way_].name : report_->request.op->facts().usual_way;
    }
    cells compared() const {
        if (!way_) return compared_cells(*report_);
        cells all;
        for (const bench_result& r : report_->results) {
            if (r.skipped.empty() && r.ways[*way_].compared()) all.push_back(&r);
        }
        return all;
    }
    double value(const bench_result& r) const {
        return way_ ? r.ways[*way_].ratio() : value_of(*report_, r, r.subject);
    }
    // Lower is worse.
    double reference_ratio(const bench_result& r) const {
        return way_ ? r.ways[*way_].ratio() : reference_ratio_of(*report_, r, r.subject);
    }
    bool has_ordered_reference(const bench_result& r) const { return !way_ && r.has_ordered_reference(); }
    const bench_entry& reference(const bench_result& r) const {
        return way_ ? r.ways[*way_].yardstick : reference_of(*report_, r);
    }
    std::string yardstick() const {
        return way_ ? short_name(*report_->request.ways[*way_].yardstick) : yardstick_name(*report_);
    }
    cells worst() const {
        cells all = compared();
        std::stable_sort(all.begin(), all.end(), [&](const bench_result* a, const bench_result* b) {
            return reference_ratio(*a) < reference_ratio(*b);
        });
        all.resize(std::min(all.size(), kWorst));
        return all;
    }

private:
    const bench_report* report_;
    std::optional<std::size_t> way_;
};

std::vector<way_of_calling> ways_of(const bench_report& report) {
    std::vector<way_of_calling> all = {way_of_calling(report)};
    for (std::size_t i = 0; i < report.request.ways.size(); ++i) all.emplace_back(report, i);
    return all;
}

// ---- Percentiles ----------------------------------------------------------------------------------------------------

// The percentiles on the bad side.
std::span<const share_of_cells> shares(const bench_report& report) {
    if (report.request.small) return kHigh;
    return kLow;
}

// The values of some of the cells, for one yardstick.
struct ratios {
    std::string way, subset, yardstick;
    std::vector<double> values;

    double above(double most) const {
        const auto count = std::count_if(values.begin(), values.end(), [&](double x) { return x > most; });
        return static_cast<double>(count) / static_cast<double>(values.size());
    }
};

// One entry for each yardstick that some of the cells are compared with.
void add_by_yardstick(const way_of_calling& way, const std::string& name, const cells& some, std::vector<ratios>& out) {
    for (const bool by_order : {false, true}) {
        ratios found{way.name(), name, by_order ? kOrderedCopy : way.yardstick(), {}};
        for (const bench_result* r : some) {
            if (way.has_ordered_reference(*r) == by_order) found.values.push_back(way.value(*r));
        }
        if (!found.values.empty()) out.push_back(std::move(found));
    }
}

void add_ratios(const bench_report& report, const way_of_calling& way, std::vector<ratios>& out) {
    const cells all = way.compared();
    const std::size_t before = out.size();
    add_by_yardstick(way, "all", all, out);
    if (out.size() > before + 1) {
        const bool small = report.request.small;
        ratios every{way.name(), "all", small ? "either copy" : way.yardstick() + " (all cells)", {}};
        for (const bench_result* r : all) every.values.push_back(small ? way.value(*r) : r->ratio(r->subject));
        out.push_back(std::move(every));
    }
    std::set<std::string> kinds, classes;
    std::set<int> sizes;
    for (const bench_result* r : all) {
        kinds.insert(r->cell.group);
        classes.merge(classes_of(*r));
        if (report.request.op->facts().of_sizes()) sizes.insert(r->cell.work->type().size);
    }
    const auto add = [&](const std::string& name, auto belongs) {
        cells some;
        std::copy_if(all.begin(), all.end(), std::back_inserter(some), belongs);
        add_by_yardstick(way, name, some, out);
    };
    for (const std::string& kind : kinds) add(kind, [&](const bench_result* r) { return r->cell.group == kind; });
    for (const std::string& name : classes)
        add(name, [&](const bench_result* r) { return classes_of(*r).contains(name); });
    for (int size : sizes) {
        add(fmt::format("{} bytes", size), [&](const bench_result* r) { return r->cell.work->type().size == size; });
    }
    if (!report.request.small) return;
    const auto mib_of = [](const bench_result* r) {
        return static_cast<double>(r->cell.work->bytes()) / 2 / (1 << 20);
    };
    add("below 4 MiB", [&](const bench_result* r) { return mib_of(r) < 4; });
    add("4 to 16 MiB", [&](const bench_result* r) { return mib_of(r) >= 4 && mib_of(r) < 16; });
    add("from 16 MiB", [&](const bench_result* r) { return mib_of(r) >= 16; });
}

std::vector<ratios> all_ratios(const bench_report& report) {
    std::vector<ratios> all;
    for (const way_of_calling& way : ways_of(report)) add_ratios(report, way, all);
    return all;
}

// One row for each entry of `all`. Two columns name it, and a third if there are several ways of calling.
table percentiles_table(const bench_report& report, const char* first, const char* second,
                        const std::vector<ratios>& all) {
    table t;
    const bool has_ways = std::any_of(all.begin(), all.end(), [](const ratios& r) { return !r.way.empty(); });
    if (has_ways) t.columns.push_back({"way of calling"});
    t.columns.insert(t.columns.end(), {{first}, {second}, {"cells", true}});
    for (const auto& [name, json, share] : shares(report)) t.columns.push_back({name, true});
    if (report.request.small) t.columns.push_back({fmt::format("above {}", kMostTimes), true});
    for (const ratios& r : all) {
        std::vector<std::string> row;
        if (has_ways) row.push_back(r.way);
        row.insert(row.end(), {r.subset, r.yardstick, std::to_string(r.values.size())});
        for (const auto& [name, json, share] : shares(report))
            row.push_back(fmt::format("{:.3f}", percentile(r.values, share)));
        if (report.request.small) row.push_back(fmt::format("{:.1f} %", 100 * r.above(kMostTimes)));
        t.rows.push_back(std::move(row));
    }
    return t;
}

table ratios_table(const bench_report& report) {
    return percentiles_table(report, "subset", report.request.small ? "time ratio to" : "yardstick",
                             all_ratios(report));
}

// ---- The others -----------------------------------------------------------------------------------------------------

// Each peer on the cells that it takes, and the subject on the same cells.
table peers_table(const bench_report& report) {
    std::vector<ratios> all;
    for (std::size_t i = 0; i < report.request.peers.size(); ++i) {
        std::vector<double> peers, subjects;
        for (const bench_result* r : compared_cells(report)) {
            if (!r->compared(r->peers[i])) continue;
            peers.push_back(value_of(report, *r, r->peers[i]));
            subjects.push_back(value_of(report, *r, r->subject));
        }
        if (peers.empty()) continue;
        const std::string name = short_name(*report.request.peers[i]);
        all.push_back({{}, name, name, std::move(peers)});
        all.push_back({{}, name, report.request.subject->id, std::move(subjects)});
    }
    return percentiles_table(report, "peer", report.request.small ? "time ratio of" : "ratio of", all);
}

table ordered_table(const bench_report& report) {
    table t{{{kOrderedCopy}, {"cells", true}, {"fastest in", true}}, {}};
    for (std::size_t i = 0; i < report.request.ordered_copies.size(); ++i) {
        int taken = 0, fastest = 0;
        for (const bench_result& r : report.results) {
            if (r.ordered_copies.empty() || !r.compared(r.ordered_copies[i])) continue;
            ++taken;
            fastest += &r.reference() == &r.ordered_copies[i];
        }
        if (taken > 0)
            t.rows.push_back(
                {short_name(*report.request.ordered_copies[i]), std::to_string(taken), std::to_string(fastest)});
    }
    return t;
}

// On a terminal, a cell's shape and the library's choice are below its row.
table worst_table(const bench_report& report, const way_of_calling& way, format as) {
    const std::string heading = "the worst cells" + (report.request.ways.empty() ? "" : ", " + way.name());
    const table::column ratio = {report.request.small ? "time ratio" : "ratio", true};
    const table::column reference = {"compared with"};
    table t;
    if (as == format::table)
        t.columns = {{heading}, ratio, reference};
    else
        t.columns = {{"kind"}, {heading}, ratio, reference, {"choice"}};
    for (const bench_result* r : way.worst()) {
        const std::string shape = where_text(report, *r), value = fmt::format("{:.3f}", way.value(*r));
        const std::string &kind = r->cell.group, &by = way.reference(*r).kernel;
        if (as == format::table) {
            t.rows.push_back({kind, value, by});
            t.below.push_back(r->choice.empty() ? shape : shape + "; " + r->choice);
        } else {
            t.rows.push_back({kind, shape, value, by, r->choice.empty() ? "-" : r->choice});
        }
    }
    return t;
}

ordered_json worst_json(const bench_report& report, const way_of_calling& way) {
    ordered_json out = ordered_json::array();
    for (const bench_result* r : way.worst()) {
        out.push_back({{"way", way.name()},
                       {"kind", r->cell.group},
                       {"shape", where_text(report, *r)},
                       {"ratio", way.value(*r)},
                       {"choice", r->choice}});
    }
    return out;
}

// ---- Regret ---------------------------------------------------------------------------------------------------------

cells with_regret(const bench_report& report) {
    cells all;
    for (const bench_result& r : report.results) {
        if (r.regret && r.regret->fault.empty()) all.push_back(&r);
    }
    return all;
}

struct regrets {
    std::vector<double> shares;
    int candidates = 0;    // in all cells
    double regretted = 0;  // share of cells
    double mean = 0;

    explicit regrets(const cells& all) {
        for (const bench_result* r : all) {
            shares.push_back(r->regret->share());
            candidates += r->regret->candidates;
        }
        const auto above = std::count_if(shares.begin(), shares.end(), [](double x) { return x > kRegretted; });
        const auto count = static_cast<double>(std::max<std::size_t>(1, shares.size()));
        regretted = static_cast<double>(above) / count;
        mean = std::accumulate(shares.begin(), shares.end(), 0.0) / count;
    }
};

std::string regret_text(const bench_report& report, format as) {
    cells all = with_regret(report);
    if (all.empty()) {
        const std::string none =
            "Regret: not measured in any cell, because the library does not choose among several kernels there, or a "
            "candidate failed.\n";
        return as == format::table ? wrapped(none) : none;
    }
    const regrets found(all);
    std::string out = fmt::format(
        "Regret: how much longer the library's choice takes than the best candidate. {} candidates were timed in {} "
        "cells. The mean is {:.1f} %, and the regret is above 5 % in {:.1f} % of the cells. Predicted: the predicted "
        "time "
        "of the choice, divided by its measured time.\n\n",
        found.candidates, all.size(), 100 * found.mean, 100 * found.regretted);
    if (as == format::table) out = wrapped(out);
    table t{{}, {{}}};
    for (const auto& [name, json, share] : kHigh) {
        t.columns.push_back({name, true});
        t.rows[0].push_back(fmt::format("{:.1f} %", 100 * percentile(found.shares, share)));
    }
    out += t.print(as) + "\n";
    std::stable_sort(all.begin(), all.end(), [](const bench_result* a, const bench_result* b) {
        return a->regret->share() > b->regret->share();
    });
    all.resize(std::min(all.size(), kWorst));
    const bool on_terminal = as == format::table;
    table worst{{{"kind"}, {"the largest regrets"}, {"regret", true}, {"predicted", true}, {"chosen"}, {"best"}}, {}};
    if (on_terminal) worst.columns = {{"the largest regrets"}, {"regret", true}, {"predicted", true}};
    for (const bench_result* r : all) {
        const std::string shape = where_text(report, *r), share = fmt::format("{:.1f} %", 100 * r->regret->share());
        const bench_regret& regret = *r->regret;
        const std::string predicted = regret.predicted() > 0 ? fmt::format("{:.2f}", regret.predicted()) : "-";
        if (on_terminal) {
            worst.rows.push_back({r->cell.group, share, predicted});
            worst.below.push_back(fmt::format("{}; chosen: {}; best: {}", shape, regret.chosen, regret.best));
        } else {
            worst.rows.push_back({r->cell.group, shape, share, predicted, regret.chosen, regret.best});
        }
    }
    return out + worst.print(as);
}

}  // namespace

std::string show_random(const bench_report& report, format as) {
    std::string out;
    std::vector<table> tables = {ratios_table(report), peers_table(report), ordered_table(report)};
    for (const way_of_calling& way : ways_of(report)) tables.push_back(worst_table(report, way, as));
    for (const table& t : tables) {
        if (!t.rows.empty()) out += (out.empty() ? "" : "\n") + t.print(as);
    }
    if (report.request.regret) out += "\n" + regret_text(report, as);
    return out;
}

ordered_json random_json(const bench_report& report) {
    ordered_json out = {
        {"count", report.request.random_cells}, {"seed", report.request.seed}, {"rounds", report.request.rounds}};
    if (report.request.small) out["small"] = true;
    ordered_json& rows = out[report.request.small ? "times" : "ratios"] = ordered_json::array();
    for (const ratios& r : all_ratios(report)) {
        ordered_json row = ordered_json::object();
        if (!report.request.ways.empty()) row["way"] = r.way;
        row.update({{"of", r.subset}, {"yardstick", r.yardstick}, {"cells", r.values.size()}});
        for (const auto& [name, json, share] : shares(report)) row[json] = percentile(r.values, share);
        if (report.request.small) row["above_1.25"] = r.above(kMostTimes);
        rows.push_back(row);
    }
    if (!report.request.ways.empty()) {
        out["worst"] = ordered_json::array();
        for (const way_of_calling& way : ways_of(report)) {
            for (ordered_json& cell : worst_json(report, way)) out["worst"].push_back(std::move(cell));
        }
    }
    if (const cells all = with_regret(report); !all.empty()) {
        const regrets found(all);
        out["regret"] = {{"cells", all.size()},
                         {"candidates", found.candidates},
                         {"mean", found.mean},
                         {"above_5_percent", found.regretted}};
        for (const auto& [name, json, share] : kHigh) out["regret"][json] = percentile(found.shares, share);
    }
    return out;
}

}  // namespace cornerturn::lab
