#include "report/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "lab/statistics.hpp"
#include "report/charts.hpp"
#include "report/number_text.hpp"
#include "report/tables.hpp"

namespace cornerturn::report {
namespace {

std::string speed_text(double ratio, const std::string& yardstick) {
    return fmt::format("{:.3f} {} {}'s speed", ratio, ratio < 1 ? "of" : "times", yardstick);
}

// "a", "a and b", "a, b and c"
std::string listed(const std::vector<std::string>& parts) {
    if (parts.size() < 2) return parts.empty() ? "" : parts.front();
    return fmt::format("{} and {}", fmt::join(parts.begin(), parts.end() - 1, ", "), parts.back());
}

std::string device_text(const lab::device_info& device) {
    if (device.kind == "host") return device.cores > 0 ? fmt::format("{} host cores", device.cores) : "the host";
    return device.name.empty() ? "the GPU" : device.name;
}

double cost_of(const rung& r, const ladder& l) {
    double sum = 0;
    for (const cost& kind : cost_kinds()) sum += cost_of(r, kind, l);
    return sum;
}

// A sentence on the cost in which the slower kernel exceeds the faster one most.
std::string excess_text(const rung& fast, const rung& slow, const ladder& l) {
    const cost* most = nullptr;
    const auto excess = [&](const cost& kind) { return cost_of(slow, kind, l) - cost_of(fast, kind, l); };
    for (const cost& kind : cost_kinds()) {
        if (most == nullptr || excess(kind) > excess(*most)) most = &kind;
    }
    const std::string steps = fmt::format("{}s", l.op->facts().step);
    if (excess(*most) <= 0)
        return fmt::format(
            "The counters do not explain it: for each 32 {} it needs no more sectors or wavefronts than {}.", steps,
            fast.kernel);
    return fmt::format("Its largest extra cost in the counters is {}: {:.3g} for each 32 {}; {} needs {:.3g}.",
                       most->name, cost_of(slow, *most, l), steps, fast.kernel, cost_of(fast, *most, l));
}

std::vector<std::string> timed_findings(const document& d, const ladder& l) {
    const rung *fast = nullptr, *slow = nullptr;
    std::size_t timed = 0;
    for (const rung& r : l.rungs) {
        if (!r.time || r.ceiling) continue;
        ++timed;
        if (fast == nullptr || r.rate > fast->rate) fast = &r;
        if (slow == nullptr || r.rate < slow->rate) slow = &r;
    }
    if (fast == nullptr) return {};
    const std::string reached = speed_text(fast->ratio, l.yardstick), on = device_text(d.device);
    if (timed == 1) return {fmt::format("On {}, {} reaches {}.", on, fast->kernel, reached)};
    std::vector<std::string> all = {
        fmt::format("On {}, {} is the fastest of {} kernels for {}: it reaches {}.", on, fast->kernel, timed, l.work(),
                    reached),
        fmt::format("The slowest is {}: it takes {:.3g} times as long.", slow->kernel, fast->rate / slow->rate)};
    if (!fast->counted().empty() && !slow->counted().empty() && l.steps() > 0)
        all.push_back(excess_text(*fast, *slow, l));
    return all;
}

std::vector<std::string> counted_findings(const document& d, const ladder& l) {
    std::vector<const rung*> ran, both;
    for (const rung& r : l.rungs) {
        if (r.ran() && !r.counted().empty() && !r.ceiling) ran.push_back(&r);
        if (!r.emulated.empty() && !r.hardware.empty()) both.push_back(&r);
    }
    std::vector<std::string> all;
    const std::string steps = fmt::format("for each 32 {}s", l.op->facts().step);
    if (!ran.empty() && l.steps() > 0) {
        const auto [least, most] = std::minmax_element(
            ran.begin(), ran.end(), [&](const rung* a, const rung* b) { return cost_of(*a, l) < cost_of(*b, l); });
        if (ran.size() == 1) {
            all.push_back(
                fmt::format("{} needs {:.3g} sectors and wavefronts {}.", ran[0]->kernel, cost_of(*ran[0], l), steps));
        } else {
            all.push_back(fmt::format("Of {} kernels, {} needs the fewest sectors and wavefronts: {:.3g} {}.",
                                      ran.size(), (*least)->kernel, cost_of(**least, l), steps));
            all.push_back(fmt::format("{} needs the most: {:.3g}.", (*most)->kernel, cost_of(**most, l)));
        }
    }
    if (d.device.kind == "emulator") {
        all.push_back("Emulated runs have no times: the emulator counts memory accesses only.");
    } else if (!both.empty()) {
        const auto same = std::count_if(both.begin(), both.end(), [](const rung* r) { return !disagrees(*r); });
        all.push_back(fmt::format("The emulator's counters equal the hardware's for {} of {}.", same,
                                  plural(both.size(), "kernel")));
    }
    return all;
}

// A contestant of a bench, at the shapes for which it was timed.
struct standing {
    std::string key, name;
    std::vector<double> ratios;     // to the yardstick
    std::vector<double> slowdowns;  // the subject's speed divided by this contestant's

