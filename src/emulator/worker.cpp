#include "emulator/worker.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <new>

#if CORNERTURN_ANNOUNCE_FIBERS
#include <sanitizer/common_interface_defs.h>
#endif
#if !CORNERTURN_OWN_FIBERS
#include <boost/context/detail/fcontext.hpp>
#endif

namespace cornerturn::emulator {
namespace {

// Stacks that began at the same offset in their pages would share a few cache sets; they are staggered by lines.
constexpr std::size_t kStaggerLines = 32, kLineBytes = 64;
// What must be left of a stack where a kernel accesses memory.
constexpr std::size_t kStackReserve = 2 << 10;
constexpr std::size_t kPrefetchLines = 4;  // that a waiting lane's frames fill

std::uint64_t pack(unsigned x, unsigned y, unsigned z) {
    return x | std::uint64_t{y} << 32 | std::uint64_t{z} << 48;
}

const char* verb(direction op) { return op == kLoad ? "read" : "write"; }

std::string triple(unsigned x, unsigned y, unsigned z) { return fmt::format("({}, {}, {})", x, y, z); }

}  // namespace

thread_local constinit worker* current_worker = nullptr;

#if CORNERTURN_OWN_FIBERS
void make_fiber(fiber& made, char*, char* top, void (*main)()) {
    // Aligned as if main had just been called.
    made.stack_pointer = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15}) - 8);
    made.next_instruction = reinterpret_cast<void*>(main);
}
#else
namespace {

// A fiber learns from the one that switches to it where that one stands.
void resumed(boost::context::detail::transfer_t by) { static_cast<handover*>(by.data)->from->stack_pointer = by.fctx; }

void start(boost::context::detail::transfer_t by) {
    void (*const main)() = static_cast<handover*>(by.data)->to->main;
    resumed(by);
    main();
}

}  // namespace

void make_fiber(fiber& made, char* bottom, char* top, void (*main)()) {
    made.stack_pointer = boost::context::detail::make_fcontext(top, static_cast<std::size_t>(top - bottom), &start);
    made.main = main;
}

void switch_fibers(handover by) { resumed(boost::context::detail::jump_fcontext(by.to->stack_pointer, &by)); }
#endif

worker::worker() {
    void* memory = mmap(nullptr, kStacksBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, kStacksBytes, MADV_HUGEPAGE);
    stacks_ = static_cast<char*>(memory);
    free_all_fibers();
}

worker::~worker() { munmap(stacks_, kStacksBytes); }

// ---- Fibers -------------------------------------------------------------------------------------------------------

void worker::fiber_main() {
    const worker& w = *current_worker;
    w.entry_(w.arguments_);
    __builtin_unreachable();
}

void worker::free_all_fibers() {
    free_count_ = 0;
    for (unsigned i = kMaxThreads; i-- > 0;) free_fibers_[free_count_++] = &fibers_[i];
}

fiber& worker::free_fiber() {
    fiber& result = *free_fibers_[--free_count_];
    char* const bottom = stack_of(result);
    const std::size_t stagger = (&result - fibers_.data()) % kStaggerLines * kLineBytes;
    make_fiber(result, bottom, bottom + kStackBytes - stagger, &fiber_main);
    return result;
}

// Moves on to the warp's next runnable lane, from current_ itself; false if there is none.
bool worker::next_lane() {
    while (current_ < last_ && lanes_[current_].now != state::runnable) ++current_;
    return current_ < last_;
}

// The fiber to go on with: the next runnable lane's, or run_block itself.
fiber& worker::next_fiber() {
    if (!next_lane()) return outside_;
    ++lane_serial_;
    cursor_ = 0;
    lane& next = lanes_[current_];
    if (next.own == nullptr) next.own = &free_fiber();
    // By the time that the lane after next is due, the part of its stack that it returns to is in the cache.
    if (const fiber* soon = current_ + 2 < last_ ? lanes_[current_ + 2].own : nullptr) {
        const char* const top = static_cast<const char*>(soon->stack_pointer);
        for (std::size_t line = 0; line < kPrefetchLines; ++line) __builtin_prefetch(top + line * kLineBytes, 1);
    }
    return *next.own;
}

