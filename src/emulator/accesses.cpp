// The slow case of a memory access: it finds the site and the memory region (traces.cpp finds the warp instruction).
// Then the cost of warp instructions, and the checks for races and for reads of unwritten memory.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulator/worker.hpp"

namespace cornerturn::emulator {

site& worker::find_site(std::uintptr_t return_address, unsigned width, direction op) {
    cache_entry& entry = site_cache_[return_address * 0x9e3779b97f4a7c15ull >> 56];
    if (entry.return_address == return_address) return *entry.found;
    const auto found =
        std::find_if(sites_.begin(), sites_.end(), [&](const site& s) { return s.return_address == return_address; });
    site* result = found != sites_.end() ? &*found : nullptr;
    if (result == nullptr) {
        result = &sites_.emplace_back();
        result->return_address = return_address;
        result->index = static_cast<unsigned>(sites_.size() - 1) % touch::kMaxSites;
        result->touch_bits = touch::make(0, 0, result->index, 0).bits;
        result->width = width;
        result->op = op;
        result->is_volatile = is_volatile_;
        if (races_.searching())
            result->race_bits = std::uint64_t{races_.search().number_of_site(return_address)} << global_touch::kSite;
    }
    entry = {return_address, result};
    return *result;
}

// The region that contains the access. Raises a hazard if there is none, or if the access may not write to it.
const region& worker::find_region(site& access_site, std::uintptr_t address) {
    const auto holds = [&](const region& r) {
        return address - r.begin < r.bytes && r.bytes - (address - r.begin) >= access_site.width;
    };
    if (access_site.last_region != nullptr && holds(*access_site.last_region)) return *access_site.last_region;
    const pending_hazard stray{hazard_kind::out_of_bounds, current_,       address,
                               access_site.width,          access_site.op, access_site.return_address};
    const region* found = region_at(address);
    if (found == nullptr && add_variable_at(address, access_site.return_address)) found = region_at(address);
    if (found == nullptr || !holds(*found)) raise_from_fiber(stray);
    if (access_site.op != kLoad && !found->writable) {
        raise_from_fiber(
            {hazard_kind::read_only, current_, address, access_site.width, access_site.op, access_site.return_address});
    }
    access_site.last_region = found;
    return *found;
}

const region* worker::region_at(std::uintptr_t address) const {
    const auto next = std::upper_bound(by_address_.begin(), by_address_.end(), address,
                                       [](std::uintptr_t at, const region* r) { return at < r->begin; });
    if (next == by_address_.begin()) return nullptr;
    const region* const found = next[-1];
    return address - found->begin < found->bytes ? found : nullptr;
}

void worker::add_region(region added) {
    const region* const kept = &regions_.emplace_back(std::move(added));
    kept->may_race &= races_.searching() && kept->space == region::global;
    const auto at = std::upper_bound(by_address_.begin(), by_address_.end(), kept,
                                     [](const region* a, const region* b) { return a->begin < b->begin; });
    by_address_.insert(at, kept);
}

// Adds the region of a `__device__` variable, or of a shared array of a function that the kernel calls, at its first
// access. Returns false if no variable is at the address.
bool worker::add_variable_at(std::uintptr_t address, std::uintptr_t return_address) {
    const byte_range segment = thread_local_segment();
    if (const std::uintptr_t offset = address - segment.begin; offset < segment.bytes) {
        std::optional<shared_variable> array;
        on_large_stack([&] { array = shared_variable_at(offset, return_address, keep_going_); });
        if (!array) return false;
        if (array->is_initialisation_flag) {
            add_region(
                {region::constant, true, segment.begin + array->offset, array->bytes, array->name, nullptr, nullptr});
            return true;
        }
        const std::uintptr_t begin = segment.begin + array->offset;
        static_shadow_.include(begin, array->bytes);
        add_region({region::shared, true, begin, array->bytes, array->name, &static_shadow_, nullptr});
        return true;
    }
    if (find_memory_ != nullptr) {
        std::optional<found_memory> memory;
        on_large_stack([&] { memory = find_memory_(address); });
        if (memory) {
            add_region({memory->constant ? region::constant : region::global, !memory->constant, memory->begin,
                        memory->bytes, memory->name, nullptr, nullptr, !memory->changes_hands});
            return true;
        }
    }
    std::optional<global_variable> found;
    on_large_stack([&] { found = global_variable_at(address, return_address); });
    if (!found) return false;
    add_region({region::global, found->writable, found->begin, found->bytes, found->name, nullptr, nullptr, true});
    return true;
}

// The slow case of access(): a local variable, or another instruction or region than expected.
void worker::slow_access(std::uintptr_t address, unsigned width, direction op, std::uintptr_t return_address) {
    if (current_worker != nullptr) current_worker->add_access(address, width, op, return_address);
}

void worker::slow_basic_block(std::uintptr_t return_address) {
    if (current_worker != nullptr) current_worker->find_basic_block(return_address);
}

// Raises a hazard if the kernel has used up its stack or its time.
[[gnu::always_inline]] inline void worker::check_still_running(direction op, std::uintptr_t return_address) {
    const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (frame - own_stack_ >= stacks_.bytes())
        own_stack_ = reinterpret_cast<std::uintptr_t>(stacks_.bottom_of(stack_of_[current_]));
    if (frame < own_stack_ + kStackReserve) [[unlikely]]
        raise_from_fiber({hazard_kind::stack_overflow, current_, 0, 0, op, return_address});
    if (time_over_) [[unlikely]]
        raise_from_fiber({hazard_kind::endless_loop, current_, 0, 0, op, return_address});
}

void worker::check_running(std::uintptr_t return_address) { check_still_running(kLoad, return_address); }

void worker::add_access(std::uintptr_t address, unsigned width, direction op, std::uintptr_t return_address) {
    check_still_running(op, return_address);
    if (address - own_stack_ < stacks_.bytes()) return;  // a local variable
    // g++ reports an access to a struct of two doubles as 16 bytes wide, but such a struct is only aligned to 8 bytes.
    if (keep_going_ && width == 16 && address % 16 == 8 && (op == kLoad || op == kStore) && !has_on_stack(address)) {
        for (unsigned at = 0; at < 16; at += 8) access(address + at, 8, op, site_of(return_address, 8));
        return;
    }
    if (has_on_stack(address)) return;  // a local variable of another thread
    site& access_site = find_site(return_address, width, op);
    const region& memory = find_region(access_site, address);
    if ((address & (width - 1)) != 0) {
        raise_from_fiber({hazard_kind::misaligned, current_, address, width, op, return_address});
    }
    warp_instruction& instruction = find_instruction(access_site, memory);
    if (instruction.active != 0 && instruction.memory->space != memory.space) {
        raise_from_fiber({hazard_kind::unsupported_access, current_, address, 0, op, return_address});
    }
    if (instruction.memory != nullptr && instruction.memory->space != memory.space) count_tallied(instruction);
    const auto has_other_shadow = [&](const region& other) {
        return other.shadow != memory.shadow || other.written != memory.written ||
               (&other != &memory && (other.may_race || memory.may_race));
    };
    instruction.scattered = instruction.active != 0 && (instruction.scattered || has_other_shadow(*instruction.memory));
    instruction.memory = &memory;
    instruction.region_begin = memory.begin;
    instruction.region_span = memory.bytes - width + 1;
    instruction.active |= running.bit;
    instruction.addresses[running.lane] = address;
}

// The rows of a shared array are contiguous, and kernels index the first row to reach all of them. Such accesses are
// checked by their addresses instead.
void worker::index_outside(std::int64_t index, const char* type, std::uintptr_t return_address) {
    const auto [found, fresh] = may_be_shared_row_.try_emplace(return_address);
    if (fresh) on_large_stack([&] { found->second = may_index_shared_rows(type, return_address); });
    if (found->second) return;
    raise_from_fiber({.kind = hazard_kind::out_of_bounds,
                      .thread = current_,
                      .return_address = return_address,
                      .detail = type,
                      .index = index});
}

// A copy of a struct that needs several instructions. The GPU's compiler splits it by its type's alignment, unknown
// here. This splits it into 4-byte accesses, as for structs of floats and ints, if the address and the size allow it.
void worker::access_range(std::uintptr_t address, std::size_t bytes, direction op, std::uintptr_t return_address) {
    if (has_on_stack(address)) return;
    if (!keep_going_) unsupported_access(address, bytes, return_address);
    const auto piece = static_cast<unsigned>((address | bytes | 4) & -(address | bytes | 4));
    for (std::size_t at = 0; at < bytes; at += piece) access(address + at, piece, op, site_of(return_address, piece));
}

// A type whose alignment is less than its size: split into 4-byte accesses, since most are structs of floats or ints.
void worker::access_unaligned(std::uintptr_t address, unsigned width, direction op, std::uintptr_t return_address) {
    if (!keep_going_ || width <= 4) return access(address, width, op, return_address);
    if (has_on_stack(address)) return;
    const unsigned piece = (address & 3) == 0 ? 4 : (address & 1) == 0 ? 2 : 1;
    for (unsigned at = 0; at < width; at += piece) access(address + at, piece, op, site_of(return_address, piece));
}

void worker::unsupported_access(std::uintptr_t address, std::size_t bytes, std::uintptr_t return_address) {
    if (has_on_stack(address)) return;
    raise_from_fiber({hazard_kind::unsupported_access, current_, address, bytes, kLoad, return_address});
}

void worker::refuse(const char* feature, std::uintptr_t return_address) {
    raise_from_fiber({hazard_kind::unsupported_feature, current_, 0, 0, kLoad, return_address, feature});
}

// Restarts the tally, because the distances between the lanes' addresses have changed.
void worker::tally_anew(warp_instruction& instruction) {
    instruction.tally->restart({instruction.addresses, instruction.active, instruction.site->width},
                               counted_by(instruction));
    instruction.tally->add(instruction.addresses, instruction.active);
    instruction.contiguous = true;
    std::uint64_t expected = instruction.addresses[std::countr_zero(instruction.active)];
    for (std::uint32_t rest = instruction.active; rest != 0; rest &= rest - 1) {
        instruction.contiguous = instruction.contiguous && instruction.addresses[std::countr_zero(rest)] == expected;
        expected += instruction.site->width;
    }
}

// Adds the instruction's tally to the counters of its site.
void worker::count_tallied(warp_instruction& instruction) {
    instruction.tally->take(instruction.site->width, counted_by(instruction));
}

void worker::count(const warp_instruction& instruction, const warp_access& access, std::uint64_t times) {
    const direction op = instruction.site->op;
    counters& counts = instruction.site->counts;
    if (op == kCopied || instruction.memory->space == region::constant) {
        // An asynchronous copy is counted by its load, at another site. Constants come through another cache.
    } else if (op == kReduction || op == kAtomic) {
        count_atomic(instruction, access, times);
    } else if (instruction.memory->space == region::global) {
        counts.global_requests[op] += times;
        counts.global_sectors[op] += times * count_sectors(access);
    } else {
        const unsigned wavefronts = wavefronts_.count(access, op);
        const unsigned least = least_wavefronts(access.active, access.width);
        counts.shared_requests[op] += times;
        counts.shared_wavefronts[op] += times * wavefronts;
        counts.shared_conflicts[op] += times * (wavefronts > least ? wavefronts - least : 0);
    }
    accesses_ += times * static_cast<unsigned>(std::popcount(access.active));
}

// Costs of an H200 (results/emulate/random_77001.json). In shared memory, an atomic of 32-bit integers executes in
// place, and the lanes of one bank take turns. Every other atomic is a loop of a load and a compare-and-swap, which
// takes two wavefronts. In each iteration one lane of each bank succeeds.
void worker::count_atomic(const warp_instruction& instruction, const warp_access& access, std::uint64_t times) {
    const site& access_site = *instruction.site;
    counters& counts = instruction.site->counts;
    if (instruction.memory->space == region::global) {
        const bool returns = access_site.op == kAtomic || access_site.atomic == atomic_kind::add_f16x2 ||
                             access_site.atomic == atomic_kind::add_bf16x2;
        const direction op = returns ? kAtomic : kReduction;
        counts.global_requests[op] += times;
        counts.global_sectors[op] += times * count_atomic_sectors(access);
        return;
    }
    const unsigned rounds = most_lanes_in_a_bank(access);
    const bool in_place =
        access.width == 4 && (access_site.atomic < atomic_kind::add_f32 || access_site.atomic > atomic_kind::add_bf16);
    counts.shared_requests[kAtomic] += times * (in_place ? 1 : rounds);
    counts.shared_wavefronts[kAtomic] += times * (in_place ? rounds : 2 * rounds);
    counts.shared_conflicts[kAtomic] += times * (in_place ? rounds - 1 : 2 * (rounds - 1));
    if (in_place) return;
    warp_access left = access;
    while (left.active != 0) {
        counts.shared_requests[kLoad] += times;
        counts.shared_wavefronts[kLoad] += times * wavefronts_.count(left, kLoad);
        std::uint32_t banks = 0;
        for (std::uint32_t rest = left.active; rest != 0; rest &= rest - 1) {
            const std::uint32_t bank = 1u << left.addresses[std::countr_zero(rest)] / 4 % 32;
            if ((banks & bank) == 0) left.active &= ~(rest & -rest);
            banks |= bank;
        }
    }
}

// Records the warp's instructions in `watched_`, just before they are counted. All of its lanes have stopped.
void worker::note_watched() {
    constexpr std::size_t kMost = 1 << 12;  // limits long loops, such as one over k
    for (const trace_entry* next = trace_->begin.next; next != &trace_->end; next = next->next) {
        if (!next->is_access) continue;
        const auto& instruction = static_cast<const warp_instruction&>(*next);
        if (instruction.active == 0) continue;
        const site& access_site = *instruction.site;
        const region& memory = *instruction.memory;
        const auto [last, fresh] = last_watched_.try_emplace({access_site.return_address, &memory}, watched_->size());
        if (!fresh && watched_->size() >= kMost) {
            ++(*watched_)[last->second].times;
            continue;
        }
        last->second = watched_->size();
        const source_line line = line_of(access_site.return_address);
        const bool shared = memory.space == region::shared;
        watched_access seen{.file = line.file,
                            .line = line.line,
                            .memory = memory.name,
                            .shared = shared,
                            .op = access_site.op,
                            .width = access_site.width,
                            .active = instruction.active};
        // Offsets in shared memory count from the beginning of a row of banks, so they show the banks.
        const std::uintptr_t origin = shared ? memory.begin & ~std::uintptr_t{kBankRowBytes - 1} : memory.begin;
        for (std::uint32_t rest = seen.active; rest != 0; rest &= rest - 1) {
            const int lane = std::countr_zero(rest);
            seen.offsets[static_cast<std::size_t>(lane)] =
                static_cast<std::int64_t>(instruction.addresses[lane] - origin);
        }
        const warp_access access{instruction.addresses, seen.active, seen.width};
        if (!shared) {
            seen.sectors = count_sectors(access);
        } else {
            const direction op = access_site.op == kCopied ? kStore : access_site.op;
            seen.groups = groups_of(access, op);
            seen.wavefronts = wavefronts_.count(access, op);
            seen.least_wavefronts = least_wavefronts(seen.active, seen.width);
        }
        watched_->push_back(std::move(seen));
    }
}

// Checks the lanes that note_untouched() did not handle.
void worker::check_shared(const warp_instruction& instruction, touch by, std::uint32_t lanes) {
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::uintptr_t address = instruction.addresses[lane];
        shadow_memory& shadow = shadow_of(address);
        const unsigned cells = shadow.cells_of(instruction.site->width);
        const touch now{by.bits | touches_[first_ + lane].bits};
        shadow_cell* const first = &shadow.cells()[address];
        for (unsigned i = 0; i < cells; ++i) check_cell(first[i], instruction, now, address);
    }
}

