#include "ops/copy/kernels/policy.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>

#include "ops/copy/kernels/rows_cut.hpp"
#include "ops/copy/kernels/tile_cut.hpp"
#include "ops/copy/kernels/units_cut.hpp"

namespace cornerturn::strided {
namespace {

// Tuning: the tiles to try. Lines of 256 bytes and more suit memory best. Shorter lines leave room for longer spans.
constexpr tile_target kTargets[] = {
    {64, 4 << 10},   {128, 4 << 10},  {64, 8 << 10},    {128, 8 << 10},  {256, 8 << 10},
    {64, 16 << 10},  {128, 16 << 10}, {256, 16 << 10},  {512, 16 << 10}, {128, 32 << 10},
    {256, 32 << 10}, {512, 32 << 10}, {1024, 32 << 10},
};

constexpr std::size_t kMostChoices = 2 + 2 * std::size(kTargets);

template <class Each>
void each_choice(const strided_copy& c, const gpu& on, Each each) {
    if (c.is_empty()) return each(choice{});
    each(choice{kernel_family::rows, {}, rows_cut(c).cost(on)});
    if (c.rank == 0) return;
    if (const units_cut units(c); units.possible()) each(choice{kernel_family::units, {}, units.cost(on)});
    const copy_of_units units(c);
    for (tile_target target : kTargets) {
        const tile_cut tile(units, target, on);
        if (tile.possible) each(choice{kernel_family::tiles, target, tile.cost(on)});
        target.groups = tile.could_be_groups();
        if (!target.groups) continue;
        if (const tile_cut groups(units, target, on); groups.possible)
            each(choice{kernel_family::tiles, target, groups.cost(on)});
    }
}

// The cost with bank conflicts. They can only add to it, and counting them takes longer than all else.
double whole_cost(const copy_of_units& units, const choice& of, const gpu& on) {
    if (of.by != kernel_family::tiles) return of.cost;
    tile_cut tile(units, of.target, on);
    tile.count_conflicts();
    return tile.cost(on);
}

}  // namespace

std::vector<choice> choices(const strided_copy& c, const gpu& on) {
    std::vector<choice> all;
    const copy_of_units units(c);
    each_choice(c, on, [&](const choice& one) {
        all.push_back(one);
        all.back().cost = whole_cost(units, one, on);
    });
    std::stable_sort(all.begin(), all.end(), [](const choice& a, const choice& b) { return a.cost < b.cost; });
    return all;
}

// Counts conflicts for the cheapest choice, until the cheapest one has its conflicts counted.
choice choose(const strided_copy& c, const gpu& on) {
    std::array<choice, kMostChoices> all;
    std::array<bool, kMostChoices> known{};
    std::size_t count = 0;
    each_choice(c, on, [&](const choice& one) {
        known[count] = one.by != kernel_family::tiles;
        all[count++] = one;
    });
    const copy_of_units units(c);
    for (;;) {
        const auto least = static_cast<std::size_t>(
            std::min_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count),
                             [](const choice& a, const choice& b) { return a.cost < b.cost; }) -
            all.begin());
        if (known[least]) return all[least];
        all[least].cost = whole_cost(units, all[least], on);
        known[least] = true;
    }
}

plan work_out(const choice& chosen, const strided_copy& c, const gpu& on) {
    plan p;
    p.by = chosen.by;
    p.unit = c.unit();
    if (chosen.by == kernel_family::rows) rows_cut(c).fill(p, on);
    if (chosen.by == kernel_family::units) units_cut(c).fill(p);
    if (chosen.by == kernel_family::tiles) {
        const copy_of_units units(c);
        tile_cut tile(units, chosen.target, on);
        tile.settle_banks(on);
        tile.fill(p);
    }
    return p;
}

namespace {

// A plan depends on addresses only modulo this.
constexpr std::uintptr_t kAlignmentPeriod = kFetched;

// Whether the plans of two copies differ only in their addresses.
bool are_alike(const strided_copy& a, const strided_copy& b) {
    return a.run == b.run && a.rank == b.rank && a.source % kAlignmentPeriod == b.source % kAlignmentPeriod &&
           a.destination % kAlignmentPeriod == b.destination % kAlignmentPeriod &&
           std::equal(a.axes.begin(), a.axes.begin() + a.rank, b.axes.begin());
}

struct remembered {
    strided_copy of;
    gpu on;
    plan made;

