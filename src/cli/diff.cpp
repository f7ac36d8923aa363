// diff: compares two kernels on the same work.
#include <fmt/format.h>

#include "cli/progress.hpp"
#include "cli/run.hpp"
#include "cornerturn/error.hpp"
#include "lab/compare.hpp"

namespace cornerturn::cli {
namespace {

void run(const invocation& invocation) {
    const kernel &from = find_kernel(invocation.arguments.text("FROM", "")),
                 &to = find_kernel(invocation.arguments.text("TO", ""));
    if (!from.op->accepts(to) && !to.op->accepts(from))
        throw invalid_argument(fmt::format("{} and {} do different work: they cannot be compared", from.id, to.id));
    const std::string device = device_for(from, invocation);
    if (device_for(to, invocation) != device)
        throw invalid_argument(
            fmt::format("{} and {} run on different devices: they cannot be compared", from.id, to.id));
    lab::run_request request = read_request(invocation, from.op->accepts(to) ? *from.op : *to.op, device);
    const wanted_counters wanted = read_wanted(invocation, device);
    const lab::format as = invocation.format();
    lab::result before, after;
    {
        emulator::block_progress blocks;
        request.progress = &blocks;
        progress line([&] { return blocks_text(blocks); });
        auto runner = make_runner(device);
        line.at(1, 2, from.id);
        before = runner->run(from, request);
        blocks.restart();
        line.at(2, 2, to.id);
        after = &to == &from ? before : runner->run(to, request);  // ncu adds up the launches of one kernel
        runner.reset();                                            // frees its buffers for ncu's run
        blocks.restart();
        if (wanted.requested) line.at("reading the hardware's counters");
        add_hardware(wanted, invocation, {&before, &after});
    }
    write_results(invocation, lab::show_difference(from, before, to, after, as));
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
