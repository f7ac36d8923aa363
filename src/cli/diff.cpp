// diff: compares two kernels on the same work.
#include <fmt/format.h>

#include "cli/progress.hpp"
#include "cli/run.hpp"
#include "cornerturn/error.hpp"
#include "lab/compare.hpp"

namespace cornerturn::cli {
namespace {

void run(const invocation& asked) {
    const kernel &from = find_kernel(asked.given.word("FROM", "")), &to = find_kernel(asked.given.word("TO", ""));
    if (!from.does->accepts(to) && !to.does->accepts(from))
        throw invalid_argument(fmt::format("{} and {} do different work: they cannot be compared", from.id, to.id));
    const std::string device = device_for(from, asked);
    if (device_for(to, asked) != device)
        throw invalid_argument(
            fmt::format("{} and {} run on different devices: they cannot be compared", from.id, to.id));
    lab::request what = read_request(asked, from.does->accepts(to) ? *from.does : *to.does, device);
    const wanted_counters wanted = read_wanted(asked, device);
    const lab::format as = asked.format();
    lab::result before, after;
    {
        emulator::block_progress blocks;
        what.progress = &blocks;
        progress line([&] { return blocks_text(blocks); });
        auto runner = make_runner(device);
        line.at(1, 2, from.id);
        before = runner->run(from, what);
        blocks.restart();
        line.at(2, 2, to.id);
        after = &to == &from ? before : runner->run(to, what);  // ncu adds up the launches of one kernel
        runner.reset();                                         // frees its buffers for ncu's run
        blocks.restart();
        if (wanted.any) line.at("reading the hardware's counters");
        add_hardware(wanted, asked, {&before, &after});
    }
    write_results(asked, lab::show_difference(from, before, to, after, as));
    require_verified(before);
    require_verified(after);
}

}  // namespace

command diff_command() {
    return {.name = "diff",
            .help = "Run two kernels on the same work. Show the differences, and the counter that explains them.",
            .positionals = {{"FROM", "", "One kernel's id, as cornerturn list shows it."},
                            {"TO", "", "The other kernel's id."}},
            .options = run_options(),
            .run = run,
            .examples = {"cornerturn diff transpose/shared@32x32 transpose/padded@32x32"}};
}

}  // namespace cornerturn::cli
