// The trace of a warp: its basic blocks and instructions, in which the lanes' accesses are combined. And the sites in
// the code and the memory regions of these accesses.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
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

// Memory that a kernel may access.
struct region {
    enum kind : std::uint8_t { global, shared, constant } space;
    bool writable;
    std::uintptr_t begin;
    std::size_t bytes;
    std::string name;
    shadow_memory* shadow;      // of shared memory
    written_elements* written;  // of global memory without a value before the run
    // For global memory: whether it is searched for races, and its shadow after the first access.
    mutable bool may_race = false;
    mutable global_shadow* races = nullptr;
};

// One call may make accesses of several widths. Each width is a site, marked by bits that no address has.
constexpr std::uintptr_t site_of(std::uintptr_t return_address, unsigned width) {
    return return_address | std::uintptr_t{width} << kAddressBits;
}

// A location in the kernel's code that accesses memory.
struct site {
    std::uintptr_t return_address;
    unsigned index;
    std::uint64_t touch_bits;  // the index, as bits of a touch
    unsigned width;
    direction op;
    atomic_kind atomic{};
    bool is_volatile = false;
    std::uint64_t race_bits = 0;          // its number in the launch, as bits of a touch of global memory
    const region* last_region = nullptr;  // of the last access, to avoid a search
    std::uint64_t lane_serial = 0;        // the run of a lane that counted `executions`
    std::size_t executions = 0;
    counters counts;
};

inline constexpr std::size_t kCacheLine = 64;
inline constexpr std::uint64_t kDeepest = 0xff;  // deeper calls count as this

// The order of places in the code, and of accesses of several widths at one place. Deeper calls come first, wherever
// the function is in memory: lanes that have called it return before the lanes that wait for them go on.
constexpr std::uint64_t place_in_code(std::uintptr_t return_address, std::uint64_t depth) {
    static_assert(kAddressBits == 56);  // addresses of a program have 47
    return std::rotl(return_address, 64 - kAddressBits) | (kDeepest - std::min(depth, kDeepest)) << kAddressBits;
}

// An entry of a trace: the beginning of a basic block, or a warp instruction. It fills one cache line. Traces may be
// larger than the nearer caches, so a lane prefetches the entry that comes some entries later.
struct alignas(kCacheLine) trace_entry {
    std::uintptr_t return_address = 0;
    std::uintptr_t region_begin = 0;
    std::uintptr_t region_span = 0;  // largest valid offset, plus one; 0: no access fits
    trace_entry* next = nullptr;
    const trace_entry* later = nullptr;  // null at the end of a trace
    // The result of the last long search that began here: `found` is the entry before place `sought`.
    trace_entry* found = nullptr;
    std::uint64_t sought = 0;
    std::uint32_t active = 0;  // lanes of a warp instruction
    std::uint8_t depth = 0;    // of calls, up to kDeepest
    bool is_access = false;
    std::uint16_t ahead = 0;  // of a basic block that has not entered the trace: its number, from 1; 0: in the trace

    std::uint64_t place() const { return place_in_code(return_address, depth); }
    // Also prefetches the address of this lane.
    void fetch_later(std::uint64_t lane) const {
        if (later == nullptr) [[likely]]  // most traces are short
            return;
        const auto* const at = reinterpret_cast<const char*>(later);
        __builtin_prefetch(at, 1);
        __builtin_prefetch(at + kCacheLine + lane * sizeof(std::uint64_t), 1);
    }
};
static_assert(sizeof(trace_entry) == kCacheLine);

// A warp instruction that collects the accesses of its lanes.
struct warp_instruction : trace_entry {
    alignas(kCacheLine) std::uint64_t addresses[kWarpSize] = {};
    emulator::site* site = nullptr;
    // How often a lane has executed the site before. Only for code without calls at its basic blocks.
    std::size_t execution = 0;
    const region* memory = nullptr;
    bool scattered = false;        // its lanes access memory with several shadows
    bool contiguous = false;       // the active lanes' accesses are contiguous
    std::uint32_t checked = 0;     // lanes that were checked for hazards before the instruction is counted
    std::uint64_t last_first = 0;  // address of lane 0 in the last warp
    std::uint64_t step = 0;        // between the addresses of lane 0 in the last two warps
    std::unique_ptr<access_tally> tally =
        std::make_unique<access_tally>();  // separate: traces are long, and this is large
};

// The basic blocks and instructions that warps have executed from one barrier (or the kernel's beginning) to the next,
// in order. The last entry matches nothing. The next warp mostly executes the same.
struct trace {
    explicit trace(std::uintptr_t barrier) : after(barrier) { begin.next = &end; }
    trace(const trace&) = delete;
    trace& operator=(const trace&) = delete;

    std::uintptr_t after;    // the return address of the barrier; 0: the beginning
    trace_entry begin, end;  // around the entries
    std::vector<std::unique_ptr<warp_instruction>> owned;
    std::deque<trace_entry> basic_blocks;
    trace* followed_by = this;  // the trace that followed it last

    // Called for each new entry.
    void note_made(trace_entry& made) {
        trace_entry*& earlier = last_made_[made_++ % kLater];
        if (earlier != nullptr) earlier->later = &made;
        earlier = &made;
    }

    std::size_t made() const { return made_; }  // entries

private:
    static constexpr std::size_t kLater = 16;
    std::array<trace_entry*, kLater> last_made_{};
    std::size_t made_ = 0;
};

}  // namespace cornerturn::emulator
