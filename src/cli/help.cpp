#include "cli/help.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cornerturn::cli {
namespace {

// A name with its text beside it, or below it if the name is long.
std::string entry(const std::string& name, const std::string& text) {
    constexpr std::size_t kColumn = 28;
    std::string line = "  " + name;
    if (line.size() + 2 > kColumn)
        line += '\n' + std::string(kColumn, ' ');
    else
        line.resize(kColumn, ' ');
    return lab::wrapped(line + text + '\n', kColumn);
}

std::string entry(const option& o) {
    return entry(*o.value != 0 ? fmt::format("{} {}", o.name, o.value) : std::string(o.name), o.help);
}

std::string usage_of(const command& c) {
    if (c.usage != nullptr) return c.usage;
    std::string usage = "[OPTIONS]";
    for (const option& o : c.positionals) usage += fmt::format(" {}", o.name);
    return usage + (c.repeats ? "..." : "");
}

const char* const kHelpName = "-h, --help";

}  // namespace

std::vector<option> command::all_options() const {
    std::vector<option> all = options;
    if (!own_format) {
        all.push_back({"--seed", "N", "Seed of everything that is random. Default: 1."});
        all.push_back({"--format", "table|markdown|csv|json", "How to print the result. Default: table."});
    }
    if (!keeps_arguments) all.push_back({"--output", "FILE", "Write the output to this file instead of the terminal."});
    return all;
}

std::string help_of(const command& c) {
    std::string text = lab::wrapped(fmt::format("Usage: cornerturn {} {}\n\n{}\n", c.name, usage_of(c), c.help));
    if (!c.positionals.empty()) text += "\nArguments:\n";
    for (const option& o : c.positionals) text += entry(o);
    const std::vector<option> all = c.all_options();
    std::vector<std::string> owners;  // in the order of the options; the options of all operations come last
    for (const option& o : all) {
        if (*o.whose != 0 && std::find(owners.begin(), owners.end(), o.whose) == owners.end())
            owners.emplace_back(o.whose);
    }
    owners.emplace_back();
    for (const std::string& whose : owners) {
        text += whose.empty() ? "\nOptions:\n" : fmt::format("\nOptions of {}:\n", whose);
        for (const option& o : all) {
            if (o.whose == whose) text += entry(o);
        }
    }
    text += entry(kHelpName, "Print this text.");
    if (!c.examples.empty()) text += "\nExamples:\n";
    for (const char* example : c.examples) text += fmt::format("  {}\n", example);
    return text;
}

std::string help_of_program(const std::string& about, const std::vector<command>& commands) {
    std::string text = fmt::format("Usage: cornerturn COMMAND [OPTIONS]\n\n{}\n\nCommands:\n", about);
    for (const command& c : commands) text += entry(c.name, c.help);
    text += "\nOptions:\n" + entry(kHelpName, "Print this text.") + entry("--version", "Print the version.");
    return text + "\ncornerturn COMMAND --help shows the options of a command.\n";
}

}  // namespace cornerturn::cli
