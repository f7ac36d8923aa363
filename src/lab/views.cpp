#include "lab/views.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "lab/compare.hpp"

namespace cornerturn::lab {
namespace {

using emulator::counters;
using emulator::kLoad;
using emulator::kStore;

std::string number(double value) {
    if (value == static_cast<std::uint64_t>(value)) return fmt::format("{}", static_cast<std::uint64_t>(value));
    return fmt::format("{:.2f}", value);
}

// a / b, where b may be 0: then there is nothing to say.
std::string per(std::uint64_t a, std::uint64_t b) {
    return b == 0 ? "-" : number(static_cast<double>(a) / static_cast<double>(b));
}

std::string per_request(const counters& c, counters::by_direction counters::*what,
                        counters::by_direction counters::*requests, emulator::direction op) {
    return per((c.*what)[op], (c.*requests)[op]);
}

// "1 wavefront", "2 wavefronts"
std::string plural(const std::string& count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == "1" ? "" : "s");
}

std::string extent(const emulator::extent3& e) {
    return e.z == 1 ? fmt::format("{} x {}", e.x, e.y) : fmt::format("{} x {} x {}", e.x, e.y, e.z);
}

std::string verified_text(const result& r) {
    if (!r.ran()) return "skipped";
    switch (r.verified) {
        case verification::passed: return "yes";
        case verification::sampled: return "sampled";
        default: return "NO";
    }
}

std::string microseconds(double seconds) { return fmt::format("{:.2f}", seconds * 1e6); }

const char* direction_word(emulator::direction op) { return op == kLoad ? "read" : "write"; }

std::string read_requests(const result& r, emulator::direction op) {
    const std::uint64_t requests = r.counts->global_requests[op];
    if (requests == 0) return fmt::format("no global {}s", direction_word(op));
    // What is loaded is told by what comes of it, what is stored by its elements.
    const bool loads = op == kLoad;
    const double each = static_cast<double>(loads ? r.work->steps() : r.checked_of) / static_cast<double>(requests);
    return plural(number(each), loads ? r.work->does().facts().step : "element") + " a request";
}

std::string read_sectors(const result& r, emulator::direction op) {
    const std::uint64_t requests = r.counts->global_requests[op], sectors = r.counts->global_sectors[op];
    if (requests == 0) return fmt::format("no global {}s", direction_word(op));
    // What is read again and again has no fewest sectors.
    if (!r.work->does().facts().reads_once)
        return plural(number(static_cast<double>(sectors) / static_cast<double>(requests)), "sector") + " a request";
    // The fewest sectors that hold the bytes moved.
    const double least = static_cast<double>(r.checked_of) * r.work->type().size / 32;
    const double excess = static_cast<double>(sectors) / std::max(least, 1.0);
    const double each = static_cast<double>(sectors) / static_cast<double>(requests);
    const char* const verdict = excess <= 1.3               ? "coalesced"
                                : each > 16 && excess > 1.9 ? "strided"
                                                            : "partly coalesced";
    return fmt::format("{} a request: {}{}", plural(number(each), "sector"), verdict,
                       excess > 1.3 ? fmt::format(", {:.1f} times the bytes needed", excess) : "");
}

std::string read_shared(const result& r, emulator::direction op) {
    if (r.counts->shared_requests[op] == 0) return fmt::format("no shared-memory {}s", direction_word(op));
    return fmt::format("{} for each global request", per(r.counts->shared_requests[op], r.counts->global_requests[op]));
}

std::string read_wavefronts(const result& r, emulator::direction op) {
    const std::uint64_t requests = r.counts->shared_requests[op];
    if (requests == 0) return fmt::format("no shared-memory {}s", direction_word(op));
    const std::uint64_t conflicts = r.counts->shared_conflicts[op], wavefronts = r.counts->shared_wavefronts[op];
    const std::string each = plural(per(wavefronts, requests), "wavefront");
    if (conflicts == 0) return fmt::format("{} a request: no bank conflicts", each);
    return fmt::format("{} a request, {} more than needed: {}-way bank conflicts", each, per(conflicts, requests),
                       per(wavefronts, wavefronts - conflicts));
}

std::string time_range(const timing& t) {
    return fmt::format("{} ({}-{})", microseconds(t.median_s), microseconds(t.p10_s), microseconds(t.p90_s));
}

std::string work_text(const result& r) {
    const operation& does = r.work->does();
    return fmt::format("{}{}{} {}", does.text_of(r.work->sizes()), does.facts().sizes_legend,
                       layout_text(r.work->layout()), r.work->type().name);
}

std::string device_text(const result& r) {
    if (r.device.kind != "cuda") return r.device.kind;
    return fmt::format("{} (driver {}, CUDA {})", r.device.name, r.device.driver, r.device.cuda);
}

std::string launch_text(const result& r) {
    if (!r.launched) return "nothing launched";
    std::string text = fmt::format("grid {}, block {}", extent(r.grid), extent(r.block));
    if (r.launches > 1) text += fmt::format(", {} launches", r.launches);
    return text;
}

}  // namespace

