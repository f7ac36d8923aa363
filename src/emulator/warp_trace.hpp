// What a warp executes: the sites in the code and the memory that its accesses belong to, and the trace of its blocks
// of code and instructions, in which the lanes' accesses meet.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "emulator/counters.hpp"
#include "emulator/races.hpp"
#include "emulator/shadow.hpp"
#include "emulator/symbols.hpp"
#include "emulator/written.hpp"

namespace cornerturn::emulator {

// What a memory access may touch.
struct region {
    enum kind : std::uint8_t { global, shared, constant } space;
    bool writable;
    std::uintptr_t begin;
    std::size_t bytes;
    std::string name;
    shadow_memory* shadow;      // of shared memory
    written_elements* written;  // of global memory that held nothing before the run
    // Of global memory: whether races are searched in it, and its shadow, once it was accessed.
    mutable bool may_race = false;
    mutable global_shadow* races = nullptr;
};

// One call may make accesses of several widths, a site each: told apart by bits that no address has.
constexpr std::uintptr_t site_of(std::uintptr_t return_address, unsigned width) {
    return return_address | std::uintptr_t{width} << kAddressBits;
}

// A location in the kernel's code that accesses memory.
struct site {
    std::uintptr_t return_address;
    unsigned index;
    std::uint64_t touch_bits;  // the index, where a touch has it
    unsigned width;
    direction op;
    atomic_kind atomic{};
    bool is_volatile = false;
    std::uint64_t race_bits = 0;    // its number in the launch, where a touch of global memory has it
    const region* where = nullptr;  // that the last access fell into, to spare the search
    std::uint64_t lane_serial = 0;  // the lane run that `passes` belongs to
    std::size_t passes = 0;
    counters counts;
};

// A place in a trace: a basic block that begins, or a warp instruction.
struct trace_entry {
    std::uintptr_t return_address = 0;
    std::uint64_t place = 0;  // where it comes in the order of the code, if that calls in for its blocks
    std::uintptr_t region_begin = 0;
    std::uintptr_t region_span = 0;  // largest valid offset, plus one; 0: no access fits
    trace_entry* next = nullptr;
    bool is_access = false;
    // A lane that went on from here with the block of code at `sought` had to go as far as `found`, behind which it is.
    std::uint64_t sought = 0;
    trace_entry* found = nullptr;
};

// One warp instruction in the making.
struct warp_instruction : trace_entry {
    site* where = nullptr;
    std::size_t pass = 0;  // of the site, where the code has no calls for its blocks
    const region* memory = nullptr;
    bool scattered = false;   // over memory with several shadows
    bool contiguous = false;  // each active lane's access begins where that of the one before ends
    std::uint32_t active = 0;
    std::uint32_t checked = 0;  // of these, lanes whose accesses have been looked at for hazards before they count
    std::uint64_t addresses[kWarpSize] = {};
    std::uint64_t last_first = 0;  // address of lane 0 in the last warp
    std::uint64_t step = 0;        // from that to the one before it
    std::unique_ptr<access_tally> tally =
        std::make_unique<access_tally>();  // apart: traces are long, and this is large
};

// The blocks and instructions that warps have executed from one barrier (or the kernel's beginning) to the next, in
// their order; then one that matches nothing. The next warp mostly executes the same.
struct trace {
    explicit trace(std::uintptr_t where) : after(where) { begin.next = &end; }
    trace(const trace&) = delete;
    trace& operator=(const trace&) = delete;

    std::uintptr_t after;    // the return address of the barrier; 0: the beginning
    trace_entry begin, end;  // around the entries
    std::vector<std::unique_ptr<warp_instruction>> owned;
    std::deque<trace_entry> blocks;
    trace* followed_by = this;  // when last another was
};

}  // namespace cornerturn::emulator
