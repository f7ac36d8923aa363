// Shows the results of a ladder as tables.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>

#include "lab/compare.hpp"
#include "lab/view_text.hpp"
#include "lab/views.hpp"

namespace cornerturn::lab {
namespace {

using emulator::counters;
using emulator::kLoad;
using emulator::kStore;

// A column, and its text for a rung.
struct ladder_column {
    table::column head;
    std::function<std::string(const result&)> cell;
};
using ladder_columns = std::vector<ladder_column>;

void append(ladder_columns& all, const ladder_columns& more) { all.insert(all.end(), more.begin(), more.end()); }

table table_of(const std::vector<result>& all, const ladder_columns& columns) {
    table t;
    for (const ladder_column& c : columns) t.columns.push_back(c.head);
    for (const result& r : all) {
        t.rows.emplace_back();
        for (const ladder_column& c : columns) t.rows.back().push_back(c.cell(r));
    }
    return t;
}

const ladder_column kIdColumn = {{"id"}, [](const result& r) { return r.kernel; }};
const ladder_column kVerifiedColumn = {{"verified"}, verified_text};

// If there are several launches, which are slabs, the grid shown is that of the first.
std::string grid_cell(const result& r) {
    if (!r.launched) return "-";
    return (r.launches > 1 ? fmt::format("{} * ", r.launches) : "") + extent(r.grid);
}

// "32x8", as an id has it.
std::string short_extent(const emulator::extent3& e) {
    return fmt::format("{}x{}{}", e.x, e.y, e.z == 1 ? "" : fmt::format("x{}", e.z));
}

std::string per_request(const counters& c, counters::by_direction counters::*counter,
                        counters::by_direction counters::*requests, emulator::direction op) {
    return per((c.*counter)[op], (c.*requests)[op]);
}

ladder_columns counter_columns() {
    struct counted {
        const char *csv, *above;
        counters::by_direction counters::*counter;
        counters::by_direction counters::*requests;  // the divisor; null: none
    };
    constexpr counted kCounted[] = {
        {"requests", "requests", &counters::global_requests, nullptr},
        {"sectors/request", "sectors\nper request", &counters::global_sectors, &counters::global_requests},
        {"wavefronts/request", "wavefronts\nper request", &counters::shared_wavefronts, &counters::shared_requests},
        {"conflicts/request", "conflicts\nper request", &counters::shared_conflicts, &counters::shared_requests}};
    ladder_columns all;
    for (const counted& c : kCounted) {
        for (const emulator::direction op : {kLoad, kStore}) {
            const char* const suffix = op == kLoad ? "ld" : "st";
            all.push_back({{fmt::format("{} {}", c.csv, suffix), true, c.above, suffix}, [c, op](const result& r) {
                               if (!r.counts) return std::string("-");
                               if (c.requests == nullptr) return std::to_string(((*r.counts).*c.counter)[op]);
                               return per_request(*r.counts, c.counter, c.requests, op);
                           }});
        }
    }
    return all;
}

// any: the time of any rung, for the headings.
ladder_columns time_columns(const measured_time& any, bool on_terminal) {
    ladder_columns all = {
        {{"us median (p10-p90)", true, "us", "median (p10-p90)"},
         [=](const result& r) { return r.time ? time_range(r.time->kernel, on_terminal) : "-"; }},
        {{any.unit.name, true}, [](const result& r) { return r.time ? fmt::format("{:.1f}", r.time->rate()) : "-"; }},
        {{"of " + any.yardstick_name, true, "of", any.yardstick_name},
         [](const result& r) { return r.time ? fmt::format("{:.3f}", r.time->ratio()) : "-"; }}};
    if (any.peak > 0)
        all.push_back({{"of peak", true, "of", "peak"}, [](const result& r) {
                           return r.time ? fmt::format("{:.3f}", r.time->rate() * 1e9 / r.time->peak) : "-";
                       }});
    return all;
}

// The published rates. `yardstick` is the highest: in the notes nothing is faster than the yardstick.
ladder_columns published_columns(const operation_facts& facts, double yardstick) {
    return {{{fmt::format("noted {}", facts.rate.name), true, "noted", facts.rate.name},
             [](const result& r) { return r.published_rate > 0 ? fmt::format("{:.1f}", r.published_rate) : "-"; }},
            {{fmt::format("of its {}", facts.yardstick), true, "noted", "ratio"}, [=](const result& r) {
                 return r.published_rate > 0 ? fmt::format("{:.3f}", r.published_rate / yardstick) : "-";
             }}};
}

// The hardware's counters that fit into the table of a ladder.
ladder_columns hardware_columns() {
    struct shown {
        const char *heading, *metric, *format;
        const char *above = "", *narrow = "";
    };
    constexpr shown kShown[] = {
        {"instructions", "smsp__inst_executed.sum", "{:.0f}"},
        {"registers", "launch__registers_per_thread", "{:.0f}"},
        {"occupancy %", "sm__warps_active.avg.pct_of_peak_sustained_active", "{:.0f}", "occupancy %", "reached"},
        {"possible occupancy %", "sm__maximum_warps_per_active_cycle_pct", "{:.0f}", "occupancy %", "possible"},
        {"L1 hit %", "l1tex__t_sector_hit_rate.pct", "{:.1f}", "hit %", "L1"},
        {"L2 hit %", "lts__t_sector_hit_rate.pct", "{:.1f}", "hit %", "L2"},
        {"DRAM %", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "{:.1f}", "DRAM", "%"},
    };
    ladder_columns all;
    for (const shown& one : kShown)
        all.push_back({{one.heading, true, one.above, one.narrow}, [one](const result& r) {
                           const double* const value = r.hardware ? r.hardware->find(one.metric) : nullptr;
                           return value == nullptr ? "-" : fmt::format(fmt::runtime(one.format), *value);
                       }});
    return all;
}

const ladder_column kAgreementColumn = {{"counters equal to the emulator's", false, "equal to", "emulator"}, agreement};

ladder_column wait_column() {
    return {{"longest wait"}, [](const result& r) { return r.hardware ? longest_wait(r.hardware->metrics) : "-"; }};
}

// The counters that --metrics adds.
ladder_columns metric_columns(const hardware_counters& read) {
    const auto& usual = hardware_metrics();
    ladder_columns all;
    for (const auto& [name, unused] : read.metrics) {
        if (std::find(usual.begin(), usual.end(), name) != usual.end()) continue;
        all.push_back({{name, true}, [name = name](const result& r) {
                           const double* const value = r.hardware ? r.hardware->find(name) : nullptr;
                           return value == nullptr ? "-" : fmt::format("{}", *value);
                       }});
    }
    return all;
}

// The parts of a ladder's table. On a terminal, times and hardware counters are separate tables.
struct ladder_parts {
    const measured_time* time = nullptr;          // of a rung that was timed
    const hardware_counters* hardware = nullptr;  // of a rung that has them
    double published_yardstick = 0;               // 0: no rate is published, or nothing was timed

