#include "lab/hardware.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sstream>

#include "cornerturn/error.hpp"
#include "lab/result.hpp"

extern char** environ;

namespace cornerturn::lab {
namespace {

// Set in the environment of the program that ncu runs: is_profiled().
constexpr const char* kProfiledVariable = "CORNERTURN_PROFILED";

constexpr const char* kCycles = "sm__cycles_elapsed.max";

struct hardware_metric {
    const char *name, *meaning;
};
constexpr hardware_metric kMetrics[] = {
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "bank conflicts of loads, and lost arbitration"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "bank conflicts of stores, and lost arbitration"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefronts of loads, and lost arbitration"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "wavefronts of stores, and lost arbitration"},
    {"smsp__inst_executed.sum", "warp instructions, as compiled"},
    {"smsp__issue_active.avg.pct_of_peak_sustained_active", "% of cycles in which a scheduler issued an instruction"},
    {"smsp__cycles_active.avg.pct_of_peak_sustained_elapsed", "% of cycles in which a scheduler had a warp"},
    {kCycles, "cycles"},
    {kProfiledTime, "ns under the profiler, caches flushed before"},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "% of DRAM's peak bandwidth"},
    {"dram__bytes_read.sum", "bytes read from DRAM"},
    {"dram__bytes_write.sum", "bytes written to DRAM; bytes still in L2 at the end are not counted"},
    {"l1tex__t_sector_hit_rate.pct", "% of sectors found in L1"},
    {"lts__t_sector_hit_rate.pct", "% of sectors found in L2; every store counts as found"},
    {"sm__warps_active.avg.pct_of_peak_sustained_active",
     "achieved occupancy: % of the warps that a multiprocessor holds"},
    {"sm__maximum_warps_per_active_cycle_pct",
     "theoretical occupancy: the % that registers, shared memory and block size allow"},
    {"launch__registers_per_thread", "registers a thread"},
};
// Reasons to wait, and what a warp then waits for.
constexpr hardware_metric kStalls[] = {
    {"barrier", "the block's other warps"},
    {"dispatch_stall", "the dispatcher"},
    {"drain", "stores, before the warp may end"},
    {"lg_throttle", "room in the queue to global memory"},
    {"long_scoreboard", "data from global memory"},
    {"math_pipe_throttle", "an arithmetic unit"},
    {"mio_throttle", "room in the queue to shared memory"},
    {"no_instruction", "its next instruction"},
    {"not_selected", "its turn: the scheduler chose another warp"},
    {"short_scoreboard", "data from shared memory"},
    {"wait", "a fixed number of cycles"},
};

// Where the packages of Debian, Ubuntu and NVIDIA install ncu.
constexpr const char* kFolders[] = {"/usr/local/cuda/bin", "/opt/nvidia/nsight-compute",
                                    "/usr/lib/nvidia-cuda-toolkit/bin"};

bool is_executable(const std::filesystem::path& path) {
    std::error_code none;
    return std::filesystem::is_regular_file(path, none) && access(path.c_str(), X_OK) == 0;
}

// The rows of a CSV table, from the row that begins with the heading "ID". A doubled quote is a quote.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
    std::vector<std::vector<std::string>> rows;
    std::size_t at = text.starts_with("\"ID\"") ? 0 : text.find("\n\"ID\"");
    if (at == std::string::npos) return rows;
    if (at > 0) ++at;
    std::vector<std::string> row(1);
    bool quoted = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (quoted) {
            if (c != '"') {
                row.back() += c;
            } else if (at + 1 < text.size() && text[at + 1] == '"') {
                row.back() += text[++at];
            } else {
                quoted = false;
            }
        } else if (c == '"') {
            quoted = true;
        } else if (c == ',') {
            row.emplace_back();
        } else if (c == '\n') {
            rows.push_back(std::exchange(row, {""}));
        } else if (c != '\r') {
            row.back() += c;
        }
    }
    if (row.size() > 1) rows.push_back(std::move(row));
    // Messages such as "==PROF== Disconnected" may follow.
    const std::size_t columns = rows.empty() ? 0 : rows.front().size();
    std::erase_if(rows, [&](const auto& r) { return r.size() != columns; });
    return rows;
}

// "1,234.5" or "1234"; false for "n/a".
bool read_number(const std::string& text, double& value) {
    std::string digits = text;
    std::erase(digits, ',');
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return status == std::errc{} && end == digits.data() + digits.size();
}

// The mark of a launch with the name "family/rung@variant/void cornerturn::...". A mark is an id, which has one slash.
std::string marked_as(const std::string& kernel_name) {
    return kernel_name.substr(0, kernel_name.find('/', std::min(kernel_name.find('/'), kernel_name.size() - 1) + 1));
}

// Launches run one after the other, so cycles add up.
bool adds_up(std::string_view metric) { return metric.ends_with(".sum") || metric == kCycles; }
bool is_largest(std::string_view metric) { return metric.ends_with(".max") || metric.starts_with("launch__"); }
bool is_least(std::string_view metric) { return metric.ends_with(".min"); }

