// Checks a warp's accesses to global memory for races (races.hpp).
#include <fmt/format.h>

#include <bit>

#include "emulator/worker.hpp"

namespace cornerturn::emulator {
namespace {

// The common cases: a load of memory that no thread has written in this launch, or a store to memory that no thread has
// read. Then only one half of a cell matters: its reads for a load, its writes for a store. Mostly that half was last
// touched in an earlier launch, or by this block in an earlier interval. Each access has one cell. The functions are
// separate so that their values stay in registers.

constexpr std::uint64_t kNextThread = std::uint64_t{1} << global_touch::kThread;

// A warp instruction at cells of one size.
struct noting {
    const warp_instruction& instruction;
    const global_shadow::cells& shadow;
    std::uint64_t by;      // the bits of the touches, without the threads
    const touch* touches;  // of the lanes
    bool synced;           // some lanes may have passed warp-level barriers

    bool is_row() const { return instruction.active == ~0u && instruction.contiguous && !synced; }
    bool is_broadcast() const {
        if (instruction.active != ~0u || synced) return false;
        std::uint64_t different = 0;
        for (const std::uint64_t address : instruction.addresses) different |= address ^ instruction.addresses[0];
        return different == 0;
    }
    std::uint64_t first_lane() const { return by | global_bits(touches[0]); }

    // Calls note(lane, cell, touch) for each lane. Prefetches the next warp's cells, assuming
    // that addresses grow by the same amount from warp to warp.
    template <class Note>
    [[gnu::always_inline]] void for_each_lane(std::uint64_t* cells, Note note) const {
        if (is_row()) {
            std::uint64_t* const row = cells + shadow.at(instruction.addresses[0]);
            std::uint64_t now = first_lane();
            for (unsigned lane = 0; lane < kWarpSize; ++lane, now += kNextThread) note(lane, row[lane], {now});
            return;
        }
        const std::uintptr_t begin = shadow.begin;
        const unsigned granule_log2 = shadow.granule_log2;
        const std::uint64_t step = instruction.step, first = first_lane();
        for (std::uint32_t rest = instruction.active; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(rest));
            const std::uintptr_t address = instruction.addresses[lane];
            __builtin_prefetch(&cells[static_cast<std::int64_t>(address + step - begin) >> granule_log2], 1);
            note(lane, cells[(address - begin) >> granule_log2],
                 global_touch{synced ? by | global_bits(touches[lane]) : first + lane * kNextThread});
        }
    }
};

// Records the touches of a row of cells if no thread has touched it in this launch. Returns whether it did.
[[gnu::noinline]] bool note_fresh_row(std::uint64_t* cells, std::uint64_t base, std::uint64_t by) {
    std::uint64_t all = ~std::uint64_t{0};
    for (int lane = 0; lane < kWarpSize; ++lane) all &= cells[lane] - base;
    if (all >> 63 == 0) return false;
    for (int lane = 0; lane < kWarpSize; ++lane) cells[lane] = by + static_cast<std::uint64_t>(lane) * kNextThread;
    return true;
}

// Returns the lanes that it does not handle.
[[gnu::noinline]] std::uint32_t note_stores(const noting& all, const block_races& races) {
    const block_races own = races;
    std::uint32_t others = 0;
    all.for_each_lane(all.shadow.writes, [&](unsigned lane, std::uint64_t& cell, global_touch now) {
        const std::uint64_t known = __atomic_load_n(&cell, __ATOMIC_RELAXED);
        if (own.is_over(known))
            __atomic_store_n(&cell, now.bits, __ATOMIC_RELAXED);
        else if (known != now.bits)
            others |= 1u << lane;
    });
    return others;
}

[[gnu::noinline]] void note_loads(const noting& all, const block_races& races) {
    const block_races own = races;
    const auto others = [&](std::uint64_t& cell, global_touch now) {
        const global_touch known{__atomic_load_n(&cell, __ATOMIC_RELAXED)};
        return own.is_over(known.bits) ? 0 : own.other_readers(known, now);
    };
    if (all.is_broadcast()) {  // as if the lanes came one after the other
        std::uint64_t& cell = all.shadow.reads[all.shadow.at(all.instruction.addresses[0])];
        const std::uint64_t first = all.first_lane(), last = first + (kWarpSize - 1) * kNextThread;
        const std::uint64_t flags = others(cell, {first}) | global_touch::kOtherLanes;
        __atomic_store_n(&cell, last | flags, __ATOMIC_RELAXED);
        return;
    }
    all.for_each_lane(all.shadow.reads, [&](unsigned, std::uint64_t& cell, global_touch now) {
        __atomic_store_n(&cell, now.bits | others(cell, now), __ATOMIC_RELAXED);
    });
}

}  // namespace

