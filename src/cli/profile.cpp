// profile: shows the counters of one kernel.
#include "cli/progress.hpp"
#include "cli/run.hpp"
#include "lab/compare.hpp"
#include "lab/views.hpp"

namespace cornerturn::cli {
namespace {

void run(const invocation& invocation) {
    const kernel& k = find_kernel(invocation.arguments.text("ID", ""));
    const std::string device = device_for(k, invocation);
    lab::run_request request = read_request(invocation, *k.op, device);
    const wanted_counters wanted = read_wanted(invocation, device);
    const lab::format as = invocation.format();
    lab::result r;
    {
        emulator::block_progress blocks;
        request.progress = &blocks;
        progress line([&] { return blocks_text(blocks); });
        line.at(k.id);
        r = make_runner(device)->run(k, request);
        blocks.restart();
        if (wanted.requested) line.at("reading the hardware's counters");
        add_hardware(wanted, invocation, {&r});
    }
    const bool compares = invocation.arguments.has("--compare") && r.ran();
    write_results(invocation, compares ? lab::show_comparison(r, as) : lab::show_profile(r, as));
    require_verified(r);
}

}  // namespace

command profile_command() {
    std::vector<option> options = run_options();
    options.insert(
        options.end(),
        {{"--lines", "", "Show counters for each source line too."},
         {"--compare", "",
          "On cuda: show the emulator's counters beside the hardware's, and the cause of each difference."}});
    return {.name = "profile",
            .help = "Show all counters of one kernel, and the meaning of each.",
            .positionals = {{"ID", "", "The kernel's id, as cornerturn list shows it."}},
            .options = options,
            .run = run,
            .examples = {"cornerturn profile transpose/padded@32x8 --lines",
                         "cornerturn profile transpose/shared@32x32 --rows 4096 --full"}};
}

}  // namespace cornerturn::cli
