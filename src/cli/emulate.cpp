// emulate and cc: run and compile CUDA programs without a GPU.
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cornerturn/error.hpp"
#include "emulate/compile.hpp"
#include "emulate/process.hpp"
#include "emulate/program_report.hpp"
#include "emulator/named_counters.hpp"
#include "lab/table.hpp"

namespace cornerturn::cli {
namespace {

namespace fs = std::filesystem;
using emulate::kernel_report;
using emulator::counters;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> all;
    std::stringstream stream(text);
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
}

std::string per(std::uint64_t of, std::uint64_t by) {
    return by == 0 ? "-" : fmt::format("{:.2f}", static_cast<double>(of) / static_cast<double>(by));
}

// The columns that kernels and lines have in common.
const std::vector<lab::table::column> kCounterColumns = {
    {"loads", true},        {"sectors/load", true},    {"stores", true},        {"sectors/store", true},
    {"shared loads", true}, {"wavefronts/load", true}, {"shared stores", true}, {"wavefronts/store", true},
    {"conflicts", true},    {"atomics", true}};

// "1,024", except in CSV, which programs read.
std::string number(std::uint64_t value, lab::format as) {
    return as == lab::format::csv ? std::to_string(value) : lab::grouped(value);
}

std::vector<std::string> counter_cells(const counters& c, lab::format as) {
    using emulator::kAtomic, emulator::kLoad, emulator::kReduction, emulator::kStore;
    std::uint64_t conflicts = 0;
    for (const std::uint64_t of_one : c.shared_conflicts) conflicts += of_one;
    const auto count = [as](std::uint64_t value) { return number(value, as); };
    return {count(c.global_requests[kLoad]),
            per(c.global_sectors[kLoad], c.global_requests[kLoad]),
            count(c.global_requests[kStore]),
            per(c.global_sectors[kStore], c.global_requests[kStore]),
            count(c.shared_requests[kLoad]),
            per(c.shared_wavefronts[kLoad], c.shared_requests[kLoad]),
            count(c.shared_requests[kStore]),
            per(c.shared_wavefronts[kStore], c.shared_requests[kStore]),
            count(conflicts),
            count(c.global_requests[kReduction] + c.global_requests[kAtomic] + c.shared_requests[kAtomic])};
}

std::string show(const std::vector<kernel_report>& kernels, bool by_line, lab::format as) {
    lab::table all{{{"kernel"}, {"launches", true}}, {}};
    if (by_line) all.columns = {{"kernel"}, {"line"}};
    all.columns.insert(all.columns.end(), kCounterColumns.begin(), kCounterColumns.end());
    if (!by_line) all.columns.push_back({"hazards", true});
    for (const kernel_report& k : kernels) {
        const auto add = [&](std::vector<std::string> row, const counters& counts) {
            const std::vector<std::string> cells = counter_cells(counts, as);
            row.insert(row.end(), cells.begin(), cells.end());
            all.rows.push_back(std::move(row));
        };
        if (by_line) {
            for (const emulator::line_counters& line : k.lines)
                if (line.counts != counters{}) add({k.kernel, fmt::format("{}:{}", line.file, line.line)}, line.counts);
            continue;
        }
        add({k.kernel, number(k.launches, as)}, k.counts);
        std::uint64_t hazards = 0;
        for (const kernel_report::hazard& h : k.hazards) hazards += h.times;
        all.rows.back().push_back(number(hazards, as));
    }
    return all.print(as);
}

// The report's JSON text with only the kernels of these indices.
std::string only(const std::vector<std::size_t>& kernels, const std::string& text) {
    nlohmann::ordered_json all = nlohmann::ordered_json::parse(text), kept = nlohmann::ordered_json::array();
    for (const std::size_t k : kernels) kept.push_back(std::move(all["kernels"][k]));
    all["kernels"] = std::move(kept);
    return lab::json_text(all, 1) + "\n";
}

// A temporary file for the program's report.
class report_file {
public:
    report_file() {
        std::string name = (fs::temp_directory_path() / "cornerturn-report-XXXXXX").string();
        const int file = mkostemp(name.data(), O_CLOEXEC);
        if (file < 0) throw error("cannot make a file in " + fs::temp_directory_path().string());
        close(file);
        path_ = name;
    }
    ~report_file() {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
    report_file(const report_file&) = delete;
    report_file& operator=(const report_file&) = delete;
    const std::string& path() const { return path_; }
    std::string text() const {
        std::ifstream file(path_);
        return {std::istreambuf_iterator<char>(file), {}};
    }

private:
    std::string path_;
};

// The program to run: a finished one, or one that is compiled from these arguments.
std::string program_of(const std::vector<std::string>& arguments) {
    if (arguments.empty())
        throw invalid_argument("emulate needs FILE: CUDA sources, or a program that `cornerturn cc` compiled");
    std::error_code ignored;
    if (arguments.size() == 1 && fs::path(arguments[0]).extension() != ".cu" &&
        fs::is_regular_file(arguments[0], ignored) && access(arguments[0].c_str(), X_OK) == 0)
        return fs::absolute(arguments[0]).string();
    return emulate::compiled_program(emulate::compilation::from_arguments(arguments));
}

int run_emulate(const invocation& invocation) {
    std::vector<emulate::budget> budgets;
    for (const std::string& text : lines_of(invocation.arguments.text("--budget", "")))
        budgets.push_back(emulate::budget::parse(text));
    const std::vector<std::string> wanted = lines_of(invocation.arguments.text("--kernel", ""));
    const lab::format as = invocation.format();
    const bool by_line = invocation.arguments.has("--lines");
    const report_file report;
    std::string options = "report=" + report.path();
    if (by_line) options += ",lines";
    if (invocation.arguments.has("--sample")) options += ",sample";
    for (const auto& [name, key, scale] :
         {std::tuple{"--timeout", "timeout", 1}, {"--workers", "workers", 1}, {"--stack", "stack", 1024}})
        if (invocation.arguments.has(name))
            options += fmt::format(",{}={}", key, invocation.arguments.size(name, 0) * scale);
    std::vector<std::string> program{program_of(invocation.unknown)};
    program.insert(program.end(), invocation.after_dashes.begin(), invocation.after_dashes.end());
    setenv("CORNERTURN_EMULATE", options.c_str(), 1);
    const int status = emulate::run_program(program);
    std::string text = report.text();
    if (text.empty()) {
        say(status > 128 ? fmt::format("signal {} ended the program before it reported its kernels", status - 128)
                         : std::string("the program launched no kernel"));
        text = R"({"kernels": []})"
               "\n";
    }
    const std::vector<kernel_report> all = emulate::read_report(text);
    std::vector<kernel_report> shown;
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto is_wanted = [&](const std::string& name) {
            return emulator::is_named(all[i].kernel, all[i].symbol, name);
        };
        if (!wanted.empty() && std::none_of(wanted.begin(), wanted.end(), is_wanted)) continue;
        shown.push_back(all[i]);
        numbers.push_back(i);
    }
    std::vector<std::string> ran;
    for (const kernel_report& k : all) {
        ran.push_back(k.kernel);
        if (k.sampled)
            say(fmt::format(
                "--sample: {}: {} of {} blocks ran and stand for the others; the program's results are incomplete",
                k.kernel, k.blocks_run, k.blocks));
    }
    for (const std::string& name : wanted) {
        const auto is_it = [&](const kernel_report& k) { return emulator::is_named(k.kernel, k.symbol, name); };
        if (std::none_of(all.begin(), all.end(), is_it)) say("--kernel " + emulator::never_ran(name, ran));
    }
    if (as != lab::format::json)
        text = show(shown, by_line, as);
    else if (!wanted.empty())
        text = only(numbers, text);
    write_out(invocation.output(), text);
    bool missed = false;
    for (const emulate::budget& b : budgets) {
        for (const std::string& sentence : b.missed(all)) {
            say(sentence);
            missed = true;
        }
    }
    return status == 0 && missed ? 1 : status;
}

int run_cc(const invocation& invocation) {
    if (!invocation.after_dashes.empty())
        throw invalid_argument("cc only compiles: leave out -- and the arguments after it");
    if (emulate::asks_version(invocation.unknown)) {
        write_out({}, emulate::version_text());
        return 0;
    }
    emulate::compile(emulate::compilation::from_arguments(invocation.unknown));
    return 0;
}

}  // namespace

