#include "lab/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "lab/views.hpp"

namespace cornerturn::lab {
namespace {

using emulator::counters;
using emulator::direction;
using emulator::kLoad;
using emulator::kStore;

std::string count_text(double value) {
    return value == std::floor(value) && value >= 0 ? grouped(static_cast<std::uint64_t>(value))
                                                    : fmt::format("{:.2f}", value);
}

bool is_shared(const metric& m) {
    return m.member == &counters::shared_requests || m.member == &counters::shared_wavefronts;
}
bool is_requests(const metric& m) {
    return m.member == &counters::shared_requests || m.member == &counters::global_requests;
}

// The requests that the hardware counted, of the metric's memory and direction.
double measured_requests(const result& r, const metric& of) {
    for (const metric& m : metrics()) {
        if (is_requests(m) && is_shared(m) == is_shared(of) && m.op == of.op) {
            const double* const found = r.hardware->find(m.name);
            return found == nullptr ? 0 : *found;
        }
    }
    return 0;
}

std::string why_modelled(const result& r, const metric& m, std::uint64_t emulated, double measured) {
    const auto model = static_cast<double>(emulated);
    if (model == measured) return "equal";
    const char* const accesses = m.op == kLoad ? "loads" : "stores";
    if (is_requests(m)) {
        if (measured == 0) return fmt::format("the compiled kernel has none of the {} of its source", accesses);
        return measured < model ? fmt::format("on average, one compiled instruction replaces {:.2f} {} of the source",
                                              model / measured, accesses)
                                : fmt::format("the compiled kernel has {} more {} than its source",
                                              count_text(measured - model), accesses);
    }
    const auto requests = static_cast<double>(
        (r.counts.value().*(is_shared(m) ? &counters::shared_requests : &counters::global_requests))[m.op]);
    if (measured_requests(r, m) != requests) return fmt::format("follows from the different number of {}", accesses);
    return measured > model ? "above the emulator's count: not explained" : "below the emulator's count: not explained";
}

// A hardware counter that counts the same as a modelled one, plus lost arbitration.
struct noisy_metric {
    const char* name;
    counters::by_direction counters::*member;
    direction op;
    const char *with, *without;  // the hardware's counters of wavefronts, with and without lost arbitration
};
constexpr const char* kNoisyWavefronts[] = {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                            "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"};
constexpr const char* kExactWavefronts[] = {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                            "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"};
constexpr noisy_metric kNoisy[] = {
    {kNoisyWavefronts[0], &counters::shared_wavefronts, kLoad, kNoisyWavefronts[0], kExactWavefronts[0]},
    {kNoisyWavefronts[1], &counters::shared_wavefronts, kStore, kNoisyWavefronts[1], kExactWavefronts[1]},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", &counters::shared_conflicts, kLoad,
     kNoisyWavefronts[0], kExactWavefronts[0]},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", &counters::shared_conflicts, kStore,
     kNoisyWavefronts[1], kExactWavefronts[1]},
};

std::string why_noisy(const result& r, const noisy_metric& m, std::uint64_t emulated, double measured) {
    const double above = measured - static_cast<double>(emulated);
    if (above == 0) return "equal: no arbitration was lost";
    const double *const with = r.hardware->find(m.with), *const without = r.hardware->find(m.without);
    if (with == nullptr || without == nullptr) return "also counts lost arbitration";
    const double lost = *with - *without;
    const auto modelled = static_cast<double>((r.counts->shared_wavefronts)[m.op]);
    const double of_code = *without - modelled;  // the compiled kernel's accesses differ from its source's
    if (lost == 0) return "follows from the different number of wavefronts";
    std::string text = fmt::format("lost arbitration: {} wavefronts more than the banks need", count_text(lost));
    if (of_code != 0) text += fmt::format("; {:+} because the compiler changed accesses", of_code);
    return text;
}

// ---- Two kernels --------------------------------------------------------------------------------------------------

