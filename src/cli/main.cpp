// The cornerturn program.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <random>

#include "core/dtype.hpp"
#include "core/sizes.hpp"
#include "cornerturn/error.hpp"
#include "lab/ladder.hpp"
#include "lab/run.hpp"
#include "lab/views.hpp"

namespace {

using namespace cornerturn;

constexpr int kFailure = 1, kUsage = 2;

// What the options say, as words; read() gives them meaning, so that every mistake is told in the same way.
struct options {
    std::string format = "table", seed = "1", output;
    std::string rows, cols, dtype = "f32", on;
    std::string id, family, shape;
    bool full = false, lines = false, warm = false, untimed = false;
};

std::int64_t parse_size(const std::string& name, const std::string& text) {
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status == std::errc::result_out_of_range) {
        throw invalid_argument(fmt::format("{} is {}: it must be below 2^63", name, text));
    }
    if (status != std::errc{} || end != text.data() + text.size()) {
        throw invalid_argument(fmt::format("{} is '{}': it must be a whole number, 0 or more", name, text));
    }
    if (value < 0) throw invalid_argument(fmt::format("{} is {}: it must not be negative", name, text));
    return value;
}

// Where kernels run when nobody says: the GPU if there is one.
std::string device_of(const options& o) {
    if (o.on.empty()) {
        std::string reason;
        return lab::cuda_available(reason) ? "cuda" : "emulator";
    }
    if (o.on != "cuda" && o.on != "emulator") {
        throw invalid_argument(fmt::format("--on is '{}': it can be emulator or cuda", o.on));
    }
    return o.on;
}

lab::request read_request(const options& o, const std::string& device) {
    // Without sizes: one that shows the ladder's steps in a moment on either.
    const std::string standard = device == "cuda" ? "4096" : "1024";
    lab::request r;
    r.rows = parse_size("--rows", !o.rows.empty() ? o.rows : !o.cols.empty() ? o.cols : standard);
    r.cols = parse_size("--cols", !o.cols.empty() ? o.cols : !o.rows.empty() ? o.rows : standard);
    checked_multiply(r.rows, r.cols, "--rows x --cols");
    r.dtype = find_dtype(o.dtype);
    r.seed = static_cast<std::uint64_t>(parse_size("--seed", o.seed));
    r.full = o.full;
    r.lines = o.lines;
    r.warm = o.warm;
    r.timed = !o.untimed;
    return r;
}

std::unique_ptr<lab::runner> make_runner(const std::string& device) {
    return device == "cuda" ? lab::cuda_runner() : lab::emulator_runner();
}

// Prints to the terminal or to --output, which appears only once it is whole.
void write_out(const options& o, const std::string& text) {
    const std::string target = o.output.empty() ? "standard output" : o.output;
    const auto fail = [&] { throw error(fmt::format("cannot write {}: {}", target, std::strerror(errno))); };
    if (o.output.empty()) {
        if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) fail();
        return;
    }
    std::string partial = o.output + ".XXXXXX";
    const int file = mkstemp(partial.data());
    if (file < 0) fail();
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t wrote = write(file, text.data() + done, text.size() - done);
        if (wrote < 0) {
            const int why = errno;
            close(file);
            unlink(partial.c_str());
            errno = why;
            fail();
        }
        done += static_cast<std::size_t>(wrote);
    }
    if (fchmod(file, 0644) != 0) fail();
    if (close(file) != 0 || std::rename(partial.c_str(), o.output.c_str()) != 0) {
        const int why = errno;
        unlink(partial.c_str());
        errno = why;
        fail();
    }
}

int run_list(const options& o) {
    write_out(o, lab::show_list(kernels(), lab::find_format(o.format)));
    return 0;
}

int run_profile(const options& o) {
    const lab::format as = lab::find_format(o.format);
    const kernel& k = find_kernel(o.id);
    const bool on_host = k.run(backend::host) != nullptr;
    const std::string device = on_host ? "host" : device_of(o);
    const lab::request what = read_request(o, device);
    const lab::result r = (on_host ? lab::host_runner() : make_runner(device))->run(k, what);
    write_out(o, lab::show_profile(r, as));
    if (r.failed()) throw error(fmt::format("{}: not verified: {}", r.kernel, r.fault));
    return 0;
}

int run_ladder(const options& o) {
    const lab::format as = lab::find_format(o.format);
    const auto rungs = lab::ladder_of(o.family);
    const std::string device = device_of(o);
    const lab::request what = read_request(o, device);
    const bool progress = isatty(STDERR_FILENO) != 0;
    std::size_t done = 0;
    const auto results = lab::run_ladder(rungs, *make_runner(device), what, [&](const kernel& k) {
        if (progress) fmt::print(stderr, "\r\033[K[{}/{}] {}", ++done, rungs.size(), k.id);
    });
    if (progress) fmt::print(stderr, "\r\033[K");
    write_out(o, lab::show_ladder(results, as));
    for (const lab::result& r : results) {
        if (r.failed()) throw error(fmt::format("{}: not verified: {}", r.kernel, r.fault));
    }
    return 0;
}

// ---- show ---------------------------------------------------------------------------------------------------------

// A matrix of digits; complex types hold two an element. Each digit is the first byte of its half or whole element.
struct digits {
    std::int64_t rows, cols;
    int size;
    bool complex;
    std::vector<unsigned char> bytes;

    std::string at(std::int64_t row, std::int64_t col) const {
        const unsigned char* const element = bytes.data() + (row * cols + col) * size;
        return complex ? fmt::format("{}+{}i", element[0], element[size / 2]) : fmt::format("{}", element[0]);
    }
};

