#include "cli/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>

#include "cli/output.hpp"
#include "cli/words.hpp"
#include "core/dtype.hpp"
#include "core/sizes.hpp"
#include "cornerturn/error.hpp"
#include "lab/compare.hpp"
#include "lab/hardware.hpp"
#include "lab/ladder.hpp"
#include "lab/run.hpp"
#include "lab/views.hpp"

namespace cornerturn::cli {
namespace {

// Where kernels run when nobody says: the GPU if there is one.
std::string device_of(const run_options& o) {
    if (!o.on) {
        std::string reason;
        return lab::cuda_available(reason) ? "cuda" : "emulator";
    }
    if (*o.on != "cuda" && *o.on != "emulator") {
        throw invalid_argument(fmt::format("--on is '{}': it can be emulator or cuda", *o.on));
    }
    return *o.on;
}

lab::request read_request(const run_options& o, const std::string& device, bool multiplies) {
    // Without sizes: one that shows the ladder's steps in a moment on either.
    const std::int64_t standard = device == "cuda" ? 4096 : 1024;
    lab::request r;
    const auto given = [](const char* name, const std::optional<std::string>& text) {
        return text ? std::optional(parse_size(name, *text)) : std::nullopt;
    };
    const std::optional<std::int64_t> rows = given("--rows", o.rows), cols = given("--cols", o.cols);
    const std::optional<std::int64_t> m = given("--m", o.m), n = given("--n", o.n), k = given("--k", o.k);
    if (multiplies && (rows || cols))
        throw invalid_argument("a product's sizes are --m, --n and --k: leave out --rows and --cols");
    if (!multiplies && (m || n || k))
        throw invalid_argument("--m, --n and --k are a product's sizes; a matrix has --rows and --cols");
    if (multiplies) {
        // What is not given is as long as what is.
        const std::int64_t any = m.value_or(n.value_or(k.value_or(standard)));
        r.rows = m.value_or(any);
        r.cols = n.value_or(any);
        r.k = k.value_or(any);
        checked_multiply(checked_multiply(r.rows, r.cols, "--m x --n"), r.k, "--m x --n x --k");
    } else {
        r.rows = rows.value_or(cols.value_or(standard));
        r.cols = cols.value_or(rows.value_or(standard));
        checked_multiply(r.rows, r.cols, "--rows x --cols");
    }
    r.dtype = find_dtype(o.dtype);
    if (multiplies && r.dtype.name != std::string_view("f32"))
        throw invalid_argument(fmt::format("--dtype is {}: products are of f32", o.dtype));
    r.seed = static_cast<std::uint64_t>(parse_size("--seed", o.seed));
    r.placement = parse_placement(o.placement, device == "cuda" && !multiplies);
    r.full = o.full;
    r.lines = o.lines;
    r.warm = o.warm;
    r.timed = !o.untimed && !lab::is_profiled();
    r.counted = !lab::is_profiled();
    return r;
}

std::unique_ptr<lab::runner> make_runner(const std::string& device) {
    if (device == "host") return lab::host_runner();
    return device == "cuda" ? lab::cuda_runner() : lab::emulator_runner();
}

// Where the kernel runs: those of the host nowhere else.
std::string device_for(const kernel& k, const run_options& o) {
    if (k.run(backend::host) == nullptr) return device_of(o);
    if (o.on && device_of(o) == "cuda")
        throw invalid_argument(fmt::format("{} runs on the host alone: leave out --on cuda", k.id));
    return "host";
}

// Which counters of the hardware are wanted, beside what is always read; nothing where none are.
struct wanted_counters {
    bool any = false;
    std::string ncu;
    std::vector<std::string> more;
};

// Finds what is wrong with the options before anything runs.
wanted_counters read_wanted(const run_options& o, const std::string& device) {
    wanted_counters wanted;
    wanted.any = o.counters || o.compare || o.metrics || o.ncu;
    if (!wanted.any) return wanted;
    if (o.metrics) wanted.more = lab::read_metrics(*o.metrics);
    if (device != "cuda") {
        std::string reason = device == "host" ? "this kernel runs on the host" : "--on is " + device;
        if (!o.on && device != "host") lab::cuda_available(reason);
        throw invalid_argument(
            fmt::format("hardware counters are a GPU's: {}; without them this command shows the emulator's", reason));
    }
    std::string reason;
    if (!lab::cuda_available(reason)) throw unsupported("no GPU to run on: " + reason);
    if (lab::is_profiled()) return {};
    wanted.ncu = lab::find_ncu(o.ncu.value_or(""));
    return wanted;
}

// Reads the counters of what has run, all in one run of ncu.
void add_hardware(const wanted_counters& wanted, const run_options& o, std::vector<lab::result*> results) {
    std::erase_if(results, [](const lab::result* r) { return !r->ran() || r->checked_of == 0; });
    if (!wanted.any || results.empty()) return;
    auto read = lab::read_hardware(wanted.ncu, o.arguments, wanted.more);
    for (lab::result* r : results) {
        const auto found = read.find(r->kernel);
        if (found == read.end()) throw error(fmt::format("ncu profiled no launch of {}, though it ran", r->kernel));
        r->hardware = found->second;
    }
}

// Under ncu launches are all that is wanted.
void write_results(const std::optional<std::string>& output, const std::string& text) {
    if (!lab::is_profiled()) write_out(output, text);
}

void require_verified(const lab::result& r) {
    if (r.failed()) throw error(fmt::format("{}: not verified: {}", r.kernel, r.fault));
}

// The rungs that are named, by their whole ids or without the family, in the ladder's order.
std::vector<const kernel*> choose_rungs(const std::vector<const kernel*>& rungs, const std::string& family,
                                        const std::string& text) {
    std::vector<const kernel*> chosen;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
        const std::string id = word.find('/') == std::string::npos ? family + "/" + word : word;
        const kernel& named = find_kernel(id);
        if (std::find(rungs.begin(), rungs.end(), &named) == rungs.end())
            throw invalid_argument(fmt::format("--rungs has {}, which is no rung of {}", id, family));
        if (std::find(chosen.begin(), chosen.end(), &named) == chosen.end()) chosen.push_back(&named);
    }
    if (chosen.empty()) throw invalid_argument("--rungs names nothing: it takes ids, with commas between them");
    std::sort(chosen.begin(), chosen.end(), [&](const kernel* a, const kernel* b) { return a < b; });
    return chosen;
}

}  // namespace