// A rough cost, in cycles of a multiprocessor. In one cycle it moves 64 bytes of global memory and one wavefront, and
// takes one memory instruction. This is enough to find the change that costs or saves most.
struct expense {
    const char *name, *unit;
    counters::by_direction counters::*member;
    counters::by_direction counters::*requests;  // also shown per request of these; null: not
    direction op;
    double cycles;
};
constexpr expense kExpenses[] = {
    {"global loads", "sectors", &counters::global_sectors, &counters::global_requests, kLoad, 0.5},
    {"global stores", "sectors", &counters::global_sectors, &counters::global_requests, kStore, 0.5},
    {"shared loads", "wavefronts", &counters::shared_wavefronts, &counters::shared_requests, kLoad, 1},
    {"shared stores", "wavefronts", &counters::shared_wavefronts, &counters::shared_requests, kStore, 1},
    {"global load instructions", "", &counters::global_requests, nullptr, kLoad, 1},
    {"global store instructions", "", &counters::global_requests, nullptr, kStore, 1},
    {"shared load instructions", "", &counters::shared_requests, nullptr, kLoad, 1},
    {"shared store instructions", "", &counters::shared_requests, nullptr, kStore, 1},
};

double cycles_of(const expense& e, const counters& c) { return e.cycles * static_cast<double>((c.*e.member)[e.op]); }

double per_request(const expense& e, const counters& c) {
    const std::uint64_t requests = (c.*e.requests)[e.op];
    return requests == 0 ? 0 : static_cast<double>((c.*e.member)[e.op]) / static_cast<double>(requests);
}

std::string change_of(const expense& e, const counters& a, const counters& b) {
    const std::uint64_t before = (a.*e.member)[e.op], after = (b.*e.member)[e.op];
    if (e.requests == nullptr) return fmt::format("{}: {} -> {}", e.name, grouped(before), grouped(after));
    std::string text = fmt::format("{} of {}: {} -> {}", e.unit, e.name, grouped(before), grouped(after));
    if (before > 0 && after > 0)
        text += fmt::format(" ({:.4g} -> {:.4g} a request)", per_request(e, a), per_request(e, b));
    return text;
}

std::uint64_t threads_of(const result& r) {
    return std::uint64_t{r.grid.x} * r.grid.y * r.grid.z * r.block.x * r.block.y * r.block.z;
}

// The wait that changed most between two kernels, in cycles an instruction. Empty if none changed enough.
std::string stall_change(const hardware_counters& a, const hardware_counters& b) {
    std::string worst;
    double most = 0.5;  // cycles an instruction; smaller changes mean nothing
    for (const auto& [name, value] : b.metrics) {
        if (!name.starts_with(kStallPrefix)) continue;
        const double* const before = a.find(name);
        if (before == nullptr || std::abs(value - *before) <= most) continue;
        most = std::abs(value - *before);
        worst = fmt::format("{}: {:.1f} -> {:.1f}", meaning_of(name), *before, value);
    }
    return worst;
}

std::string of_peak(const hardware_counters& a, const hardware_counters& b, const char* name, const char* label) {
    const double *before = a.find(name), *after = b.find(name);
    if (before == nullptr || after == nullptr) return {};
    return fmt::format("{} {:.0f} % -> {:.0f} %", label, *before, *after);
}

// The change that a kernel's notes state, if it is a change from the other kernel: "From shared: ...".
std::string change_since(const kernel& from, const kernel& to) {
    const std::string change = to.notes->change;
    constexpr std::string_view kFrom = "From ";
    const std::size_t colon = change.find(':');
    if (!change.starts_with(kFrom) || colon == std::string::npos) return {};
    const std::string other = change.substr(kFrom.size(), colon - kFrom.size());  // "shared", "padded@32x8"
    const std::string id = from.id.substr(from.id.find('/') + 1);
    return id == other || id.substr(0, id.find('@')) == other ? change : "";
}

std::string change_between(const kernel& from, const kernel& to) {
    if (from.id == to.id) return "The two kernels are the same.";
    const auto variant = [](const kernel& k) { return k.id.substr(std::min(k.id.find('@') + 1, k.id.size())); };
    if (std::string_view(from.notes->id) == to.notes->id)
        return fmt::format("Only the variant: {} -> {}.", variant(from), variant(to));
    if (const std::string forth = change_since(from, to); !forth.empty()) return forth;
    if (const std::string back = change_since(to, from); !back.empty())
        return fmt::format("The reverse of this change: {}", back);
    return "Several changes: the kernels are not neighbours in the ladder.";
}

