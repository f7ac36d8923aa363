#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/charts.hpp"
#include "report/findings.hpp"
#include "report/number_text.hpp"
#include "report/tables.hpp"

namespace cornerturn::report {
namespace {

// File names have only letters, digits, '-', '.' and '_'.
std::string file_name(const std::string& stem) {
    std::string out;
    for (char c : stem) out += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' ? c : '_';
    return out.empty() || out[0] == '.' ? "results" + out : out;
}

bool has_peers(const bench& b) {
    return std::any_of(b.cells.begin(), b.cells.end(), [](const cell& c) { return !c.peers.empty(); });
}

std::string title_of(const document& d) {
    if (const ladder* const l = d.as_ladder()) {
        const std::string& only = l->rungs.front().kernel;
        return l->rungs.size() == 1 ? fmt::format("{}, {}", only, l->work())
                                    : fmt::format("Ladder of {}, {}", l->name(), l->work());
    }
    const bench& b = std::get<bench>(d.results);
    std::string work = work_name(*b.op);
    work[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(work[0])));
    return fmt::format("{} on {}: {} beside {}", work, d.device.kind == "host" ? "the host" : "the GPU",
                       subject_name(b), has_peers(b) ? "its peers" : b.facts().yardstick);
}

definition_list provenance_of(const document& d) {
    definition_list list;
    const auto add = [&](const char* name, const std::string& value, tone as = tone::plain) {
        if (!value.empty()) list.rows.emplace_back(name, text(value, as));
    };
    add("File", d.file);
    add("Device", d.device.text());
    add("Date", d.made.date);
    add("Commit", d.made.commit);
    const std::string ncu = [&] {
        if (const ladder* const l = d.as_ladder()) {
            for (const rung& r : l->rungs) {
                if (!r.ncu.empty()) return r.ncu;
            }
        }
        return d.made.ncu;
    }();
    add("Nsight Compute", ncu);
    add("Command", with_short_numbers(d.made.command), tone::code);
    const ladder* const l = d.as_ladder();
    const auto methods = l != nullptr ? l->methods() : std::get<bench>(d.results).methods();
    if (!methods.empty()) {
        add("Timing", fmt::format("{}; median, 10th and 90th percentile", fmt::join(methods, "; or ")));
    } else if (d.device.kind == "emulator") {
        add("Timing", "none: the emulator counts accesses and measures no time");
    }
    if (l != nullptr) return list;
    add("Yardstick", std::get<bench>(d.results).yardstick);
    for (const framework& w : std::get<bench>(d.results).frameworks) {
        list.rows.emplace_back(contestant_name(w.name),
                               text(fmt::format("{}{}{}", w.version, w.date.empty() ? "" : ", " + w.date,
                                                w.command.empty() ? "" : ", " + with_short_numbers(w.command))));
    }
    return list;
}

// The failed and the skipped contestants. Each reason appears once, with all contestants that were skipped for it.
struct remarks {
    std::vector<std::pair<std::string, std::string>> failed;
    std::vector<std::string> reasons;
    std::map<std::string, std::vector<std::pair<std::string, std::size_t>>> skipped;  // by reason: who, and how often

    void skip(const std::string& who, const std::string& why) {
        auto& all = skipped[why];
        if (all.empty()) reasons.push_back(why);
        const auto at = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == who; });
        if (at != all.end()) ++at->second;
        if (at == all.end()) all.emplace_back(who, 1);
    }

    void add_to(section& s) const {
        for (const auto& [who, why] : failed)
            s.content.push_back(paragraph{{fmt::format("FAILED {}: {}", who, why), tone::bad}});
        constexpr std::size_t kNamed = 6;
        for (const std::string& why : reasons) {
            const auto& all = skipped.at(why);
            std::vector<std::string> names;
            for (const auto& [who, times] : all) {
                if (names.size() < kNamed)
                    names.push_back(times > 1 ? fmt::format("{} (at {} shapes)", who, times) : who);
            }
            if (all.size() > kNamed) names.push_back(fmt::format("{} more", all.size() - kNamed));
            s.content.push_back(paragraph{fmt::format("Skipped: {}: {}", fmt::join(names, "; "), why)});
        }
    }
};