    double median() const { return lab::percentile(ratios, 0.5); }
    double times() const { return lab::percentile(slowdowns, 0.5); }
};

std::vector<standing> standings(const bench& b) {
    std::vector<standing> all;
    for (const std::string& who : contestants(b)) {
        if (is_ceiling(b, who)) continue;
        standing s{who, who == "subject" ? subject_name(b) : contestant_name(who), {}, {}};
        for (const cell& c : b.cells) {
            const entry* const e = find_entry(c, who);
            if (e == nullptr || !e->timed() || e->ratio <= 0) continue;
            s.ratios.push_back(e->ratio);
            if (c.subject.timed() && c.subject.ratio > 0) s.slowdowns.push_back(c.subject.ratio / e->ratio);
        }
        if (!s.slowdowns.empty()) all.push_back(std::move(s));
    }
    return all;
}

// "2.5 x slower" for a peer if the subject is 2.5 times as fast. A difference below 5 % counts as none.
std::string slower_text(double times) {
    if (times > 0.95 && times < 1.05) return "as fast";
    const double factor = std::max(times, 1 / times);
    return fmt::format("{:.{}f} x {}", factor, factor < 10 ? 1 : 0, times > 1 ? "slower" : "faster");
}

std::vector<std::string> bench_findings(const document& d, const bench& b) {
    const cell* worst = nullptr;
    std::size_t shapes = 0, ahead = 0;
    for (const cell& c : b.cells) {
        if (!c.subject.timed() || c.subject.ratio <= 0) continue;
        ++shapes;
        ahead += c.subject.ratio >= 1;
        if (worst == nullptr || c.subject.ratio < worst->subject.ratio) worst = &c;
    }
    if (worst == nullptr) return {"Nothing was measured."};
    const std::vector<standing> all = standings(b);
    const std::string yardstick = b.facts().yardstick;
    const auto pytorch =
        std::find_if(all.begin(), all.end(), [](const standing& s) { return s.name == contestant_name("torch"); });
    std::vector<std::string> found = {
        fmt::format("On {}, {} runs {} at {}{}.", device_text(d.device), subject_name(b), work_name(*b.op),
                    speed_text(all.front().median(), yardstick),
                    pytorch == all.end()
                        ? ", the median of " + plural(shapes, "measurement")
                        : fmt::format(" and {:.3g} times as fast as PyTorch: medians of {} and {} measurements",
                                      pytorch->times(), shapes, pytorch->slowdowns.size())),
        fmt::format("The worst is {}, at {}{}; {} of the {} reach {}'s speed.",
                    speed_text(worst->subject.ratio, yardstick), worst->shape,
                    b.of_sizes() ? fmt::format(" ({} per element)",
                                               plural(static_cast<std::size_t>(worst->element_size), "byte"))
                                 : "",
                    ahead, shapes, yardstick)};
    std::vector<std::string> peers;
    for (const standing& s : all) {
        if (s.key != "subject") peers.push_back(fmt::format("{:.3g} times as fast as {}", s.times(), s.name));
    }
    if (!peers.empty())
        found.push_back(
            fmt::format("In the median over the shapes that both ran, {} is {}.", subject_name(b), listed(peers)));
    return found;
}

}  // namespace

std::vector<std::string> findings_of(const document& d) {
    if (const bench* const b = d.as_bench()) return bench_findings(d, *b);
    const ladder& l = *d.as_ladder();
    return l.timed() ? timed_findings(d, l) : counted_findings(d, l);
}

std::vector<std::string> findings_of(const std::vector<document>& documents) {
    constexpr std::size_t kMost = 3;
    if (documents.size() == 1) return findings_of(documents.front());
    // One document of each kind, then a second one of each kind. Benches come first, then ladders with times.
    std::map<std::string, int> seen;
    std::vector<std::pair<int, const document*>> order;
    for (const document& d : documents) {
        const bench* const b = d.as_bench();
        const operation_facts& facts = b != nullptr ? b->facts() : d.as_ladder()->op->facts();
        const int kind = (b != nullptr ? 0 : d.as_ladder()->timed() ? 2 : 4) + (facts.rate.arithmetic != nullptr);
        order.emplace_back(seen[std::to_string(kind)]++ * 6 + kind, &d);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> all;
    std::string before;  // the device of the previous sentence
    for (const auto& [rank, d] : order) {
        const std::vector<std::string> found = findings_of(*d);
        if (found.empty() || all.size() == kMost) continue;
        const std::string where = fmt::format("On {}, ", device_text(d->device));
        const bool again = where == before && found.front().starts_with(where);
        all.push_back(again ? "On the same device, " + found.front().substr(where.size()) : found.front());
        before = where;
    }
    return all;
}

std::optional<drawing> headline(const std::vector<document>& documents) {
    share_chart chart;
    std::vector<double> ours, pytorch;
    std::size_t benches = 0;
    std::string yardstick;
    for (const document& d : documents) {
        const bench* const b = d.as_bench();
        if (b == nullptr || b->facts().rate.arithmetic != nullptr || !is_library_kernel(b->subject)) continue;
        std::vector<standing> all = standings(*b);
        if (all.size() < 2) continue;
        ++benches;
        yardstick = b->facts().yardstick;
        std::stable_sort(all.begin() + 1, all.end(),
                         [](const standing& a, const standing& z) { return a.median() > z.median(); });
        share_chart::group group{.name = fmt::format("{} on {}", work_name(*b->op), device_text(d.device))};
        group.name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(group.name[0])));
        for (const standing& s : all) {
            const bool subject = s.key == "subject";
            if (subject) ours.push_back(s.median());
            if (s.name == contestant_name("torch")) pytorch.push_back(s.median());
            group.bars.push_back({s.name, subject ? "s0" : "s7", s.median(), subject ? "" : slower_text(s.times()),
                                  fmt::format("{}: {:.3f} of {}'s speed, the median of {}", s.name, s.median(),
                                              yardstick, plural(s.ratios.size(), "measurement"))});
        }
        chart.columns[d.device.kind == "host" ? 1 : 0].push_back(std::move(group));
    }
    if (benches < 2) return std::nullopt;
    if (chart.columns[0].empty()) std::swap(chart.columns[0], chart.columns[1]);
    const auto range = [](const std::vector<double>& all) {
        const auto [least, most] = std::minmax_element(all.begin(), all.end());
        return fmt::format("{:.2f} to {:.2f}", *least, *most);
    };
    chart.title = fmt::format("cornerturn's median speed is {} of {}'s", range(ours), yardstick);
    if (!pytorch.empty()) chart.title += ", PyTorch's " + range(pytorch);
    chart.subtitle = fmt::format("Bars: the median over all shapes. The vertical line is {}'s speed", yardstick);
    return draw(chart);
}

}  // namespace cornerturn::report