void worker::check_global(const warp_instruction& instruction) {
    const site& access_site = *instruction.site;
    if (access_site.is_volatile) return;
    races_.settle_acquire();
    const std::uint64_t by = races_.interval_bits() | access_site.race_bits;
    const bool is_load = access_site.op == kLoad;
    std::uint32_t lanes = instruction.active;
    global_shadow* shadow = nullptr;
    if (!instruction.scattered) [[likely]] {
        shadow = shadow_of(*instruction.memory, access_site.width);
        if (shadow == nullptr) return;
        const global_shadow::cells* const current = shadow->cells_for(access_site.width);
        if (current == nullptr) return;
        const global_shadow::cells& cells = *current;
        shadow->note_use(is_load ? global_shadow::read : global_shadow::written);
        if (access_site.width == 1u << cells.granule_log2 &&
            !shadow->has_been(is_load ? global_shadow::written : global_shadow::read)) {
            const noting all{instruction, cells, by, &touches_[first_], warp_synced_};
            std::uint64_t* const touched = is_load ? cells.reads : cells.writes;
            if (all.is_row() && note_fresh_row(touched + cells.at(instruction.addresses[0]), races_.base_bits(),
                                               all.first_lane())) [[likely]]
                return;
            if (is_load) return note_loads(all, races_);
            lanes = note_stores(all, races_);
        }
    }
    for (; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
        if (instruction.scattered) shadow = shadow_of(*region_at(instruction.addresses[lane]), access_site.width);
        if (shadow == nullptr) continue;
        shadow->note_use(is_load ? global_shadow::read : global_shadow::written);
        check_global_cells(instruction, lane, *shadow, by);
    }
}

// The shadow of the memory; null if it is not searched for races.
global_shadow* worker::shadow_of(const region& memory, unsigned width) {
    if (memory.may_race && memory.races == nullptr) {
        memory.races = races_.search().cover(memory.name.c_str(), memory.begin, memory.bytes, width);
        memory.may_race = memory.races != nullptr;
    }
    return memory.races;
}

void worker::check_global_cells(const warp_instruction& instruction, unsigned lane, global_shadow& shadow,
                                std::uint64_t by) {
    const site& access_site = *instruction.site;
    const std::uintptr_t address = instruction.addresses[lane];
    const global_shadow::cells* const current = shadow.cells_for(access_site.width);
    if (current == nullptr) return;
    const global_shadow::cells& cells = *current;
    const global_touch now{by | global_bits(touches_[first_ + lane])};
    const std::size_t first = cells.at(address);
    block_races::rival rival{};
    for (unsigned i = 0; i < access_site.width >> cells.granule_log2; ++i) {
        const block_races::rival found = access_site.op == kLoad ? races_.note_read(cells[first + i], now)
                                                                 : races_.note_write(cells[first + i], now);
        if (found.who.bits == 0) continue;
        const unsigned other = found.unknown ? now.thread() : found.who.thread();
        if (!found.in_block || !fences_.are_ordered(other, now.thread(), serial_)) rival = found;
    }
    if (rival.who.bits != 0) report_global_race(instruction, lane, rival);
}

// "writes global memory 'x' at f.cu:3 and block (1, 0, 0), thread (2, 0, 0) reads the same bytes at f.cu:4, and nothing
// orders them"
void worker::report_global_race(const warp_instruction& instruction, unsigned lane, const block_races::rival& rival) {
    const site& access_site = *instruction.site;
    report_hazard(hazard_kind::race, first_ + lane, access_site.return_address, [&] {
        std::string other = "another thread";
        std::uint64_t block = 0;
        if (!rival.unknown && races_.find_block(rival.who, block)) {
            const extent3 at = block_at(block, config_.grid);
            other = fmt::format("block ({}, {}, {}), thread {}", at.x, at.y, at.z, name_of(rival.who.thread()));
        }
        const region& memory = instruction.scattered ? *region_at(instruction.addresses[lane]) : *instruction.memory;
        const std::uintptr_t site = races_.search().site(rival.who.site());
        return fmt::format("{}s global memory '{}' at {} and {} {}s the same bytes{}, and nothing orders them",
                           access_site.op == kLoad ? "read" : "write", memory.name, line_of_site(access_site.index),
                           other, rival.wrote ? "write" : "read",
                           rival.unknown || site == 0 ? "" : " at " + to_string(line_of(site)));
    });
}

}  // namespace cornerturn::emulator