void add_counters(section& s, const std::string& name, const ladder& l) {
    const bool emulated =
        std::any_of(l.rungs.begin(), l.rungs.end(), [](const rung& r) { return !r.emulated.empty(); });
    if (auto drawn = costs(l)) {
        const char* const from = emulated ? "Counted by the emulator." : "Counted by the hardware.";
        s.content.push_back(heading{"Sectors and wavefronts"});
        s.content.push_back(figure{
            l.timed() ? name + "_counters" : name,
            fmt::format(
                "Each bar shows what a kernel needs for each 32 {}: the 32-byte sectors that its global loads and "
                "stores touch, and its wavefronts in shared memory. {}",
                l.op->facts().step + std::string("s"), from),
            std::move(*drawn)});
        s.content.push_back(counters(l));
    }
    if (const text_table t = agreement(l); !t.rows.empty()) {
        const auto off = static_cast<std::size_t>(std::count_if(l.rungs.begin(), l.rungs.end(), disagrees));
        s.content.push_back(heading{"Emulator and hardware"});
        const bool equal = std::all_of(t.rows.begin(), t.rows.end(), [](const std::vector<text>& row) {
            return std::all_of(row.begin() + 1, row.end(), [](const text& cell) { return cell.content == "="; });
        });
        if (equal) {
            s.content.push_back(paragraph{
                fmt::format("The emulator's counters equal the hardware's to the last digit for {}. That holds for "
                            "global requests, sectors, shared requests and wavefronts, each of loads and of stores.",
                            t.rows.size() == 1 ? "this kernel" : fmt::format("all {} kernels", t.rows.size()))});
        } else {
            s.content.push_back(paragraph{fmt::format(
                "All counters agree for {} of {}. In a cell with = the emulator's counters equal the hardware's to the "
                "last digit. Other cells show emulator / hardware.",
                t.rows.size() - off, plural(t.rows.size(), "kernel"))});
            s.content.push_back(t);
        }
    }
    if (const text_table t = hardware_only(l); !t.rows.empty() && t.columns.size() > 1) {
        s.content.push_back(heading{"Counted by the hardware only"});
        s.content.push_back(t);
    }
}

section ladder_section(const document& d, const std::string& name) {
    const ladder& l = *d.as_ladder();
    section s{title_of(d), {}};
    remarks notes;
    std::size_t skipped = 0;
    for (const rung& r : l.rungs) {
        skipped += !r.ran();
        if (!r.ran()) notes.skip(r.kernel, r.skipped);
        if (r.failed) notes.failed.emplace_back(r.kernel, r.fault);
    }
    s.content.push_back(paragraph{fmt::format("{}", fmt::join(findings_of(d), " "))});
    s.content.push_back(paragraph{fmt::format("{}: {} ran, {} skipped, {} failed.", plural(l.rungs.size(), "kernel"),
                                              l.rungs.size() - skipped, skipped, notes.failed.size())});
    s.content.push_back(provenance_of(d));
    notes.add_to(s);
    if (l.timed()) {
        s.content.push_back(heading{"Times"});
        s.content.push_back(figure{
            name,
            fmt::format(
                "Each bar is a kernel's speed as a fraction of {0}'s. Each kernel and {0} were measured in turn.",
                l.yardstick),
            ladder_bars(l)});
        s.content.push_back(times(l));
        s.content.push_back(paragraph{measured_where(d)});
    }
    add_counters(s, name, l);
    return s;
}