// The handover that the caller is about to make.
handover worker::hand_over(fiber& from, fiber& to) {
#if CORNERTURN_ANNOUNCE_FIBERS
    const auto record_of = [&](fiber& f) -> announced& {
        return announced_[&f == &outside_ ? kMaxThreads : static_cast<std::size_t>(&f - fibers_.data())];
    };
    announced& left = record_of(from);
    announced& next = record_of(to);
    if (&to != &outside_) {
        next.bottom = stack_of(to);
        next.bytes = kStackBytes;
    }
    __sanitizer_start_switch_fiber(&left.fake_stack, next.bottom, next.bytes);
    __sanitizer_finish_switch_fiber(next.fake_stack, &left.bottom, &left.bytes);
#endif
    return {&from, &to};
}

handover worker::stop_lane(state now) {
    lane& self = lanes_[current_];
    self.now = now;
    ++current_;
    return hand_over(*self.own, next_fiber());
}

bool worker::end_lane() {
    lane& self = lanes_[current_];
    self.now = state::finished;
    ++current_;
    if (next_lane() && lanes_[current_].own == nullptr) {
        lanes_[current_].own = self.own;
        ++lane_serial_;
        cursor_ = 0;
        return true;
    }
    left_ = self.own;
    free_fibers_[free_count_++] = self.own;
    return false;
}

// The lane that goes on has a fiber, so the one being left is not made anew before it is left.
handover worker::leave_fiber() { return hand_over(*left_, next_fiber()); }

void worker::raise_from_fiber(const fault& what) {
    fault_ = what;
    lane& self = lanes_[current_];
    current_ = last_;
    switch_fibers(hand_over(*self.own, outside_));
    __builtin_unreachable();  // the block's fibers are made anew
}

// ---- A launch, a block, a warp ------------------------------------------------------------------------------------

void worker::begin(const launch_config& config, kernel_entry entry, const void* arguments, const session& session) {
    config_ = config;
    entry_ = entry;
    arguments_ = arguments;
    threads_ = config.block.x * config.block.y * config.block.z;
    packed_block_dim_ = pack(config.block.x, config.block.y, config.block.z);
    packed_grid_dim_ = pack(config.grid.x, config.grid.y, config.grid.z);
    for (unsigned i = 0; i < threads_; ++i) {
        packed_thread_[i] = pack(i % config.block.x, i / config.block.x % config.block.y, i / config.block.x / config.block.y);
    }
    sites_.clear();
    site_cache_.fill({});
    pending_.clear();
    accesses_ = 0;

    regions_.clear();
    for (const session::buffer& buffer : session.buffers_) {
        regions_.push_back({region::global, buffer.writable, buffer.begin, buffer.bytes, buffer.name, nullptr});
    }
    const byte_range segment = thread_local_segment();
    const auto add_shared = [&](std::uintptr_t begin, std::size_t bytes, const std::string& name, shadow_memory& shadow) {
        regions_.push_back({region::shared, true, begin, bytes, name, &shadow});
    };
    const std::vector<shared_variable> variables = shared_variables_of(config.kernel);
    std::uintptr_t low = std::numeric_limits<std::uintptr_t>::max(), high = 0;
    for (const shared_variable& variable : variables) {
        const std::uintptr_t begin = segment.begin + variable.offset;
        add_shared(begin, variable.bytes, variable.name, static_shadow_);
        low = std::min(low, begin);
        high = std::max(high, begin + variable.bytes);
    }
    if (variables.empty() && !have_symbols()) {  // a stripped program: all of its thread-local memory is one array
        add_shared(segment.begin, segment.bytes, "shared memory", static_shadow_);
        low = segment.begin;
        high = segment.begin + segment.bytes;
    }
    static_shadow_.cover(low, low < high ? high - low : 0);
    if (config.dynamic_shared_bytes > 0) {
        if (dynamic_shared_ == nullptr) dynamic_shared_ = std::make_unique<bank_row[]>(kMaxDynamicShared / sizeof(bank_row));
        const auto begin = reinterpret_cast<std::uintptr_t>(dynamic_shared_.get());
        add_shared(begin, config.dynamic_shared_bytes, "dynamic shared memory", dynamic_shadow_);
        dynamic_shadow_.cover(begin, config.dynamic_shared_bytes);
    }
    current_worker = this;
}