std::string launch_of(const result& r) {
    return fmt::format("{} x {} x {} blocks of {} x {} x {}", r.grid.x, r.grid.y, r.grid.z, r.block.x, r.block.y,
                       r.block.z);
}

}  // namespace

std::vector<counter_comparison> compare_with_hardware(const result& r) {
    std::vector<counter_comparison> all;
    if (!r.counts || !r.hardware) return all;
    for (const metric& m : metrics()) {
        const double* const measured = r.hardware->find(m.name);
        if (measured == nullptr) continue;
        const std::uint64_t emulated = ((*r.counts).*m.member)[m.op];
        all.push_back({m.name, emulated, *measured, why_modelled(r, m, emulated, *measured)});
    }
    for (const noisy_metric& m : kNoisy) {
        const double* const measured = r.hardware->find(m.name);
        if (measured == nullptr) continue;
        const std::uint64_t emulated = ((*r.counts).*m.member)[m.op];
        all.push_back({m.name, emulated, *measured, why_noisy(r, m, emulated, *measured)});
    }
    return all;
}

std::string agreement(const result& r) {
    const auto all = compare_with_hardware(r);
    std::size_t modelled = 0, equal = 0;
    for (const counter_comparison& beside : all) {
        for (const metric& m : metrics()) {
            if (beside.metric != m.name) continue;
            ++modelled;
            equal += beside.equal();
        }
    }
    return modelled == 0 ? "-" : fmt::format("{} of {}", equal, modelled);
}

std::string show_comparison(const result& r, format as) {
    const auto all = compare_with_hardware(r);
    if (as == format::json) {
        nlohmann::ordered_json out = to_json(r);
        out["comparison"] = nlohmann::ordered_json::array();
        for (const counter_comparison& beside : all) {
            out["comparison"].push_back({{"metric", beside.metric},
                                         {"emulator", beside.emulated},
                                         {"hardware", beside.measured},
                                         {"reading", beside.why}});
        }
        return json_text(out, 2) + "\n";
    }
    table t{{{"counter"}, {"emulator", true}, {"hardware", true}, {"meaning"}}, {}};
    for (const counter_comparison& beside : all) {
        const bool csv = as == format::csv;
        t.rows.push_back({beside.metric, csv ? std::to_string(beside.emulated) : grouped(beside.emulated),
                          csv ? fmt::format("{}", beside.measured) : count_text(beside.measured), beside.why});
    }
    if (as == format::csv) return t.print(as);
    const bool on_terminal = as == format::table;
    const std::string heading = on_terminal ? wrapped(profile_heading(r), 2) : profile_heading(r);
    if (all.empty()) return heading + "\nThere is nothing to compare: the emulator cannot run this kernel.\n";
    return heading +
           fmt::format("\nemulator beside Nsight Compute {}, {}: {} modelled counters are equal\n\n", r.hardware->ncu,
                       r.hardware->kernels == 1 ? "1 launch" : fmt::format("{} launches", r.hardware->kernels),
                       agreement(r)) +
           t.print(as);
}

