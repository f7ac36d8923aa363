#include "report/compare.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

namespace cornerturn::report {
namespace {

struct measured {
    std::string name;
    bool kernel;
    const lab::timing* time;
    double ratio;
};

// In the order of the document.
std::vector<measured> all_of(const document& d) {
    std::vector<measured> all;
    if (const ladder* const l = d.as_ladder()) {
        for (const rung& r : l->rungs) {
            if (r.time) all.push_back({r.kernel, true, &*r.time, r.ratio});
        }
        return all;
    }
    const bench& b = std::get<bench>(d.results);
    for (const cell& c : b.cells) {
        // The same shape can be in several groups.
        std::string name = fmt::format("{}: {}", c.group, c.shape);
        if (b.of_sizes()) name += fmt::format(" of {}", c.element_size);
        if (c.subject.timed()) all.push_back({name, false, &*c.subject.time, c.subject.ratio});
    }
    return all;
}

}  // namespace

speed_verdict verdict_of(const lab::timing& before, const lab::timing& after) {
    if (!before.is_clearly_different_from(after)) return speed_verdict::within;
    return after.p90_s < before.p10_s ? speed_verdict::faster : speed_verdict::slower;
}

std::string comparison_key(const document& d) {
    if (const ladder* const l = d.as_ladder())
        return l->timed() ? fmt::format("ladder of {}, {}", l->name(), l->work()) : "";
    const bench& b = std::get<bench>(d.results);
    return fmt::format("bench of {}{}", b.op->name(), d.device.kind == "host" ? " on the host" : "");
}

std::vector<change> changes(const document& before, const document& after) {
    std::map<std::string, measured> first;
    for (const measured& m : all_of(before)) first.emplace(m.name, m);
    std::vector<change> both;
    for (const measured& m : all_of(after)) {
        const auto at = first.find(m.name);
        if (at == first.end()) continue;
        both.push_back({m.name, m.kernel, *at->second.time, *m.time, at->second.ratio, m.ratio});
        first.erase(at);
    }
    return both;
}

std::vector<std::string> not_in_both(const document& before, const document& after) {
    std::map<std::string, int> times;
    for (const document* d : {&before, &after}) {
        std::set<std::string> here;
        for (const measured& m : all_of(*d)) times[m.name] += here.insert(m.name).second;
    }
    std::vector<std::string> alone;
    for (const auto& [name, count] : times) {
        if (count == 1) alone.push_back(name);
    }
    return alone;
}

}  // namespace cornerturn::report