void worker::end() { current_worker = nullptr; }

void worker::run_block(extent3 block) {
    block_ = block;
    packed_block_ = pack(block.x, block.y, block.z);
    if (serial_ + 2 > touch::kMaxSerial) {
        static_shadow_.clear();
        dynamic_shadow_.clear();
        serial_ = 0;
    }
    block_first_serial_ = ++serial_;
    std::fill_n(lanes_.begin(), threads_, lane{nullptr, 0, state::runnable, 0});
    try {
        do {
            for (unsigned warp = 0; warp * kWarpSize < threads_; ++warp) run_warp(warp);
        } while (release_barrier());
    } catch (...) {
        free_all_fibers();
        fault_.reset();
        for (warp_instruction* instruction : pending_) instruction->active = 0;
        pending_.clear();
        throw;
    }
}

void worker::run_warp(unsigned warp) {
    first_ = warp * kWarpSize;
    last_ = std::min(first_ + kWarpSize, threads_);
    for (;;) {
        current_ = first_;
        fiber& next = next_fiber();
        if (&next != &outside_) switch_fibers(hand_over(outside_, next));
        if (fault_) raise(*fault_);
        settle_instructions();
        const auto waits = [&](unsigned i) { return lanes_[i].now == state::at_warp_sync; };
        bool any = false;
        for (unsigned i = first_; i < last_; ++i) any |= waits(i);
        if (!any) return;
        release_warp_syncs(first_, last_);
    }
}

// Lets the lanes go on whose masks' other lanes wait at a warp-level barrier too.
void worker::release_warp_syncs(unsigned first, unsigned last) {
    std::uint32_t waiting = 0, finished = 0;
    for (unsigned i = first; i < last; ++i) {
        waiting |= std::uint32_t{lanes_[i].now == state::at_warp_sync} << (i - first);
        finished |= std::uint32_t{lanes_[i].now == state::finished} << (i - first);
    }
    std::uint32_t released = 0;
    for (std::uint32_t rest = waiting; rest != 0; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        const std::uint32_t mask = waits_[i].mask;
        bool agree = (mask & ~(waiting | finished)) == 0;
        for (std::uint32_t others = mask & waiting; others != 0; others &= others - 1) {
            agree &= waits_[std::countr_zero(others)].mask == mask;
        }
        if (agree) released |= 1u << i;
    }
    for (std::uint32_t rest = released; rest != 0; rest &= rest - 1) {
        warp_wait& self = waits_[std::countr_zero(rest)];
        if (self.source < 0) continue;
        if ((self.mask >> self.source & released >> self.source & 1) == 0) {
            raise(hazard_kind::divergent_barrier, first + std::countr_zero(rest),
                  fmt::format("shuffles from lane {} at {}, which takes no part in it", self.source,
                              to_string(line_of(lanes_[first + std::countr_zero(rest)].sync_site))));
        }
        self.received = waits_[self.source].offered;
    }
    if (released == 0) {
        const unsigned thread = first + std::countr_zero(waiting);
        raise(hazard_kind::divergent_barrier, thread,
              fmt::format("waits at the warp-level barrier of {}, which not every lane of its mask reaches",
                          to_string(line_of(lanes_[thread].sync_site))));
    }
    for (std::uint32_t rest = released; rest != 0; rest &= rest - 1) {
        lane& self = lanes_[first + std::countr_zero(rest)];
        self.now = state::runnable;
        ++self.warp_syncs;
    }
}

