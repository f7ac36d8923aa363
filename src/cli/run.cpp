#include "cli/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <deque>

#include "cli/output.hpp"
#include "core/host_threads.hpp"
#include "cornerturn/error.hpp"
#include "lab/hardware.hpp"

namespace cornerturn::cli {

std::string operation_help(bool is_sentence) {
    std::vector<std::string> names;
    for (const operation* o : operations()) names.push_back(o->name());
    return fmt::format("The operation: {}{}", fmt::join(names, ", "), is_sentence ? "." : "");
}

bool has(const std::vector<option>& all, const std::string& name) {
    return std::any_of(all.begin(), all.end(), [&](const option& o) { return o.name == name; });
}

std::vector<option> options_of_all(std::vector<option> (*of)(const operation&)) {
    static std::deque<std::string> texts;  // option::whose points to them
    std::vector<option> all;
    for (const operation* o : operations()) {
        for (option its : of(*o)) {
            if (has(all, its.name)) continue;
            std::vector<std::string> whose;
            for (const operation* other : operations()) {
                if (has(of(*other), its.name)) whose.push_back(other->name());
            }
            if (whose.size() < operations().size())
                its.whose = texts.emplace_back(fmt::format("{}", fmt::join(whose, " and "))).c_str();
            all.push_back(its);
        }
    }
    return all;
}

std::vector<option> work_options_of(const operation& op) {
    std::vector<option> all = op.facts().sizes;
    all.insert(all.end(), op.facts().layout.begin(), op.facts().layout.end());
    return all;
}

std::vector<option> work_options() { return options_of_all(work_options_of); }

std::vector<option> run_options() {
    std::vector<option> all = work_options();
    all.insert(all.end(),
               {{"--dtype", "u8|u16|f32|f64|c128...",
                 "Type of the elements: u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64 c64 c128. Default: f32."},
                {"--on", "emulator|cuda", "Where the kernels run. Default: cuda if there is a GPU."},
                {"--full", "", "On the emulator: run every block, even of a large matrix."},
                timeout_option(),
                {"--warm", "", "On cuda: do not flush the L2 cache between samples."},
                {"--untimed", "", "On cuda: launch once and verify, without timing."},
                {"--placement", "N",
                 "On cuda: first allocate N other pairs of matrices, so that the measured ones get other addresses. "
                 "Default: 0."},
                {"--counters", "", "On cuda: read the hardware's counters too, with Nsight Compute."},
                {"--metrics", "NAME,NAME", "On cuda: read these counters too, by Nsight Compute's names."},
                {"--ncu", "FILE",
                 "Nsight Compute's command line program. Default: ncu from PATH, or from the folders where NVIDIA's "
                 "packages install it."}});
    return all;
}

void check_work_options(const arguments& given, const operation& op) {
    const std::vector<option> its = work_options_of(op);
    std::vector<option> others;
    for (const option& o : work_options()) {
        if (given.has(o.name) && !has(its, o.name)) others.push_back(o);
    }
    if (others.empty()) return;
    const operation_facts& facts = op.facts();
    throw invalid_argument(fmt::format("{} does not take {}: its options for sizes are {}{}", op.name(),
                                       options_text(others), options_text(facts.sizes),
                                       facts.layout.empty() ? "" : "; for the layout, " + options_text(facts.layout)));
}

std::string device_of(const invocation& invocation) {
    const auto on = invocation.find("--on");
    if (!on) {
        std::string reason;
        return lab::cuda_available(reason) ? "cuda" : "emulator";
    }
    if (*on != "cuda" && *on != "emulator")
        throw invalid_argument(fmt::format("--on is '{}': it must be emulator or cuda", *on));
    return *on;
}

std::string device_for(const kernel& k, const invocation& invocation) {
    if (!k.is_built_for(backend::host)) return device_of(invocation);
    if (invocation.find("--on") && device_of(invocation) == "cuda")
        throw invalid_argument(fmt::format("{} runs only on the host: leave out --on cuda", k.id));
    return "host";
}

std::unique_ptr<lab::runner> make_runner(const std::string& device) {
    if (device == "host") {
        limit_host_threads();
        return lab::host_runner();
    }
    return device == "cuda" ? lab::cuda_runner() : lab::emulator_runner();
}

lab::run_request read_request(const invocation& invocation, const operation& op, const std::string& device) {
    check_work_options(invocation.arguments, op);
    // The default sizes show the ladder's steps in a short time on either device.
    lab::run_request r{.work = op.read(invocation.arguments, device == "cuda" ? 4096 : 1024)};
    r.placement = read_placement(invocation, op, device == "cuda");
    r.full = invocation.arguments.has("--full");
    r.block_seconds = read_timeout(invocation);
    r.lines = invocation.arguments.has("--lines");
    r.warm = invocation.arguments.has("--warm");
    r.timed = !invocation.arguments.has("--untimed") && !lab::is_profiled();
    r.counted = r.tried = !lab::is_profiled();
    return r;
}

option timeout_option() {
    return {"--timeout", "SECONDS", "On the emulator: how long one block may take; 0 means no limit. Default: 300."};
}

double read_timeout(const invocation& invocation) {
    const auto text = invocation.find("--timeout");
    if (!text) return lab::run_request{}.block_seconds;
    constexpr double kMost = 1e6;
    double seconds = 0;
    const auto [end, status] = std::from_chars(text->data(), text->data() + text->size(), seconds);
    if (status != std::errc{} || end != text->data() + text->size() || !(seconds >= 0 && seconds <= kMost))
        throw invalid_argument(
            fmt::format("--timeout is '{}': it must be a number of seconds, 0 to {:.0f}", *text, kMost));
    return seconds;
}

int read_placement(const invocation& invocation, const operation& op, bool on_gpu) {
    if (!invocation.arguments.has("--placement")) return 0;
    if (!on_gpu || !op.facts().shares_memory)
        throw invalid_argument("--placement works only on a GPU, with operations that move elements: leave it out");
    return invocation.arguments.whole("--placement", 0, 0, 64);
}

wanted_counters read_wanted(const invocation& invocation, const std::string& device) {
    wanted_counters wanted;
    for (const char* name : {"--counters", "--compare", "--metrics", "--ncu"})
        wanted.requested = wanted.requested || invocation.arguments.has(name);
    if (!wanted.requested) return wanted;
    if (const auto more = invocation.find("--metrics")) wanted.extra_metrics = lab::read_metrics(*more);
    if (device != "cuda") {
        std::string reason = device == "host" ? "this kernel runs on the host" : "--on is " + device;
        if (!invocation.arguments.has("--on") && device != "host") lab::cuda_available(reason);
        throw invalid_argument(
            fmt::format("hardware counters need a GPU, but {}: leave out --counters, --compare, --metrics and --ncu{}",
                        reason, device == "host" ? "" : " to see the emulator's counters"));
    }
    std::string reason;
    if (!lab::cuda_available(reason)) throw unsupported("no GPU to run on: " + reason);
    if (lab::is_profiled()) return {};
    wanted.ncu = lab::find_ncu(invocation.arguments.text("--ncu", ""));
    return wanted;
}

void add_hardware(const wanted_counters& wanted, const invocation& invocation, std::vector<lab::result*> results) {
    std::erase_if(results, [](const lab::result* r) { return !r->ran() || r->checked_of == 0; });
    if (!wanted.requested || results.empty()) return;
    auto read = lab::read_hardware(wanted.ncu, invocation.command_line, wanted.extra_metrics);
    for (lab::result* r : results) {
        const auto found = read.find(r->kernel);
        if (found == read.end())
            throw error(fmt::format("ncu profiled no launch of {}, although the kernel ran", r->kernel));
        r->hardware = found->second;
    }
}

void write_results(const invocation& invocation, const std::string& text) {
    if (!lab::is_profiled()) write_out(invocation.output(), text);
}

void require_verified(const lab::result& r) {
    if (r.failed()) throw error(fmt::format("{}: not verified: {}", r.kernel, r.fault));
}

}  // namespace cornerturn::cli
