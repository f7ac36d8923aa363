#include "emulate/program_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>

#include "cornerturn/error.hpp"
#include "emulator/metrics.hpp"

namespace cornerturn::emulate {
namespace {

using emulator::counters;
using nlohmann::json;

counters counters_of(const json& metrics) {
    counters found;
    for (const auto* all : {&emulator::metrics(), &emulator::atomic_metrics(), &emulator::derived_metrics()})
        for (const emulator::metric& m : *all) (found.*m.where)[m.op] = metrics.at(m.name).get<std::uint64_t>();
    return found;
}

// What all kernels that a budget is about did together.
struct sum {
    counters counts;
    std::uint64_t launches = 0, hazards = 0;
};

using reading = std::function<double(const sum&)>;

double ratio(std::uint64_t of, std::uint64_t by) {
    return by == 0 ? 0 : static_cast<double>(of) / static_cast<double>(by);
}

const std::map<std::string, reading>& readings() {
    static const std::map<std::string, reading> all = [] {
        std::map<std::string, reading> made;
        const auto count = [&](const std::string& name, counters::by_direction counters::*where, int op) {
            made[name] = [=](const sum& s) {
                return static_cast<double>((s.counts.*where)[static_cast<std::size_t>(op)]);
            };
        };
        const auto per_request = [&](const std::string& name, counters::by_direction counters::*what,
                                     counters::by_direction counters::*requests, int op) {
            const auto at = static_cast<std::size_t>(op);
            made[name] = [=](const sum& s) { return ratio((s.counts.*what)[at], (s.counts.*requests)[at]); };
        };
        const std::pair<const char*, int> ops[] = {{"load", emulator::kLoad},
                                                   {"store", emulator::kStore},
                                                   {"reduction", emulator::kReduction},
                                                   {"atomic", emulator::kAtomic}};
        for (const auto& [name, op] : ops) {
            const std::string op_name = name;
            count(op_name + ".requests", &counters::global_requests, op);
            count(op_name + ".sectors", &counters::global_sectors, op);
            per_request(op_name + ".sectors_per_request", &counters::global_sectors, &counters::global_requests, op);
            if (op == emulator::kReduction) continue;
            const std::string shared = "shared." + op_name;
            count(shared + ".requests", &counters::shared_requests, op);
            count(shared + ".wavefronts", &counters::shared_wavefronts, op);
            count(shared + ".conflicts", &counters::shared_conflicts, op);
            per_request(shared + ".wavefronts_per_request", &counters::shared_wavefronts, &counters::shared_requests,
                        op);
        }
        made["shared.conflicts"] = [](const sum& s) {
            double total = 0;
            for (const std::uint64_t of_one : s.counts.shared_conflicts) total += static_cast<double>(of_one);
            return total;
        };
        made["launches"] = [](const sum& s) { return static_cast<double>(s.launches); };
        made["hazards"] = [](const sum& s) { return static_cast<double>(s.hazards); };
        return made;
    }();
    return all;
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
            one.launches = k.at("launches");
            one.counts = counters_of(k.at("metrics"));
            for (const json& h : k.at("hazards")) one.hazards.push_back({h.at("kind"), h.at("message"), h.at("times")});
            for (const json& line : k.at("lines"))
                one.lines.push_back(
                    {line.at("file"), line.at("line"), line.at("path"), counters_of(line.at("metrics"))});
            all.push_back(std::move(one));
        }
        return all;
    } catch (const json::exception& wrong) {
        throw error(fmt::format("the program left no record of its kernels that can be read: {}", wrong.what()));
    }
}

bool is_named(const kernel_report& kernel, const std::string& name) {
    return name == "*" || name == kernel.kernel || name == kernel.kernel.substr(0, kernel.kernel.find('<'));
}

budget budget::parse(const std::string& text) {
    // The colon behind the kernel's name, not one of a namespace.
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
        const std::size_t behind = sign == part.npos ? sign : part.find_first_not_of("<>=", sign);
        if (behind == part.npos)
            throw invalid_argument(fmt::format("--budget: '{}' is no limit: write it like {}", part, example));
        limit one{trimmed(part.substr(0, sign)), part.substr(sign, behind - sign), 0};
        const std::string bound = trimmed(part.substr(behind));
        char* rest = nullptr;
        one.bound = std::strtod(bound.c_str(), &rest);
        if (bound.empty() || *rest != 0)
            throw invalid_argument(fmt::format("--budget: '{}' is no number in '{}'", bound, part));
        const std::vector<std::string> comparisons{"<=", "<", "==", ">=", ">"};
        if (std::find(comparisons.begin(), comparisons.end(), one.comparison) == comparisons.end())
            throw invalid_argument(fmt::format("--budget: '{}' is no comparison; there are {}", one.comparison,
                                               fmt::join(comparisons, " ")));
        if (readings().count(one.metric) == 0) {
            std::vector<std::string> names;
            for (const auto& [name, unused] : readings()) names.push_back(name);
            throw invalid_argument(
                fmt::format("--budget: '{}' is no metric; there are {}", one.metric, fmt::join(names, ", ")));
        }
        made.limits.push_back(one);
        begin = end + 1;
    }
    return made;
}

std::vector<std::string> budget::missed(const std::vector<kernel_report>& kernels) const {
    sum all;
    bool ran = false;
    for (const kernel_report& k : kernels) {
        if (!is_named(k, kernel)) continue;
        ran = true;
        all.counts += k.counts;
        all.launches += k.launches;
        for (const kernel_report::hazard& h : k.hazards) all.hazards += h.times;
    }
    if (!ran) {
        std::vector<std::string> names;
        for (const kernel_report& k : kernels) names.push_back(k.kernel);
        return {fmt::format("budget missed: {} never ran; {}", kernel,
                            names.empty() ? "no kernel did" : fmt::format("there were {}", fmt::join(names, ", ")))};
    }
    std::vector<std::string> sentences;
    for (const limit& l : limits) {
        const double value = readings().at(l.metric)(all);
        if (holds(value, l.comparison, l.bound)) continue;
        sentences.push_back(fmt::format("budget missed: {}: {} is {}, {} too {}: it must be {} {}", kernel, l.metric,
                                        number(value), number(std::abs(value - l.bound)),
                                        value > l.bound ? "many" : "few", l.comparison, number(l.bound)));
    }
    return sentences;
}

}  // namespace cornerturn::emulate