// After all warps stopped: opens the block's barrier, or returns false if every thread has finished.
bool worker::release_barrier() {
    unsigned waiting = 0, first_waiting = 0, first_finished = 0;
    for (unsigned i = threads_; i-- > 0;) {
        if (lanes_[i].now == state::at_barrier) {
            ++waiting;
            first_waiting = i;
        } else {
            first_finished = i;
        }
    }
    if (waiting == 0) return false;
    const std::uintptr_t barrier = lanes_[first_waiting].sync_site;
    if (waiting < threads_) {
        raise(hazard_kind::divergent_barrier, first_finished,
              fmt::format("ended without reaching the barrier of {}, where thread {} waits", to_string(line_of(barrier)),
                          name_of(first_waiting)));
    }
    for (unsigned i = 0; i < threads_; ++i) {
        if (lanes_[i].sync_site != barrier) {
            raise(hazard_kind::divergent_barrier, i,
                  fmt::format("waits at the barrier of {}, but thread {} at that of {}",
                              to_string(line_of(lanes_[i].sync_site)), name_of(first_waiting), to_string(line_of(barrier))));
        }
        lanes_[i].now = state::runnable;
    }
    ++serial_;
    return true;
}

// ---- Accesses -----------------------------------------------------------------------------------------------------

site& worker::find_site(std::uintptr_t return_address, unsigned width, direction op) {
    cache_entry& entry = site_cache_[return_address * 0x9e3779b97f4a7c15ull >> 56];
    if (entry.return_address == return_address) return *entry.found;
    const auto found = std::find_if(sites_.begin(), sites_.end(),
                                    [&](const site& s) { return s.return_address == return_address; });
    site* result = found != sites_.end() ? &*found : nullptr;
    const char* frame = static_cast<const char*>(__builtin_frame_address(0));
    if (frame < stack_of(*lanes_[current_].own) + kStackReserve) {
        raise_from_fiber({hazard_kind::stack_overflow, current_, 0, 0, op, return_address});
    }
    if (result == nullptr) {
        result = &sites_.emplace_back();
        result->return_address = return_address;
        result->index = static_cast<unsigned>(sites_.size() - 1) % touch::kMaxSites;
        result->width = width;
        result->op = op;
    }
    entry = {return_address, result};
    return *result;
}

// Finds the region that the access falls into, or raises.
void worker::enter_region(site& where, std::uintptr_t address) {
    const fault stray{hazard_kind::out_of_bounds, current_, address, where.width, where.op, where.return_address};
    const auto found = std::find_if(regions_.begin(), regions_.end(),
                                    [&](const region& r) { return address - r.begin < r.bytes; });
    if (found == regions_.end() || found->bytes - (address - found->begin) < where.width) raise_from_fiber(stray);
    if (where.op == kStore && !found->writable) {
        raise_from_fiber({hazard_kind::read_only, current_, address, where.width, where.op, where.return_address});
    }
    where.where = &*found;
    where.region_begin = found->begin;
    where.region_span = found->bytes - where.width + 1;
}

// The general case of access(): an instruction that this lane is the first to execute, or not the expected one.
void worker::file_access(std::uintptr_t address, unsigned width, direction op, std::uintptr_t return_address) {
    site& where = find_site(return_address, width, op);
    if (address - where.region_begin >= where.region_span) enter_region(where, address);
    if ((address & (width - 1)) != 0) {
        raise_from_fiber({hazard_kind::misaligned, current_, address, width, op, return_address});
    }
    if (where.lane_serial != lane_serial_) {
        where.lane_serial = lane_serial_;
        where.passes = 0;
    }
    const std::size_t pass = where.passes++;
    if (pass == where.instructions.size()) {
        where.instructions.push_back(std::make_unique<warp_instruction>());
        *where.instructions.back() = {return_address, &where, pass, 0, region::global, {}};
    }
    warp_instruction& instruction = *where.instructions[pass];
    if (instruction.active == 0) {
        instruction.space = where.where->space;
        pending_.push_back(&instruction);
        cursor_ = pending_.size();
    } else {
        if (instruction.space != where.where->space) {
            raise_from_fiber({hazard_kind::unsupported_access, current_, address, 0, op, return_address});
        }
        // A lane that left the expected path may have come back to it.
        const auto found = std::find(pending_.begin(), pending_.end(), &instruction);
        cursor_ = static_cast<std::size_t>(found - pending_.begin()) + 1;
    }
    const unsigned lane = current_ - first_;
    instruction.active |= 1u << lane;
    instruction.addresses[lane] = address;
}