void add_cell_remarks(section& s, const bench& b) {
    remarks notes;
    for (const cell& c : b.cells) {
        const std::string where = b.where(c);
        if (!c.skipped.empty()) notes.skip(where, c.skipped);
        const auto note = [&](const entry& e) {
            if (!e.skipped.empty()) notes.skip(e.kernel, e.skipped);
            if (!e.fault.empty()) notes.failed.emplace_back(fmt::format("{}, {}", e.kernel, where), e.fault);
        };
        note(c.yardstick);
        note(c.subject);
        for (const auto& [peer, e] : c.peers) note(e);
        for (const timed_call& call : c.calls) {
            note(call.yardstick);
            note(call.subject);
        }
    }
    notes.add_to(s);
}

// For benches with several element sizes.
void add_sizes_of_elements(section& s, const document& d, const std::string& name) {
    const bench& b = *d.as_bench();
    const bool host = d.device.kind == "host";
    const char* const yardstick = b.facts().yardstick;
    s.content.push_back(heading{fmt::format("Beside {}", has_peers(b) ? "its peers" : yardstick)});
    s.content.push_back(figure{
        name,
        fmt::format("Each mark is one shape. It shows the speed as a fraction of this yardstick's: {}.", b.yardstick),
        peer_marks(b)});
    s.content.push_back(heading{"Worst and median"});
    text_table groups = by_group(b, host);
    const bool large_alone = host && !groups.rows.empty();
    if (groups.rows.empty()) groups = by_group(b, false);
    s.content.push_back(paragraph{
        fmt::format("Each cell shows the worst and the median ratio to {}.{}", yardstick,
                    large_alone ? " It counts only matrices of 64 MB or more: smaller ones stay in the caches." : "")});
    s.content.push_back(std::move(groups));
    s.content.push_back(paragraph{measured_where(d)});
    s.content.push_back(heading{"Shape by shape"});
    s.content.push_back(
        figure{name + "_heat",
               fmt::format("Each cell is {}'s speed as a fraction of {}'s. White: equal. Red: slower. Blue: faster.",
                           subject_name(b), yardstick),
               ratio_heat_map(b)});
}

// For benches with one element size.
void add_shapes(section& s, const document& d, const std::string& name) {
    const bench& b = *d.as_bench();
    const char* const yardstick = b.facts().yardstick;
    s.content.push_back(heading{fmt::format("Beside {}", yardstick)});
    s.content.push_back(
        figure{name,
               fmt::format("Each bar is the speed for one shape as a fraction of {}'s. The two were measured in turn.",
                           yardstick),
               ratios_by_shape(b)});
    s.content.push_back(by_shape(b));
    s.content.push_back(paragraph{measured_where(d)});
}

// The highest speed of a copy on the same device, in any of the files, and the name of that file.
std::optional<std::pair<double, std::string>> bandwidth_beside(const document& d, const std::vector<document>& all) {
    std::optional<std::pair<double, std::string>> best;
    const auto take = [&](double rate, const std::string& method, const std::string& file) {
        if (method.find("flushed") != std::string::npos && (!best || rate > best->first)) best.emplace(rate, file);
    };
    for (const document& other : all) {
        if (other.device.kind != "cuda" || other.device.name != d.device.name) continue;
        if (const bench* const b = other.as_bench(); b != nullptr && b->facts().rate.arithmetic == nullptr) {
            for (const cell& c : b->cells) {
                if (c.yardstick.timed()) take(c.yardstick.rate, c.method, other.file);
            }
        } else if (const ladder* const l = other.as_ladder();
                   l != nullptr && l->op->facts().rate.arithmetic == nullptr) {
            for (const rung& r : l->rungs) {
                if (r.time) take(r.yardstick_rate, r.method, other.file);
            }
        }
    }
    return best;
}

