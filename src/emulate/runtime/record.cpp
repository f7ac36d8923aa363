#include "emulate/runtime/record.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "emulate/runtime/process_end.hpp"
#include "emulator/metrics.hpp"
#include "emulator/names.hpp"

namespace cornerturn::emulator {

const run_options& run_options::from_environment() {
    static const run_options* const all = [] {
        // Never destroyed, because the report is written after the destructors of global variables.
        auto* const made = new run_options;
        run_options& found = *made;
        const char* const text = std::getenv("CORNERTURN_EMULATE");
        std::stringstream stream(text != nullptr ? text : "");
        for (std::string item; std::getline(stream, item, ',');) {
            const std::size_t equals = item.find('=');
            const std::string name = item.substr(0, equals), value = equals == item.npos ? "" : item.substr(equals + 1);
            if (name == "report") found.report = value;
            if (name == "lines") found.lines = true;
            if (name == "sample") found.sample = true;
            if (name == "workers") found.workers = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
            if (name == "timeout") found.block_seconds = std::strtod(value.c_str(), nullptr);
            if (name == "stack") found.stack_bytes = std::strtoul(value.c_str(), nullptr, 10);
        }
        return made;
    }();
    return *all;
}

namespace record {
namespace {

using nlohmann::ordered_json;

struct kernel_record {
    kernel_name is;
    emulator::report all;
};

struct store {
    std::mutex mutex;
    std::deque<kernel_record> kernels;  // in the order of their first launches
    std::vector<listener*> listeners;
};

ordered_json to_json(const counters& counts) {
    ordered_json out = ordered_json::object();
    for (const metric& m : metrics()) out[m.name] = (counts.*m.member)[m.op];
    for (const metric& m : atomic_metrics()) out[m.name] = (counts.*m.member)[m.op];
    for (const metric& m : derived_metrics()) out[m.name] = (counts.*m.member)[m.op];
    return out;
}

ordered_json to_json(const extent3& e) { return {e.x, e.y, e.z}; }

// The name of each kernel in the report: the shortest form that no other kernel shares.
std::vector<std::string> names_of(const std::deque<kernel_record>& kernels) {
    constexpr int kForms = 5;
    const auto name = [](const kernel_name& is, int form) {
        const std::string full = demangle(is.symbol.c_str());
        if (is.symbol.empty()) return std::string("kernel");  // the program was stripped
        if (form == 0) return short_name(full);
        const name_parts parts = parts_of(full);
        const std::string file = form < 3 ? "" : form == 3 ? is.path.substr(is.path.rfind('/') + 1) : is.path;
        return parts.scope + parts.name + (form >= 2 ? parts.arguments : "") + (form >= 3 ? " in " + file : "");
    };
    std::vector<std::string> found;
    for (const kernel_record& k : kernels) {
        int form = 0;
        const auto shares_name = [&](const kernel_record& other) {
            return &other != &k && name(other.is, form) == name(k.is, form);
        };
        while (form + 1 < kForms && std::any_of(kernels.begin(), kernels.end(), shares_name)) ++form;
        found.push_back(name(k.is, form));
    }
    return found;
}

void write(const store& all, const std::string& path) {
    ordered_json kernels = ordered_json::array();
    const std::vector<std::string> names = names_of(all.kernels);
    for (const kernel_record& k : all.kernels) {
        ordered_json hazards = ordered_json::array(), lines = ordered_json::array();
        for (const found_hazard& h : k.all.hazards)
            hazards.push_back({{"kind", name_of(h.kind)}, {"message", h.message}, {"times", h.times}});
        for (const line_counters& line : k.all.lines)
            lines.push_back(
                {{"file", line.file}, {"line", line.line}, {"path", line.path}, {"metrics", to_json(line.counts)}});
        kernels.push_back({{"kernel", names[kernels.size()]},
                           {"symbol", k.is.symbol},
                           {"launches", k.all.launches},
                           {"grid", to_json(k.all.grid)},
                           {"block", to_json(k.all.block)},
                           {"blocks", k.all.blocks},
                           {"blocks_run", k.all.blocks_run},
                           {"sampled", k.all.classes > 0},
                           {"accesses", k.all.accesses},
                           {"seconds", k.all.seconds},
                           {"metrics", to_json(k.all.counts)},
                           {"hazards", std::move(hazards)},
                           {"lines", std::move(lines)}});
    }
    std::ofstream file(path);
    file << ordered_json{{"kernels", std::move(kernels)}}.dump(1, ' ', false, ordered_json::error_handler_t::replace)
         << "\n";
    if (!file.flush()) std::fprintf(stderr, "cornerturn: cannot write the report %s\n", path.c_str());
}

// Waits only a limited time for the lock. Another thread may hold it, or this thread, if add() failed: then nobody
// releases it.
void write_at_end(store& all) {
    constexpr int kTries = 1000;
    std::unique_lock lock(all.mutex, std::defer_lock);
    for (int i = 0; i < kTries && !lock.try_lock(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (lock.owns_lock()) write(all, run_options::from_environment().report);
}

// Never destroyed, because programs launch kernels in destructors of global variables.
store& kept_records() {
    static store* const one = [] {
        if (!run_options::from_environment().report.empty()) at_process_end([] { write_at_end(kept_records()); });
        return new store;
    }();
    return *one;
}

void add_lines(std::vector<line_counters>& into, const std::vector<line_counters>& more) {
    for (const line_counters& line : more) {
        const auto same = std::find_if(into.begin(), into.end(), [&](const line_counters& known) {
            return known.line == line.line && known.path == line.path;
        });
        if (same == into.end())
            into.push_back(line);
        else
            same->counts += line.counts;
    }
}

void add_hazard(std::vector<found_hazard>& into, const found_hazard& one) {
    if (!merge(into, one)) return;
    std::fflush(stdout);
    std::fprintf(stderr, "cornerturn: %s: %s\n", name_of(one.kind), one.message.c_str());
}

}  // namespace

bool merge(std::vector<found_hazard>& known, const found_hazard& one) {
    const auto same = std::find_if(known.begin(), known.end(), [&](const found_hazard& k) {
        return k.kind == one.kind && k.return_address == one.return_address &&
               (one.return_address != 0 || k.message == one.message);
    });
    if (same == known.end()) {
        known.push_back(one);
        return true;
    }
    same->times += one.times;
    return false;
}

void listen(listener* one) {
    std::lock_guard lock(kept_records().mutex);
    kept_records().listeners.push_back(one);
}

void forget(listener* one) {
    std::lock_guard lock(kept_records().mutex);
    std::erase(kept_records().listeners, one);
}

bool wants_lines() {
    if (run_options::from_environment().lines) return true;
    std::lock_guard lock(kept_records().mutex);
    const auto& listeners = kept_records().listeners;
    return std::any_of(listeners.begin(), listeners.end(), [](const listener* l) { return l->wants_lines(); });
}

void add(const kernel_name& kernel, const emulator::report& report, const found_hazard* last) {
    store& kept = kept_records();
    std::lock_guard lock(kept.mutex);
    auto found =
        std::find_if(kept.kernels.begin(), kept.kernels.end(), [&](const kernel_record& k) { return k.is == kernel; });
    if (found == kept.kernels.end()) {
        kept.kernels.push_back({kernel, {}});
        found = kept.kernels.end() - 1;
        found->all.grid = report.grid;
        found->all.block = report.block;
    }
    emulator::report& sum = found->all;
    sum.launches += 1;
    sum.counts += report.counts;
    sum.blocks += report.blocks;
    sum.blocks_run += report.blocks_run;
    sum.classes += report.classes;
    sum.accesses += report.accesses;
    sum.seconds += report.seconds;
    if (run_options::from_environment().lines) add_lines(sum.lines, report.lines);
    for (const found_hazard& h : report.hazards) add_hazard(sum.hazards, h);
    if (last != nullptr) add_hazard(sum.hazards, *last);
    for (listener* one : kept.listeners) one->launched(kernel, report, last);
}

}  // namespace record
}  // namespace cornerturn::emulator