std::string explain_difference(const result& before, const result& after) {
    std::string text;
    for (const result* r : {&before, &after}) {
        if (!r->ran()) return fmt::format("Nothing can be compared: {} was skipped.", r->kernel);
        if (r->failed()) return fmt::format("Nothing can be compared: {} was not verified.", r->kernel);
    }
    if (!before.launched && !after.launched && before.device.kind != "host")
        return "Nothing was launched: there was nothing to do.";
    if (before.time && after.time) {
        const bool differ = before.time->kernel.is_clearly_different_from(after.time->kernel);
        const double ratio = before.time->kernel.median_s / after.time->kernel.median_s;
        text = !differ      ? "Their times are within each other's spread. "
               : ratio >= 1 ? fmt::format("{} is {:.2f} times as fast. ", after.kernel, ratio)
                            : fmt::format("{} takes {:.2f} times as long. ", after.kernel, 1 / ratio);
    }
    if (before.counts && after.counts) {
        const expense* most = nullptr;
        double total = 0, weight = 0;
        for (const expense& e : kExpenses) {
            const double change = std::abs(cycles_of(e, *after.counts) - cycles_of(e, *before.counts));
            total += cycles_of(e, *before.counts);
            if (change > weight) {
                weight = change;
                most = &e;
            }
        }
        constexpr double kWorthReporting = 0.02;
        if (most != nullptr && weight > kWorthReporting * total) {
            text += fmt::format("The largest change: {}.", change_of(*most, *before.counts, *after.counts));
        } else if (before.launched && after.launched && threads_of(before) != threads_of(after)) {
            text += fmt::format(
                "No counter of the emulator changed, but the first kernel has {} threads and the second {}. To see the "
                "effect on the bytes in flight, run on a GPU (--on cuda --counters).",
                grouped(threads_of(before)), grouped(threads_of(after)));
        } else {
            text +=
                "No counter of the emulator changed: the kernels differ in the order of blocks, or in something that "
                "no counter shows.";
        }
    }
    if (before.hardware && after.hardware) {
        const hardware_counters &a = *before.hardware, &b = *after.hardware;
        std::vector<std::string> changes = {
            stall_change(a, b), of_peak(a, b, "dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM"),
            of_peak(a, b, "sm__warps_active.avg.pct_of_peak_sustained_active", "occupancy")};
        std::erase(changes, "");
        if (!changes.empty()) text += fmt::format(" On the hardware: {}.", fmt::join(changes, "; "));
    }
    return text;
}

std::string show_difference(const kernel& from, const result& before, const kernel& to, const result& after,
                            format as) {
    const std::string why = explain_difference(before, after);
    if (as == format::json) {
        const nlohmann::ordered_json out = {{"from", to_json(before)},
                                            {"to", to_json(after)},
                                            {"ideas", {from.notes->idea, to.notes->idea}},
                                            {"changed", change_between(from, to)},
                                            {"explanation", why}};
        return json_text(out, 2) + "\n";
    }
    table t{{{"counter"}, {from.id, true, "", "from"}, {to.id, true, "", "to"}, {"ratio", true}}, {}};
    const auto add = [&](const std::string& name, double a, double b) {
        const auto value = [&](double n) { return as == format::csv ? fmt::format("{}", n) : count_text(n); };
        t.rows.push_back({name, value(a), value(b), a == 0 ? "-" : fmt::format("{:.3f}", b / a)});
    };
    if (before.counts && after.counts) {
        for (const metric& m : metrics())
            add(m.name, static_cast<double>(((*before.counts).*m.member)[m.op]),
                static_cast<double>(((*after.counts).*m.member)[m.op]));
        for (direction op : {kLoad, kStore})
            add(fmt::format("derived.shared_conflicts_{}", op == kLoad ? "ld" : "st"),
                static_cast<double>(before.counts->shared_conflicts[op]),
                static_cast<double>(after.counts->shared_conflicts[op]));
    }
    if (before.hardware && after.hardware) {
        for (const auto& [name, value] : after.hardware->metrics) {
            const bool modelled =
                std::any_of(metrics().begin(), metrics().end(), [&](const metric& m) { return name == m.name; });
            const double* const measured = before.hardware->find(name);
            if (measured != nullptr && !(modelled && before.counts && after.counts)) add(name, *measured, value);
        }
    }
    if (before.time && after.time)
        add("us, median", before.time->kernel.median_s * 1e6, after.time->kernel.median_s * 1e6);
    if (as == format::csv) return t.print(as);
    const std::string headings = profile_heading(before) + profile_heading(after) + "\n";
    std::string changes = fmt::format("from     {}\nto       {}\nchanged  {}\n", from.notes->idea, to.notes->idea,
                                      change_between(from, to));
    if (before.launched && after.launched)
        changes += fmt::format("launch   {} -> {}\n", launch_of(before), launch_of(after));
    if (as != format::table) return headings + changes + "\n" + t.print(as) + "\n" + why + "\n";
    constexpr std::size_t kIndent = 9;  // the column of the text after "changed"
    return wrapped(headings, 2) + wrapped(changes, kIndent) + "\n" + t.print(as) + "\n" + wrapped(why) + "\n";
}

}  // namespace cornerturn::lab