std::string show_rows(const digits& m, lab::format as) {
    lab::table t;
    std::string lines;
    for (std::int64_t col = 0; col < m.cols; ++col) t.columns.push_back({std::to_string(col), true});
    for (std::int64_t row = 0; row < m.rows; ++row) {
        t.rows.emplace_back();
        for (std::int64_t col = 0; col < m.cols; ++col) {
            t.rows.back().push_back(m.at(row, col));
            lines += (col == 0 ? "" : as == lab::format::csv ? "," : " ") + m.at(row, col);
        }
        lines += '\n';
    }
    return as == lab::format::markdown ? t.print(as) : lines;
}

nlohmann::ordered_json json_rows(const digits& m) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (std::int64_t row = 0; row < m.rows; ++row) {
        out.push_back(nlohmann::ordered_json::array());
        for (std::int64_t col = 0; col < m.cols; ++col) {
            const std::string text = m.at(row, col);
            out.back().push_back(m.complex ? nlohmann::ordered_json(text) : nlohmann::ordered_json(std::stoi(text)));
        }
    }
    return out;
}

int run_show(const options& o) {
    constexpr std::int64_t kMostShown = 1 << 20;
    const lab::format as = lab::find_format(o.format);
    const std::size_t x = o.shape.find('x');
    if (x == std::string::npos) {
        throw invalid_argument(fmt::format("the shape is '{}': it must be ROWSxCOLS, such as 4x8", o.shape));
    }
    const std::int64_t rows = parse_size("ROWS", o.shape.substr(0, x)), cols = parse_size("COLS", o.shape.substr(x + 1));
    if (checked_multiply(rows, cols, "ROWS x COLS") > kMostShown) {
        throw invalid_argument(fmt::format("{} x {} elements are too many to print: at most {}", rows, cols, kMostShown));
    }
    const dtype type = find_dtype(o.dtype);
    const bool complex = type.name[0] == 'c';
    digits original{rows, cols, type.size, complex, std::vector<unsigned char>(static_cast<std::size_t>(rows * cols * type.size))};
    digits transposed{cols, rows, type.size, complex, original.bytes};
    std::mt19937_64 random(static_cast<std::uint64_t>(parse_size("--seed", o.seed)));
    for (std::int64_t i = 0; i < rows * cols; ++i) {
        original.bytes[static_cast<std::size_t>(i * type.size)] = static_cast<unsigned char>(random() % 10);
        if (complex) original.bytes[static_cast<std::size_t>(i * type.size + type.size / 2)] = static_cast<unsigned char>(random() % 10);
    }
    find_kernel("host/reference").run(backend::host)({original.bytes.data(), transposed.bytes.data(), rows, cols, cols, rows, type.size});
    if (as == lab::format::json) {
        const nlohmann::ordered_json out = {
            {"rows", rows}, {"cols", cols}, {"dtype", type.name}, {"original", json_rows(original)}, {"transposed", json_rows(transposed)}};
        write_out(o, out.dump() + "\n");
    } else {
        const std::string gap = as == lab::format::table ? "" : "\n";
        write_out(o, "Original:\n" + gap + show_rows(original, as) + gap + "Transposed:\n" + gap + show_rows(transposed, as));
    }
    return 0;
}

// ---- The command line ---------------------------------------------------------------------------------------------

int run(int argc, char** argv) {
    CLI::App app{"Matrix transposes at the speed of memory, and why.", "cornerturn"};
    app.set_version_flag("--version", CORNERTURN_VERSION);
    app.require_subcommand(1);
    options o;
    int (*command)(const options&) = nullptr;

    const auto add = [&](const char* name, const char* what, int (*does)(const options&)) {
        CLI::App* const sub = app.add_subcommand(name, what);
        sub->add_option("--format", o.format, "table, markdown, csv or json")->capture_default_str();
        sub->add_option("--seed", o.seed, "of everything random")->capture_default_str();
        sub->add_option("--output", o.output, "a file to write to instead of the terminal");
        sub->callback([&command, does] { command = does; });
        return sub;
    };
    const auto add_run_options = [&](CLI::App* sub) {
        sub->add_option("--rows", o.rows, "of the source (1024; 4096 on a GPU)");
        sub->add_option("--cols", o.cols, "of the source (as many as rows)");
        sub->add_option("--dtype", o.dtype, "u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64 c64 c128")->capture_default_str();
        sub->add_option("--on", o.on, "emulator or cuda (cuda where a GPU answers)");
        sub->add_flag("--full", o.full, "emulator: run every block, however large the matrix");
        sub->add_flag("--warm", o.warm, "cuda: do not flush the L2 cache between samples");
        sub->add_flag("--untimed", o.untimed, "cuda: launch once and verify, without timing");
    };
    add("list", "Every kernel: id, origin, what it takes and needs, idea", run_list);
    CLI::App* const show = add("show", "Print a small random matrix and its transpose", run_show);
    show->add_option("SHAPE", o.shape, "ROWSxCOLS, such as 4x8")->required();
    show->add_option("--dtype", o.dtype, "of the elements (i32)");
    CLI::App* const ladder = add("ladder", "Run, verify and count every rung of a ladder; time it on a GPU", run_ladder);
    ladder->add_option("FAMILY", o.family, "transpose")->required();
    add_run_options(ladder);
    CLI::App* const profile = add("profile", "All counters of one kernel, each with a reading", run_profile);
    profile->add_option("ID", o.id, "of the kernel, as list shows it")->required();
    add_run_options(profile);
    profile->add_flag("--lines", o.lines, "counters for each source line too");

    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& wanted) {  // --help, --version
        return app.exit(wanted);
    } catch (const CLI::ParseError& mistake) {
        throw invalid_argument(fmt::format("{} (cornerturn --help shows what can be asked)", mistake.what()));
    }
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
