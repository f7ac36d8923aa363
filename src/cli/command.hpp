// The program's commands, one per file. program.cpp reads the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/operation.hpp"
#include "lab/run.hpp"
#include "lab/table.hpp"

namespace cornerturn::cli {

// A command's arguments and options as text. Reading their values reports every mistake in the same form.
struct invocation {
    cornerturn::arguments arguments;        // by name: options ("--rows") and positionals ("OPERATION")
    std::vector<std::string> repeated;      // the values of the positional that may be repeated
    std::vector<std::string> command_line;  // without the program's name
    // If command::keeps_arguments: the arguments that are not options of this command, and those after --.
    std::vector<std::string> unknown{}, after_dashes{};

    // --format, --seed, --output.
    lab::format format() const;
    std::uint64_t seed() const;
    std::optional<std::string> output() const { return find("--output"); }

    std::optional<std::string> find(const std::string& name) const {
        return arguments.has(name) ? std::optional(arguments.text(name, "")) : std::nullopt;
    }
    std::string text() const;  // "cornerturn ladder transpose"
};

struct command {
    const char *name, *help;
    std::vector<option> positionals;  // all are required
    bool repeats = false;             // the last positional may be repeated
    std::vector<option> options;      // all_options() adds those that most commands have
    void (*run)(const invocation&);
    bool own_format = false;  // all_options() adds no --format and no --seed
    // Unknown arguments are in invocation::unknown, in their order. all_options() adds no --output.
    bool keeps_arguments = false;
    std::vector<std::string> repeatable = {};            // options that may be repeated: one value per line
    int (*run_for_status)(const invocation&) = nullptr;  // instead of run: returns the program's exit code
    const char* usage = nullptr;                         // the usage after the name; null: made from the options
    std::vector<const char*> examples = {};

    // `options`, then --seed, --format and --output.
    std::vector<option> all_options() const;
};

command list_command();
command show_command();
command ladder_command();
command profile_command();
command diff_command();
command explain_command();
command transpose_command();
command bench_command();
command report_command();
command emulate_command();
command cc_command();

}  // namespace cornerturn::cli
