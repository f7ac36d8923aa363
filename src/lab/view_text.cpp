#include "lab/view_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cornerturn::lab {

std::string number(double value) {
    if (value == static_cast<std::uint64_t>(value)) return fmt::format("{}", static_cast<std::uint64_t>(value));
    return fmt::format("{:.2f}", value);
}

std::string per(std::uint64_t a, std::uint64_t b) {
    return b == 0 ? "-" : number(static_cast<double>(a) / static_cast<double>(b));
}

std::string extent(const emulator::extent3& e) {
    return e.z == 1 ? fmt::format("{} x {}", e.x, e.y) : fmt::format("{} x {} x {}", e.x, e.y, e.z);
}

std::string verified_text(const result& r) {
    if (!r.ran()) return "skipped";
    switch (r.verified) {
        case verification::passed: return "yes";
        case verification::some_blocks: return "sampled";
        default: return "NO";
    }
}

namespace {

std::string microseconds(double seconds, bool on_terminal) {
    const double us = seconds * 1e6;
    const int digits = !on_terminal || us < 1000 ? 2 : us < 10000 ? 1 : 0;
    return fmt::format("{:.{}f}", us, digits);
}

}  // namespace

std::string time_range(const timing& t, bool on_terminal) {
    return fmt::format("{} ({}-{})", microseconds(t.median_s, on_terminal), microseconds(t.p10_s, on_terminal),
                       microseconds(t.p90_s, on_terminal));
}

void unsteady_yardstick::add(const timing& yardstick, const std::string& where) {
    ++all_;
    unsteady_ += yardstick.spread() > kSteady;
    if (yardstick.spread() <= most_) return;
    most_ = yardstick.spread();
    most_at_ = where;
}

std::string unsteady_yardstick::text(const std::string& yardstick, const char* of_what) const {
    if (unsteady_ == 0) return "";
    return fmt::format(
        "unsteady: {}'s own time varied by more than {:.0f} % in {} of {} {}, most in {} ({:.0f} %). Their ratios may "
        "be wrong by as much\n",
        yardstick, kSteady * 100, unsteady_, all_, of_what, most_at_, most_ * 100);
}

std::string work_text(const result& r) {
    const operation& op = r.work->op();
    return fmt::format("{}{}{} {}", op.text_of(r.work->sizes()), op.facts().sizes_legend, layout_text(r.work->layout()),
                       r.work->type().name);
}

std::string device_text(const result& r) {
    if (r.device.kind != "cuda") return r.device.kind;
    return fmt::format("{} (driver {}, CUDA {})", r.device.name, r.device.driver, r.device.cuda);
}

}  // namespace cornerturn::lab
