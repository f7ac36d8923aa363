#include "emulate/program_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cornerturn/error.hpp"
#include "emulator/metrics.hpp"
#include "emulator/named_counters.hpp"

namespace cornerturn::emulate {
namespace {

using emulator::counters;
using nlohmann::json;

counters counters_of(const json& metrics) {
    counters found;
    for (const auto* all : {&emulator::metrics(), &emulator::atomic_metrics(), &emulator::derived_metrics()})
        for (const emulator::metric& m : *all) (found.*m.member)[m.op] = metrics.at(m.name).get<std::uint64_t>();
    return found;
}

const emulator::named_counter* find_counter(const std::string& name) {
    const std::vector<emulator::named_counter>& all = emulator::named_counters();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const emulator::named_counter& r) { return r.name == name; });
    return found != all.end() ? &*found : nullptr;
}

bool holds(double value, const std::string& comparison, double bound) {
    if (comparison == "<=") return value <= bound;
    if (comparison == "<") return value < bound;
    if (comparison == ">=") return value >= bound;
    if (comparison == ">") return value > bound;
    return value == bound;
}

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(" \t\n"), end = text.find_last_not_of(" \t\n");
    return begin == text.npos ? "" : text.substr(begin, end - begin + 1);
}

std::string number(double value) {
    return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

}  // namespace

std::vector<kernel_report> read_report(const std::string& text) {
    try {
        std::vector<kernel_report> all;
        const json whole = json::parse(text);
        for (const json& k : whole.at("kernels")) {
            kernel_report one;
            one.kernel = k.at("kernel");
            one.symbol = k.at("symbol");
            one.launches = k.at("launches");
            one.blocks = k.at("blocks");
            one.blocks_run = k.at("blocks_run");
            one.sampled = k.at("sampled");
            one.counts = counters_of(k.at("metrics"));
            for (const json& h : k.at("hazards")) one.hazards.push_back({h.at("kind"), h.at("message"), h.at("times")});
            for (const json& line : k.at("lines"))
                one.lines.push_back(
                    {line.at("file"), line.at("line"), line.at("path"), counters_of(line.at("metrics"))});
            all.push_back(std::move(one));
        }
        return all;
    } catch (const json::exception& wrong) {
        throw error(fmt::format("cannot read the program's report of its kernels: {}", wrong.what()));
    }
}

budget budget::parse(const std::string& text) {
    // The colon after the kernel's name, not one of a namespace's `::`.
    std::size_t colon = text.find(':');
    while (colon != text.npos && colon + 1 < text.size() && text[colon + 1] == ':') colon = text.find(':', colon + 2);
    const std::string example = "'my_kernel: load.sectors_per_request <= 4, shared.conflicts == 0'";
    if (colon == text.npos)
        throw invalid_argument(fmt::format("--budget '{}' names no kernel: write it like {}", text, example));
    budget made;
    made.kernel = trimmed(text.substr(0, colon));
    std::size_t begin = colon + 1;
    while (begin <= text.size()) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string part = trimmed(text.substr(begin, end - begin));
        const std::size_t sign = part.find_first_of("<>=");
        const std::size_t after = sign == part.npos ? sign : part.find_first_not_of("<>=", sign);
        if (after == part.npos)
            throw invalid_argument(fmt::format("--budget: '{}' is not a limit: write it like {}", part, example));
        limit one{trimmed(part.substr(0, sign)), part.substr(sign, after - sign), 0};
        const std::string bound = trimmed(part.substr(after));
        char* rest = nullptr;
        one.bound = std::strtod(bound.c_str(), &rest);
        if (bound.empty() || *rest != 0)
            throw invalid_argument(fmt::format("--budget: '{}' is not a number in '{}'", bound, part));
        const std::vector<std::string> comparisons{"<=", "<", "==", ">=", ">"};
        if (std::find(comparisons.begin(), comparisons.end(), one.comparison) == comparisons.end())
            throw invalid_argument(fmt::format("--budget: '{}' is not a comparison: the comparisons are {}",
                                               one.comparison, fmt::join(comparisons, " ")));
        if (find_counter(one.metric) == nullptr) {
            std::vector<std::string> names;
            for (const emulator::named_counter& known : emulator::named_counters()) names.push_back(known.name);
            throw invalid_argument(
                fmt::format("--budget: '{}' is not a metric: the metrics are {}", one.metric, fmt::join(names, ", ")));
        }
        made.limits.push_back(one);
        begin = end + 1;
    }
    return made;
}

std::vector<std::string> budget::missed(const std::vector<kernel_report>& kernels) const {
    emulator::kernel_counters all;
    for (const kernel_report& k : kernels) {
        if (!emulator::is_named(k.kernel, k.symbol, kernel)) continue;
        emulator::kernel_counters one{emulator::counted(k.counts), static_cast<std::int64_t>(k.launches), 0};
        for (const kernel_report::hazard& h : k.hazards) one.hazards += static_cast<std::int64_t>(h.times);
        all += one;
    }
    if (all.launches == 0) {
        std::vector<std::string> names;
        for (const kernel_report& k : kernels) names.push_back(k.kernel);
        return {"budget missed: " + emulator::never_ran(kernel, names)};
    }
    std::vector<std::string> sentences;
    for (const limit& l : limits) {
        const double value = find_counter(l.metric)->of(all);
        if (holds(value, l.comparison, l.bound)) continue;
        sentences.push_back(fmt::format("budget missed: {}: {} is {}, {} too {}: it must be {} {}", kernel, l.metric,
                                        number(value), number(std::abs(value - l.bound)),
                                        value > l.bound ? "many" : "few", l.comparison, number(l.bound)));
    }
    return sentences;
}

}  // namespace cornerturn::emulate