std::string reading(const result& r, const metric& m) {
    if (m.where == &counters::global_requests) return read_requests(r, m.op);
    if (m.where == &counters::global_sectors) return read_sectors(r, m.op);
    if (m.where == &counters::shared_requests) return read_shared(r, m.op);
    return read_wavefronts(r, m.op);
}

nlohmann::ordered_json to_json(const kernel& k) {
    nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
    for (int size : {1, 2, 4, 8, 16}) {
        if (k.takes(size)) sizes.push_back(size);
    }
    return {{"id", k.id},
            {"idea", k.notes->idea},
            {"change", k.notes->change},
            {"contract", k.notes->contract},
            {"bytes", k.notes->bytes},
            {"limit", k.notes->limit},
            {"source", k.notes->source},
            {"origin", k.facts.origin},
            {"element_sizes", sizes},
            {"needs", k.facts.needs.feature != nullptr ? nlohmann::ordered_json(k.facts.needs.feature) : nullptr},
            {"file", k.file}};
}

std::string show_list(const std::vector<kernel>& all, format as) {
    if (as == format::json) {
        nlohmann::ordered_json out = {{"kernels", nlohmann::ordered_json::array()}};
        for (const kernel& k : all) out["kernels"].push_back(to_json(k));
        return json_text(out, 2) + "\n";
    }
    table t{{{"id"}, {"origin"}, {"element bytes"}, {"needs"}, {"idea"}}, {}};
    for (const kernel& k : all) {
        std::string sizes;
        for (int size : {1, 2, 4, 8, 16}) {
            if (k.takes(size)) sizes += fmt::format("{}{}", sizes.empty() ? "" : " ", size);
        }
        const char* const feature = k.facts.needs.feature;
        t.rows.push_back({k.id, k.facts.origin, sizes, feature != nullptr ? feature : "-", k.notes->idea});
    }
    return t.print(as);
}

namespace {

// A row for each counter that was read, with what is known of it.
void add_hardware(const result& r, format as, table& t) {
    for (const auto& [name, value] : r.hardware->metrics) {
        const bool whole = value == std::floor(value) && value >= 0;
        t.rows.push_back({"hardware." + name,
                          as == format::csv ? fmt::format("{}", value)
                          : whole           ? grouped(static_cast<std::uint64_t>(value))
                                            : fmt::format("{:.2f}", value),
                          meaning_of(name)});
    }
}

// Of the hardware's counters, what a ladder has room for.
struct hardware_column {
    const char *heading, *metric, *format;
};
constexpr hardware_column kHardwareColumns[] = {
    {"instructions", "smsp__inst_executed.sum", "{:.0f}"},
    {"registers", "launch__registers_per_thread", "{:.0f}"},
    {"occupancy %", "sm__warps_active.avg.pct_of_peak_sustained_active", "{:.0f}"},
    {"of", "sm__maximum_warps_per_active_cycle_pct", "{:.0f}"},
    {"L1 hit %", "l1tex__t_sector_hit_rate.pct", "{:.1f}"},
    {"L2 hit %", "lts__t_sector_hit_rate.pct", "{:.1f}"},
    {"DRAM %", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "{:.1f}"},
};

void add_hardware_columns(const std::vector<result>& all, table& t) {
    const auto read = std::find_if(all.begin(), all.end(), [](const result& r) { return r.hardware.has_value(); });
    if (read == all.end()) return;
    for (const hardware_column& column : kHardwareColumns) t.columns.push_back({column.heading, true});
    t.columns.insert(t.columns.end(), {{"longest wait"}, {"as emulated"}});
    const auto is_usual = [](const std::string& name) {
        const auto& usual = hardware_metrics();
        return std::find(usual.begin(), usual.end(), name) != usual.end();
    };
    for (const auto& [name, value] : read->hardware->metrics) {
        if (!is_usual(name)) t.columns.push_back({name, true});
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::vector<std::string>& row = t.rows[i];
        const result& r = all[i];
        for (const hardware_column& column : kHardwareColumns) {
            const double* const value = r.hardware ? r.hardware->find(column.metric) : nullptr;
            row.push_back(value == nullptr ? "-" : fmt::format(fmt::runtime(column.format), *value));
        }
        row.push_back(r.hardware ? longest_wait(r.hardware->metrics) : "-");
        row.push_back(agreement(r));
        for (const auto& [name, unused] : read->hardware->metrics) {
            if (is_usual(name)) continue;
            const double* const value = r.hardware ? r.hardware->find(name) : nullptr;
            row.push_back(value == nullptr ? "-" : fmt::format("{}", *value));
        }
    }
}

}  // namespace