command emulate_command() {
    return {.name = "emulate",
            .help = "Run a CUDA program without a GPU, and count its kernels' memory accesses.",
            .positionals = {},
            .options = {{"--lines", "", "Show counters for each source line."},
                        {"--sample", "",
                         "Run only some blocks of each launch; each one counts for all similar blocks. The program's "
                         "results are then incomplete."},
                        {"--kernel", "NAME", "Show only the kernel with this name. May be repeated."},
                        {"--budget", "'KERNEL: METRIC <= N, ...'",
                         "End with exit code 1 if a counter is outside its limit. May be repeated."},
                        {"--timeout", "SECONDS", "How long one block may take. Default: 300."},
                        {"--workers", "N", "The number of threads that run blocks. Default: one for each core."},
                        {"--stack", "KIB", "Size of each CUDA thread's stack, in KiB. Default: 16."},
                        {"--format", "table|markdown|csv|json", "How to print the counters. Default: table."},
                        {"--output", "FILE", "Write the counters to this file instead of the terminal."}},
            .run = nullptr,
            .own_format = true,
            .keeps_arguments = true,
            .repeatable = {"--kernel", "--budget"},
            .run_for_status = run_emulate,
            .usage = "[OPTIONS] FILE.cu... [-I DIR] [-D NAME] [-std=c++20 ...] [-- ARGUMENTS]",
            .examples = {"cornerturn emulate saxpy.cu --lines -- 1000",
                         "cornerturn emulate saxpy.cu --budget 'saxpy: load.sectors_per_request <= 4'"}};
}

command cc_command() {
    return {.name = "cc",
            .help = "Compile CUDA sources for the emulator. The options are nvcc's.",
            .positionals = {},
            .options = {},
            .run = nullptr,
            .own_format = true,
            .keeps_arguments = true,
            .run_for_status = run_cc,
            .usage = "FILE.cu... [-c] [-o FILE] [-I DIR] [-D NAME] [-O3 ...]",
            .examples = {"cornerturn cc saxpy.cu -o saxpy"}};
}

}  // namespace cornerturn::cli
