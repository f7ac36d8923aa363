// transpose: transposes files.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "core/dtype.hpp"
#include "core/numbers.hpp"
#include "cornerturn/error.hpp"
#include "files/transpose_file.hpp"
#include "lab/run.hpp"

namespace cornerturn::cli {
namespace {

// ---- The request ----------------------------------------------------------------------------------------------------

void read_conversion(const arguments& given, files::file_request& request) {
    const auto type_of = [&](const char* option) {
        const std::string name = given.text(option, "");
        return given.has(option) ? std::optional(find_element_type(option, name)) : std::nullopt;
    };
    request.source_type = type_of("--source-dtype");
    request.type = type_of("--dtype");
    if (given.has("--scale")) request.scale = parse_numbers("--scale", given.text("--scale", ""));
    if (given.has("--bias")) request.bias = parse_numbers("--bias", given.text("--bias", ""));
    request.saturate = !given.has("--no-saturate");
    if (given.has("--scale-axis")) {
        const std::vector<std::int64_t> axis = given.list("--scale-axis", {});
        if (axis.size() != 1)
            throw invalid_argument(
                fmt::format("--scale-axis is '{}': it must be one number", given.text("--scale-axis", "")));
        request.scale_axis = axis[0];
        if (request.scale.empty() && request.bias.empty())
            throw invalid_argument("--scale-axis says where --scale and --bias belong: give one of them");
    }
    if (!request.saturate && !request.converts())
        throw invalid_argument("--no-saturate is for conversions: give --dtype, --scale or --bias");
}

files::file_request read_request(const invocation& invocation) {
    const arguments& given = invocation.arguments;
    files::file_request request{.source = given.text("IN", ""),
                                .destination = given.text("OUT", ""),
                                .memory = parse_bytes("--memory", given.text("--memory", "1GiB"))};
    const std::string layout = given.text("--layout", "c"), on = given.text("--on", "host");
    if (layout != "c" && layout != "f")
        throw invalid_argument(fmt::format("--layout is '{}': it must be c or f", layout));
    request.layout = layout == "c" ? files::storage_order::c : files::storage_order::fortran;
    if (on != "host" && on != "cuda") throw invalid_argument(fmt::format("--on is '{}': it must be host or cuda", on));
    if (given.has("--threads")) {
        request.threads = given.size("--threads", 0);
        if (request.threads == 0) throw invalid_argument("--threads is 0: it must be 1 or more");
    }
    if (given.has("--axes")) request.axes = given.list("--axes", {});
    read_conversion(given, request);
    const bool type = given.has("--dtype") || given.has("--source-dtype"), size = given.has("--element-size");
    const bool rows = given.has("--rows"), cols = given.has("--cols"), shape = given.has("--shape");
    if (rows || cols || shape || size) {
        if (rows != cols || rows == shape || type == size)
            throw invalid_argument(
                "a file without a header needs --rows and --cols, or --shape, and one of --dtype and --element-size");
        if (size && request.converts())
            throw invalid_argument("--element-size does not say how elements are scaled: give --dtype instead");
        if (type && !request.source_type) request.source_type = request.type;
        const std::int64_t bytes = type ? size_of(*request.source_type) : given.size("--element-size", 0);
        if (bytes == 0) throw invalid_argument("--element-size is 0: it must be 1 or more");
        request.raw = files::raw_shape{{given.size("--rows", 0), given.size("--cols", 0)}, bytes};
        if (shape) request.raw->extents = given.list("--shape", {});
        for (const std::int64_t extent : request.raw->extents) {
            if (extent < 0)
                throw invalid_argument(
                    fmt::format("--shape is {}: an extent must not be negative", given.text("--shape", "")));
        }
    }
    return request;
}

// ---- While it runs --------------------------------------------------------------------------------------------------

std::atomic<bool> interrupted = false;
volatile std::sig_atomic_t interrupted_by = 0;

// The first Ctrl-C requests a stop. The second one ends the program at once. If the new file has no name yet, nothing
// of it remains in either case.
class interrupt_scope {
public:
    interrupt_scope() {
        struct sigaction action = {};
        action.sa_handler = [](int signal) {
            interrupted_by = signal;
            interrupted = true;
        };
        action.sa_flags = static_cast<int>(SA_RESETHAND);
        for (auto& [signal, before] : before_) {
            sigaction(signal, &action, &before);
            if (before.sa_handler == SIG_IGN) sigaction(signal, &before, nullptr);  // the parent wants it
        }
    }
    ~interrupt_scope() {
        for (const auto& [signal, before] : before_) sigaction(signal, &before, nullptr);
    }
    interrupt_scope(const interrupt_scope&) = delete;
    interrupt_scope& operator=(const interrupt_scope&) = delete;

private:
    std::pair<int, struct sigaction> before_[3] = {{SIGINT, {}}, {SIGTERM, {}}, {SIGHUP, {}}};
};

// Progress, speed and remaining time, for the line on the terminal.
class file_progress {
public:
    void operator()(std::int64_t done, std::int64_t of) {
        done_ = done;
        of_ = of;
    }
    std::string text() const {
        const auto done = static_cast<double>(done_), of = static_cast<double>(of_);
        if (done <= 0 || of <= 0) return "";
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
        const double rate = done / seconds, left = (of - done) / rate;
        constexpr int kWidth = 30;
        const auto full = static_cast<std::size_t>(kWidth * std::min(1.0, done / of));
        return fmt::format("[{}{}] {} of {}, {}/s, {:.0f} s left", std::string(full, '#'),
                           std::string(kWidth - full, ' '), bytes_text(done), bytes_text(of), bytes_text(rate), left);
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::atomic<std::int64_t> done_{0}, of_{0};
};

std::string show(const files::file_request& request, const files::file_result& r, lab::format as) {
    const double rate = r.seconds > 0 ? static_cast<double>(r.bytes) / r.seconds : 0;
    if (as == lab::format::json) {
        const nlohmann::ordered_json out = {{"source", request.source}, {"destination", request.destination},
                                            {"from", r.from},           {"to", r.to},
                                            {"bytes", r.bytes},         {"copied", r.copied},
                                            {"tiles", r.tiles},         {"seconds", r.seconds}};
        return lab::json_text(out) + "\n";
    }
    if (as == lab::format::table) {
        return fmt::format("{} -> {}: {}{} in {:.2f} s ({}/s)\n", r.from, r.to,
                           r.copied ? "only the header changes, the elements keep their order: copied " : "",
                           bytes_text(static_cast<double>(r.bytes)), r.seconds, bytes_text(rate));
    }
    lab::table t{{{"source"}, {"destination"}, {"from"}, {"to"}, {"bytes", true}, {"copied"}, {"seconds", true}}, {}};
    t.rows.push_back({request.source, request.destination, r.from, r.to, std::to_string(r.bytes),
                      r.copied ? "yes" : "no", fmt::format("{:.3f}", r.seconds)});
    return t.print(as);
}

// The summary must not replace the source or the result.
void require_different_files(const std::string& output, const std::string& file) {
    std::error_code ignored;
    const auto name = [&](const std::string& path) { return std::filesystem::weakly_canonical(path, ignored); };
    if (name(output) != name(file) && !std::filesystem::equivalent(output, file, ignored)) return;
    throw invalid_argument(fmt::format("--output is {}: this is IN or OUT, so name another file", output));
}

// If a signal interrupts it, the program ends by that signal: a shell then stops its script.
files::file_result transpose(files::file_request request) {
    try {
        const interrupt_scope scope;
        file_progress done;
        const progress line([&] { return done.text(); });
        request.stop = &interrupted;
        if (line.can_show()) request.progress = std::ref(done);
        return files::transpose_file(request);
    } catch (const error&) {
        if (interrupted_by == 0) throw;
    }
    say("interrupted");
    std::raise(interrupted_by);
    throw error("interrupted");  // if the signal is blocked
}

void run(const invocation& invocation) {
    const lab::format as = invocation.format();
    files::file_request request = read_request(invocation);
    for (const std::string& file : {request.source, request.destination}) {
        if (invocation.output()) require_different_files(*invocation.output(), file);
    }
    if (invocation.arguments.text("--on", "host") == "cuda") {
        std::string reason;
        if (!lab::cuda_available(reason)) throw unsupported("no GPU to run on: " + reason);
        request.tiles = files::cuda_tiles();
    }
    const files::file_result result = transpose(request);
    try {
        write_out(invocation.output(), show(request, result, as));
    } catch (const error& why) {
        throw error(fmt::format("{} is written, but its summary is not: {}", request.destination, why.what()));
    }
}

}  // namespace

command transpose_command() {
    return {.name = "transpose",
            .help = "Transpose the array in a file, and convert its elements. The array may be larger than memory.",
            .positionals = {{"IN", "", "A .npy file. Or a file without a header, with --shape and --dtype."},
                            {"OUT", "", "The file to write, of the same kind. It may be IN."}},
            .options =
                {{"--axes", "2,0,1",
                  "For each axis of OUT the number of IN's axis, as in numpy.transpose. Default: all axes reversed."},
                 {"--memory", "1GiB", "The memory to use. Default: 1GiB."},
                 {"--layout", "c|f", "Order of the elements in OUT: C or Fortran. Default: c."},
                 {"--on", "host|cuda", "Where to transpose: in host memory, or on a GPU. Default: host."},
                 {"--threads", "N", "The largest number of threads. Default: one for each core."},
                 {"--dtype", "u8|f16|f32|e4m3fn...", "Type of OUT's elements. Default: IN's."},
                 {"--source-dtype", "bf16|e4m3fn...",
                  "Type of IN's elements. Default: what IN's header says. Without a header: --dtype."},
                 {"--scale", "X,X...", "Elements are multiplied by X. Several: one for each index of --scale-axis."},
                 {"--bias", "X,X...", "Then X is added. Several: one for each index of --scale-axis."},
                 {"--scale-axis", "N", "The axis of OUT that several numbers of --scale and --bias belong to."},
                 {"--no-saturate", "",
                  "For integers in OUT: wrap and truncate, instead of limiting and rounding. For fp8: overflow to "
                  "infinity or "
                  "NaN, instead of the largest number."},
                 {"--rows", "N", "Rows of a file without a header, which is stored row by row."},
                 {"--cols", "N", "Columns of a file without a header."},
                 {"--shape", "3,4,5", "Extents of a file without a header, instead of --rows and --cols."},
                 {"--element-size", "BYTES", "Size of an element of a file without a header, instead of --dtype."}},
            .run = run,
            .examples = {"cornerturn transpose in.npy out.npy --memory 4GiB",
                         "cornerturn transpose in.raw out.raw --rows 1000 --cols 500 --dtype f32",
                         "cornerturn transpose images.npy planes.npy --axes 0,3,1,2 --dtype f16 --scale 0.00392157"}};
}

}  // namespace cornerturn::cli
