// Counters and hazards of kernels, for tests of users (include/cornerturn/emulator/session.hpp).
#include "cornerturn/emulator/session.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include <tuple>

#include "emulate/runtime/record.hpp"
#include "emulator/metrics.hpp"
#include "emulator/named_counters.hpp"
#include "emulator/names.hpp"

namespace cornerturn::emulator {
namespace {

std::string text_of(const found_hazard& hazard) { return std::string(name_of(hazard.kind)) + ": " + hazard.message; }

std::array<unsigned, 3> array_of(const extent3& extent) { return {extent.x, extent.y, extent.z}; }

}  // namespace

class session::recorder final : public record::listener {
public:
    explicit recorder(const session_options& options) : options_(options) { record::listen(this); }
    ~recorder() { record::forget(this); }
    recorder(const recorder&) = delete;
    recorder& operator=(const recorder&) = delete;

    bool wants_lines() const override { return options_.lines; }

    void launched(const record::kernel_name& kernel, const emulator::report& report,
                  const found_hazard* last) override {
        std::vector<found_hazard> hazards = report.hazards;
        if (last != nullptr) record::merge(hazards, *last);
        kernel_launch one;
        one.kernel = kernel.symbol.empty() ? "kernel" : short_name(demangle(kernel.symbol.c_str()));
        one.symbol = kernel.symbol;
        one.grid = array_of(report.grid);
        one.block = array_of(report.block);
        one.counters = {counted(report.counts), 1, 0};
        for (const found_hazard& h : hazards) {
            one.counters.hazards += static_cast<std::int64_t>(h.times);
            one.hazards.push_back(text_of(h));
        }
        if (wants_lines()) {
            for (const line_counters& line : report.lines)
                if (line.counts != counters{})
                    one.lines.push_back({line.file, line.path, line.line, counted(line.counts)});
        }
        std::lock_guard lock(mutex_);
        launches_.push_back(std::move(one));
        for (const found_hazard& h : hazards) record::merge(hazards_, h);
    }

    std::vector<kernel_launch> launches() const {
        std::lock_guard lock(mutex_);
        return launches_;
    }
    std::vector<std::string> hazards() const {
        std::lock_guard lock(mutex_);
        std::vector<std::string> all;
        for (const found_hazard& h : hazards_) all.push_back(text_of(h));
        return all;
    }

private:
    const session_options options_;
    mutable std::mutex mutex_;  // guards the members below
    std::vector<kernel_launch> launches_;
    std::vector<found_hazard> hazards_;
};

session::session(const session_options& options) : recorder_(std::make_unique<recorder>(options)) {}
session::~session() = default;

session_report session::report() const {
    session_report made;
    made.launches_ = recorder_->launches();
    made.hazards_ = recorder_->hazards();
    made.with_lines_ = recorder_->wants_lines();
    return made;
}

std::vector<std::string> session::hazards() const { return recorder_->hazards(); }

bool session_report::ran(const std::string& kernel) const {
    return std::any_of(launches_.begin(), launches_.end(),
                       [&](const kernel_launch& launch) { return is_named(launch.kernel, launch.symbol, kernel); });
}

std::vector<std::string> session_report::kernels() const {
    std::vector<std::string> all;
    for (const kernel_launch& launch : launches_)
        if (std::find(all.begin(), all.end(), launch.kernel) == all.end()) all.push_back(launch.kernel);
    return all;
}

kernel_counters session_report::operator[](const std::string& kernel) const {
    kernel_counters sum;
    for (const kernel_launch& launch : launches_)
        if (is_named(launch.kernel, launch.symbol, kernel)) sum += launch.counters;
    if (sum.launches == 0) throw std::out_of_range("cornerturn::emulator::session: " + never_ran(kernel, kernels()));
    return sum;
}

std::vector<counted_line> session_report::lines(const std::string& kernel) const {
    if (!with_lines_)
        throw std::logic_error(
            "cornerturn::emulator::session did not count lines: set lines = true in its session_options");
    if (!ran(kernel)) throw std::out_of_range("cornerturn::emulator::session: " + never_ran(kernel, kernels()));
    std::map<std::tuple<std::string, std::string, int>, access_counters> sums;
    for (const kernel_launch& launch : launches_) {
        if (!is_named(launch.kernel, launch.symbol, kernel)) continue;
        for (const counted_line& line : launch.lines) sums[{line.file, line.path, line.line}] += line.counters;
    }
    std::vector<counted_line> all;
    for (const auto& [where, counters] : sums)
        all.push_back({std::get<0>(where), std::get<1>(where), std::get<2>(where), counters});
    return all;
}

}  // namespace cornerturn::emulator