    explicit ladder_parts(const std::vector<result>& all) {
        for (const result& r : all) {
            if (r.time && time == nullptr) time = &*r.time;
            if (r.hardware && hardware == nullptr) hardware = &*r.hardware;
            published_yardstick = std::max(published_yardstick, r.published_rate);
        }
        if (time == nullptr) published_yardstick = 0;
    }

    ladder_columns times(const std::vector<result>& all, bool on_terminal) const {
        ladder_columns columns;
        if (time != nullptr) append(columns, time_columns(*time, on_terminal));
        if (published_yardstick > 0)
            append(columns, published_columns(all.front().work->op().facts(), published_yardstick));
        return columns;
    }
};

table whole_table(const std::vector<result>& all, const ladder_parts& parts) {
    ladder_columns columns = {kIdColumn,
                              {{"origin"}, [](const result& r) { return r.origin; }},
                              {{"grid", true}, grid_cell},
                              {{"block", true}, [](const result& r) { return r.launched ? extent(r.block) : "-"; }}};
    append(columns, counter_columns());
    columns.push_back(kVerifiedColumn);
    append(columns, parts.times(all, false));
    if (parts.hardware != nullptr) {
        append(columns, hardware_columns());
        append(columns, {wait_column(), kAgreementColumn});
        append(columns, metric_columns(*parts.hardware));
    }
    return table_of(all, columns);
}

std::string terminal_tables(const std::vector<result>& all, const ladder_parts& parts) {
    ladder_columns counted = {
        kIdColumn, {{"block", true}, [](const result& r) { return r.launched ? short_extent(r.block) : "-"; }}};
    append(counted, counter_columns());
    std::string out;
    if (parts.time != nullptr) {
        ladder_columns timed = {kIdColumn};
        append(timed, parts.times(all, true));
        timed.push_back(kVerifiedColumn);
        out = table_of(all, timed).print(format::table) + "\nCounters from the emulator:\n\n";
    } else {
        counted.push_back(kVerifiedColumn);
    }
    out += table_of(all, counted).print(format::table);
    if (parts.hardware == nullptr) return out;
    ladder_columns read = {kIdColumn};
    append(read, hardware_columns());
    read.push_back(kAgreementColumn);
    table t = table_of(all, read);
    const ladder_columns more = metric_columns(*parts.hardware);
    for (const result& r : all) {
        std::string& below = t.below.emplace_back();
        if (!r.hardware) continue;
        if (const std::string wait = longest_wait(r.hardware->metrics); wait != "-") below = "longest wait: " + wait;
        for (const ladder_column& c : more)
            below += fmt::format("{}{} {}", below.empty() ? "" : "; ", c.head.heading, c.cell(r));
    }
    return out + fmt::format("\nCounters from the hardware, by Nsight Compute {}:\n\n", parts.hardware->ncu) +
           t.print(format::table);
}

// What was run, and the sources of the numbers.
std::string ladder_heading(const std::vector<result>& all, const ladder_parts& parts, format as) {
    const result& any = all.front();
    std::string heading = fmt::format("{} on {}", work_text(any), device_text(any));
    if (parts.time != nullptr)
        heading += fmt::format("; {}; {} {:.1f} {}", parts.time->method, parts.time->yardstick_name,
                               parts.time->yardstick_rate(), parts.time->unit.name);
    if (as != format::table) {
        if (parts.time != nullptr) heading += "; counters from the emulator";
        if (parts.hardware != nullptr)
            heading += fmt::format("; columns from \"instructions\" on: the hardware, by Nsight Compute {}",
                                   parts.hardware->ncu);
    }
    if (parts.published_yardstick > 0) {
        const operation_facts& facts = any.work->op().facts();
        heading += fmt::format("; noted: {}", facts.published_source);
        if (as == format::table) heading += fmt::format(", and the ratio to its {}", facts.yardstick);
    }
    return heading;
}

}  // namespace

std::string show_ladder(const std::vector<result>& all, format as) {
    if (as == format::json) return json_text(to_json(all), 2) + "\n";
    const ladder_parts parts(all);
    if (as == format::csv || all.empty()) return whole_table(all, parts).print(as);
    std::size_t ran = 0, verified = 0, some_blocks = 0, failed = 0, skipped = 0;
    std::string remarks;
    unsteady_yardstick unsteady;
    for (const result& r : all) {
        if (r.time) unsteady.add(r.time->yardstick, r.kernel);
        ran += r.ran();
        skipped += !r.ran();
        failed += r.failed();
        verified += r.ran() && r.verified == verification::passed;
        some_blocks += r.ran() && r.verified == verification::some_blocks;
        if (as == format::table && r.launches > 1)
            remarks += fmt::format("{}: {} launches, the first of {} blocks\n", r.kernel, r.launches, extent(r.grid));
        if (!r.ran()) remarks += fmt::format("skipped {}: {}\n", r.kernel, r.skipped);
        if (r.failed()) remarks += fmt::format("FAILED {}: {}\n", r.kernel, r.fault);
    }
    const std::string heading = ladder_heading(all, parts, as) + "\n\n";
    const std::string below =
        fmt::format("\n{} ran, {} verified, {}{} failed, {} skipped\n", ran, verified,
                    some_blocks > 0 ? fmt::format("{} sampled, ", some_blocks) : "", failed, skipped) +
        (parts.time != nullptr ? unsteady.text(parts.time->yardstick_name, "rungs") : "") + remarks;
    if (as == format::markdown) return heading + whole_table(all, parts).print(as) + below;
    return wrapped(heading) + terminal_tables(all, parts) + wrapped(below, 2);
}

}  // namespace cornerturn::lab
