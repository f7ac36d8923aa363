#include "lab/views.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "lab/view_text.hpp"

namespace cornerturn::lab {
namespace {

using emulator::counters;
using emulator::kLoad;
using emulator::kStore;

// "1 wavefront", "2 wavefronts"
std::string plural(const std::string& count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == "1" ? "" : "s");
}

const char* direction_word(emulator::direction op) { return op == kLoad ? "read" : "write"; }

std::string explain_requests(const result& r, emulator::direction op) {
    const std::uint64_t requests = r.counts->global_requests[op];
    if (requests == 0) return fmt::format("no global {}s", direction_word(op));
    // Loads are compared with the steps of the work, stores with the elements that are written.
    const bool loads = op == kLoad;
    const double each = static_cast<double>(loads ? r.work->steps() : r.checked_of) / static_cast<double>(requests);
    return plural(number(each), loads ? r.work->op().facts().step : "element") + " a request";
}

std::string explain_sectors(const result& r, emulator::direction op) {
    const std::uint64_t requests = r.counts->global_requests[op], sectors = r.counts->global_sectors[op];
    if (requests == 0) return fmt::format("no global {}s", direction_word(op));
    // If elements are read several times, there is no minimum of sectors.
    if (!r.work->op().facts().reads_once)
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

std::string explain_shared(const result& r, emulator::direction op) {
    if (r.counts->shared_requests[op] == 0) return fmt::format("no shared-memory {}s", direction_word(op));
    return fmt::format("{} for each global request", per(r.counts->shared_requests[op], r.counts->global_requests[op]));
}

std::string explain_wavefronts(const result& r, emulator::direction op) {
    const std::uint64_t requests = r.counts->shared_requests[op];
    if (requests == 0) return fmt::format("no shared-memory {}s", direction_word(op));
    const std::uint64_t conflicts = r.counts->shared_conflicts[op], wavefronts = r.counts->shared_wavefronts[op];
    const std::string each = plural(per(wavefronts, requests), "wavefront");
    if (conflicts == 0) return fmt::format("{} a request: no bank conflicts", each);
    return fmt::format("{} a request, {} more than needed: {}-way bank conflicts", each, per(conflicts, requests),
                       per(wavefronts, wavefronts - conflicts));
}

std::string launch_text(const result& r) {
    if (!r.launched) return "nothing launched";
    std::string text = fmt::format("grid {}, block {}", extent(r.grid), extent(r.block));
    if (r.launches > 1) text += fmt::format(", {} launches", r.launches);
    return text;
}

}  // namespace

std::string explain(const result& r, const metric& m) {
    if (m.member == &counters::global_requests) return explain_requests(r, m.op);
    if (m.member == &counters::global_sectors) return explain_sectors(r, m.op);
    if (m.member == &counters::shared_requests) return explain_shared(r, m.op);
    return explain_wavefronts(r, m.op);
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
    table t{{{"id"}, {"origin"}, {"element bytes"}, {"needs"}}, {}};
    if (as != format::table) t.columns.push_back({"idea"});
    for (const kernel& k : all) {
        std::string sizes;
        for (int size : {1, 2, 4, 8, 16}) {
            if (k.takes(size)) sizes += fmt::format("{}{}", sizes.empty() ? "" : " ", size);
        }
        const char* const feature = k.facts.needs.feature;
        t.rows.push_back({k.id, k.facts.origin, sizes, feature != nullptr ? feature : "-"});
        if (as == format::table)
            t.below.push_back(k.notes->idea);
        else
            t.rows.back().push_back(k.notes->idea);
    }
    return t.print(as);
}

namespace {

// One row for each of the hardware's counters, with its meaning.
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

}  // namespace

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
                               time_range(time.kernel), time.rate(), time.unit.name, time.yardstick_name,
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
                   {"sectors/request", true, "sectors", "per request"},
                   {"shared requests", true, "shared", "requests"},
                   {"wavefronts/request", true, "wavefronts", "per request"}},
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
    const std::string heading = as == format::table ? wrapped(profile_heading(r), 2) : profile_heading(r);
    if (!r.ran()) return heading;
    table t{{{"counter"}, {"value", true}, {"meaning"}}, {}};
    if (r.counts) {
        const auto value = [&](std::uint64_t n) { return as == format::csv ? std::to_string(n) : grouped(n); };
        for (const metric& m : metrics())
            t.rows.push_back({m.name, value(((*r.counts).*m.member)[m.op]), explain(r, m)});
        for (emulator::direction op : {kLoad, kStore}) {
            t.rows.push_back({fmt::format("derived.shared_conflicts_{}", op == kLoad ? "ld" : "st"),
                              value(r.counts->shared_conflicts[op]), "wavefronts beyond the fewest possible"});
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
