// bench: times an operation and its peers.
#include "lab/bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <fstream>
#include <sstream>

#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/run.hpp"
#include "core/host_threads.hpp"
#include "cornerturn/error.hpp"
#include "lab/bench_views.hpp"

namespace cornerturn::cli {
namespace {

// The names in "a,b". Each must be one of `known`.
std::vector<std::string> read_names(const char* option, const std::string& text,
                                    const std::vector<std::string>& known) {
    std::vector<std::string> names;
    std::istringstream parts(text);
    for (std::string name; std::getline(parts, name, ',');) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            throw invalid_argument(
                fmt::format("{} has '{}': it takes {}, separated by commas", option, name, fmt::join(known, ", ")));
        }
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
}

std::vector<std::string> read_nonempty_names(const char* option, const std::string& text,
                                             const std::vector<std::string>& known) {
    std::vector<std::string> names = read_names(option, text, known);
    if (names.empty()) throw invalid_argument(fmt::format("{} is empty: it takes {}", option, fmt::join(known, ", ")));
    return names;
}

std::vector<int> read_sizes(const operation& op, const std::optional<std::string>& text) {
    if (!text) return op.facts().element_sizes;
    if (!op.facts().of_sizes())
        throw invalid_argument(fmt::format("{} has one element size: leave out --sizes", op.name()));
    std::vector<std::string> known;
    for (int size : op.facts().element_sizes) known.push_back(std::to_string(size));
    std::vector<int> sizes;
    for (const std::string& size : read_nonempty_names("--sizes", *text, known)) sizes.push_back(std::stoi(size));
    return sizes;
}

backend read_backend(const std::string& on) {
    if (on == "cuda") return backend::cuda;
    if (on == "host") return backend::host;
    throw invalid_argument(fmt::format("--on is '{}': it must be cuda or host", on));
}

// Whether the cells come from --random or --cells, not from the operation's grid. Many of them get few samples each.
bool has_no_grid(const invocation& invocation) {
    const bool random = invocation.arguments.has("--random"), from_file = invocation.arguments.has("--cells");
    if (random && from_file) throw invalid_argument("--random draws shapes, and --cells names them: leave out one");
    if (random || from_file) {
        for (const char* option : {"--shapes", "--sizes"}) {
            if (invocation.arguments.has(option))
                throw invalid_argument(fmt::format("{} decides shapes and element sizes: leave out {}",
                                                   random ? "--random" : "--cells", option));
        }
    } else {
        for (const char* option : {"--small", "--regret"}) {
            if (invocation.arguments.has(option))
                throw invalid_argument(fmt::format("{} needs --random or --cells: add one", option));
        }
    }
    return random || from_file;
}

// The cells of a file, or of a stored result of a bench.
std::vector<bench_cell> cells_of_file(const std::string& name, const operation& op) {
    nlohmann::ordered_json all;
    try {
        std::ifstream file(name);
        if (!file) throw invalid_argument(fmt::format("--cells: {} cannot be read", name));
        all = nlohmann::ordered_json::parse(file);
    } catch (const nlohmann::json::exception& wrong) {
        throw invalid_argument(fmt::format("--cells: {} is not JSON: {}", name, wrong.what()));
    }
    if (all.is_object() && all.contains("cells")) all = all["cells"];
    if (!all.is_array() || all.empty())
        throw invalid_argument(fmt::format("--cells: {} has no cells: it must be an array of them", name));
    return op.bench_cells(all);
}

double read_seconds(const std::string& text) {
    double seconds = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (status != std::errc{} || end != text.data() + text.size() || !(seconds > 0 && seconds <= 3600)) {
        throw invalid_argument(
            fmt::format("--seconds is '{}': it must be a number of seconds, above 0 and up to 3600", text));
    }
    return seconds;
}

std::vector<bench_cell> read_cells(const invocation& invocation, const operation& op, backend on) {
    const bool no_grid = has_no_grid(invocation);
    if (const auto file = invocation.find("--cells")) return cells_of_file(*file, op);
    if (no_grid) {
        const draw_size size = on == backend::host                   ? draw_size::host
                               : invocation.arguments.has("--small") ? draw_size::small
                                                                     : draw_size::large;
        return op.bench_draws(invocation.arguments.whole("--random", 0, 1, 100000), invocation.seed(), size);
    }
    const std::vector<int> sizes = read_sizes(op, invocation.find("--sizes"));
    std::vector<std::string> groups = op.bench_groups();
    if (const auto shapes = invocation.find("--shapes")) {
        groups = read_nonempty_names("--shapes", *shapes, groups);
    } else {
        std::erase_if(groups, [&](const std::string& name) { return !op.is_usual_group(name); });
    }
    return op.bench_grid(sizes, groups);
}

lab::bench_request read_request(const invocation& invocation, const operation& op, backend on, std::size_t cells) {
    // There are many random cells, so a few samples of each are enough.
    constexpr int kRandomRounds = 10;
    const int drawn = has_no_grid(invocation) ? static_cast<int>(cells) : 0;
    const double seconds = read_seconds(invocation.arguments.text("--seconds", drawn > 0 ? "0.05" : "0.5"));
    if (invocation.arguments.has("--small") && on != backend::cuda)
        throw invalid_argument("--small works only on cuda: leave out --small or --on host");
    const bench_contestants who = op.contestants(on);
    if (who.subject.empty()) {
        const backend other = on == backend::cuda ? backend::host : backend::cuda;
        if (op.contestants(other).subject.empty()) throw invalid_argument(fmt::format("{} has no bench", op.name()));
        throw invalid_argument(fmt::format("--on is '{}': it must be {}, because the bench of {} runs only there",
                                           on == backend::cuda ? "cuda" : "host",
                                           other == backend::cuda ? "cuda" : "host", op.name()));
    }
    lab::bench_request request{.op = &op,
                               .subject = &find_kernel(invocation.arguments.text("--subject", who.subject)),
                               .yardstick = &find_kernel(who.yardstick),
                               .seconds = seconds,
                               .seed = invocation.seed(),
                               .warm = invocation.arguments.has("--warm"),
                               .placement = read_placement(invocation, op, on == backend::cuda),
                               .random_cells = drawn,
                               .small = invocation.arguments.has("--small"),
                               .regret = invocation.arguments.has("--regret")};
    if (drawn > 0) {
        request.rounds = kRandomRounds;
        for (const std::string& id : who.ordered_copies) request.ordered_copies.push_back(&find_kernel(id));
    }
    if (!op.accepts(*request.subject))
        throw invalid_argument(
            fmt::format("--subject is '{}', which is not a kernel of {}", request.subject->id, op.name()));
    if (!invocation.arguments.has("--subject")) {
        for (const bench_way& way : op.bench_ways(on))
            request.ways.push_back({way.name, &find_kernel(way.subject), &find_kernel(way.yardstick), way.in_a_row});
    }
    if (who.peer_family.empty()) {
        if (invocation.arguments.has("--peers"))
            throw invalid_argument(fmt::format("leave out --peers: the bench of {} compares only with {}", op.name(),
                                               request.yardstick->id));
        return request;
    }
    std::vector<std::string> known;
    for (const kernel& k : kernels()) {
        if (op.accepts(k) && k.id.starts_with(who.peer_family)) known.push_back(k.id.substr(who.peer_family.size()));
    }
    for (const std::string& name : read_names("--peers", invocation.arguments.text("--peers", who.peers), known)) {
        const kernel* const peer = &find_kernel(who.peer_family + name);
        if (peer != request.yardstick && peer != request.subject) request.peers.push_back(peer);
    }
    return request;
}

nlohmann::ordered_json provenance(const std::string& commit, const std::string& command_line, const std::string& cuda) {
    const std::time_t now = std::time(nullptr);
    char date[16] = {};
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    return {{"commit", commit}, {"date", date}, {"command", command_line}, {"cuda", cuda}};
}

void run(const invocation& invocation) {
    const operation& op = find_operation(invocation.arguments.text("OPERATION", ""));
    const lab::format as = invocation.format();
    const backend on = read_backend(invocation.arguments.text("--on", "cuda"));
    const std::vector<bench_cell> grid = read_cells(invocation, op, on);
    const lab::bench_request request = read_request(invocation, op, on, grid.size());
    const int threads = invocation.arguments.has("--threads") ? invocation.arguments.whole("--threads", 0, 1, 4096) : 0;
    if (threads > 0 && on != backend::host) throw invalid_argument("--threads works only with --on host");
    if (on == backend::host) limit_host_threads();
    const auto bencher = on == backend::cuda ? lab::cuda_bencher() : lab::host_bencher(threads);
    lab::bench_report report{.device = bencher->device(), .request = request};
    report.peak_flops = bencher->peak_flops(op.facts().rate);
    if (const auto commit = invocation.find("--commit"))
        report.provenance = provenance(*commit, invocation.text(), report.device.cuda);
    bencher->expect(grid, report.request);
    {
        progress line;
        for (const bench_cell& cell : grid) {
            line.at(report.results.size() + 1, grid.size(),
                    fmt::format("{} of {} bytes", cell.work->text(), cell.work->type().size));
            report.results.push_back(bencher->run(cell, report.request));
        }
    }
    write_out(invocation.output(), lab::show_bench(report, as));
    for (const lab::bench_result& r : report.results) {
        for (const lab::bench_entry* e : r.every_entry()) {
            if (!e->fault.empty()) throw error(fmt::format("{}: not verified: {}", e->kernel, e->fault));
        }
        if (r.regret && !r.regret->fault.empty()) throw error("a candidate is not verified: " + r.regret->fault);
    }
}

// The peers by default: "transpose on cuda: memcpy,copy; ..."
std::string usual_peers() {
    std::vector<std::string> all;
    for (const operation* o : operations()) {
        for (const auto& [on, where] : {std::pair{backend::cuda, "cuda"}, {backend::host, "host"}}) {
            if (const std::string peers = o->contestants(on).peers; !peers.empty())
                all.push_back(fmt::format("{} on {}: {}", o->name(), where, peers));
        }
    }
    return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace

command bench_command() {
    static const std::string which = operation_help();
    static const std::string peers = fmt::format("Peers to measure too. Default: {}.", usual_peers());
    return {
        .name = "bench",
        .help = "Time an operation and its peers, on a grid of shapes or on random shapes.",
        .positionals = {{"OPERATION", "", which.c_str()}},
        .options =
            {{"--sizes", "4,8", "Element sizes, in bytes. Default: all."},
             {"--shapes", "GROUP,GROUP",
              "Groups of shapes. Default: all groups except caches and published. An unknown name prints the list."},
             {"--random", "N", "Draw N random shapes from --seed instead of the grid, and show percentiles."},
             {"--cells", "FILE",
              "Measure the shapes of a JSON file instead of the grid: an array of cells, as a result of this bench "
              "has."},
             {"--small", "",
              "On cuda: keep the shapes in the L2 cache. With --random: draw 1 to 64 MiB, not 64 MiB to 1 GiB."},
             {"--regret", "",
              "With --random or --cells: also time the other candidates of the library for each shape."},
             {"--on", "cuda|host", "Where to measure: on a GPU, or in host memory. Default: cuda."},
             {"--threads", "N", "With --on host: the number of threads to use. Default: one for each core."},
             {"--subject", "ID",
              "The id of the kernel to measure; users' calls are then not timed. Default: the library's own kernel."},
             {"--peers", "NAME,NAME", peers.c_str()},
             {"--seconds", "X",
              "Time to sample each shape for. Default: 0.5, and at least 20 samples. With --random: 0.05, and 10."},
             {"--warm", "", "Do not flush the caches between samples."},
             {"--placement", "N",
              "On cuda: first allocate N other pairs of matrices, so that the measured ones get other addresses. "
              "Default: 0."},
             {"--commit", "HASH", "The commit of the source. The result stores it."}},
        .run = run,
        .examples = {"cornerturn bench transpose --on host --shapes squares --sizes 4",
                     "cornerturn bench permute --random 100 --seed 7 --format json --output result.json"}};
}

}  // namespace cornerturn::cli
