// The cornerturn program: reads its command line and runs a command.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <filesystem>

#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/output.hpp"
#include "core/numbers.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn::cli {

lab::format invocation::format() const { return lab::find_format(arguments.text("--format", "table")); }

std::uint64_t invocation::seed() const { return static_cast<std::uint64_t>(arguments.size("--seed", 1)); }

std::string invocation::text() const { return fmt::format("cornerturn {}", fmt::join(command_line, " ")); }

namespace {

constexpr int kFailure = 1, kUsage = 2;
constexpr const char* kAbout =
    "Transposes matrices, permutes the axes of tensors, and runs, explains and emulates CUDA kernels.";

// One option of a command, and its value on the command line.
struct slot {
    std::string name;
    bool flag = false, is_set = false;
    std::optional<std::string> value = std::nullopt;
};

struct added_command {
    command definition;
    CLI::App* app = nullptr;
    std::deque<slot> slots = {};  // CLI11 keeps their addresses
    std::vector<std::string> repeated = {};

    void add(const option& o, bool required = false) {
        slot& s = slots.emplace_back(slot{o.name, o.is_flag()});
        if (s.flag)
            app->add_flag(o.name, s.is_set, o.help);
        else
            app->add_option(o.name, s.value, o.help)->required(required);
        if (std::find(definition.repeatable.begin(), definition.repeatable.end(), o.name) !=
            definition.repeatable.end())
            app->get_option(o.name)->multi_option_policy(CLI::MultiOptionPolicy::Join);
    }
    void add_all(CLI::App& program) {
        app = program.add_subcommand(definition.name, definition.help);
        for (const option& o : definition.positionals) {
            if (definition.repeats && &o == &definition.positionals.back())
                app->add_option(o.name, repeated, o.help)->required();
            else
                add(o, true);
        }
        if (definition.keeps_arguments) app->allow_extras();
        for (const option& o : definition.all_options()) add(o);
    }
    invocation read(const std::vector<std::string>& command_line) const {
        invocation all{{}, repeated, command_line};
        if (definition.keeps_arguments) {
            all.unknown = app->remaining();
            const auto dashes = std::find(command_line.begin(), command_line.end(), "--");
            if (dashes != command_line.end()) all.after_dashes.assign(dashes + 1, command_line.end());
        }
        for (const slot& s : slots) {
            if (s.flag ? s.is_set : s.value.has_value()) all.arguments.give(s.name, s.value.value_or(""));
        }
        return all;
    }
};

// CLI11's message about a mistake, in the form of this program's messages.
std::string message_of(const CLI::ParseError& mistake, const command& definition) {
    const std::string text = mistake.what();
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&mistake) != nullptr)  // "--cols: 1 required TEXT missing"
        return text.substr(0, text.find(':')) + " takes one value";
    for (const option& o : definition.positionals) {
        if (text == std::string(o.name) + " is required")
            return fmt::format("{} needs {}. {}", definition.name, o.name, o.help);
    }
    return text;
}