// A temporary file without a name. It is deleted when it is closed.
struct file_closer {
    void operator()(std::FILE* f) const { std::fclose(f); }
};
using scratch_file = std::unique_ptr<std::FILE, file_closer>;

scratch_file new_scratch_file() {
    scratch_file made(std::tmpfile());
    if (made == nullptr) throw error(fmt::format("cannot make a temporary file: {}", std::strerror(errno)));
    return made;
}

std::string contents(const scratch_file& file) {
    std::string text;
    std::rewind(file.get());
    char part[1 << 16];
    while (const std::size_t got = std::fread(part, 1, sizeof part, file.get())) text.append(part, got);
    return text;
}

// Runs the program and waits. Returns its exit code, or 128 plus the signal that ended it.
int run_program(const std::vector<std::string>& command, const scratch_file& out, const scratch_file& errors) {
    std::vector<char*> arguments;
    for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, fileno(out.get()), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, fileno(errors.get()), STDERR_FILENO);
    pid_t child = 0;
    const int failure = posix_spawn(&child, arguments[0], &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (failure != 0) throw error(fmt::format("cannot run {}: {}", command.front(), std::strerror(failure)));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string version_of(const std::string& ncu) {
    const scratch_file out = new_scratch_file();
    const int code = run_program({ncu, "--version"}, out, out);
    const std::string text = contents(out);
    const std::size_t at = text.find("Version ");
    if (code != 0 || at == std::string::npos)
        throw unsupported(fmt::format("{} is not Nsight Compute's ncu: its --version prints no version", ncu));
    std::istringstream rest(text.substr(at));
    std::string version;
    rest >> version >> version;
    return version;
}

}  // namespace

const double* hardware_counters::find(std::string_view name) const {
    const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const auto& m) { return m.first == name; });
    return found == metrics.end() ? nullptr : &found->second;
}

const std::vector<std::string>& hardware_metrics() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> names;
        for (const metric& m : metrics()) names.emplace_back(m.name);
        for (const hardware_metric& m : kMetrics) names.emplace_back(m.name);
        for (const hardware_metric& m : kStalls)
            names.push_back(fmt::format("{}{}{}", kStallPrefix, m.name, kStallSuffix));
        return names;
    }();
    return all;
}

std::string meaning_of(std::string_view name) {
    for (const hardware_metric& m : kMetrics) {
        if (name == m.name) return m.meaning;
    }
    for (const hardware_metric& m : kStalls) {
        if (name == fmt::format("{}{}{}", kStallPrefix, m.name, kStallSuffix))
            return fmt::format("cycles an instruction waits for {}", m.meaning);
    }
    return {};
}

std::string wait_text(std::string_view reason, double cycles) { return fmt::format("{} {:.1f}", reason, cycles); }

std::vector<std::string> read_metrics(const std::string& text) {
    std::vector<std::string> names;
    std::istringstream list(text);
    for (std::string name; std::getline(list, name, ',');) {
        const bool could_be = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
            return std::isalnum(c) != 0 || c == '_' || c == '.';
        });
        if (!could_be)
            throw invalid_argument(fmt::format(
                "--metrics has '{}': it takes Nsight Compute's names, such as sm__cycles_active.avg, separated "
                "by commas",
                name));
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    if (names.empty()) throw invalid_argument("--metrics is empty: it takes Nsight Compute's names");
    return names;
}

std::string find_ncu(const std::string& named) {
    namespace fs = std::filesystem;
    if (named.find('/') != std::string::npos) {
        if (is_executable(named)) return named;
        throw unsupported(fmt::format("--ncu is {}, which is not an executable file", named));
    }
    const std::string name = named.empty() ? "ncu" : named;
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        if (is_executable(fs::path(folder) / name)) return fs::path(folder) / name;
    }
    if (named.empty()) {
        for (const char* folder : kFolders) {
            if (is_executable(fs::path(folder) / name)) return fs::path(folder) / name;
            std::vector<fs::path> versions;
            std::error_code none;
            for (const auto& entry : fs::directory_iterator(folder, none)) versions.push_back(entry.path());
            const auto older = [](const fs::path& a, const fs::path& b) {  // 2024.3 before 2024.10
                return strverscmp(a.c_str(), b.c_str()) < 0;
            };
            std::sort(versions.rbegin(), versions.rend(), older);
            for (const fs::path& version : versions) {
                if (is_executable(version / name)) return version / name;
            }
        }
    }
    throw unsupported(fmt::format(
        "'{}' was not found in PATH{}: hardware counters are read with Nsight Compute; install it (NVIDIA's package "
        "nsight-compute, or a CUDA toolkit), or name it with --ncu",
        name, named.empty() ? fmt::format(", nor in {}", fmt::join(kFolders, ", ")) : ""));
}

bool is_profiled() { return std::getenv(kProfiledVariable) != nullptr; }

