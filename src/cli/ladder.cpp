// ladder: runs every rung of an operation.
#include "lab/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/run.hpp"
#include "cornerturn/error.hpp"
#include "lab/views.hpp"

namespace cornerturn::cli {
namespace {

// The id of a rung, from an id with or without its family.
std::string id_of(const std::string& name, const operation& op) {
    if (name.find('/') != std::string::npos) return name;
    std::vector<std::string> ids;
    for (const char* family : op.facts().families) ids.push_back(fmt::format("{}/{}", family, name));
    const auto is_kernel = [](const std::string& id) {
        return std::any_of(kernels().begin(), kernels().end(), [&](const kernel& k) { return k.id == id; });
    };
    const auto at = std::find_if(ids.begin(), ids.end(), is_kernel);
    return at == ids.end() ? ids.front() : *at;
}

// The named rungs, in the ladder's order.
std::vector<const kernel*> choose_rungs(const std::vector<const kernel*>& rungs, const operation& op,
                                        const std::string& text) {
    std::vector<const kernel*> chosen;
    std::istringstream names(text);
    for (std::string name; std::getline(names, name, ',');) {
        const std::string id = id_of(name, op);
        const kernel& named = find_kernel(id);
        if (std::find(rungs.begin(), rungs.end(), &named) == rungs.end())
            throw invalid_argument(fmt::format("--rungs has {}, which is not a rung of {}", id, op.name()));
        if (std::find(chosen.begin(), chosen.end(), &named) == chosen.end()) chosen.push_back(&named);
    }
    if (chosen.empty()) throw invalid_argument("--rungs is empty: it takes ids, separated by commas");
    std::sort(chosen.begin(), chosen.end(), [&](const kernel* a, const kernel* b) { return a < b; });
    return chosen;
}

void run(const invocation& invocation) {
    const operation& op = find_operation(invocation.arguments.text("OPERATION", ""));
    auto rungs = lab::ladder_of(op);
    if (const auto named = invocation.find("--rungs")) rungs = choose_rungs(rungs, op, *named);
    const std::string device = device_of(invocation);
    lab::run_request request = read_request(invocation, op, device);
    const wanted_counters wanted = read_wanted(invocation, device);
    const lab::format as = invocation.format();
    std::vector<lab::result> results;
    {
        emulator::block_progress blocks;
        request.progress = &blocks;
        progress line([&] { return blocks_text(blocks); });
        std::size_t number = 0;
        results = lab::run_ladder(rungs, *make_runner(device), request, [&](const kernel& k) {
            blocks.restart();
            line.at(++number, rungs.size(), k.id);
        });
        blocks.restart();
        if (wanted.requested) line.at("reading the hardware's counters");
        std::vector<lab::result*> all;
        for (lab::result& r : results) all.push_back(&r);
        add_hardware(wanted, invocation, all);
    }
    write_results(invocation, lab::show_ladder(results, as));
    for (const lab::result& r : results) require_verified(r);
}

}  // namespace

command ladder_command() {
    std::vector<option> options = run_options();
    options.push_back({"--rungs", "ID,ID", "The rungs to run, by id. Default: all."});
    static const std::string which = operation_help();
    return {
        .name = "ladder",
        .help = "Run every rung of a ladder, verify its result and count its memory accesses. On a GPU, time it too.",
        .positionals = {{"OPERATION", "", which.c_str()}},
        .options = options,
        .run = run,
        .examples = {"cornerturn ladder transpose --on emulator",
                     "cornerturn ladder permute --shape 8,32,32,16 --axes 0,3,1,2"}};
}

}  // namespace cornerturn::cli
