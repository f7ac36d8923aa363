// The cornerturn program: its command line.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <deque>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "core/words.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn::cli {

lab::format invocation::format() const { return lab::find_format(given.word("--format", "table")); }

std::uint64_t invocation::seed() const { return static_cast<std::uint64_t>(given.size("--seed", 1)); }

std::string invocation::text() const { return fmt::format("cornerturn {}", fmt::join(words, " ")); }

namespace {

constexpr int kFailure = 1, kUsage = 2;

// One option of a command, and what was given for it.
struct slot {
    std::string name;
    bool flag = false, is_set = false;
    std::optional<std::string> word = std::nullopt;
};

struct added_command {
    command what;
    CLI::App* app = nullptr;
    std::deque<slot> slots = {};  // whose addresses CLI11 holds
    std::vector<std::string> repeated = {};

    void add(const option& o, bool needed = false) {
        slot& s = slots.emplace_back(slot{o.name, o.flag});
        if (o.flag)
            app->add_flag(o.name, s.is_set, o.help);
        else
            app->add_option(o.name, s.word, o.help)->required(needed);
    }
    void add_all(CLI::App& program) {
        app = program.add_subcommand(what.name, what.help);
        for (const option& o : what.positionals) {
            if (what.repeats && &o == &what.positionals.back())
                app->add_option(o.name, repeated, o.help)->required();
            else
                add(o, true);
        }
        if (!what.own_format) {
            add({"--format", "table, markdown, csv or json (table)"});
            add({"--seed", "of everything random (1)"});
        }
        add({"--output", "a file to write to instead of the terminal"});
        for (const option& o : what.options) add(o);
    }
    invocation read(const std::vector<std::string>& words) const {
        invocation all{{}, repeated, words};
        for (const slot& s : slots) {
            if (s.flag ? s.is_set : s.word.has_value()) all.given.give(s.name, s.word.value_or(""));
        }
        return all;
    }
};

int run(int argc, char** argv) {
    CLI::App app{"Matrix transposes at the speed of memory, multiplications at cuBLAS's, and why.", "cornerturn"};
    app.set_version_flag("--version", CORNERTURN_VERSION);
    app.require_subcommand(1);
    std::deque<added_command> commands;
    for (const auto& make : {list_command, show_command, ladder_command, profile_command, diff_command, explain_command,
                             transpose_command, bench_command, report_command})
        commands.push_back({make()});
    std::vector<std::string> names;
    for (added_command& c : commands) {
        c.add_all(app);
        names.emplace_back(c.what.name);
    }
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (!words.empty() && !words[0].starts_with('-') &&
        std::find(names.begin(), names.end(), words[0]) == names.end()) {
        throw invalid_argument(
            fmt::format("'{}' is not a command; there are {} (cornerturn --help shows what can be asked)", words[0],
                        fmt::join(names, ", ")));
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ExtrasError&) {
        std::vector<std::string> unknown = app.remaining(true);
        std::sort(unknown.begin(), unknown.end(),
                  [](const auto& a, const auto& b) { return a.starts_with('-') && !b.starts_with('-'); });
        throw invalid_argument(fmt::format("{} does not know '{}' (cornerturn {} --help shows its options)", words[0],
                                           fmt::join(unknown, " "), words[0]));
    } catch (const CLI::Success& wanted) {  // --help, --version
        return app.exit(wanted);
    } catch (const CLI::ParseError& mistake) {
        throw invalid_argument(fmt::format("{} (cornerturn --help shows what can be asked)", mistake.what()));
    }
    for (const added_command& c : commands) {
        if (!c.app->parsed()) continue;
        const invocation asked = c.read(words);
        if (asked.output()) check_writable(*asked.output());
        c.what.run(asked);
    }
    return 0;
}

}  // namespace
}  // namespace cornerturn::cli

int main(int argc, char** argv) {
    using namespace cornerturn;
    try {
        return cli::run(argc, argv);
    } catch (const invalid_argument& mistake) {
        fmt::print(stderr, "cornerturn: {}\n", mistake.what());
        return cli::kUsage;
    } catch (const std::exception& failure) {
        fmt::print(stderr, "cornerturn: {}\n", failure.what());
        return cli::kFailure;
    }
}