void worker::unsupported_access(std::uintptr_t address, std::size_t bytes, std::uintptr_t return_address) {
    if (address - reinterpret_cast<std::uintptr_t>(stacks_) < kStacksBytes) return;
    raise_from_fiber({hazard_kind::unsupported_access, current_, address, bytes, kLoad, return_address});
}

// Counts and checks the instructions of the warp's lanes, all of which have stopped.
void worker::settle_instructions() {
    for (warp_instruction* instruction : pending_) {
        count(*instruction);
        if (instruction->space == region::shared) check_shared(*instruction);
        instruction->active = 0;
    }
    pending_.clear();
}

void worker::count(const warp_instruction& instruction) {
    site& where = *instruction.where;
    const warp_access access{instruction.addresses, instruction.active, where.width};
    const std::optional<std::int64_t> stride = constant_stride(access);
    accesses_ += std::popcount(access.active);
    if (instruction.space == region::global) {
        where.counts.global_requests[where.op] += 1;
        where.counts.global_sectors[where.op] += stride ? count_sectors(access, *stride) : count_sectors(access);
    } else {
        const unsigned wavefronts = stride ? wavefronts_.count(access, where.op, *stride) : wavefronts_.count(access, where.op);
        const unsigned least = least_wavefronts(access.active, access.width);
        where.counts.shared_requests[where.op] += 1;
        where.counts.shared_wavefronts[where.op] += wavefronts;
        where.counts.shared_conflicts[where.op] += wavefronts > least ? wavefronts - least : 0;
    }
}

void worker::check_shared(const warp_instruction& instruction) {
    const site& where = *instruction.where;
    shadow_memory& shadow = *where.where->shadow;
    for (std::uint32_t rest = instruction.active; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        const unsigned thread = first_ + lane;
        // A lane that waits at a warp-level barrier made these accesses before it.
        const touch now = touch::make(serial_, lanes_[thread].warp_syncs, where.index, thread);
        unsigned count = 0;
        shadow_cell* cells = shadow.cells(instruction.addresses[lane], where.width, count);
        for (unsigned i = 0; i < count; ++i) {
            shadow_cell& cell = cells[i];
            shadow_cell::rival rival{{}, true};
            if (where.op == kStore) {
                rival = cell.note_write(now);
            } else {
                if (cell.write.serial() < block_first_serial_) [[unlikely]] {
                    raise(hazard_kind::uninitialised_read, thread,
                          fmt::format("reads shared memory '{}' at {} that no thread of the block has written",
                                      where.where->name, line_of_site(where.index)));
                }
                if (cell.note_read(now)) rival.who = cell.write;
            }
            if (rival.who.serial() != 0) [[unlikely]] {
                // A cell remembers its last reader only: where that is this very thread, the rival read before it.
                const unsigned other = rival.who.thread();
                raise(hazard_kind::race, thread,
                      fmt::format("{}s shared memory '{}' at {} and {} {}s the same bytes at {} with no barrier between them",
                                  verb(where.op), where.where->name, line_of_site(where.index),
                                  other == thread ? "another thread" : "thread " + name_of(other),
                                  verb(rival.wrote ? kStore : kLoad), line_of_site(rival.who.site())));
            }
        }
    }
}

// ---- Barriers and shuffles ----------------------------------------------------------------------------------------

handover worker::sync_threads(std::uintptr_t return_address) {
    lanes_[current_].sync_site = return_address;
    return stop_lane(state::at_barrier);
}

handover worker::sync_warp(std::uint32_t mask, std::uintptr_t return_address) {
    waits_[current_ - first_].source = -1;
    return wait_for_warp(mask, return_address);
}

handover worker::wait_for_warp(std::uint32_t mask, std::uintptr_t return_address) {
    const unsigned lanes = last_ - first_;
    lanes_[current_].sync_site = return_address;
    waits_[current_ - first_].mask = lanes == kWarpSize ? mask : mask & ((1u << lanes) - 1);  // no lanes that the block does not have
    if ((mask >> (current_ - first_) & 1) == 0) {
        raise_from_fiber({hazard_kind::divergent_barrier, current_, 0, 0, kLoad, return_address});
    }
    return stop_lane(state::at_warp_sync);
}