void add_roofline(section& s, const document& d, const std::string& name, const std::vector<document>& all) {
    const bench& b = *d.as_bench();
    const auto bandwidth = bandwidth_beside(d, all);
    const char* const arithmetic = b.facts().rate.arithmetic;
    s.content.push_back(heading{"Speed and roofline"});
    s.content.push_back(figure{
        name + "_roofline",
        bandwidth
            ? fmt::format(
                  "The flat roof is the peak of {:.1f} TFLOP/s in {}. The slope left of it is set by the {:.0f} "
                  "GB/s that a copy reached ({}). Small shapes that were timed warm may be above the slope: L2 "
                  "holds their data.",
                  b.peak / 1e3, arithmetic, bandwidth->first, bandwidth->second)
            : fmt::format("The roof is the peak of {:.1f} TFLOP/s in {}. It has no slope: no file of this report has a "
                          "copy's speed on this device. To get a slope, add a bench or a ladder of an operation that "
                          "moves data.",
                          b.peak / 1e3, arithmetic),
        roofline(b, bandwidth ? std::optional(bandwidth->first) : std::nullopt)});
}

section bench_section(const document& d, const std::string& name, const std::vector<document>& all) {
    const bench& b = *d.as_bench();
    section s{title_of(d), {}};
    s.content.push_back(paragraph{fmt::format("{}", fmt::join(findings_of(d), " "))});
    s.content.push_back(provenance_of(d));
    if (b.of_sizes())
        add_sizes_of_elements(s, d, name);
    else
        add_shapes(s, d, name);
    if (auto drawn = squares(b)) {
        s.content.push_back(heading{"Ratio by size"});
        s.content.push_back(
            figure{name + "_squares",
                   fmt::format("{}'s speed for square matrices as a fraction of {}'s.{}", subject_name(b),
                               b.facts().yardstick, b.of_sizes() ? " Each line is one element size." : ""),
                   std::move(*drawn)});
    }
    if (b.facts().rate.arithmetic != nullptr && b.peak > 0) add_roofline(s, d, name, all);
    add_cell_remarks(s, b);
    return s;
}

// The file's name without suffix, or its path if several of the files have that name.
std::string short_name(const document& d, const std::vector<const document*>& among) {
    const auto same = std::count_if(among.begin(), among.end(), [&](const document* o) { return o->stem == d.stem; });
    return same > 1 ? d.file : d.stem;
}

section comparison_section(const std::vector<const document*>& all) {
    const document& first = *all.front();
    section s{fmt::format("Side by side: {}", comparison_key(first)), {}};
    s.content.push_back(
        paragraph{"A change counts only if the ranges from the 10th to the 90th percentile do not overlap. Clocks "
                  "differ between runs, and times differ with them. Each ratio is to the yardstick of its own run."});
    for (auto at = all.begin() + 1; at != all.end(); ++at) {
        const document& other = **at;
        const std::vector<change> changed = changes(first, other);
        const std::string before = short_name(first, all), after = short_name(other, all);
        s.content.push_back(heading{fmt::format("Before: {}; after: {}", before, after)});
        if (first.device.text() != other.device.text()) {
            s.content.push_back(paragraph{{fmt::format("The devices differ: {} ran on {}, {} on {}.", before,
                                                       first.device.text(), after, other.device.text()),
                                           tone::bad}});
        }
        const auto count = [&](speed_verdict v) {
            return std::count_if(changed.begin(), changed.end(), [&](const change& c) { return c.verdict() == v; });
        };
        s.content.push_back(paragraph{
            fmt::format("In both files: {}. {} are faster, {} are slower, {} are within the spread.",
                        plural(changed.size(), first.as_ladder() != nullptr ? "kernel" : "measurement"),
                        count(speed_verdict::faster), count(speed_verdict::slower), count(speed_verdict::within))});
        if (!changed.empty()) s.content.push_back(side_by_side(changed));
        constexpr std::size_t kNamed = 8;
        std::vector<std::string> alone = not_in_both(first, other);
        const std::size_t more = alone.size() > kNamed ? alone.size() - kNamed : 0;
        alone.resize(alone.size() - more);
        if (!alone.empty()) {
            s.content.push_back(paragraph{fmt::format("Timed in only one of the two: {}{}.", fmt::join(alone, "; "),
                                                      more > 0 ? fmt::format(", and {} more", more) : "")});
        }
    }
    return s;
}