std::string show_ladder(const std::vector<result>& all, format as) {
    if (as == format::json) return json_text(to_json(all), 2) + "\n";
    const bool timed = std::any_of(all.begin(), all.end(), [](const result& r) { return r.time.has_value(); });
    table t{{{"id"}, {"origin"}, {"grid", true}, {"block", true}}, {}};
    for (const char* what : {"requests", "sectors/request", "wavefronts/request", "conflicts/request"}) {
        t.columns.push_back({fmt::format("{} ld", what), true});
        // People see which column it belongs to; programs need a name that no other column has.
        t.columns.push_back({as == format::csv ? fmt::format("{} st", what) : "st", true});
    }
    t.columns.push_back({"verified"});
    if (timed) {
        const measured_time& any =
            *std::find_if(all.begin(), all.end(), [](const result& r) { return r.time.has_value(); })->time;
        t.columns.insert(t.columns.end(),
                         {{"us median (p10-p90)", true}, {any.unit.name, true}, {"of " + any.yardstick_what, true}});
        if (any.peak > 0) t.columns.push_back({"of peak", true});
    }
    double noted_yardstick = 0;  // nothing is quicker there
    for (const result& r : all) noted_yardstick = std::max(noted_yardstick, r.noted_rate);
    const bool noted = timed && noted_yardstick > 0;
    if (noted) {
        const operation_facts& facts = all.front().work->does().facts();
        t.columns.insert(t.columns.end(), {{fmt::format("noted {}", facts.rate.name), true},
                                           {fmt::format("of its {}", facts.yardstick), true}});
    }
    std::size_t ran = 0, verified = 0, sampled = 0, failed = 0, skipped = 0;
    std::string reasons;
    for (const result& r : all) {
        std::vector<std::string> row = {r.kernel, r.origin};
        // Slabs: that many launches, of which this is the first one's grid.
        const std::string slabs = r.launches > 1 ? fmt::format("{} * ", r.launches) : "";
        row.push_back(r.launched ? slabs + extent(r.grid) : "-");
        row.push_back(r.launched ? extent(r.block) : "-");
        for (auto [what, requests] :
             {std::pair{&counters::global_requests, static_cast<decltype(&counters::global_requests)>(nullptr)},
              {&counters::global_sectors, &counters::global_requests},
              {&counters::shared_wavefronts, &counters::shared_requests},
              {&counters::shared_conflicts, &counters::shared_requests}}) {
            for (emulator::direction op : {kLoad, kStore}) {
                if (!r.counts) {
                    row.push_back("-");
                } else if (requests == nullptr) {
                    row.push_back(std::to_string(((*r.counts).*what)[op]));
                } else {
                    row.push_back(per_request(*r.counts, what, requests, op));
                }
            }
        }
        row.push_back(verified_text(r));
        if (timed) {
            row.push_back(r.time ? time_range(r.time->kernel) : "-");
            row.push_back(r.time ? fmt::format("{:.1f}", r.time->rate()) : "-");
            row.push_back(r.time ? fmt::format("{:.3f}", r.time->ratio()) : "-");
            if (row.size() < t.columns.size() && t.columns[row.size()].heading == "of peak")
                row.push_back(r.time ? fmt::format("{:.3f}", r.time->rate() * 1e9 / r.time->peak) : "-");
        }
        if (noted) {
            row.push_back(r.noted_rate > 0 ? fmt::format("{:.1f}", r.noted_rate) : "-");
            row.push_back(r.noted_rate > 0 ? fmt::format("{:.3f}", r.noted_rate / noted_yardstick) : "-");
        }
        t.rows.push_back(std::move(row));
        ran += r.ran();
        skipped += !r.ran();
        failed += r.failed();
        verified += r.ran() && r.verified == verification::passed;
        sampled += r.ran() && r.verified == verification::sampled;
        if (!r.ran()) reasons += fmt::format("skipped {}: {}\n", r.kernel, r.skipped);
        if (r.failed()) reasons += fmt::format("FAILED {}: {}\n", r.kernel, r.fault);
    }
    add_hardware_columns(all, t);
    std::string out = t.print(as);
    if (as == format::csv || all.empty()) return out;
    const result& any = all.front();
    std::string heading = fmt::format("{} on {}", work_text(any), device_text(any));
    for (const result& r : all) {
        if (!r.time) continue;
        heading += fmt::format("; {}; {} {:.1f} {}", r.time->method, r.time->yardstick_what, r.time->yardstick_rate(),
                               r.time->unit.name);
        break;
    }
    if (timed) heading += "; counters from the emulator";
    const auto read = std::find_if(all.begin(), all.end(), [](const result& r) { return r.hardware.has_value(); });
    if (read != all.end())
        heading += fmt::format("; from the hardware, by Nsight Compute {}: instructions and what follows",
                               read->hardware->ncu);
    if (noted) heading += fmt::format("; noted: {}", any.work->does().facts().noted_source);
    return heading + "\n\n" + out +
           fmt::format("\n{} ran, {} verified, {}{} failed, {} skipped\n", ran, verified,
                       sampled > 0 ? fmt::format("{} sampled, ", sampled) : "", failed, skipped) +
           reasons;
}

