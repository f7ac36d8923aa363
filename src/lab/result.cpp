#include "lab/result.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace cornerturn::lab {

using nlohmann::ordered_json;

namespace {

ordered_json triple(const emulator::extent3& e) { return {e.x, e.y, e.z}; }

ordered_json metrics_of(const emulator::counters& counts) {
    ordered_json out = ordered_json::object();
    for (const metric& m : metrics()) out[m.name] = (counts.*m.member)[m.op];
    return out;
}

ordered_json derived_of(const emulator::counters& counts) {
    return {{"shared_conflicts_ld", counts.shared_conflicts[emulator::kLoad]},
            {"shared_conflicts_st", counts.shared_conflicts[emulator::kStore]}};
}

// A whole value as an integer.
ordered_json number(double value) {
    constexpr double kExact = 9007199254740992;  // 2^53
    if (value >= 0 && value <= kExact && value == std::floor(value)) return static_cast<std::uint64_t>(value);
    return value;
}

}  // namespace

ordered_json to_json(const timing& t) {
    return {{"median_s", t.median_s}, {"p10_s", t.p10_s}, {"p90_s", t.p90_s}, {"samples", t.samples}};
}

ordered_json to_json(const device_info& device) {
    ordered_json out = {{"kind", device.kind}};
    if (device.kind == "cuda") {
        out["name"] = device.name;
        out["driver"] = device.driver;
        out["cuda"] = device.cuda;
    } else if (device.cores > 0) {
        out["name"] = device.name;
        out["cores"] = device.cores;
    }
    return out;
}

std::string device_info::text() const {
    if (kind == "cuda") return fmt::format("{} (driver {}, CUDA {})", name, driver, cuda);
    return cores > 0 ? fmt::format("{} ({} {})", name, cores, cores == 1 ? "core" : "cores") : kind;
}

ordered_json to_json(const result& r) {
    const operation_facts& facts = r.work->op().facts();
    ordered_json out = {{"kernel", r.kernel}};
    out.update(sizes_json(r.work->op(), r.work->sizes()));
    out.update(r.work->layout());
    out["dtype"] = r.work->type().name;
    out["device"] = to_json(r.device);
    if (r.placement != 0) out["placement"] = r.placement;
    if (!r.ran()) {
        out["status"] = "skipped";
        out["reason"] = r.skipped;
        return out;
    }
    if (r.device.kind != "host") {
        out["launch"] = {{"grid", triple(r.grid)}, {"block", triple(r.block)}};
        // Above 1: slabs, of which the last is smaller than the grid shown. 0: an empty matrix.
        if (r.launches != 1) out["launch"]["launches"] = r.launches;
    }
    out["status"] = "ran";
    switch (r.verified) {
        case verification::passed: out["verified"] = true; break;
        case verification::some_blocks: out["verified"] = "sampled"; break;
        case verification::failed: out["verified"] = false; break;
    }
    if (!r.fault.empty()) out["fault"] = r.fault;
    out["checked"] = {{"elements", r.checked_elements}, {"of", r.checked_of}};
    if (r.trials) out["trials"] = {{"right", r.trials->passed}, {"declined", r.trials->declined}};
    if (r.counts) {
        out["metrics"] = metrics_of(*r.counts);
        out["derived"] = derived_of(*r.counts);
        if (r.device.kind == "cuda") out["metrics_from"] = "emulator";
    }
    if (r.hardware) {
        ordered_json read = ordered_json::object();
        for (const auto& [name, value] : r.hardware->metrics) read[name] = number(value);
        out["hardware"] = {{"ncu", r.hardware->ncu}, {"kernels", r.hardware->kernels}, {"metrics", read}};
    }
    if (!r.lines.empty()) {
        out["lines"] = ordered_json::array();
        for (const auto& line : r.lines) {
            out["lines"].push_back({{"file", line.file},
                                    {"line", line.line},
                                    {"metrics", metrics_of(line.counts)},
                                    {"derived", derived_of(line.counts)}});
        }
    }
    if (r.time) {
        out["time"] = to_json(r.time->kernel);
        out["time"]["method"] = r.time->method;
        out[r.time->unit.json] = r.time->rate();
        if (r.time->peak > 0) out["of_peak"] = r.time->rate() * 1e9 / r.time->peak;
        out["yardstick"] = {{"what", r.time->yardstick_name},
                            {"median_s", r.time->yardstick.median_s},
                            {"p10_s", r.time->yardstick.p10_s},
                            {"p90_s", r.time->yardstick.p90_s},
                            {r.time->unit.json, r.time->yardstick_rate()}};
        out["ratio"] = r.time->ratio();
    }
    if (r.published_rate > 0) out["noted"] = {{facts.rate.json, r.published_rate}, {"source", facts.published_source}};
    return out;
}

ordered_json to_json(const std::vector<result>& all) {
    ordered_json out = {{"results", ordered_json::array()}};
    for (const result& r : all) out["results"].push_back(to_json(r));
    return out;
}

}  // namespace cornerturn::lab