    bool fits(const strided_copy& c, const gpu& gpu_asked) const { return on == gpu_asked && are_alike(of, c); }
};

std::size_t slot_of(const strided_copy& c, std::size_t slots) {
    std::uint64_t mixed = bits(c.run) ^ c.source % kAlignmentPeriod << 8 ^ c.destination % kAlignmentPeriod << 16;
    const auto mix = [&](std::int64_t x) { mixed = (mixed ^ bits(x)) * 0x9E3779B97F4A7C15u, mixed ^= mixed >> 29; };
    for (int i = 0; i < c.rank; ++i) {
        const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
        mix(a.extent), mix(a.source), mix(a.destination);
    }
    return mixed % slots;
}

}  // namespace

const plan& plan_for(const strided_copy& c, const gpu& on) {
    constexpr std::size_t kSlots = 16;
    thread_local std::unique_ptr<remembered[]> all;
    if (all == nullptr) all = std::make_unique<remembered[]>(kSlots);
    remembered& r = all[slot_of(c, kSlots)];
    if (r.made.by == kernel_family::nothing || !r.fits(c, on)) {
        r = {c, on, work_out(choose(c, on), c, on)};
        return r.made;
    }
    const auto source = reinterpret_cast<const unsigned char*>(c.source);
    const auto first = reinterpret_cast<const unsigned char*>(c.source_begin());
    const auto last = reinterpret_cast<const unsigned char*>(c.source_end());
    const auto destination = reinterpret_cast<unsigned char*>(c.destination);
    rows_work& w = r.made.rows;
    units_work& u = r.made.pieces;
    tile_work& t = r.made.tiles;
    if (r.made.by == kernel_family::rows)
        w.source = source, w.first = first, w.last = last, w.destination = destination;
    if (r.made.by == kernel_family::units) u.source = source, u.destination = destination;
    if (r.made.by == kernel_family::tiles)
        t.source = source, t.first = first, t.last = last, t.destination = destination;
    return r.made;
}

namespace {

std::string predicted_text(double cost) {
    const std::string us = std::to_string(cost);
    return "predicted " + us.substr(0, us.find('.') + 2) + " us";
}

}  // namespace

std::string explain(const choice& chosen, const strided_copy& c, const gpu& on) {
    const std::string predicted = ", " + predicted_text(chosen.cost);
    switch (chosen.by) {
        case kernel_family::nothing: return "nothing: there is nothing to move";
        case kernel_family::rows: {
            const rows_cut r(c);
            return "rows: " + std::to_string(r.rows) + " runs of " + std::to_string(c.run) + " bytes, " +
                   std::to_string(r.blocks()) + " blocks" + predicted;
        }
        case kernel_family::units: {
            const units_cut u(c);
            return "units: " + std::to_string(u.pieces) + " of " + std::to_string(u.piece) + " bytes one by one, " +
                   std::to_string(u.blocks()) + " blocks" + predicted;
        }
        case kernel_family::tiles: break;
    }
    const copy_of_units units(c);
    const tile_cut t(units, chosen.target, on);
    const plan p = work_out(chosen, c, on);
    return std::string(p.groups ? "groups: " : "tiles: ") + std::to_string(p.unit) + "-byte units, " +
           std::to_string(t.spans) + " spans of " + std::to_string(t.span) + " bytes to " + std::to_string(t.lines) +
           " lines of " + std::to_string(t.line) + (t.u.gaps ? " bytes with gaps, " : " bytes, ") +
           std::to_string(p.blocks) + " blocks of " + std::to_string(p.threads) + " threads and " +
           std::to_string(p.shared_bytes) + " bytes" + predicted;
}

choice_of_parts choose_parts(const strided_copy& c, const gpu& on) {
    choice_of_parts all;
    if (c.is_empty()) all.text = explain(choice{}, c, on);
    strided_copy latest;
    choice of_latest;
    for_each_part(c, [&](const strided_copy& part) {
        if (all.parts == 0 || !are_alike(part, latest)) of_latest = choose(part, on);
        if (all.parts++ == 0) all.text = explain(of_latest, part, on);
        all.cost += of_latest.cost;
        latest = part;
    });
    if (all.parts > 1)
        all.text +=
            "; this is the first of " + std::to_string(all.parts) + " parts, all of them " + predicted_text(all.cost);
    return all;
}

}  // namespace cornerturn::strided
