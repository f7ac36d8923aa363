// A warp's accesses to global memory, looked at for races (races.hpp).
#include <fmt/format.h>

#include <bit>

#include "emulator/worker.hpp"

namespace cornerturn::emulator {
namespace {

// Notes the accesses whose cell nobody has touched in this launch, or this block alone in earlier intervals, and
// returns the other lanes. One cell an access; a function of its own, that keeps what it needs in registers.
template <direction kOp>
[[gnu::noinline]] std::uint32_t note_alone(const warp_instruction& instruction, const global_shadow::cells& shadow,
                                           const block_races& races, std::uint64_t by, const touch* touches) {
    const global_shadow::cells cells = shadow;
    std::uint32_t others = 0;
    for (std::uint32_t rest = instruction.active; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        global_cell& cell = *cells.at(instruction.addresses[lane]);
        const std::uint64_t written = __atomic_load_n(&cell.write, __ATOMIC_RELAXED),
                            read = __atomic_load_n(&cell.read, __ATOMIC_RELAXED);
        if (!races.is_over(written) || !races.is_over(read)) {
            others |= rest & -rest;
        } else {
            __atomic_store_n(kOp == kLoad ? &cell.read : &cell.write, by | global_bits(touches[lane]),
                             __ATOMIC_RELAXED);
        }
    }
    return others;
}

}  // namespace

void worker::check_global(const warp_instruction& instruction) {
    const site& where = *instruction.where;
    if (where.is_volatile) return;
    const std::uint64_t by = races_.interval_bits() | where.race_bits;
    std::uint32_t lanes = instruction.active;
    global_shadow* shadow = nullptr;
    if (!instruction.scattered) [[likely]] {
        shadow = shadow_of(*instruction.memory, where.width);
        if (shadow == nullptr) return;
        const global_shadow::cells& cells = shadow->cells_for(where.width);
        if (where.width == 1u << cells.granule_log2) [[likely]] {
            lanes = where.op == kLoad ? note_alone<kLoad>(instruction, cells, races_, by, &touches_[first_])
                                      : note_alone<kStore>(instruction, cells, races_, by, &touches_[first_]);
        }
    }
    for (; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
        if (instruction.scattered) shadow = shadow_of(*region_at(instruction.addresses[lane]), where.width);
        if (shadow != nullptr) check_global_cells(instruction, lane, *shadow, by);
    }
}

// The shadow of memory in which races are searched; else null.
global_shadow* worker::shadow_of(const region& memory, unsigned width) {
    if (memory.may_race && memory.races == nullptr) {
        memory.races = races_.search().cover(memory.name.c_str(), memory.begin, memory.bytes, width);
        memory.may_race = memory.races != nullptr;
    }
    return memory.races;
}

void worker::check_global_cells(const warp_instruction& instruction, unsigned lane, global_shadow& shadow,
                                std::uint64_t by) {
    const site& where = *instruction.where;
    const std::uintptr_t address = instruction.addresses[lane];
    const global_shadow::cells& cells = shadow.cells_for(where.width);
    const global_touch now{by | global_bits(touches_[first_ + lane])};
    global_cell* const first = cells.at(address);
    block_races::rival rival{};
    for (unsigned i = 0; i < where.width >> cells.granule_log2; ++i) {
        const block_races::rival found =
            where.op == kLoad ? races_.note_read(first[i], now) : races_.note_write(first[i], now);
        if (found.who.bits != 0) rival = found;
    }
    if (rival.who.bits == 0) return;
    if (rival.who.same_interval(now) && ordered_by_fence(rival.who.thread(), now.thread())) return;
    note_global_race(instruction, first_ + lane, rival);
}

// "writes global memory 'x' at f.cu:3 and block (1, 0, 0), thread (2, 0, 0) reads the same bytes at f.cu:4 with nothing
// that orders them"
void worker::note_global_race(const warp_instruction& instruction, unsigned thread, const block_races::rival& rival) {
    const site& where = *instruction.where;
    note(hazard_kind::race, thread, where.return_address, [&] {
        std::string other = "another thread";
        std::uint64_t block = 0;
        if (!rival.unknown && races_.find_block(rival.who, block)) {
            const extent3 at = block_at(block, config_.grid);
            other = fmt::format("block ({}, {}, {}), thread {}", at.x, at.y, at.z, name_of(rival.who.thread()));
        }
        const std::uintptr_t site = races_.search().site(rival.who.site());
        return fmt::format("{}s global memory '{}' at {} and {} {}s the same bytes{} with nothing that orders them",
                           where.op == kLoad ? "read" : "write", instruction.memory->name, line_of_site(where.index),
                           other, rival.wrote ? "write" : "read",
                           rival.unknown || site == 0 ? "" : " at " + to_string(line_of(site)));
    });
}

}  // namespace cornerturn::emulator
