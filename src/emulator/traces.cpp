// The trace that a warp's lanes follow: the order in which the hardware executes accesses and code blocks.
#include <algorithm>
#include <bit>
#include <limits>

#include "core/available_memory.hpp"
#include "emulator/worker.hpp"

namespace cornerturn::emulator {
namespace {

// Returns the entry after which the next one at this place is, or has to be inserted. Other lanes execute the skipped
// entries while this one waits for them. They stay before that place, so the next lane need not search them again.
template <class Fits>
trace_entry* find_entry(trace_entry* from, const trace_entry* end, std::uint64_t place, Fits fits) {
    constexpr int kFew = 8;
    trace_entry* at = from->sought == place ? from->found : from;
    int steps = 0;
    while (at->next != end && at->next->place() <= place && !fits(*at->next)) {
        at = at->next;
        at->fetch_later(0);
        if (at->sought == place) at = at->found;
        ++steps;
    }
    if (steps > kFew) {
        from->sought = place;
        from->found = at;
    }
    return at;
}

}  // namespace

// The instruction that the lane executes at this site: the next one in the trace, or a new one.
warp_instruction& worker::find_instruction(site& where, const region& memory) {
    const std::uint64_t place = place_in_code(where.return_address, running.depth);
    const auto fits = [&](const trace_entry& entry) {
        if (entry.place() != place) return false;
        const auto& i = static_cast<const warp_instruction&>(entry);
        return i.active == 0 || i.memory->space == memory.space || !keep_going_;
    };
    if (!has_blocks_) return find_instruction_by_pass(where);
    enter_blocks_ahead();
    trace_entry* const at = find_entry(running.cursor, &trace_->end, place, fits);
    if (at->next == &trace_->end || !fits(*at->next)) add_instruction(where, at);
    running.cursor = at->next;
    return static_cast<warp_instruction&>(*at->next);
}

warp_instruction& worker::add_instruction(site& where, trace_entry* behind) {
    require_room(where);
    trace_->owned.push_back(std::make_unique<warp_instruction>());
    warp_instruction& added = *trace_->owned.back();
    added.return_address = where.return_address;
    added.depth = static_cast<std::uint8_t>(std::min<std::uint64_t>(running.depth, kDeepest));
    added.is_access = true;
    added.where = &where;
    added.next = behind->next;
    behind->next = &added;
    trace_->note_made(added);
    return added;
}

// The instruction that other lanes have executed at this site in the same pass, or a new one. The pass is the number of
// times that a lane has executed the site before.
warp_instruction& worker::find_instruction_by_pass(site& where) {
    const auto count_pass = [&](site& passed) {
        if (passed.lane_serial != lane_serial_) passed.passes = 0;
        passed.lane_serial = lane_serial_;
        return passed.passes++;
    };
    const auto as_instruction = [](trace_entry* entry) { return static_cast<warp_instruction*>(entry); };
    if (!has_left_trace_) {
        if (running.cursor->next->return_address == where.return_address) {
            running.cursor = running.cursor->next;
            return *as_instruction(running.cursor);
        }
        ++lane_serial_;
        for (trace_entry* passed = &trace_->begin; passed != running.cursor; passed = passed->next)
            count_pass(*as_instruction(passed->next)->where);
        has_left_trace_ = true;
        position_ = complete_to_ = running.cursor;
        running.cursor = &nowhere;
    }
    const std::size_t pass = count_pass(where);
    // The entry before the instruction of that pass, from `from` up to `end`. Null if there is none.
    const auto before_pass = [&](trace_entry* from, const trace_entry* end, std::size_t wanted) -> trace_entry* {
        for (; from != end && from->next != &trace_->end; from = from->next) {
            const warp_instruction* const i = as_instruction(from->next);
            if (i->where == &where && i->pass == wanted) return from;
        }
        return nullptr;
    };
    trace_entry* before = before_pass(position_, nullptr, pass);
    if (before == nullptr) {
        before = before_pass(complete_to_, position_, pass);
        if (before != nullptr) disordered_ |= running.bit;
    }
    if (before == nullptr) {
        // After this lane's last instruction, and after the site's earlier passes.
        trace_entry* const earlier = pass > 0 ? before_pass(position_, nullptr, pass - 1) : nullptr;
        before = earlier != nullptr ? earlier->next : position_;
        add_instruction(where, before).pass = pass;
    }
    position_ = before->next;
    if (before == complete_to_) complete_to_ = position_;
    return *as_instruction(position_);
}

// The lane begins a code block. A block that is not near in the trace is not entered until the lane accesses memory:
// most lanes that skip a part of the code access nothing after it.
void worker::find_code_block(std::uintptr_t return_address) {
    trace_entry* const from = running.cursor;
    if (from->ahead != 0) return go_ahead(return_address, from->ahead);
    const std::uint64_t own = place_in_code(return_address, running.depth);
    // The same step as that of the lane before.
    if (from == resume_at_ && trace_->made() == made_by_then_ && first_ahead_->place() == own) {
        running.cursor = first_ahead_;
        return;
    }
    has_blocks_ = true;
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
    if (from->return_address == return_address) return;  // a loop of one block
    resume_at_ = from;
    made_by_then_ = trace_->made();
    go_ahead(return_address, 0);
    first_ahead_ = running.cursor;
}

// The lane begins a code block after the first `known` of `ahead_`. A loop that makes no access for long reuses its
// blocks. Its first iterations stay separate: an access in a later one is then the same instruction for the first lane
// as for the lanes that follow its trace.
void worker::go_ahead(std::uintptr_t return_address, std::size_t known) {
    constexpr std::size_t kMostSeparate = 256, kMostBlocks = 1 << 14, kMost = std::numeric_limits<std::uint16_t>::max();
    const std::uint64_t own = place_in_code(return_address, running.depth);
    const bool is_separate = known < kMostSeparate && trace_->blocks.size() < kMostBlocks;
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

// Inserts the code blocks that the lane has begun since its last access into the trace.
void worker::enter_blocks_ahead() {
    if (running.cursor->ahead == 0) return;
    trace_entry* at = resume_at_;
    for (std::size_t i = 0; i < running.cursor->ahead; ++i) {
        const std::uint64_t block = ahead_[i].place();
        const auto fits = [&](const trace_entry& entry) { return entry.place() == block; };
        at = find_entry(at, &trace_->end, block, fits);
        if (at->next == &trace_->end || !fits(*at->next)) {
            trace_entry& added = trace_->blocks.emplace_back();
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
void worker::require_room(const site& where) {
    constexpr std::size_t kMost = 1 << 20, kSome = 1 << 16;
    constexpr std::int64_t kMemoryLeft = 1 << 29;
    const std::size_t held = trace_->owned.size();
    if (held < kMost && (held % kSome != 0 || held == 0)) return;
    bool has_memory = false;
    on_large_stack([&] { has_memory = available_memory() > kMemoryLeft; });
    if (held < kMost && has_memory) return;
    raise_from_fiber({hazard_kind::endless_loop, current_, 0, held, where.op, where.return_address});
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
