// list: every kernel.
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "lab/views.hpp"

namespace cornerturn::cli {
namespace {

void run(const invocation& asked) { write_out(asked.output(), lab::show_list(kernels(), asked.format())); }

}  // namespace

command list_command() {
    return {.name = "list",
            .help = "Every kernel: id, origin, what it takes and needs, idea",
            .positionals = {},
            .options = {},
            .run = run};
}

}  // namespace cornerturn::cli
