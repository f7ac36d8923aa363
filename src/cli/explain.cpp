// explain: the library's choice of a kernel; or, for a kernel's id, what that kernel does.
#include "cli/explain.hpp"

#include <fmt/format.h>

#include "cli/output.hpp"
#include "cli/run.hpp"
#include "cornerturn/error.hpp"
#include "device/explanation.hpp"

namespace cornerturn::cli {
namespace {

// The options for an operation and those for a kernel's id.
std::vector<option> all_options() {
    std::vector<option> all = {
        {"--on", "cuda|host|emulator",
         "For an operation: cuda (the default) or host. For a kernel's id: emulator (its default)."},
        {"--dtype", "u8|u16|f32|f64|c128...", "Type of the elements. Default: f32."}};
    for (const auto& more : {options_of_all([](const operation& o) { return o.explain_options(); }), work_options()}) {
        for (const option& o : more) {
            if (!has(all, o.name)) all.push_back(o);
        }
    }
    return all;
}

std::string explain_choice(const operation& op, const invocation& invocation) {
    if (invocation.find("--svg"))
        throw invalid_argument(
            fmt::format("--svg needs a kernel's id instead of '{}' (cornerturn list shows the ids)", op.name()));
    if (invocation.find("--timeout"))
        throw invalid_argument(
            fmt::format("--timeout needs a kernel's id instead of '{}' (cornerturn list shows the ids)", op.name()));
    const std::vector<option> its = op.explain_options();
    for (const option& o : all_options()) {
        if (invocation.arguments.has(o.name) && !has(its, o.name) && !its.empty())
            throw invalid_argument(
                fmt::format("{} has no option {}: it takes {}", op.name(), o.name, options_text(its)));
    }
    const explanation why = op.explain(invocation.arguments);
    switch (invocation.format()) {
        case lab::format::json: return lab::json_text(why.json, 2) + "\n";
        case lab::format::table: return lab::wrapped(why.text + "\n", 4);
        default: return why.text + "\n";
    }
}

void run(const invocation& invocation) {
    const std::string name = invocation.arguments.text("WHAT", "");
    const bool is_kernel = name.find('/') != std::string::npos;
    write_out(invocation.output(), is_kernel ? explain_kernel(find_kernel(name), invocation)
                                             : explain_choice(find_operation(name), invocation));
}

}  // namespace

command explain_command() {
    std::vector<option> options = {{"--svg", "FILE", "Draw the memory accesses of warp 0. For a kernel's id."},
                                   timeout_option()};
    for (const option& o : all_options()) options.push_back(o);
    static const std::string help = fmt::format("{}. Or a kernel's id.", operation_help(false));
    return {
        .name = "explain",
        .help =
            "Show which kernel the library would choose, and why. For a kernel's id: show its idea, the counters of "
            "its source lines, and the accesses of one warp.",
        .positionals = {{"WHAT", "", help.c_str()}},
        .options = options,
        .run = run,
        .examples = {"cornerturn explain transpose --rows 10007 --cols 10009",
                     "cornerturn explain transpose/shared@32x32 --svg warp.svg"}};
}

}  // namespace cornerturn::cli
