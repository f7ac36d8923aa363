// The trace that a warp's lanes follow: the order in which the hardware executes accesses and basic blocks.
#include <algorithm>
#include <bit>
#include <limits>

#include "core/available_memory.hpp"
#include "emulator/worker.hpp"

namespace cornerturn::emulator {
namespace {

// Searches from `from` for the entry at `place`. Returns the entry before it. If there is none, returns the entry after
// which it must be inserted. Other lanes execute the skipped entries while this lane waits. Those entries stay before
// `place`, so the result of a long search is stored, and the next lane need not search again.
template <class Fits>
trace_entry* find_entry(trace_entry* from, const trace_entry* end, std::uint64_t place, Fits fits) {
    constexpr int kFew = 8;
    trace_entry* at = from->sought == place ? from->found : from;
    int skipped = 0;
    while (at->next != end && at->next->place() <= place && !fits(*at->next)) {
        at = at->next;
        at->fetch_later(0);
        if (at->sought == place) at = at->found;
        ++skipped;
    }
    if (skipped > kFew) {
        from->sought = place;
        from->found = at;
    }
    return at;
}

}  // namespace

// The instruction that the lane executes at this site: the next one in the trace, or a new one.
warp_instruction& worker::find_instruction(site& access_site, const region& memory) {
    const std::uint64_t place = place_in_code(access_site.return_address, running.depth);
    const auto fits = [&](const trace_entry& entry) {
        if (entry.place() != place) return false;
        const auto& i = static_cast<const warp_instruction&>(entry);
        return i.active == 0 || i.memory->space == memory.space || !keep_going_;
    };
    if (!calls_at_basic_blocks_) return find_instruction_by_executions(access_site);
    enter_basic_blocks_ahead();
    trace_entry* const at = find_entry(running.cursor, &trace_->end, place, fits);
    if (at->next == &trace_->end || !fits(*at->next)) add_instruction(access_site, at);
    running.cursor = at->next;
    return static_cast<warp_instruction&>(*at->next);
}

warp_instruction& worker::add_instruction(site& access_site, trace_entry* predecessor) {
    require_room(access_site);
    trace_->owned.push_back(std::make_unique<warp_instruction>());
    warp_instruction& added = *trace_->owned.back();
    added.return_address = access_site.return_address;
    added.depth = static_cast<std::uint8_t>(std::min<std::uint64_t>(running.depth, kDeepest));
    added.is_access = true;
    added.site = &access_site;
    added.next = predecessor->next;
    predecessor->next = &added;
    trace_->note_made(added);
    return added;
}

// The instruction of the lanes that have executed this site as often before, or a new one.
warp_instruction& worker::find_instruction_by_executions(site& access_site) {
    const auto count_execution = [&](site& executed) {
        if (executed.lane_serial != lane_serial_) executed.executions = 0;
        executed.lane_serial = lane_serial_;
        return executed.executions++;
    };
    const auto as_instruction = [](trace_entry* entry) { return static_cast<warp_instruction*>(entry); };
    if (!has_left_trace_) {
        if (running.cursor->next->return_address == access_site.return_address) {
            running.cursor = running.cursor->next;
            return *as_instruction(running.cursor);
        }
        ++lane_serial_;
        for (trace_entry* passed = &trace_->begin; passed != running.cursor; passed = passed->next)
            count_execution(*as_instruction(passed->next)->site);
        has_left_trace_ = true;
        position_ = complete_to_ = running.cursor;
        running.cursor = &nowhere;
    }
    const std::size_t execution = count_execution(access_site);
    // The entry before the instruction of that execution, from `from` up to `end`. Null if there is none.
    const auto before_execution = [&](trace_entry* from, const trace_entry* end, std::size_t wanted) -> trace_entry* {
        for (; from != end && from->next != &trace_->end; from = from->next) {
            const warp_instruction* const i = as_instruction(from->next);
            if (i->site == &access_site && i->execution == wanted) return from;
        }
        return nullptr;
    };
    trace_entry* before = before_execution(position_, nullptr, execution);
    if (before == nullptr) {
        before = before_execution(complete_to_, position_, execution);
        if (before != nullptr) disordered_ |= running.bit;
    }
    if (before == nullptr) {
        // After this lane's last instruction, and after the site's earlier executions.
        trace_entry* const earlier = execution > 0 ? before_execution(position_, nullptr, execution - 1) : nullptr;
        before = earlier != nullptr ? earlier->next : position_;
        add_instruction(access_site, before).execution = execution;
    }
    position_ = before->next;
    if (before == complete_to_) complete_to_ = position_;
    return *as_instruction(position_);
}

// The lane begins a basic block. If it is not near in the trace, it is not entered until the lane accesses memory:
// most lanes that skip a part of the code access nothing after it.
void worker::find_basic_block(std::uintptr_t return_address) {
    trace_entry* const from = running.cursor;
    if (from->ahead != 0) return go_ahead(return_address, from->ahead);
    const std::uint64_t own = place_in_code(return_address, running.depth);
    // The same step as that of the lane before.
    if (from == resume_at_ && trace_->made() == entries_at_resume_ && first_ahead_->place() == own) {
        running.cursor = first_ahead_;
        return;
    }
    calls_at_basic_blocks_ = true;
    check_running(return_address);
    constexpr int kFar = 64;
    trace_entry* before = from->sought == own ? from->found : from;
    for (int i = 0; i < kFar && before->next != &trace_->end && before->next->place() <= own; ++i) {
        before->next->fetch_later(0);
        if (before->next->place() == own) {
            if (i > 1) {
                from->sought = own;
                from->found = before;
            }
            running.cursor = before->next;
            return;
        }
        before = before->next;
    }
    if (from->return_address == return_address) return;  // a loop of one basic block
    resume_at_ = from;
    entries_at_resume_ = trace_->made();
    go_ahead(return_address, 0);
    first_ahead_ = running.cursor;
}

// The lane begins a basic block after the first `known` of `ahead_`. A loop that makes no access for long reuses its
// basic blocks. Its first iterations stay separate: an access in a later one is then the same instruction for the first
// lane as for the lanes that follow its trace.
void worker::go_ahead(std::uintptr_t return_address, std::size_t known) {
    constexpr std::size_t kMostSeparate = 256, kMostBasicBlocks = 1 << 14,
                          kMost = std::numeric_limits<std::uint16_t>::max();
    const std::uint64_t own = place_in_code(return_address, running.depth);
    const bool is_separate = known < kMostSeparate && trace_->basic_blocks.size() < kMostBasicBlocks;
    if (is_separate && known < ahead_.size() && ahead_[known].place() == own) {
        running.cursor = &ahead_[known];
        return;
    }
    std::size_t before = is_separate ? 0 : known;
    while (before > 0 && ahead_[before - 1].place() != own) --before;
    if (before == 0 && known < kMost) {
        ahead_.resize(known);
        trace_entry& added = ahead_.emplace_back();
        added.return_address = return_address;
        added.depth = static_cast<std::uint8_t>(std::min<std::uint64_t>(running.depth, kDeepest));
        added.next = nowhere.next;
        added.ahead = static_cast<std::uint16_t>(known + 1);
        if (known > 0) ahead_[known - 1].next = &added;
        before = known + 1;
    }
    running.cursor = &ahead_[before > 0 ? before - 1 : known - 1];
}

// Inserts the basic blocks that the lane has begun since its last access into the trace.
void worker::enter_basic_blocks_ahead() {
    if (running.cursor->ahead == 0) return;
    trace_entry* at = resume_at_;
    for (std::size_t i = 0; i < running.cursor->ahead; ++i) {
        const std::uint64_t place = ahead_[i].place();
        const auto fits = [&](const trace_entry& entry) { return entry.place() == place; };
        at = find_entry(at, &trace_->end, place, fits);
        if (at->next == &trace_->end || !fits(*at->next)) {
            trace_entry& added = trace_->basic_blocks.emplace_back();
            added.return_address = ahead_[i].return_address;
            added.depth = ahead_[i].depth;
            added.next = at->next;
            at->next = &added;
            trace_->note_made(added);
        }
        at = at->next;
    }
    running.cursor = at;
}

// Raises a hazard if there is no room for one more instruction. All are held until the warp's lanes have stopped.
void worker::require_room(const site& access_site) {
    constexpr std::size_t kMost = 1 << 20, kSome = 1 << 16;
    constexpr std::int64_t kMemoryLeft = 1 << 29;
    const std::size_t held = trace_->owned.size();
    if (held < kMost && (held % kSome != 0 || held == 0)) return;
    bool has_memory = false;
    on_large_stack([&] { has_memory = available_memory() > kMemoryLeft; });
    if (held < kMost && has_memory) return;
    raise_from_fiber({.kind = hazard_kind::endless_loop,
                      .thread = current_,
                      .return_address = access_site.return_address,
                      .held_accesses = held});
}

// Follows the trace that begins at this barrier from now on.
void worker::follow_trace(std::uintptr_t after) {
    trace* next = trace_->followed_by;
    if (next->after != after) {
        const auto found =
            std::find_if(traces_.begin(), traces_.end(), [&](const trace& t) { return t.after == after; });
        next = found != traces_.end() ? &*found : &traces_.emplace_back(after);
        trace_->followed_by = next;
    }
    trace_ = next;
}

}  // namespace cornerturn::emulator
