// profile: shows the counters of one kernel.
#include "cli/progress.hpp"
#include "cli/run.hpp"
#include "lab/compare.hpp"
#include "lab/views.hpp"

namespace cornerturn::cli {
namespace {

void run(const invocation& asked) {
    const kernel& k = find_kernel(asked.given.word("ID", ""));
    const std::string device = device_for(k, asked);
    lab::request what = read_request(asked, *k.does, device);
    const wanted_counters wanted = read_wanted(asked, device);
    const lab::format as = asked.format();
    lab::result r;
    {
        emulator::block_progress blocks;
        what.progress = &blocks;
        progress line([&] { return blocks_text(blocks); });
        line.at(k.id);
        r = make_runner(device)->run(k, what);
        blocks.restart();
        if (wanted.any) line.at("reading the hardware's counters");
        add_hardware(wanted, asked, {&r});
    }
    const bool compares = asked.given.has("--compare") && r.ran();
    write_results(asked, compares ? lab::show_comparison(r, as) : lab::show_profile(r, as));
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
