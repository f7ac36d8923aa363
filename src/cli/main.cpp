// The cornerturn program.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "cli/bench.hpp"
#include "cli/explain.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/run.hpp"
#include "cli/show.hpp"
#include "cli/transpose.hpp"
#include "cli/words.hpp"
#include "core/dtype.hpp"
#include "cornerturn/error.hpp"
#include "lab/views.hpp"

namespace {

using namespace cornerturn;

constexpr int kFailure = 1, kUsage = 2;

// What the options say, as words; read() gives them meaning, so that every mistake is told in the same way.
struct options {
    std::string format = "table", shape, shown_dtype = "i32";
    std::optional<std::string> output;
    cli::run_options run;
    cli::bench_options bench;
    cli::explain_options explain;
    cli::report_options report;
    cli::transpose_options transpose;
    std::string command_line;
};

std::uint64_t read_seed(const options& o) { return static_cast<std::uint64_t>(cli::parse_size("--seed", o.run.seed)); }

int run_list(const options& o) {
    cli::write_out(o.output, lab::show_list(kernels(), lab::find_format(o.format)));
    return 0;
}

int run_profile(const options& o) {
    cli::profile(o.run, lab::find_format(o.format), o.output);
    return 0;
}

int run_ladder(const options& o) {
    cli::ladder(o.run, lab::find_format(o.format), o.output);
    return 0;
}

int run_diff(const options& o) {
    cli::diff(o.run, lab::find_format(o.format), o.output);
    return 0;
}

int run_show(const options& o) {
    const lab::format as = lab::find_format(o.format);
    const std::size_t x = o.shape.find('x');
    if (x == std::string::npos || x == 0 || x + 1 == o.shape.size()) {
        throw invalid_argument(fmt::format("the shape is '{}': it must be ROWSxCOLS, such as 4x8", o.shape));
    }
    const std::int64_t rows = cli::parse_size("ROWS of " + o.shape, o.shape.substr(0, x));
    const std::int64_t cols = cli::parse_size("COLS of " + o.shape, o.shape.substr(x + 1));
    cli::write_out(o.output, cli::show(rows, cols, find_dtype(o.shown_dtype), read_seed(o), as));
    return 0;
}

int run_explain(const options& o) {
    cli::explain_options what = o.explain;
    what.seed = o.run.seed;
    what.output = o.output;
    cli::write_out(o.output, cli::explain(what, lab::find_format(o.format)));
    return 0;
}

int run_transpose(const options& o) {
    cli::transpose(o.transpose, lab::find_format(o.format), o.output);
    return 0;
}

int run_bench(const options& o) {
    cli::bench(o.bench, read_seed(o), lab::find_format(o.format), o.output, o.command_line);
    return 0;
}

int run_report(const options& o) {
    cli::report(o.report, o.output);
    return 0;
}

// ---- The command line ---------------------------------------------------------------------------------------------

int run(int argc, char** argv) {
    CLI::App app{"Matrix transposes at the speed of memory, multiplications at cuBLAS's, and why.", "cornerturn"};
    app.set_version_flag("--version", CORNERTURN_VERSION);
    app.require_subcommand(1);
    options o;
    o.command_line = "cornerturn";
    for (int i = 1; i < argc; ++i) o.command_line += std::string(" ") + argv[i];
    o.run.arguments.assign(argv + 1, argv + argc);
    int (*command)(const options&) = nullptr;

    const auto add = [&](const char* name, const char* what, int (*does)(const options&)) {
        CLI::App* const sub = app.add_subcommand(name, what);
        sub->add_option("--format", o.format, "table, markdown, csv or json")->capture_default_str();
        sub->add_option("--seed", o.run.seed, "of everything random")->capture_default_str();
        sub->add_option("--output", o.output, "a file to write to instead of the terminal");
        sub->callback([&command, does] { command = does; });
        return sub;
    };
    const auto add_run_options = [&](CLI::App* sub) {
        sub->add_option("--rows", o.run.rows, "of the source (1024; 4096 on a GPU)");
        sub->add_option("--cols", o.run.cols, "of the source (as many as rows)");
        sub->add_option("--m", o.run.m, "of a product: rows of A and C (1024; 4096 on a GPU)");
        sub->add_option("--n", o.run.n, "columns of B and C (as many)");
        sub->add_option("--k", o.run.k, "columns of A and rows of B (as many)");
        sub->add_option("--dtype", o.run.dtype, "u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64 c64 c128")
            ->capture_default_str();
        sub->add_option("--on", o.run.on, "emulator or cuda (cuda where a GPU answers)");
        sub->add_flag("--full", o.run.full, "emulator: run every block, however large the matrix");
        sub->add_flag("--warm", o.run.warm, "cuda: do not flush the L2 cache between samples");
        sub->add_flag("--untimed", o.run.untimed, "cuda: launch once and verify, without timing");
        sub->add_option("--placement", o.run.placement,
                        "cuda: lay so many pairs of such matrices aside, for another place in memory (0)");
        sub->add_flag("--counters", o.run.counters, "cuda: the hardware's counters too, by Nsight Compute");
        sub->add_option("--metrics", o.run.metrics,
                        "more of them, by Nsight Compute's names, with commas between them");
        sub->add_option("--ncu", o.run.ncu,
                        "Nsight Compute's command line (the one in PATH, or where its packages put it)");
    };
    add("list", "Every kernel: id, origin, what it takes and needs, idea", run_list);
    CLI::App* const show = add("show", "Print a small random matrix and its transpose", run_show);
    show->add_option("SHAPE", o.shape, "ROWSxCOLS, such as 4x8")->required();
    show->add_option("--dtype", o.shown_dtype, "of the elements")->capture_default_str();
    CLI::App* const ladder =
        add("ladder", "Run, verify and count every rung of a ladder; time it on a GPU", run_ladder);
    ladder->add_option("FAMILY", o.run.family, "transpose or gemm")->required();
    add_run_options(ladder);
    ladder->add_option("--rungs", o.run.rungs, "which of them, by id, with commas between them (all)");
    CLI::App* const profile = add("profile", "All counters of one kernel, each with a reading", run_profile);
    profile->add_option("ID", o.run.id, "of the kernel, as list shows it")->required();
    add_run_options(profile);
    profile->add_flag("--lines", o.run.lines, "counters for each source line too");
    profile->add_flag("--compare", o.run.compare,
                      "the emulator's counters beside the hardware's, each difference read");
    CLI::App* const diff =
        add("diff", "Two kernels on the same work: what changed, and the counter that explains it", run_diff);
    diff->add_option("FROM", o.run.id, "id of one kernel, as list shows it")->required();
    diff->add_option("TO", o.run.other, "of the other")->required();
    add_run_options(diff);
    CLI::App* const explain = add(
        "explain",
        "Which kernel the library would choose and why; or, of one kernel, its idea and what its lines and a warp do",
        run_explain);
    explain->add_option("WHAT", o.explain.family, "transpose, gemm, or the id of a kernel to be looked at")->required();
    explain->add_option("--svg", o.explain.svg, "of a kernel: a file for a drawing of what its warp 0 does");
    explain->add_option("--on", o.explain.on, "cuda or host (cuda); one kernel is looked at in the emulator");
    explain->add_option("--rows", o.explain.rows, "of the source (4096)");
    explain->add_option("--cols", o.explain.cols, "of the source (4096)");
    explain->add_option("--dtype", o.explain.dtype, "of the elements (f32)");
    explain->add_option("--element-size", o.explain.element_size, "in bytes, in place of --dtype");
    explain->add_option("--source-ld", o.explain.source_ld, "leading dimension, in elements (as many as columns)");
    explain->add_option("--destination-ld", o.explain.destination_ld, "the destination's (as many as rows)");
    explain->add_option("--source-offset", o.explain.source_offset, "elements from a 256-byte boundary (0)");
    explain->add_option("--destination-offset", o.explain.destination_offset, "the destination's");
    explain->add_option("--m", o.explain.m, "of a product of m x k by k x n (4096)");
    explain->add_option("--n", o.explain.n, "(as m)");
    explain->add_option("--k", o.explain.k, "(as m)");
    explain->add_option("--lda", o.explain.lda, "leading dimension of A (as small as can be)");
    explain->add_option("--ldb", o.explain.ldb, "of B");
    explain->add_option("--ldc", o.explain.ldc, "of C");
    explain->add_flag("--a-transposed", o.explain.a_transposed, "A is given as k x m");
    explain->add_flag("--b-transposed", o.explain.b_transposed, "B is given as n x k");
    explain->add_option("--offset", o.explain.offset, "of A and B, in elements from a 256-byte boundary (0)");
    explain->add_option("--multiprocessors", o.explain.multiprocessors, "of the GPU that multiplies (132)");
    explain->add_option("--count", o.explain.count, "matrices of a batch, one behind the other")->capture_default_str();
    explain->add_flag("--in-place", o.explain.in_place, "source and destination are the same");
    explain->add_option("--compute-capability", o.explain.compute_capability, "of the GPU: 90 for 9.0")
        ->capture_default_str();
    CLI::App* const files = add("transpose", "Transpose the matrix in a file, however large", run_transpose);
    files->add_option("IN", o.transpose.source, "a .npy file; with --rows, --cols and --dtype one without a header")
        ->required();
    files->add_option("OUT", o.transpose.destination, "the file to be written, of the same kind; it may be IN")
        ->required();
    files->add_option("--memory", o.transpose.memory, "that may be used")->capture_default_str();
    files->add_option("--layout", o.transpose.layout, "of the result: c or f (Fortran)")->capture_default_str();
    files->add_option("--on", o.transpose.on, "host, or cuda: a GPU turns what is read")->capture_default_str();
    files->add_option("--threads", o.transpose.threads, "that may be used at a time (all cores)");
    files->add_option("--rows", o.transpose.rows, "of a file without a header, whose elements lie row by row");
    files->add_option("--cols", o.transpose.cols, "of it");
    files->add_option("--dtype", o.transpose.dtype, "of its elements");
    files->add_option("--element-size", o.transpose.element_size, "in bytes, in place of --dtype");
    CLI::App* const bench =
        add("bench", "A transpose or a multiplication beside its peers over a grid of shapes", run_bench);
    bench->add_option("FAMILY", o.bench.family, "transpose or gemm")->required();
    bench->add_option("--sizes", o.bench.sizes, "of elements that are transposed, in bytes (all: 1,2,4,8,16)");
    bench->add_option("--shapes", o.bench.shapes,
                      "groups of shapes, with commas between them (all); a name that is wrong gets the list");
    bench->add_option("--on", o.bench.on, "cuda, or host: in host memory, on all cores")->capture_default_str();
    bench->add_option("--subject", o.bench.subject,
                      "the kernel to measure, as list shows it (the family's production kernel)");
    bench->add_option(
        "--peers", o.bench.peers,
        "of transposes: what to measure beside it (memcpy,copy,geam; on the host copy@streamed,openblas,eigen)");
    bench->add_option("--seconds", o.bench.seconds, "to sample each cell")->capture_default_str();
    bench->add_flag("--warm", o.bench.warm, "do not flush the caches between samples");
    bench->add_option(
        "--placement", o.bench.placement,
        "of transposes on cuda: lay so many pairs of such matrices aside, for another place in memory (0)");
    bench->add_option("--commit", o.bench.commit, "of the source, to be stored with the result");

    CLI::App* const report = app.add_subcommand("report", "Stored results as a page: plots, tables, what changed");
    report->add_option("RESULTS", o.report.results, "what ladder, profile or bench stored with --format json")
        ->required();
    report->add_option("--format", o.report.format, "html or markdown")->capture_default_str();
    report->add_option("--output", o.output, "a file to write to instead of the terminal");
    report->add_option("--plots", o.report.plots, "a folder that gets each plot as SVG");
    report->callback([&command] { command = run_report; });

    std::vector<std::string> commands;
    for (const CLI::App* sub : app.get_subcommands({})) commands.push_back(sub->get_name());
    if (argc > 1 && argv[1][0] != '-' && std::find(commands.begin(), commands.end(), argv[1]) == commands.end()) {
        throw invalid_argument(
            fmt::format("'{}' is not a command; there are {} (cornerturn --help shows what can be asked)", argv[1],
                        fmt::join(commands, ", ")));
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ExtrasError&) {
        std::vector<std::string> unknown = app.remaining(true);
        std::sort(unknown.begin(), unknown.end(),
                  [](const auto& a, const auto& b) { return a.starts_with('-') && !b.starts_with('-'); });
        throw invalid_argument(fmt::format("{} does not know '{}' (cornerturn {} --help shows its options)", argv[1],
                                           fmt::join(unknown, " "), argv[1]));
    } catch (const CLI::Success& wanted) {  // --help, --version
        return app.exit(wanted);
    } catch (const CLI::ParseError& mistake) {
        throw invalid_argument(fmt::format("{} (cornerturn --help shows what can be asked)", mistake.what()));
    }
    if (o.output) cli::check_writable(*o.output);
    return command(o);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const invalid_argument& mistake) {
        fmt::print(stderr, "cornerturn: {}\n", mistake.what());
        return kUsage;
    } catch (const std::exception& failure) {
        fmt::print(stderr, "cornerturn: {}\n", failure.what());
        return kFailure;
    }
}