std::map<std::string, hardware_counters> read_hardware(const std::string& ncu,
                                                       const std::vector<std::string>& arguments,
                                                       const std::vector<std::string>& more_metrics) {
    std::vector<std::string> wanted = hardware_metrics();
    for (const std::string& name : more_metrics) {
        if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.push_back(name);
    }
    const std::string version = version_of(ncu);
    // ncu profiles only marked launches, names them by their marks, and leaves the clocks alone.
    std::vector<std::string> command = {ncu,
                                        "--csv",
                                        "--page",
                                        "raw",
                                        "--print-units",
                                        "base",
                                        "--print-fp",
                                        "--clock-control",
                                        "none",
                                        "--profile-from-start",
                                        "off",
                                        "--nvtx",
                                        "--print-nvtx-rename",
                                        "kernel",
                                        "--metrics",
                                        fmt::format("{}", fmt::join(wanted, ",")),
                                        std::filesystem::read_symlink("/proc/self/exe")};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const scratch_file out = new_scratch_file(), errors = new_scratch_file();
    setenv(kProfiledVariable, "1", 1);
    const int code = run_program(command, out, errors);
    unsetenv(kProfiledVariable);
    const std::string printed = contents(out);
    if (code != 0) throw error(ncu_failure(printed + contents(errors), code));
    auto found = parse_ncu(printed, wanted, more_metrics);
    if (found.empty()) throw error(ncu_failure(printed + contents(errors), code));
    for (auto& [id, counters] : found) counters.ncu = version;
    return found;
}

namespace {

constexpr const char* kMetricRemedy =
    "`ncu --query-metrics` lists this GPU's metrics; a name needs an ending such as .sum or .avg";

// Combines a launch's value and time with the value `all` of the launches before it, which took the time `before`.
double combined(std::string_view metric, double all, double before, double value, double time) {
    if (adds_up(metric)) return all + value;
    if (is_largest(metric)) return std::max(all, value);
    if (is_least(metric)) return std::min(all, value);
    return before + time > 0 ? (all * before + value * time) / (before + time) : all;
}

}  // namespace

std::map<std::string, hardware_counters> parse_ncu(const std::string& printed, const std::vector<std::string>& metrics,
                                                   const std::vector<std::string>& needed) {
    const auto rows = read_csv(printed);
    std::map<std::string, hardware_counters> found;
    if (rows.size() < 3) return found;  // headings, units
    const auto column_of = [&](const std::string& heading) {
        return static_cast<std::size_t>(std::find(rows[0].begin(), rows[0].end(), heading) - rows[0].begin());
    };
    const auto is_needed = [&](const std::string& metric) {
        return std::find(needed.begin(), needed.end(), metric) != needed.end();
    };
    const std::size_t name = column_of("Kernel Name"), time_column = column_of(kProfiledTime), none = rows[0].size();
    if (name == none) throw error("ncu printed no 'Kernel Name': this program does not know this version of ncu");
    std::map<std::string, double> time_of;
    for (std::size_t row = 2; row < rows.size(); ++row) {
        const std::string id = marked_as(rows[row][name]);
        hardware_counters& sum = found[id];
        const bool first = sum.kernels++ == 0;
        double time = 0, &before = time_of[id];
        if (time_column == none || !read_number(rows[row][time_column], time)) time = 1;
        for (const std::string& metric : metrics) {
            const std::size_t column = column_of(metric);
            double value = 0;
            if (column == none || !read_number(rows[row][column], value)) {
                // The GPU may lack a metric that is always asked for: it is left out.
                if (!is_needed(metric)) continue;
                throw error(column == none ? fmt::format("ncu printed no '{}': {}", metric, kMetricRemedy)
                                           : fmt::format("ncu printed '{}' for {} of {}: {}", rows[row][column], metric,
                                                         id, kMetricRemedy));
            }
            const auto at =
                std::find_if(sum.metrics.begin(), sum.metrics.end(), [&](const auto& m) { return m.first == metric; });
            if (first || at == sum.metrics.end()) {
                sum.metrics.emplace_back(metric, value);
            } else {
                at->second = combined(metric, at->second, before, value, time);
            }
        }
        before += time;
    }
    return found;
}

std::string ncu_failure(const std::string& printed, int exit_code) {
    if (printed.find("ERR_NVGPUCTRPERM") != std::string::npos)
        return "ncu may not read this GPU's counters (ERR_NVGPUCTRPERM): run as root, or load the driver with "
               "NVreg_RestrictProfilingToAdminUsers=0";
    // If a metric is wrong, the error that names it is not the first line.
    std::string reason, ours;
    std::istringstream lines(printed);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("cornerturn: ") && ours.empty()) ours = line.substr(std::strlen("cornerturn: "));
        if (!line.starts_with("==ERROR==")) continue;
        line = line.substr(std::strlen("==ERROR=="));
        line.erase(0, line.find_first_not_of(' '));
        if (reason.empty() || line.find("metric") != std::string::npos) reason = line;
    }
    if (reason.find("metric") != std::string::npos) return fmt::format("ncu: {} ({})", reason, kMetricRemedy);
    if (!ours.empty()) return "under ncu: " + ours;
    if (!reason.empty()) return "ncu: " + reason;
    if (exit_code == 0) return "ncu profiled no launch: there was nothing to do, or ncu does not know the GPU's driver";
    return fmt::format("ncu ended with exit code {} and no reason", exit_code);
}

}  // namespace cornerturn::lab