// For memory without a value before the run: records writes, and reports reads of unwritten elements.
void worker::check_written(const warp_instruction& instruction) {
    const site& access_site = *instruction.site;
    written_elements* written = instruction.memory->written;
    if (access_site.op != kLoad && !instruction.scattered) [[likely]] {
        const auto count = static_cast<unsigned>(std::popcount(instruction.active));
        if (instruction.contiguous)
            written->note_write(instruction.addresses[std::countr_zero(instruction.active)], count * access_site.width);
        else
            written->note_writes(instruction.addresses, instruction.active, access_site.width);
        return;
    }
    for (std::uint32_t rest = instruction.active; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::uintptr_t address = instruction.addresses[lane];
        const region* memory = instruction.memory;
        if (instruction.scattered) [[unlikely]] {
            memory = region_at(address);
            written = memory->written;
            if (written == nullptr) continue;
        }
        if (access_site.op != kLoad) {
            written->note_write(address, access_site.width);
        } else if (!written->is_written(address, access_site.width)) [[unlikely]] {
            // A lane that deviates from the trace's order may have written it before this read.
            if ((disordered_ >> lane & 1) != 0 && has_stored(lane, address, access_site.width)) continue;
            report_hazard(hazard_kind::uninitialised_read, first_ + lane, access_site.return_address, [&] {
                return fmt::format(
                    "reads {} bytes of '{}' at {}, but they hold no input and no thread has written them",
                    access_site.width, memory->name, line_of_site(access_site.index));
            });
        }
    }
}

