// list: lists every kernel.
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "lab/views.hpp"

namespace cornerturn::cli {
namespace {

void run(const invocation& invocation) {
    write_out(invocation.output(), lab::show_list(kernels(), invocation.format()));
}

}  // namespace

command list_command() {
    return {.name = "list",
            .help = "List every kernel: its id, origin, element sizes, the GPU feature that it needs, and its idea.",
            .positionals = {},
            .options = {},
            .run = run,
            .examples = {"cornerturn list", "cornerturn list --format json"}};
}

}  // namespace cornerturn::cli
