// explain ID: runs one kernel in the emulator and shows what it does.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "cli/explain.hpp"
#include "cli/output.hpp"
#include "cli/run.hpp"
#include "cornerturn/error.hpp"
#include "lab/run.hpp"
#include "lab/views.hpp"
#include "report/warp_picture.hpp"

namespace cornerturn::cli {
namespace {

constexpr std::int64_t kStandardSize = 1024;

lab::run_request read_request(const kernel& k, const invocation& invocation) {
    if (const std::string on = invocation.arguments.text("--on", "emulator"); on != "emulator")
        throw invalid_argument(fmt::format("--on is '{}': a kernel's id is explained only on the emulator", on));
    check_work_options(invocation.arguments, *k.op);
    const std::vector<option> of_work = work_options();
    for (const auto& [name, value] : invocation.arguments.all()) {
        if (has(of_work, name) || !name.starts_with("--")) continue;
        constexpr const char* kOthers[] = {"--dtype", "--seed", "--svg", "--timeout", "--on", "--format", "--output"};
        if (std::find(std::begin(kOthers), std::end(kOthers), name) == std::end(kOthers))
            throw invalid_argument(fmt::format(
                "{} needs an operation, not a kernel's id: {} takes {}, --dtype, --seed, --svg and --timeout", name,
                k.id, options_text(work_options_of(*k.op))));
    }
    lab::run_request request{.work = k.op->read(invocation.arguments, kStandardSize)};
    request.lines = request.watch = true;
    request.block_seconds = read_timeout(invocation);
    return request;
}

// Lines of source files, if the files exist.
class sources {
public:
    // Without its indentation. Empty if the file is missing. A relative path begins at the source folder.
    std::string line(const std::string& path, int number) {
        const auto [found, fresh] = files_.try_emplace(path);
        if (fresh) {
            std::ifstream file(std::filesystem::path(CORNERTURN_SOURCE_DIR) / path);
            for (std::string text; std::getline(file, text);) found->second.push_back(text);
        }
        if (number < 1 || static_cast<std::size_t>(number) > found->second.size()) return {};
        const std::string& text = found->second[static_cast<std::size_t>(number - 1)];
        const std::size_t begin = text.find_first_not_of(' ');
        return begin == std::string::npos ? "" : text.substr(begin);
    }

private:
    std::map<std::string, std::vector<std::string>> files_;
};

std::string notes_of(const kernel& k, lab::format as) {
    const rung_notes& n = *k.notes;
    lab::table t{{{"note"}, {"text"}}, {}};
    for (const auto& [name, note] : {std::pair{"idea", n.idea},
                                     {"change", n.change},
                                     {"contract", n.contract},
                                     {"bytes", n.bytes},
                                     {"limit", n.limit},
                                     {"source", n.source}})
        t.rows.push_back({name, note});
    t.rows.push_back({"file", k.file});
    return t.print(as);
}

nlohmann::ordered_json json_of(const kernel& k, const lab::result& r,
                               const std::vector<report::warp_access_site>& sites, sources& text) {
    nlohmann::ordered_json out = lab::to_json(k);
    out["result"] = lab::to_json(r);
    nlohmann::ordered_json code = nlohmann::ordered_json::array(), warp = nlohmann::ordered_json::array();
    for (const auto& line : r.lines)
        code.push_back({{"file", line.file}, {"line", line.line}, {"text", text.line(line.path, line.line)}});
    for (const report::warp_access_site& s : sites) {
        const emulator::watched_access& a = *s.access;
        nlohmann::ordered_json lanes = nlohmann::ordered_json::array();  // null: the lane has no access
        for (std::size_t lane = 0; lane < a.offsets.size(); ++lane)
            lanes.push_back((a.active >> lane & 1) != 0 ? nlohmann::ordered_json(a.offsets[lane]) : nullptr);
        nlohmann::ordered_json site = {{"file", a.file},
                                       {"line", a.line},
                                       {"does", report::access_text(a)},
                                       {"place", a.memory},
                                       {"space", a.shared ? "shared" : "global"},
                                       {"bytes", a.width},
                                       {"times", s.times},
                                       {"offsets", lanes}};
        if (a.shared) {
            site["wavefronts"] = a.wavefronts;
            site["least_wavefronts"] = a.least_wavefronts;
        } else {
            site["sectors"] = a.sectors;
        }
        warp.push_back(site);
    }
    out["code"] = code;
    out["warp"] = warp;
    return out;
}

}  // namespace

std::string explain_kernel(const kernel& k, const invocation& invocation) {
    const lab::format as = invocation.format();
    const auto svg = invocation.find("--svg");
    if (svg && svg->empty()) throw invalid_argument("--svg is empty: it must be a file");
    if (svg && svg == invocation.output())
        throw invalid_argument(fmt::format("--svg and --output are both {}: they must be different files", *svg));
    const lab::run_request request = read_request(k, invocation);
    if (svg) check_writable(*svg);
    const lab::result r = lab::emulator_runner()->run(k, request);
    if (r.failed()) throw error(fmt::format("{}: not verified: {}", r.kernel, r.fault));
    const auto sites = report::access_sites_of(r.watched);
    if (svg) {
        if (sites.empty())
            throw error(fmt::format("{}: nothing to draw: {}", k.id,
                                    r.ran() ? "its warp 0 has no memory accesses" : r.skipped));
        write_out(svg,
                  report::picture_of(fmt::format("{}: accesses of warp 0 in the first tile", k.id), sites).as_file());
    }
    sources text;
    if (as == lab::format::json) return lab::json_text(json_of(k, r, sites, text), 2) + "\n";
    lab::table lines = lab::lines_table(r);
    if (!lines.rows.empty()) {
        const bool on_terminal = as == lab::format::table;
        if (!on_terminal) lines.columns.push_back({"source"});
        std::size_t row = 0;
        for (const auto& line : r.lines) {
            const std::string code = text.line(line.path, line.line);
            for (std::size_t n = lab::directions_of(line); n > 0; --n, ++row) {
                if (on_terminal)
                    lines.below.push_back(n == 1 ? code : "");
                else
                    lines.rows[row].push_back(code);
            }
        }
    }
    if (as == lab::format::csv) return lines.print(as);
    const char* const fence = as == lab::format::markdown ? "```text\n" : "";
    const std::string heading = lab::profile_heading(r);
    std::string out = (*fence != 0 ? heading : lab::wrapped(heading, 2)) + "\n" + notes_of(k, as);
    if (!lines.rows.empty()) out += "\n" + lines.print(as);
    if (sites.empty()) return out;
    out += "\nWarp 0 in the first tile: the first execution of each access in the source.\n";
    for (const report::warp_access_site& s : sites) {
        out += fmt::format("\n{}:{}  {}{}\n", s.access->file, s.access->line, report::access_text(*s.access),
                           s.times > 1 ? fmt::format("; {} times", s.times) : "");
        out += fence + report::picture_text(*s.access) + (*fence != 0 ? "```\n" : "");
    }
    return out;
}

}  // namespace cornerturn::cli