int run(int argc, char** argv) {
    CLI::App app{"", "cornerturn"};
    app.set_version_flag("--version", CORNERTURN_VERSION);
    app.require_subcommand(1);
    std::deque<added_command> commands;
    for (const auto& make : {list_command, show_command, ladder_command, profile_command, diff_command, explain_command,
                             transpose_command, bench_command, report_command, emulate_command, cc_command})
        commands.push_back({make()});
    std::vector<std::string> names;
    for (added_command& c : commands) {
        c.add_all(app);
        names.emplace_back(c.definition.name);
    }
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const bool about_program =
        !arguments.empty() && (arguments[0] == "-h" || arguments[0] == "--help" || arguments[0] == "--version");
    if (!about_program && (arguments.empty() || std::find(names.begin(), names.end(), arguments[0]) == names.end())) {
        throw invalid_argument(
            fmt::format("{}; the commands are {} (see cornerturn --help)",
                        arguments.empty() ? "a command is missing" : fmt::format("'{}' is not a command", arguments[0]),
                        fmt::join(names, ", ")));
    }
    // The arguments after -- are for another program.
    const bool keeps_arguments = std::any_of(commands.begin(), commands.end(), [&](const added_command& c) {
        return c.definition.keeps_arguments && !arguments.empty() && c.definition.name == arguments[0];
    });
    const auto own_count =
        keeps_arguments ? std::find(arguments.begin(), arguments.end(), "--") - arguments.begin() + 1 : argc;
    try {
        app.parse(about_program ? 2 : static_cast<int>(own_count), argv);
    } catch (const CLI::ExtrasError&) {
        std::vector<std::string> unknown = app.remaining(true);
        std::sort(unknown.begin(), unknown.end(),
                  [](const auto& a, const auto& b) { return a.starts_with('-') && !b.starts_with('-'); });
        throw invalid_argument(fmt::format("{} does not take '{}' (cornerturn {} --help shows its options)",
                                           arguments[0], fmt::join(unknown, " "), arguments[0]));
    } catch (const CLI::Success& wanted) {  // --help, --version
        if (dynamic_cast<const CLI::CallForVersion*>(&wanted) != nullptr) {
            write_out(std::nullopt, CORNERTURN_VERSION "\n");
        } else if (about_program) {
            std::vector<command> all;
            for (const added_command& c : commands) all.push_back(c.definition);
            write_out(std::nullopt, help_of_program(kAbout, all));
        } else {
            const auto its = std::find(names.begin(), names.end(), arguments[0]) - names.begin();
            write_out(std::nullopt, help_of(commands[static_cast<std::size_t>(its)].definition));
        }
        return 0;
    } catch (const CLI::ParseError& mistake) {
        const auto its = std::find(names.begin(), names.end(), arguments[0]) - names.begin();
        throw invalid_argument(fmt::format("{} (cornerturn {} --help shows its options)",
                                           message_of(mistake, commands[static_cast<std::size_t>(its)].definition),
                                           arguments[0]));
    }
    for (const added_command& c : commands) {
        if (!c.app->parsed()) continue;
        const invocation invocation = c.read(arguments);
        if (!c.definition.own_format) invocation.seed();  // a mistake in --seed counts even if nothing is random
        check_writable(invocation.output());
        if (c.definition.run_for_status != nullptr) return c.definition.run_for_status(invocation);
        c.definition.run(invocation);
    }
    return 0;
}

// Reports that memory ran out. The size of the failed allocation is unknown here.
void say_out_of_memory() {
    char text[160] = "the system does not have enough memory";
    rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        std::snprintf(text, sizeof text,
                      "the command needs more memory than the limit of %llu bytes (ulimit -v): raise the limit, or "
                      "choose a smaller problem",
                      static_cast<unsigned long long>(limit.rlim_cur));
    say(text);
}

// For exceptions that main cannot catch: those before main, or in a thread.
[[gnu::constructor(101)]] void end_in_one_line() {
    std::set_terminate([] {
        try {
            if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
        } catch (const std::bad_alloc&) {
            say_out_of_memory();
        } catch (const std::exception& failure) {
            say(std::string("internal error: ") + failure.what());
        } catch (...) {
        }
        std::_Exit(kFailure);
    });
}

}  // namespace
}  // namespace cornerturn::cli

int main(int argc, char** argv) {
    using namespace cornerturn;
    cli::open_standard_files();
    std::signal(SIGXFSZ, [](int) {});  // so that a file above the size limit is an ordinary error
    try {
        return cli::run(argc, argv);
    } catch (const invalid_argument& mistake) {
        cli::say(mistake.what());
        return cli::kUsage;
    } catch (const error& failure) {
        cli::say(failure.what());
    } catch (const std::bad_alloc&) {
        cli::say_out_of_memory();
    } catch (const std::filesystem::filesystem_error& failure) {
        cli::say(failure.path1().string() + ": " + failure.code().message());
    } catch (const std::exception& failure) {
        cli::say(std::string("internal error: ") + failure.what());
    }
    return cli::kFailure;
}