void profile(const run_options& o, lab::format as, const std::optional<std::string>& output) {
    const kernel& k = find_kernel(o.id);
    const std::string device = device_for(k, o);
    const lab::request what = read_request(o, device, k.does == operation::multiply);
    const wanted_counters wanted = read_wanted(o, device);
    lab::result r = make_runner(device)->run(k, what);
    add_hardware(wanted, o, {&r});
    write_results(output, o.compare && r.ran() ? lab::show_comparison(r, as) : lab::show_profile(r, as));
    require_verified(r);
}

void ladder(const run_options& o, lab::format as, const std::optional<std::string>& output) {
    auto rungs = lab::ladder_of(o.family);
    if (o.rungs) rungs = choose_rungs(rungs, o.family, *o.rungs);
    const std::string device = device_of(o);
    const lab::request what = read_request(o, device, rungs.front()->does == operation::multiply);
    const wanted_counters wanted = read_wanted(o, device);
    const bool progress = isatty(STDERR_FILENO) != 0;
    std::size_t done = 0;
    auto results = lab::run_ladder(rungs, *make_runner(device), what, [&](const kernel& k) {
        if (progress) fmt::print(stderr, "\r\033[K[{}/{}] {}", ++done, rungs.size(), k.id);
    });
    if (progress && wanted.any) fmt::print(stderr, "\r\033[Kreading the hardware's counters");
    std::vector<lab::result*> all;
    for (lab::result& r : results) all.push_back(&r);
    add_hardware(wanted, o, all);
    if (progress) fmt::print(stderr, "\r\033[K");
    write_results(output, lab::show_ladder(results, as));
    for (const lab::result& r : results) require_verified(r);
}

void diff(const run_options& o, lab::format as, const std::optional<std::string>& output) {
    const kernel &from = find_kernel(o.id), &to = find_kernel(o.other);
    if ((from.does == operation::multiply) != (to.does == operation::multiply))
        throw invalid_argument(fmt::format("{} and {} do different work: nothing can be compared", from.id, to.id));
    const std::string device = device_for(from, o);
    if (device_for(to, o) != device)
        throw invalid_argument(
            fmt::format("{} and {} run in different places: nothing can be compared", from.id, to.id));
    const lab::request what = read_request(o, device, from.does == operation::multiply);
    const wanted_counters wanted = read_wanted(o, device);
    auto runner = make_runner(device);
    lab::result before = runner->run(from, what);
    lab::result after = &to == &from ? before : runner->run(to, what);  // ncu adds up what one kernel launched
    runner.reset();                                                     // its buffers are the next program's to use
    add_hardware(wanted, o, {&before, &after});
    write_results(output, lab::show_difference(from, before, to, after, as));
    require_verified(before);
    require_verified(after);
}

}  // namespace cornerturn::cli