handover worker::shuffle(std::uint32_t mask, std::uint64_t value, int operand, int width, shuffle_kind kind,
                         std::uintptr_t return_address) {
    // PTX's shfl: segments of `width` lanes; a source outside the segment leaves the lane its own value.
    const int own = static_cast<int>(current_ - first_);
    const int segment = own & ~(width - 1);
    int source = own;
    switch (kind) {
        case shuffle_kind::index: source = segment | (operand & (width - 1)); break;
        case shuffle_kind::up: source = own - operand < segment ? own : own - operand; break;
        case shuffle_kind::down: source = own + operand >= segment + width ? own : own + operand; break;
        case shuffle_kind::exclusive_or: source = (own ^ operand) >= segment + width ? own : own ^ operand; break;
    }
    warp_wait& wait = waits_[own];
    wait.offered = value;
    wait.source = source;
    return wait_for_warp(mask, return_address);
}

// ---- What went wrong ----------------------------------------------------------------------------------------------

std::string worker::name_of(unsigned thread) const {
    const std::uint64_t packed = packed_thread_[thread];
    return triple(packed & 0xffffffff, packed >> 32 & 0xffff, packed >> 48);
}

std::string worker::line_of_site(unsigned index) const {
    return to_string(line_of(sites_[index].return_address));
}

void worker::raise(hazard_kind kind, unsigned thread, const std::string& what) {
    throw hazard(kind, fmt::format("{}: block {}, thread {} {}", function_name(config_.kernel),
                                   triple(block_.x, block_.y, block_.z), name_of(thread), what));
}

// "makes a 4-byte write at file.cu:12 out of bounds: 4 bytes past the end of 'destination' (4096 bytes)"
std::string worker::describe_stray(const fault& what) const {
    const region* nearest = nullptr;
    std::uintptr_t distance = std::numeric_limits<std::uintptr_t>::max();
    bool before = false;
    for (const region& candidate : regions_) {
        const std::uintptr_t end = candidate.begin + candidate.bytes;
        const bool below = what.address < candidate.begin;
        const std::uintptr_t gap = below ? candidate.begin - what.address : what.address < end ? 0 : what.address - end;
        if (gap < distance) {
            nearest = &candidate;
            distance = gap;
            before = below;
        }
    }
    if (nearest == nullptr) return "of memory, but was given none";
    if (what.kind == hazard_kind::read_only) return fmt::format("to '{}', which it may only read", nearest->name);
    return fmt::format("out of bounds: {} bytes {} '{}' ({} bytes)", distance, before ? "before" : "past the end of",
                       nearest->name, nearest->bytes);
}

void worker::raise(const fault& what) {
    const std::string line = to_string(line_of(what.return_address));
    const auto access = [&](const std::string& how) {
        return fmt::format("makes a {}-byte {} at {} {}", what.width, verb(what.op), line, how);
    };
    std::string text;
    switch (what.kind) {
        case hazard_kind::misaligned:
            text = access(fmt::format("of an address that is not a multiple of {}", what.width));
            break;
        case hazard_kind::read_only:
        case hazard_kind::out_of_bounds: text = access(describe_stray(what)); break;
        case hazard_kind::unsupported_access:
            text = what.width == 0
                       ? fmt::format("accesses shared and global memory with one instruction at {}", line)
                       : fmt::format("copies {} bytes at {}: no single instruction does; copy 1, 2, 4, 8 or 16", what.width, line);
            break;
        case hazard_kind::divergent_barrier:
            text = fmt::format("is not in the mask of its own warp-level barrier at {}", line);
            break;
        default: text = fmt::format("overflows the emulator's stack of 16 KiB a thread with its local variables"); break;
    }
    raise(what.kind, what.thread, text);
}

std::vector<worker::site_counts> worker::take_counts() {
    std::vector<site_counts> result;
    for (site& s : sites_) {
        result.push_back({s.return_address, s.counts});
        s.counts = {};
    }
    return result;
}

}  // namespace cornerturn::emulator
