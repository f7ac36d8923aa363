#include "move/policy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include "core/tensors.hpp"
#include "move/converted_pairs.hpp"
#include "move/family.hpp"
#include "move/machine.hpp"
#include "move/packed_cut.hpp"
#include "move/policy_measured.hpp"
#include "move/rows_cut.hpp"
#include "move/tile_cut.hpp"
#include "move/units_cut.hpp"

namespace cornerturn::moves {
namespace {

double cost(const rows_cut& r, const problem& p) {
    return cost_of(r.count(p.touched), p.copy.converts() ? kConvertedRowsCost : kRowsCost, 0, p.on);
}
double cost(const packed_cut& r, const problem& p) {
    return cost_of(r.count(p.touched), kPackedCost, std::countr_zero(static_cast<unsigned>(r.unit)), p.on);
}
double cost(const units_cut& u, const problem& p) {
    return cost_of(u.count(p.touched), p.copy.converts() ? kConvertedUnitsCost : kUnitsCost,
                   std::countr_zero(static_cast<unsigned>(u.unit)), p.on);
}

counts counts_of_rows(const problem& p, const candidate&) { return rows_cut(p.copy).count(p.touched); }
counts counts_of_packed(const problem& p, const candidate&) { return packed_cut(p.copy).count(p.touched); }
counts counts_of_units(const problem& p, const candidate&) { return units_cut(p.copy).count(p.touched); }
counts counts_of_tiles(const problem& p, const candidate& c) {
    tile_cut tile(p.units, target_of(c.row), p.on);
    tile.count_conflicts();
    return tile.count(p.touched, p.on);
}

void offer_rows(const problem& p, offers& to) {
    if (is_in_place(p.copy) || (p.copy.converts() && (pair_of(p.copy.cast) < 0 || !p.is_aligned))) return;
    const rows_cut rows(p.copy);
    if (rows.possible()) to.add({kernel_family::rows, 0, cost(rows, p)});
}
void fill_rows(const problem& p, const candidate&, plan& made) { rows_cut(p.copy).fill(made); }
std::string text_of_rows(const problem& p, const candidate&) {
    const rows_cut r(p.copy);
    return "rows: " + std::to_string(r.rows) + " runs of " + std::to_string(r.run) + " bytes, " +
           std::to_string(r.blocks()) + " blocks";
}

void offer_packed(const problem& p, offers& to) {
    if (p.copy.rank == 0 || is_in_place(p.copy)) return;
    if (const packed_cut packed(p.copy); packed.possible() && packed.is_worthwhile())
        to.add({kernel_family::packed, 0, cost(packed, p)});
}
void fill_packed(const problem& p, const candidate&, plan& made) { packed_cut(p.copy).fill(made); }
std::string text_of_packed(const problem& p, const candidate&) {
    const packed_cut r(p.copy);
    return "packed: " + std::to_string(r.lines) + " lines of " + std::to_string(r.runs) + " runs of " +
           std::to_string(p.copy.run) + " bytes, " + std::to_string(r.blocks()) + " blocks";
}

void offer_units(const problem& p, offers& to) {
    if (is_in_place(p.copy) || (p.copy.rank == 0 && !p.copy.converts())) return;
    if (const units_cut units(p.copy); units.possible()) to.add({kernel_family::units, 0, cost(units, p)});
}
void fill_units(const problem& p, const candidate&, plan& made) { units_cut(p.copy).fill(made); }
std::string text_of_units(const problem& p, const candidate&) {
    const units_cut u(p.copy);
    return "units: " + std::to_string(u.pieces) + " of " + std::to_string(u.piece) + " bytes one by one, " +
           std::to_string(u.blocks()) + " blocks";
}

void offer_tiles(const problem& p, offers& to) {
    if (p.copy.rank == 0 || p.copy.source == p.copy.destination) return;
    if (p.copy.converts() && (pair_of(p.copy.cast) < 0 || !p.is_aligned)) return;
    if (p.units.gaps && p.units.converts_at_store) return;
    for (int row = 0; row < static_cast<int>(std::size(kTargets)); ++row) {
        const tile_cut tile(p.units, target_of(row), p.on);
        if (tile.possible) to.add({kernel_family::tiles, row, tile.cost(p.touched, p.on), false});
    }
}
void fill_tiles(const problem& p, const candidate& c, plan& made) {
    tile_cut tile(p.units, target_of(c.row), p.on);
    tile.settle_banks(p.on);
    tile.fill(made);
}
std::string text_of_tiles(const problem& p, const candidate& c) {
    const tile_cut t(p.units, target_of(c.row), p.on);
    plan made;
    fill_tiles(p, c, made);
    return std::string(made.groups ? "groups: " : "tiles: ") + std::to_string(p.units.unit) + "-byte units, " +
           std::to_string(t.spans) + " spans of " + std::to_string(t.span) + " bytes to " + std::to_string(t.lines) +
           " lines of " + std::to_string(t.line) + (t.u.gaps ? " bytes with gaps, " : " bytes, ") +
           std::to_string(made.blocks) + " blocks of " + std::to_string(made.threads) + " threads and " +
           std::to_string(made.shared_bytes) + " bytes";
}
// With bank conflicts. They can only add to the cost, and counting them takes longer than all else.
double cost_with_conflicts(const problem& p, const candidate& c) {
    tile_cut tile(p.units, target_of(c.row), p.on);
    tile.count_conflicts();
    return tile.cost(p.touched, p.on);
}

template <kernel_family kBy>
constexpr family matrix_family(const char* name) {
    return {kBy,
            name,
            [](const problem& p, offers& to) { offer_matrices(kBy, p, to); },
            fill_matrices,
            text_of_matrices,
            counts_of_matrices,
            nullptr,
            kBy == kernel_family::vector || kBy == kernel_family::tall};
}

constexpr family kAll[] = {
    {kernel_family::rows, "rows", offer_rows, fill_rows, text_of_rows, counts_of_rows, nullptr, true},
    {kernel_family::packed, "packed", offer_packed, fill_packed, text_of_packed, counts_of_packed},
    {kernel_family::units, "units", offer_units, fill_units, text_of_units, counts_of_units, nullptr, true},
    {kernel_family::tiles, "tiles", offer_tiles, fill_tiles, text_of_tiles, counts_of_tiles, cost_with_conflicts, true},
    matrix_family<kernel_family::direct>("direct"),
    matrix_family<kernel_family::vector>("vector"),
    matrix_family<kernel_family::vector_apart>("vector_apart"),
    matrix_family<kernel_family::ragged>("ragged"),
    matrix_family<kernel_family::tall>("tall"),
    matrix_family<kernel_family::wide>("wide"),
    matrix_family<kernel_family::small>("small"),
    matrix_family<kernel_family::elements>("elements"),
    matrix_family<kernel_family::vector_in_place>("vector_in_place"),
    matrix_family<kernel_family::elements_in_place>("elements_in_place"),
    matrix_family<kernel_family::blocks_in_place>("blocks_in_place"),
};
static_assert(std::size(kAll) == kFamilies - 1 && [] {
    for (std::size_t i = 0; i < std::size(kAll); ++i) {
        if (kAll[i].by != static_cast<kernel_family>(i + 1)) return false;
    }
    return true;
}());
const family& family_of(kernel_family by) { return kAll[static_cast<int>(by) - 1]; }

bool has_work(const strided_copy& c) { return !c.is_empty() && !is_same(c); }

bool is_cheaper(const candidate& a, const candidate& b) { return a.cost < b.cost; }

void settle(const problem& p, candidate& c) {
    if (!c.final) c.cost = family_of(c.by).final_cost(p, c);
    c.final = true;
}

void offer_all(const problem& p, offers& to) {
    for (const family& f : kAll) {
        if (f.converts || !p.copy.converts()) f.offer(p, to);
    }
}

// Finds the one that was measured, or the cheapest one whose cost is final.
candidate best_of(const problem& p) {
    offers all;
    offer_all(p, all);
    if (all.begin() == all.end()) throw std::logic_error("no kernel makes such a copy in place");
    if (const std::optional<candidate> way = measured_way(p.copy, p.on)) {
        for (candidate& one : all) {
            if (one.by == way->by && one.row == way->row) return settle(p, one), one;
        }
    }
    for (;;) {
        candidate& least = *std::min_element(all.begin(), all.end(), is_cheaper);
        if (least.final) return least;
        settle(p, least);
    }
}

// The scales and biases from index 0 of every axis on.
void set_scaling(plan& p, const strided_copy& c) {
    if (!p.types.converts()) return;
    const auto set = [&](const factors_in_memory& from, factors_work& to) {
        const std::int64_t before = from.one || from.address == 0 ? 0 : c.by.first * (from.doubles ? 8 : 4);
        to = {reinterpret_cast<const void*>(from.address + static_cast<std::uintptr_t>(before)), from.number,
              from.doubles, from.one};
    };
    set(c.by.scales, p.cast.scales);
    set(c.by.biases, p.cast.biases);
    p.cast.scaled = p.types.scaled;
}

plan worked_out(const problem& p, const candidate& chosen) {
    plan made;
    made.by = chosen.by;
    made.unit = p.units.unit;
    made.keeps_result = keeps_result(p.copy.bytes(), p.on.l2_bytes);
    made.types = p.copy.cast;
    if (made.types.converts()) {
        made.pair = pair_of(made.types);
        made.aligned = p.is_aligned;
        made.cast = {};
        made.cast.tile_axis = made.cast.row_axis = -1;
    }
    family_of(chosen.by).fill(p, chosen, made);
    set_scaling(made, p.copy);
    return made;
}

std::string text_of(const problem& p, const candidate& c) { return family_of(c.by).text(p, c); }

}  // namespace

const char* name(kernel_family f) { return f == kernel_family::nothing ? "nothing" : family_of(f).name; }

std::vector<candidate> candidates(const strided_copy& c, const gpu& on) {
    if (!has_work(c)) return {candidate{}};
    const problem p(c, on);
    offers offered;
    offer_all(p, offered);
    for (candidate& one : offered) settle(p, one);
    std::stable_sort(offered.begin(), offered.end(), is_cheaper);
    if (const std::optional<candidate> way = measured_way(c, on)) {
        const auto is_way = [&](const candidate& one) { return one.by == way->by && one.row == way->row; };
        std::stable_partition(offered.begin(), offered.end(), is_way);
    }
    std::vector<candidate> all;
    std::set<std::string> ways;
    for (const candidate& one : offered) {
        if (ways.insert(text_of(p, one)).second) all.push_back(one);
    }
    return all;
}

candidate choose(const strided_copy& c, const gpu& on) { return has_work(c) ? best_of(problem(c, on)) : candidate{}; }

plan work_out(const candidate& chosen, const strided_copy& c, const gpu& on) {
    return chosen.by == kernel_family::nothing ? plan{} : worked_out(problem(c, on), chosen);
}

namespace {

// Whether the plans of two copies differ only in their addresses.
bool are_alike(const strided_copy& a, const strided_copy& b) {
    const std::uintptr_t period = a.converts() ? kSourceAlignmentPeriod : kAlignmentPeriod;
    return a.run == b.run && a.cast == b.cast && a.rank == b.rank && a.source % period == b.source % period &&
           a.destination % kAlignmentPeriod == b.destination % kAlignmentPeriod && is_in_place(a) == is_in_place(b) &&
           std::equal(a.axes.begin(), a.axes.begin() + a.rank, b.axes.begin());
}

struct remembered {
    strided_copy of;
    gpu on;
    unsigned measured;  // measured_count() when it was made
    plan made;