std::string profile_heading(const result& r) {
    std::string heading = fmt::format("{}  {} on {}\n", r.kernel, work_text(r), device_text(r));
    if (!r.ran()) return heading + fmt::format("skipped: {}\n", r.skipped);
    heading += fmt::format("{}; verified: {} ({} of {} elements)\n", launch_text(r), verified_text(r),
                           grouped(static_cast<std::uint64_t>(r.checked_elements)),
                           grouped(static_cast<std::uint64_t>(r.checked_of)));
    if (!r.fault.empty()) heading += fmt::format("FAULT: {}\n", r.fault);
    if (r.time) {
        const measured_time& time = *r.time;
        heading += fmt::format("{} us, {:.1f} {}; {} {} us, {:.1f} {}; ratio {:.3f} ({}, {} samples)\n",
                               time_range(time.kernel), time.rate(), time.unit.name, time.yardstick_what,
                               time_range(time.yardstick), time.yardstick_rate(), time.unit.name, time.ratio(),
                               time.method, time.kernel.samples);
    }
    return heading;
}

namespace {

bool has(const counters& c, emulator::direction op) { return c.global_requests[op] + c.shared_requests[op] > 0; }

}  // namespace

std::size_t directions_of(const emulator::line_counters& line) {
    return std::size_t{has(line.counts, kLoad)} + has(line.counts, kStore);
}

table lines_table(const result& r) {
    table by_line{{{"line"},
                   {"requests", true},
                   {"sectors/request", true},
                   {"shared requests", true},
                   {"wavefronts/request", true}},
                  {}};
    for (const auto& line : r.lines) {
        for (emulator::direction op : {kLoad, kStore}) {
            const counters& c = line.counts;
            if (!has(c, op)) continue;
            by_line.rows.push_back(
                {fmt::format("{}:{} {}", line.file, line.line, direction_word(op)),
                 std::to_string(c.global_requests[op]), per(c.global_sectors[op], c.global_requests[op]),
                 std::to_string(c.shared_requests[op]), per(c.shared_wavefronts[op], c.shared_requests[op])});
        }
    }
    return by_line;
}

std::string show_profile(const result& r, format as) {
    if (as == format::json) return json_text(to_json(r), 2) + "\n";
    const std::string heading = profile_heading(r);
    if (!r.ran()) return heading;
    table t{{{"counter"}, {"value", true}, {"reading"}}, {}};
    if (r.counts) {
        const auto value = [&](std::uint64_t n) { return as == format::csv ? std::to_string(n) : grouped(n); };
        for (const metric& m : metrics())
            t.rows.push_back({m.name, value(((*r.counts).*m.where)[m.op]), reading(r, m)});
        for (emulator::direction op : {kLoad, kStore}) {
            t.rows.push_back({fmt::format("derived.shared_conflicts_{}", op == kLoad ? "ld" : "st"),
                              value(r.counts->shared_conflicts[op]),
                              "wavefronts above the least that the requests could cost"});
        }
    }
    if (r.hardware) add_hardware(r, as, t);
    std::string lines;
    if (!r.lines.empty()) {
        const table by_line = lines_table(r);
        if (as == format::csv) return by_line.print(as);  // one table a file
        lines = "\n" + by_line.print(as);
    }
    if (as == format::csv) return t.print(as);
    return heading + "\n" + (t.rows.empty() ? "" : t.print(as)) + lines;
}

}  // namespace cornerturn::lab
