#include "report/tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lab/statistics.hpp"
#include "report/charts.hpp"
#include "report/number_text.hpp"

namespace cornerturn::report {
namespace {

// Smaller matrices in host memory stay in the caches. bytes counts those read and those written.
bool is_large(const cell& c) { return c.bytes >= 2 * 64e6; }

// 12,345.6
std::string microseconds(double seconds) {
    const double tenths = std::round(seconds * 1e7), whole = std::floor(tenths / 10);
    return fmt::format("{}.{}", grouped(whole), static_cast<int>(tenths - whole * 10));
}

std::string short_number(double value) {
    if (value == std::floor(value)) return fmt::format("{:.0f}", value);
    return fmt::format("{:.2f}", value);
}

const double* find(const counter_values& all, const std::string& name) {
    const auto at = all.find(name);
    return at == all.end() ? nullptr : &at->second;
}

// A counter per request. "-" if there were no requests.
text per(const counter_values& all, const lab::metric& counter, const lab::metric& requests) {
    const double *const sum = find(all, counter.name), *const of = find(all, requests.name);
    return sum == nullptr || of == nullptr || *of <= 0 ? "-" : short_number(*sum / *of);
}

// Two counters of the same kind, of loads and of stores: lab::metrics() lists them in pairs.
struct load_store_pair {
    const char* name;
    std::size_t first;
};
constexpr load_store_pair kPairs[] = {
    {"global requests", 0}, {"sectors", 2}, {"shared requests", 4}, {"wavefronts", 6}};

struct hardware_column {
    const char *metric, *heading;
};
constexpr hardware_column kHardwareOnly[] = {
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM, % of peak"},
    {"dram__bytes_read.sum", "DRAM bytes read"},
    {"dram__bytes_write.sum", "DRAM bytes written"},
    {"l1tex__t_sector_hit_rate.pct", "L1 hits %"},
    {"lts__t_sector_hit_rate.pct", "L2 hits %"},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", "occupancy %"},
    {"sm__maximum_warps_per_active_cycle_pct", "possible occupancy %"},
    {"launch__registers_per_thread", "registers"},
    {"smsp__inst_executed.sum", "warp instructions"},
    {"smsp__sass_inst_executed_op_shared_ld.sum", "shared loads"},
    {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefronts of shared loads"},
    {"smsp__cycles_active.avg.pct_of_peak_sustained_elapsed", "cycles active %"},
};

std::vector<double> yardstick_rates(const document& d) {
    std::vector<double> rates;
    if (const ladder* const l = d.as_ladder()) {
        for (const rung& r : l->rungs) {
            if (r.time) rates.push_back(r.yardstick_rate);
        }
        return rates;
    }
    const auto& cells = std::get<bench>(d.results).cells;
    const bool large_alone = d.device.kind == "host" && std::any_of(cells.begin(), cells.end(), is_large);
    for (const cell& c : cells) {
        if (c.yardstick.timed() && (!large_alone || is_large(c))) rates.push_back(c.yardstick.rate);
    }
    return rates;
}

}  // namespace

text_table times(const ladder& l) {
    const bool peak = std::any_of(l.rungs.begin(), l.rungs.end(), [](const rung& r) { return r.of_peak > 0; });
    const operation_facts& facts = l.op->facts();
    const std::string unit = facts.rate.name;
    double noted = 0;  // the notes' rate of the yardstick, which is their highest
    for (const rung& r : l.rungs) noted = std::max(noted, r.noted);
    text_table t{{{"id"}, {"median us", true}, {"p10-p90", true}, {unit, true}, {"of " + l.yardstick, true}}, {}};
    if (peak) t.columns.push_back({"of peak", true});
    if (noted > 0) {
        const std::string source = facts.published_source;
        t.columns.push_back({fmt::format("{}: {}", source.substr(0, source.find(',')), unit), true});
        t.columns.push_back({fmt::format("of its {}", facts.yardstick), true});
    }
    for (const rung& r : l.rungs) {
        if (!r.time && !r.failed) continue;
        std::vector<text> row = {{r.kernel, tone::code}};
        if (r.failed) {
            row.insert(row.end(), {{"WRONG", tone::bad}, "-", "-", "-"});
        } else {
            row.insert(row.end(),
                       {microseconds(r.time->median_s), microseconds(r.time->p10_s) + "-" + microseconds(r.time->p90_s),
                        grouped(r.rate), fmt::format("{:.3f}", r.ratio)});
        }
        if (peak) row.push_back(r.of_peak > 0 ? fmt::format("{:.2f}", r.of_peak) : "-");
        if (noted > 0) {
            row.push_back(r.noted > 0 ? grouped(r.noted) : "-");
            row.push_back(r.noted > 0 ? fmt::format("{:.2f}", r.noted / noted) : "-");
        }
        t.rows.push_back(std::move(row));
    }
    return t;
}

text_table counters(const ladder& l) {
    text_table t{{{"id"},
                  {"sectors/request ld", true},
                  {"sectors/request st", true},
                  {"wavefronts/request ld", true},
                  {"wavefronts/request st", true},
                  {"bank conflicts ld", true},
                  {"bank conflicts st", true},
                  {"verified"}},
                 {}};
    const auto& metrics = lab::metrics();
    for (const rung& r : l.rungs) {
        if (!r.ran()) continue;
        std::vector<text> row = {{r.kernel, tone::code}};
        for (auto [counter, requests] : {std::pair(2, 0), {3, 1}, {6, 4}, {7, 5}}) {
            row.push_back(per(r.counted(), metrics[static_cast<std::size_t>(counter)],
                              metrics[static_cast<std::size_t>(requests)]));
        }
        for (const auto& conflicts : r.conflicts) row.push_back(conflicts ? grouped(*conflicts) : "-");
        row.push_back(r.failed ? text("NO", tone::bad) : text(!r.checked ? "-" : r.sampled ? "sampled" : "yes"));
        t.rows.push_back(std::move(row));
    }
    return t;
}

bool disagrees(const rung& r) {
    return std::any_of(lab::metrics().begin(), lab::metrics().end(), [&](const lab::metric& m) {
        const double *const a = find(r.emulated, m.name), *const b = find(r.hardware, m.name);
        return a != nullptr && b != nullptr && *a != *b;
    });
}

text_table agreement(const ladder& l) {
    text_table t{{{"id"}}, {}};
    for (const load_store_pair& pair : kPairs) t.columns.push_back({fmt::format("{} ld, st", pair.name)});
    for (const rung& r : l.rungs) {
        if (r.emulated.empty() || r.hardware.empty()) continue;
        std::vector<text> row = {{r.kernel, tone::code}};
        for (const load_store_pair& pair : kPairs) {
            std::string differing;
            bool known = true;
            for (std::size_t store : {0, 1}) {
                const std::string name = lab::metrics()[pair.first + store].name;
                const double *const a = find(r.emulated, name), *const b = find(r.hardware, name);
                known = known && a != nullptr && b != nullptr;
                if (a != nullptr && b != nullptr && *a != *b)
                    differing += fmt::format("{}{} {} / {}", differing.empty() ? "" : ", ", store == 0 ? "ld" : "st",
                                             grouped(*a), grouped(*b));
            }
            row.push_back(!differing.empty() ? text(differing, tone::bad) : text(known ? "=" : "-"));
        }
        t.rows.push_back(std::move(row));
    }
    return t;
}

text_table hardware_only(const ladder& l) {
    text_table t{{{"id"}}, {}};
    std::vector<const hardware_column*> present;
    for (const hardware_column& column : kHardwareOnly) {
        if (std::any_of(l.rungs.begin(), l.rungs.end(),
                        [&](const rung& r) { return find(r.hardware, column.metric); })) {
            present.push_back(&column);
            t.columns.push_back({column.heading, true});
        }
    }
    const bool waits =
        std::any_of(l.rungs.begin(), l.rungs.end(), [](const rung& r) { return lab::longest_wait(r.hardware) != "-"; });
    if (waits) t.columns.push_back({"longest wait", true});
    for (const rung& r : l.rungs) {
        std::vector<text> row = {{r.kernel, tone::code}};
        bool any = false;
        for (const hardware_column* column : present) {
            const double* const value = find(r.hardware, column->metric);
            any = any || value != nullptr;
            row.push_back(value == nullptr ? "-" : *value < 1000 ? fmt::format("{:.4g}", *value) : grouped(*value));
        }
        if (waits) row.push_back(lab::longest_wait(r.hardware));
        if (any) t.rows.push_back(std::move(row));
    }
    return t;
}

text_table by_group(const bench& b, bool host) {
    const std::vector<std::string> all = contestants(b);
    text_table t{{{"shapes"}, {"bytes per element", true}}, {}};
    for (const std::string& who : all)
        t.columns.push_back({who == "subject" ? subject_name(b) : contestant_name(who), true});
    std::vector<std::string> groups;
    std::map<std::size_t, std::set<int>> sizes;
    for (const cell& c : b.cells) {
        if (host && !is_large(c)) continue;
        const auto at = static_cast<std::size_t>(std::find(groups.begin(), groups.end(), c.group) - groups.begin());
        if (at == groups.size()) groups.push_back(c.group);
        sizes[at].insert(c.element_size);
    }
    for (std::size_t group = 0; group < groups.size(); ++group) {
        for (int size : sizes[group]) {
            std::vector<text> row = {groups[group], std::to_string(size)};
            for (const std::string& who : all) {
                std::vector<double> ratios;
                bool wrong = false;
                for (const cell& c : b.cells) {
                    const entry* const e = find_entry(c, who);
                    if (c.group != groups[group] || c.element_size != size || (host && !is_large(c)) || e == nullptr)
                        continue;
                    wrong = wrong || !e->fault.empty();
                    if (e->timed() && e->ratio > 0) ratios.push_back(e->ratio);
                }
                if (wrong) {
                    row.push_back({"WRONG", tone::bad});
                } else {
                    row.push_back(ratios.empty()
                                      ? "-"
                                      : fmt::format("{} / {}",
                                                    ratio_text(*std::min_element(ratios.begin(), ratios.end())),
                                                    ratio_text(lab::percentile(ratios, 0.5))));
                }
            }
            t.rows.push_back(std::move(row));
        }
    }
    return t;
}

text_table by_shape(const bench& b) {
    const operation_facts& facts = b.facts();
    const bool tera = facts.rate.arithmetic != nullptr;
    text_table t{{{facts.shape_heading}, {tera ? "TFLOP/s" : facts.rate.name, true}}, {}};
    if (b.peak > 0) t.columns.push_back({"of peak", true});
    t.columns.push_back({facts.yardstick, true});
    t.columns.push_back({"ratio", true});
    std::vector<std::string> calls;  // the ways of calling
    for (const cell& c : b.cells) {
        for (const timed_call& call : c.calls) {
            if (std::find(calls.begin(), calls.end(), call.name) == calls.end()) calls.push_back(call.name);
        }
    }
    for (const std::string& call : calls) t.columns.push_back({"ratio, " + call, true});
    for (const bench_comparison& by : facts.comparisons) t.columns.push_back({by.heading, true});
    const auto ratio_of = [](const entry& e) -> text {
        if (!e.fault.empty()) return {"WRONG", tone::bad};
        return e.ratio > 0 ? fmt::format("{:.3f}", e.ratio) : std::string("-");
    };
    const auto rate = [&](const entry& e) {
        return e.timed() ? fmt::format("{:.1f}", tera ? e.rate / 1e3 : e.rate) : std::string("-");
    };
    for (const cell& c : b.cells) {
        if (!c.skipped.empty()) continue;
        const entry &e = c.subject, &theirs = c.yardstick;
        std::vector<text> row = {c.shape, e.fault.empty() ? text(rate(e)) : text("WRONG", tone::bad)};
        if (b.peak > 0) row.push_back(e.timed() ? fmt::format("{:.2f}", e.rate / b.peak) : "-");
        row.push_back(rate(theirs));
        row.push_back(e.ratio > 0 ? fmt::format("{:.3f}", e.ratio) : "-");
        for (const std::string& name : calls) {
            const auto found =
                std::find_if(c.calls.begin(), c.calls.end(), [&](const timed_call& call) { return call.name == name; });
            row.push_back(found == c.calls.end() ? text("-") : ratio_of(found->subject));
        }
        for (std::size_t i = 0; i < facts.comparisons.size(); ++i) {
            const bool known = e.timed() && theirs.timed() && theirs.compared[i] > 0;
            row.push_back(known ? fmt::format("{:.2f}", e.compared[i] / theirs.compared[i]) : "-");
        }
        t.rows.push_back(std::move(row));
    }
    return t;
}

text_table side_by_side(const std::vector<change>& all) {
    text_table t{{{!all.empty() && all.front().kernel ? "id" : "shapes"},
                  {"result"},
                  {"change", true},
                  {"us, before", true},
                  {"us, after", true},
                  {"ratio, before", true},
                  {"ratio, after", true}},
                 {}};
    for (const change& c : all) {
        const speed_verdict verdict = c.verdict();
        const auto ratio = [](double value) { return value > 0 ? fmt::format("{:.3f}", value) : std::string("-"); };
        t.rows.push_back({{c.name, c.kernel ? tone::code : tone::plain},
                          verdict == speed_verdict::faster   ? text("▲ faster", tone::good)
                          : verdict == speed_verdict::slower ? text("▼ slower", tone::bad)
                                                             : text("within the spread"),
                          fmt::format("{:+.1f} %", c.percent()),
                          microseconds(c.before.median_s),
                          microseconds(c.after.median_s),
                          ratio(c.ratio_before),
                          ratio(c.ratio_after)});
    }
    return t;
}

std::string measured_where(const document& d) {
    std::vector<std::string> parts;
    if (!d.device.name.empty()) parts.push_back(d.device.name);
    if (d.device.kind == "host" && d.device.cores > 0) parts.push_back(fmt::format("{} cores", d.device.cores));
    if (d.device.kind == "cuda") parts.push_back(fmt::format("driver {}, CUDA {}", d.device.driver, d.device.cuda));
    if (!d.made.date.empty()) parts.push_back(d.made.date);
    if (!d.made.commit.empty()) parts.push_back("commit " + d.made.commit);
    const std::vector<double> rates = yardstick_rates(d);
    const ladder* const l = d.as_ladder();
    const operation_facts& facts = l != nullptr ? l->op->facts() : d.as_bench()->facts();
    std::string out = fmt::format("{}", fmt::join(parts, ", "));
    if (!rates.empty()) {
        const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
        out += fmt::format("; {} {} to {} {}", l != nullptr ? l->yardstick : facts.yardstick, grouped(*least),
                           grouped(*most), facts.rate.name);
    }
    out += ".";
    if (l != nullptr) return out;
    std::vector<std::string> names;
    std::map<std::string, std::pair<std::set<std::string>, std::set<std::string>>> frameworks;  // versions, dates
    for (const framework& f : std::get<bench>(d.results).frameworks) {
        if (!frameworks.contains(f.name)) names.push_back(f.name);
        frameworks[f.name].first.insert(f.version);
        frameworks[f.name].second.insert(f.date);
    }
    for (const std::string& name : names)
        out += fmt::format(" {} {}: {}.", contestant_name(name), fmt::join(frameworks[name].first, ", "),
                           fmt::join(frameworks[name].second, ", "));
    return out;
}

}  // namespace cornerturn::report