    bool fits(const strided_copy& c, const gpu& gpu_asked, unsigned measured_now) const {
        return measured == measured_now && on == gpu_asked && are_alike(of, c);
    }
};

std::size_t slot_of(const strided_copy& c, std::size_t slots) {
    std::uint64_t mixed = bits(c.run) ^ c.source % kAlignmentPeriod << 8 ^ c.destination % kAlignmentPeriod << 16 ^
                          static_cast<std::uint64_t>(c.cast.from) << 24 ^ static_cast<std::uint64_t>(c.cast.to) << 32;
    const auto mix = [&](std::int64_t x) { mixed = (mixed ^ bits(x)) * 0x9E3779B97F4A7C15u, mixed ^= mixed >> 29; };
    for (int i = 0; i < c.rank; ++i) {
        const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
        mix(a.extent), mix(a.source), mix(a.destination);
    }
    return mixed % slots;
}

void set_addresses(tile_work& t, const strided_copy& c, int ratio) {
    const auto divided = [&](std::uintptr_t address) {
        return reinterpret_cast<unsigned char*>(address / static_cast<unsigned>(ratio));
    };
    t.source = divided(c.source), t.first = divided(c.source_begin()), t.last = divided(c.source_end());
    t.destination = reinterpret_cast<unsigned char*>(c.destination);
}

void set_addresses(plan& p, const strided_copy& c) {
    set_scaling(p, c);
    const auto source = reinterpret_cast<const unsigned char*>(c.source);
    const auto first = reinterpret_cast<const unsigned char*>(c.source_begin());
    const auto last = reinterpret_cast<const unsigned char*>(c.source_end());
    const auto destination = reinterpret_cast<unsigned char*>(c.destination);
    switch (p.by) {
        case kernel_family::nothing: break;
        case kernel_family::rows:
            p.rows.source = source, p.rows.first = first, p.rows.last = last, p.rows.destination = destination;
            break;
        case kernel_family::packed:
            p.packed.source = source, p.packed.first = first, p.packed.last = last, p.packed.destination = destination;
            break;
        case kernel_family::units: p.pieces.source = source, p.pieces.destination = destination; break;
        case kernel_family::tiles: set_addresses(p.tiles, c, p.at_load ? c.source_unit() / c.unit() : 1); break;
        default: p.matrices.source = source, p.matrices.destination = destination;
    }
}

}  // namespace

const plan& plan_for(const strided_copy& c, const gpu& on) {
    constexpr std::size_t kSlots = 16;
    thread_local std::unique_ptr<remembered[]> all;
    if (all == nullptr) all = std::make_unique<remembered[]>(kSlots);
    remembered& r = all[slot_of(c, kSlots)];
    const unsigned measured = measured_count();
    if (!r.fits(c, on, measured) || r.of.is_empty()) {
        plan made;
        if (has_work(c)) {
            const problem p(c, on);
            made = worked_out(p, best_of(p));
        }
        r = {c, on, measured, made};
    } else {
        set_addresses(r.made, c);
    }
    return r.made;
}

namespace {

std::string predicted_text(double cost) {
    std::array<char, 32> us;  // std::to_chars() ignores the locale
    const auto end =
        std::to_chars(us.data(), us.data() + us.size(), std::min(cost, 1e12), std::chars_format::fixed, 1).ptr;
    return "predicted " + std::string(us.data(), end) + " us";
}

}  // namespace

std::string text_of(const candidate& chosen, const strided_copy& c, const gpu& on) {
    if (c.is_empty()) return "nothing: there is nothing to move";
    if (chosen.by == kernel_family::nothing) return "nothing: source and destination are the same";
    return text_of(problem(c, on), chosen);
}

std::vector<double> counts_of(const candidate& c, const strided_copy& of, const gpu& on) {
    const problem p(of, on);
    const counts n = family_of(c.by).count(p, c);
    const bool loaded = is_converted_at_load(of);
    int family = static_cast<int>(c.by), row = n.groups ? kGroupsRow : c.row;
    if (of.converts()) family += c.by == kernel_family::tiles && loaded ? kLoadedFrom : kConvertedFrom;
    std::vector<double> all = {static_cast<double>(family), static_cast<double>(row),
                               static_cast<double>(p.units.unit)};
    for (double x : in_order(n)) all.push_back(x);
    return all;
}

std::string explain(const candidate& chosen, const strided_copy& c, const gpu& on) {
    const std::string text = text_of(chosen, c, on);
    return chosen.by == kernel_family::nothing ? text : text + ", " + predicted_text(chosen.cost);
}

explanation_of_parts explain_parts(const strided_copy& c, const gpu& on) {
    constexpr std::size_t kNamed = 3;
    explanation_of_parts all;
    if (c.is_empty()) all.text = explain(candidate{}, c, on);
    strided_copy latest;
    candidate of_latest;
    for_each_part(c, [&](const strided_copy& part) {
        if (all.parts == 0 || !are_alike(part, latest)) of_latest = choose(part, on);
        if (all.parts++ == 0) {
            const std::vector<candidate> ways = candidates(part, on);
            const std::optional<candidate> way = measured_way(part, on);
            if (way && way->by == of_latest.by && way->row == of_latest.row) all.text = "measured to be the best: ";
            for (std::size_t i = 0; i < std::min(kNamed, ways.size()); ++i)
                all.text += (i == 0 ? "" : i == 1 ? "; next " : ", then ") + explain(ways[i], part, on);
        }
        all.cost += of_latest.cost;
        latest = part;
    });
    if (all.parts > 1)
        all.text +=
            "; this is the first of " + std::to_string(all.parts) + " parts, all of them " + predicted_text(all.cost);
    return all;
}

}  // namespace cornerturn::moves