// Whether the lane has stored to some of these bytes since the barrier, by an instruction that is not settled yet.
bool worker::has_stored(unsigned lane, std::uintptr_t address, unsigned width) const {
    return std::any_of(trace_->owned.begin(), trace_->owned.end(), [&](const auto& instruction) {
        const std::uintptr_t at = instruction->addresses[lane];
        return (instruction->active >> lane & 1) != 0 && instruction->site->op == kStore && at < address + width &&
               address < at + instruction->site->width;
    });
}

void worker::check_cell(shadow_cell& cell, const warp_instruction& instruction, touch now, std::uintptr_t address) {
    const site& access_site = *instruction.site;
    shadow_cell::rival rival{{}, true};
    if (access_site.op != kLoad) {
        rival = cell.note_write(now);
    } else {
        if (cell.write.bits < first_interval_.bits) {
            unwritten_.push_back({now.thread(), access_site.index, instruction.memory, address});
        }
        if (cell.note_read(now)) rival.who = cell.write;
    }
    if (rival.who.serial() != 0 && !fences_.are_ordered(rival.who.thread(), now.thread(), serial_)) [[unlikely]] {
        report_race(instruction, now, rival);
    }
}

std::vector<worker::site_counts> worker::take_counts() {
    for (trace& t : traces_) {
        for (const auto& instruction : t.owned) count_tallied(*instruction);
    }
    std::vector<site_counts> result;
    for (site& s : sites_) {
        result.push_back({s.return_address, s.counts});
        s.counts = {};
    }
    return result;
}

}  // namespace cornerturn::emulator
