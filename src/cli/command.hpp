// The program's commands: a file each. program.cpp makes a command line of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/operation.hpp"
#include "lab/run.hpp"
#include "lab/table.hpp"

namespace cornerturn::cli {

// What somebody asked for. Options are words here, so that every mistake is told in the same way.
struct invocation {
    arguments given;  // options by their names, "--rows", and what has no dashes by its own, "OPERATION"
    std::vector<std::string> repeated;         // of what may stand there several times
    std::vector<std::string> words;            // the whole command line, without the program's name
    std::vector<std::string> behind_dashes{};  // what follows --, where the command keeps words

    // --format, --seed, --output.
    lab::format format() const;
    std::uint64_t seed() const;
    std::optional<std::string> output() const { return find("--output"); }

    std::optional<std::string> find(const std::string& name) const {
        return given.has(name) ? std::optional(given.word(name, "")) : std::nullopt;
    }
    std::string text() const;  // "cornerturn ladder transpose"
};

struct command {
    const char *name, *help;
    std::vector<option> positionals;  // all are needed
    bool repeats = false;             // the last of them may stand there several times
    std::vector<option> options;      // besides --output, and --format and --seed unless it has a format of its own
    void (*run)(const invocation&);
    bool own_format = false;
    // Words that no option of its own takes are in invocation::repeated, in their order; and it has no --output but its
    // own.
    bool keeps_words = false;
    std::vector<std::string> repeatable = {};            // options that may be given several times: values by lines
    int (*run_for_status)(const invocation&) = nullptr;  // instead of run: what the program then returns
    const char* usage = nullptr;                         // behind the name, where it is not made of the options
    std::vector<const char*> examples = {};

    // The options of its own, and those that all such commands have.
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
