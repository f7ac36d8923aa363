// report: makes a page of stored results.
#include "report/report.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn::cli {
namespace {

namespace fs = std::filesystem;

// The file may be a pipe. The limit is far above the size of any result.
std::string read_whole(const std::string& path) {
    constexpr std::size_t kMost = 64 << 20;
    std::error_code ignored;
    errno = EISDIR;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
        fs::is_directory(path, ignored) ? nullptr : std::fopen(path.c_str(), "r"),
        [](std::FILE* f) { return std::fclose(f); });
    if (!file)
        throw error(
            fmt::format("cannot read {}: {}", path.empty() ? "a file with an empty name" : path, std::strerror(errno)));
    std::string text;
    char piece[1 << 16];
    while (const std::size_t got = std::fread(piece, 1, sizeof piece, file.get())) {
        text.append(piece, got);
        if (text.size() > kMost) throw error(fmt::format("{} is not a stored result: it has more than 64 MiB", path));
    }
    if (std::ferror(file.get()) != 0) throw error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    return text;
}

// A Markdown link to the target, relative to the page's folder.
std::string link_to(const fs::path& target, const std::optional<std::string>& page) {
    const fs::path from = page ? fs::absolute(*page).parent_path() : fs::current_path();
    std::string link;
    for (char c : fs::absolute(target).lexically_normal().lexically_relative(from.lexically_normal()).string()) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) || std::strchr("/._-~", c) != nullptr;
        link += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return link;
}

void run(const invocation& invocation) {
    const std::string format = invocation.arguments.text("--format", "html");
    const auto plots = invocation.find("--plots"), output = invocation.output();
    if (format != "html" && format != "markdown")
        throw invalid_argument(fmt::format("--format is '{}': it must be html or markdown", format));
    if (plots && plots->empty()) throw invalid_argument("--plots is empty: it must be a folder");
    std::vector<report::document> documents;
    std::optional<progress> line(std::in_place);
    for (const std::string& path : invocation.repeated) {
        line->at(documents.size() + 1, invocation.repeated.size(), "reading " + path);
        std::error_code ignored;
        if (output && fs::equivalent(path, *output, ignored))
            throw invalid_argument(
                fmt::format("--output is {}: this is one of the results, so name another file", *output));
        documents.push_back(report::read_document(path, read_whole(path)));
    }
    line->at("making the page");
    const report::page page = report::make_page(documents);
    const auto file_of = [&](const std::string& name) { return fs::path(plots.value_or("")) / (name + ".svg"); };
    const std::string text =
        format == "html" ? report::html(page) : report::markdown(page, [&](const std::string& name) {
            return plots ? link_to(file_of(name), output) : "";
        });
    if (plots) {
        std::error_code failure;
        fs::create_directories(*plots, failure);
        if (failure) throw error(fmt::format("cannot create the folder {}: {}", *plots, failure.message()));
        for (const report::figure* f : page.figures()) check_writable(file_of(f->name).string());
        for (const report::figure* f : page.figures()) write_out(file_of(f->name).string(), f->art.as_file());
    }
    line.reset();
    write_out(output, text);
}

}  // namespace

command report_command() {
    return {.name = "report",
            .help = "Make a page of stored results: plots, tables, and the changes between results.",
            .positionals = {{"RESULTS", "", "Files that ladder, profile or bench wrote with --format json."}},
            .repeats = true,
            .options = {{"--format", "html|markdown", "The page's format. Default: html."},
                        {"--plots", "FOLDER", "Write each plot into this folder as SVG."}},
            .run = run,
            .own_format = true,
            .examples = {"cornerturn report before.json after.json --output report.html"}};
}

}  // namespace cornerturn::cli
