#include "report/document.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

#include "core/dtype.hpp"
#include "cornerturn/error.hpp"
#include "report/field.hpp"

namespace cornerturn::report {
namespace {

constexpr double kLargest = 1e18, kLongest = 1e6;  // of a count, and of a time in seconds

std::vector<std::string> distinct_methods(const auto& all) {
    std::vector<std::string> out;
    for (const auto& each : all) {
        if (!each.method.empty() && std::find(out.begin(), out.end(), each.method) == out.end())
            out.push_back(each.method);
    }
    return out;
}

lab::timing read_timing(const field& from) {
    lab::timing t;
    t.median_s = from["median_s"].positive();
    t.p10_s = from["p10_s"].positive();
    t.p90_s = from["p90_s"].positive();
    if (!(t.p10_s <= t.median_s && t.median_s <= t.p90_s && t.p90_s <= kLongest))
        from.fail(fmt::format("must have p10_s <= median_s <= p90_s <= {:.0f}, in seconds", kLongest));
    if (const auto samples = from.find("samples"))
        t.samples = static_cast<int>(std::min<std::int64_t>(samples->count(), 1 << 30));
    return t;
}

lab::device_info read_device(const field& from) {
    lab::device_info device;
    device.kind = from["kind"].text();
    if (device.kind == "cuda") {
        device.name = from["name"].text();
        device.driver = from["driver"].text();
        device.cuda = from["cuda"].text();
    } else if (device.kind == "host") {
        device.name = from.text_of("name");
        if (const auto cores = from.find("cores"))
            device.cores = static_cast<int>(std::min<std::int64_t>(cores->count(), 1 << 20));
    } else if (device.kind != "emulator") {
        from["kind"].fail("is not known: it must be emulator, cuda or host");
    }
    return device;
}

provenance read_provenance(const field& top) {
    const auto from = top.find("provenance");
    if (!from) return {};
    return {from->text_of("date"), from->text_of("commit"), from->text_of("command"), from->text_of("cuda"),
            from->text_of("ncu")};
}

counter_values read_counter_values(const field& from) {
    counter_values all;
    for (const auto& [name, value] : from.members()) all[name] = value.number(0, kLargest);
    return all;
}

// Reads whether it ran and whether its result was right. True if there are times to read.
bool read_outcome(const field& from, std::string& skipped, std::string& fault, bool& failed) {
    const auto status = from.find("status");
    if (status && status->is_text("skipped")) {
        skipped = from["reason"].text();
        if (skipped.empty()) skipped = "no reason given";
        return false;
    }
    if (status && !status->is_text("ran")) status->fail("must be \"ran\" or \"skipped\"");
    const auto verified = status ? std::optional(from["verified"]) : from.find("verified");
    if (!verified) return true;
    failed = verified->is(false);
    if (!failed && !verified->is(true) && !verified->is_text("sampled"))
        verified->fail("must be true, false or \"sampled\"");
    if (failed) fault = from.text_of("fault");
    if (failed && fault.empty()) fault = "its result was wrong";
    return !failed;
}

void read_time(const field& from, ladder& of, rung& r) {
    const auto time = from.find("time");
    if (!time) return;
    r.time = read_timing(*time);
    r.method = time->text_of("method");
    const char* const rate = of.op->facts().rate.json;
    r.rate = from[rate].positive();
    const field yardstick = from["yardstick"];
    const std::string name = yardstick["what"].text();
    if (!of.yardstick.empty() && name != of.yardstick)
        yardstick["what"].fail(
            fmt::format("differs from the one before it, {}: a ladder has one yardstick", of.yardstick));
    of.yardstick = name;
    if (of.steps() <= 0) time->fail("must be absent: an empty matrix takes no time");
    r.yardstick = read_timing(yardstick);
    r.yardstick_rate = yardstick[rate].positive();
    r.ratio = from["ratio"].positive();
    if (const auto share = from.find("of_peak")) r.of_peak = share->positive();
    if (const auto noted = from.find("noted")) r.noted = (*noted)[rate].positive();
}

// False for kernels that this program does not have.
bool is_ceiling(const operation& op, const std::string& id) {
    return std::any_of(kernels().begin(), kernels().end(),
                       [&](const kernel& k) { return k.id == id && op.is_ceiling(k); });
}

rung read_rung(const field& from, ladder& of, const lab::device_info& device) {
    rung r;
    r.kernel = from["kernel"].text();
    if (r.kernel.empty()) from["kernel"].fail("is empty");
    r.ceiling = is_ceiling(*of.op, r.kernel);
    const bool good = read_outcome(from, r.skipped, r.fault, r.failed);
    if (!r.ran()) return r;
    if (const auto verified = from.find("verified")) {
        r.checked = true;
        r.sampled = verified->is_text("sampled");
    }
    // In files of old versions with "hardware_only", "metrics" are the hardware's too.
    const auto more = from.find("hardware_only");
    if (const auto counted = from.find("metrics")) (more ? r.hardware : r.emulated) = read_counter_values(*counted);
    if (more) r.hardware.merge(read_counter_values(*more));
    if (const auto read = from.find("hardware")) {
        r.hardware = read_counter_values((*read)["metrics"]);
        r.ncu = read->text_of("ncu");
    }
    if (const auto derived = from.find("derived")) {
        r.conflicts[0] = (*derived)["shared_conflicts_ld"].number(0, kLargest);
        r.conflicts[1] = (*derived)["shared_conflicts_st"].number(0, kLargest);
    }
    if (device.kind == "emulator" && from.find("time"))
        from["time"].fail("must be absent: the emulator measures no time");
    if (good) read_time(from, of, r);
    return r;
}

bool has_sizes(const field& from, const operation& of) {
    const auto& sizes = of.facts().sizes;
    return std::all_of(sizes.begin(), sizes.end(),
                       [&](const option& size) { return from.find(key_of(size).c_str()).has_value(); });
}

// The kernel's operation. If this program does not have the kernel: the first operation whose sizes the result has.
const operation& read_operation(const field& from) {
    const operation* const known = operation_of_kernel(from["kernel"].text());
    if (known != nullptr) return *known;
    const auto all = operations();
    const auto at = std::find_if(all.begin(), all.end(), [&](const operation* o) { return has_sizes(from, *o); });
    if (at == all.end()) from["kernel"].fail("is not a kernel of any operation of this program");
    return **at;
}

std::vector<std::int64_t> read_sizes(const field& from, const operation& op) {
    std::vector<std::int64_t> sizes;
    for (const option& size : op.facts().sizes) {
        const field here = from[key_of(size).c_str()];
        if (size.list)
            for (const field& number : here.items()) sizes.push_back(number.count());
        else
            sizes.push_back(here.count());
    }
    if (sizes.size() % op.facts().sizes.size() != 0) from.fail("has lists of different lengths");
    return sizes;
}

void read_work(const field& from, const operation& op, ladder& into) {
    into.op = &op;
    into.sizes = read_sizes(from, op);
    nlohmann::ordered_json layout = nlohmann::ordered_json::object();
    for (const option& o : op.facts().layout) {
        if (const auto given = from.find(key_of(o).c_str())) layout[key_of(o)] = given->scalar();
    }
    into.layout = layout_text(layout);
    // For operations with one element size, files of old versions have no dtype.
    into.dtype = !op.facts().of_sizes() && !from.find("dtype") ? "f32" : from["dtype"].text();
    try {
        into.element_size = size_of(find_element_type("dtype", into.dtype));
    } catch (const invalid_argument&) {
        from["dtype"].fail("is not an element type");
    }
}

ladder read_ladder(const std::vector<field>& results, lab::device_info& device) {
    ladder all;
    // A ladder can begin with kernels of another operation, such as copies. Its last kernel is of its own operation.
    const operation& op = read_operation(results.back());
    for (const field& from : results) {
        for (const kernel& k : kernels()) {
            if (from["kernel"].is_text(k.id.c_str()) && !op.accepts(k))
                from["kernel"].fail(
                    fmt::format("is not a kernel of {}, but the last one is: a ladder has one operation", op.name()));
        }
        ladder here;
        read_work(from, op, here);
        const lab::device_info on = read_device(from["device"]);
        if (&from == &results.front()) {
            all = here;
            device = on;
        }
        if (here.work() != all.work())
            from.fail(fmt::format("is for {}, but the first one is for {}: a ladder has one size, layout and dtype",
                                  here.work(), all.work()));
        if (on.text() != device.text()) from["device"].fail("differs from the first one: a ladder runs on one device");
        all.rungs.push_back(read_rung(from, all, device));
    }
    return all;
}

entry read_entry(const field& from, const operation& op) {
    entry e;
    bool failed = false;
    e.kernel = from["kernel"].text();
    e.ceiling = is_ceiling(op, e.kernel);
    if (!read_outcome(from, e.skipped, e.fault, failed)) return e;
    e.time = read_timing(from["time"]);
    e.rate = from[op.facts().rate.json].positive();
    if (const auto ratio = from.find("ratio")) e.ratio = ratio->positive();
    for (const bench_comparison& by : op.facts().comparisons) {
        const auto object = from.find(by.object);
        e.compared.push_back(object ? (*object)[by.member].number(0, kLargest) : 0);
    }
    return e;
}

cell read_cell(const field& from, const bench& of) {
    cell c;
    c.group = from["group"].text();
    c.shape = from["shape"].text();
    // Lists of sizes are only in the text: they do not describe every cell of a bench.
    const std::vector<option>& sizes = of.facts().sizes;
    if (std::none_of(sizes.begin(), sizes.end(), [](const option& o) { return o.list; }))
        c.sizes = read_sizes(from, *of.op);
    c.element_size =
        of.of_sizes() ? static_cast<int>(from["element_size"].number(1, 1 << 20)) : of.facts().element_sizes.front();
    if (const auto bytes = from.find("bytes")) c.bytes = bytes->positive();
    if (from["status"].is_text("skipped")) {
        c.skipped = from["reason"].text();
        if (c.skipped.empty()) c.skipped = "no reason given";
        return c;
    }
    c.method = from["method"].text();
    c.yardstick = read_entry(from["yardstick"], *of.op);
    c.yardstick.ratio = 0;
    c.subject = read_entry(from["subject"], *of.op);
    // No ratio without the yardstick. Files of old versions have the ratio in only one of subject and cell.
    if (c.subject.timed() && c.yardstick.timed() && c.subject.ratio == 0) c.subject.ratio = from["ratio"].positive();
    if (const auto peers = from.find("peers")) {
        for (const auto& [name, peer] : peers->members()) c.peers.emplace_back(name, read_entry(peer, *of.op));
    }
    if (const auto calls = from.find("ways")) {
        for (const field& call : calls->items()) {
            timed_call one{call["way"].text(), read_entry(call["yardstick"], *of.op),
                           read_entry(call["subject"], *of.op)};
            if (one.subject.timed() && one.yardstick.timed()) one.subject.ratio = call["ratio"].positive();
            c.calls.push_back(std::move(one));
        }
    }
    return c;
}

bench read_bench(const field& top) {
    bench b;
    try {
        b.op = &find_operation(top["bench"].text());
    } catch (const invalid_argument&) {
        top["bench"].fail("must be one of " + operation_names());
    }
    b.subject = top["subject"].text();
    b.yardstick = top["yardstick"].text();
    if (const auto peak = top.find((std::string("peak_") + b.facts().rate.json).c_str())) b.peak = peak->positive();
    if (const auto frameworks = top.find("frameworks")) {
        for (const auto& [name, runs] : frameworks->members()) {
            for (const field& run : runs.items())
                b.frameworks.push_back({name, run["version"].text(), run.text_of("date"), run.text_of("command")});
        }
    }
    for (const field& from : top["cells"].items()) b.cells.push_back(read_cell(from, b));
    if (b.cells.empty()) top["cells"].fail("is empty");
    return b;
}

}  // namespace

bool ladder::timed() const {
    return std::any_of(rungs.begin(), rungs.end(), [](const rung& r) { return r.time.has_value(); });
}

std::string ladder::work() const { return fmt::format("{}{} {}", op->text_of(sizes), layout, dtype); }
double ladder::steps() const { return op->steps(sizes); }
double ladder::bytes() const { return op->operand_bytes(sizes, element_size); }

std::string bench::where(const cell& c) const {
    return of_sizes() ? fmt::format("{} of {} bytes", c.shape, c.element_size) : c.shape;
}

std::vector<std::string> ladder::methods() const { return distinct_methods(rungs); }
std::vector<std::string> bench::methods() const { return distinct_methods(cells); }

document read_document(const std::string& file, const std::string& text) {
    const nlohmann::ordered_json parsed = parse(file, text);
    const field top(file, parsed);
    document d;
    d.file = file;
    d.stem = std::filesystem::path(file).stem().string();
    const bool bench = parsed.is_object() && parsed.contains("bench"),
               ladder = parsed.is_object() && parsed.contains("results"),
               profile = parsed.is_object() && parsed.contains("kernel");
    if (!bench && !ladder && !profile) {
        throw error(
            fmt::format("{} has no results: it must be the output of ladder, profile or bench with --format json, "
                        "an object with \"results\", \"kernel\" or \"bench\"",
                        file));
    }
    d.made = read_provenance(top);
    if (bench) {
        d.device = read_device(top["device"]);
        if (d.device.kind == "emulator")
            top["device"]["kind"].fail("must be cuda or host: the emulator measures no time");
        d.results = read_bench(top);
        return d;
    }
    const std::vector<field> results = ladder ? top["results"].items() : std::vector{top};
    if (results.empty()) top["results"].fail("is empty");
    d.results = read_ladder(results, d.device);
    return d;
}

}  // namespace cornerturn::report