// Adds a section for ladders of one operation, layout and dtype if they have several sizes. Ladders of the same size
// share one position on the x axis.
void add_sizes(page& p, const std::vector<document>& documents) {
    std::map<std::string, std::vector<const document*>> ladders_of;
    for (const document& d : documents) {
        const ladder* const l = d.as_ladder();
        if (l == nullptr || !l->timed()) continue;
        ladders_of[fmt::format("{}{} {}", l->name(), l->layout, l->dtype)].push_back(&d);
    }
    for (auto& [name, same] : ladders_of) {
        std::set<std::string> works;
        for (const document* d : same) works.insert(d->as_ladder()->work());
        if (works.size() < 2) continue;
        std::stable_sort(same.begin(), same.end(),
                         [](auto* a, auto* b) { return a->as_ladder()->bytes() < b->as_ladder()->bytes(); });
        std::vector<const ladder*> ladders;
        std::set<std::string> devices;
        for (const document* d : same) {
            ladders.push_back(d->as_ladder());
            devices.insert(d->device.text());
        }
        auto drawn = ratios_by_size(ladders);
        if (!drawn) continue;
        section s{fmt::format("Ratio by size: ladders of {}", name), {}};
        if (devices.size() > 1)
            s.content.push_back(
                paragraph{{fmt::format("The devices differ: {}.", fmt::join(devices, "; ")), tone::bad}});
        s.content.push_back(figure{
            file_name(fmt::format("ladder_{}_{}{}_sizes", ladders.front()->name(), ladders.front()->dtype,
                                  ladders.front()->layout)),
            "Each line is a kernel that ran at every size. The names are those of the fastest at the largest size.",
            std::move(*drawn)});
        p.sections.push_back(std::move(s));
    }
}

}  // namespace

page make_page(const std::vector<document>& documents) {
    page p;
    p.title =
        documents.size() == 1 ? title_of(documents.front()) : fmt::format("cornerturn: {} results", documents.size());
    std::vector<std::string> works;
    std::map<std::string, std::vector<const document*>> by_work;
    for (const document& d : documents) {
        const std::string work = comparison_key(d);
        if (work.empty()) continue;
        if (!by_work.contains(work)) works.push_back(work);
        by_work[work].push_back(&d);
    }
    for (const std::string& work : works) {
        if (by_work[work].size() > 1) p.sections.push_back(comparison_section(by_work[work]));
    }
    add_sizes(p, documents);
    p.findings = documents.size() > 1 ? findings_of(documents) : std::vector<std::string>();
    if (auto drawn = headline(documents)) {
        section s{"All benches together", {}};
        s.content.push_back(
            figure{"headline",
                   "Each bar is the median over the shapes that this library ran. The factors compare it with "
                   "cornerturn at the same shapes.",
                   std::move(*drawn)});
        p.sections.insert(p.sections.begin(), std::move(s));
    }
    const auto titled = [&](const document& d) {
        const auto same = std::count_if(documents.begin(), documents.end(),
                                        [&](const document& o) { return title_of(o) == title_of(d); });
        return same > 1 ? fmt::format("{}: {}", title_of(d), d.file) : title_of(d);
    };
    for (const document& d : documents) {
        const std::string name = file_name(d.stem);
        if (d.as_ladder() != nullptr) p.sections.push_back(ladder_section(d, name));
        if (d.as_bench() != nullptr) p.sections.push_back(bench_section(d, name, documents));
        p.sections.back().title = titled(d);
    }
    // Two files from different folders can have the same name.
    std::set<std::string> names;
    for (section& s : p.sections) {
        for (page_element& b : s.content) {
            figure* const f = std::get_if<figure>(&b);
            if (f == nullptr) continue;
            const std::string name = f->name;
            for (int i = 2; !names.insert(f->name).second; ++i) f->name = fmt::format("{}-{}", name, i);
        }
    }
    return p;
}

}  // namespace cornerturn::report
