// The messages of hazards. Each names the kernel, the block, the thread and the line. Also what kernels print.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>

#include "emulator/worker.hpp"

namespace cornerturn::emulator {
namespace {

const char* verb(direction op) { return op == kLoad ? "read" : "write"; }

// A copy that needs several instructions on the GPU, because of its size or its alignment.
std::string describe_copy(std::size_t bytes, const std::string& line) {
    const bool alignment_helps = std::has_single_bit(bytes) && bytes <= 16;
    return fmt::format("copies {} bytes at {}, which needs several instructions: {}, or copy its members one by one",
                       bytes, line,
                       alignment_helps ? fmt::format("declare the struct with alignas({})", bytes)
                                       : std::string("copy 1, 2, 4, 8 or 16 bytes at a time"));
}

std::string triple(unsigned x, unsigned y, unsigned z) { return fmt::format("({}, {}, {})", x, y, z); }

}  // namespace

void worker::report_race(const warp_instruction& instruction, touch now, const shadow_cell::rival& rival) {
    const site& access_site = *instruction.site;
    // A cell knows only its last reader. If that is this thread, then another thread read the cell before it.
    const unsigned other = rival.who.thread();
    report_hazard(hazard_kind::race, now.thread(), access_site.return_address, [&] {
        return fmt::format("{}s shared memory '{}' at {} and {} {}s the same bytes at {} with no barrier between them",
                           verb(access_site.op), instruction.memory->name, line_of_site(access_site.index),
                           other == now.thread() ? "another thread" : "thread " + name_of(other),
                           verb(rival.wrote ? kStore : kLoad), line_of_site(rival.who.site()));
    });
}

std::string worker::name_of(unsigned thread) const {
    const index3 index = thread_index_[thread];
    return triple(index.x, index.y, index.z);
}

std::string worker::line_of_site(unsigned index) const { return to_string(line_of(sites_[index].return_address)); }

void worker::take_hazards(std::vector<found_hazard>& all) {
    for (const auto& [key, found] : reported_) {
        const auto same = std::find_if(all.begin(), all.end(), [&](const found_hazard& h) {
            return h.kind == key.first && h.return_address == key.second;
        });
        if (same == all.end())
            all.push_back({key.first, found.message, found.times, key.second});
        else
            same->times += found.times;
    }
    reported_.clear();
}

std::string worker::message_of(unsigned thread, const std::string& what) const {
    return fmt::format("{}: block {}, thread {} {}", function_name(config_.kernel),
                       triple(block_.x, block_.y, block_.z), name_of(thread), what);
}

void worker::raise(hazard_kind kind, unsigned thread, const std::string& what) {
    throw hazard(kind, message_of(thread, what));
}

// Returns the part after the line number in "makes a 4-byte write at file.cu:12 out of bounds: 4 bytes past the end of
// 'destination' (4096 bytes)".
std::string worker::describe_stray(const pending_hazard& what) const {
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
    constexpr std::uintptr_t kNear = 64 << 10;
    if (describe_stray_ != nullptr && (nearest == nullptr || distance > kNear)) return describe_stray_(what.address);
    if (nearest == nullptr) return fmt::format("of address {:#x}, but no buffer was given to the kernel", what.address);
    if (what.kind == hazard_kind::read_only) return fmt::format("to '{}', which is read-only", nearest->name);
    return fmt::format("out of bounds: {} bytes {} '{}'{}", distance, before ? "before" : "past the end of",
                       nearest->name,
                       nearest->name.ends_with(" bytes)") ? "" : fmt::format(" ({} bytes)", nearest->bytes));
}

void worker::check_unwritten() {
    for (const unwritten_read& read : unwritten_) {
        const touch write = shadow_of(read.address).cells()[read.address].write;
        if (write.serial() == serial_ && write.thread() == read.thread) continue;
        report_hazard(hazard_kind::uninitialised_read, read.thread, sites_[read.site].return_address, [&] {
            return fmt::format("reads shared memory '{}' at {}, but no thread of the block has written these bytes",
                               read.memory->name, line_of_site(read.site));
        });
    }
    unwritten_.clear();
}

// Called in a signal handler. The kernel's own code raised the signal, so no locks are held; but the stack is small.
void worker::note_division(std::uintptr_t pc) {
    const auto known =
        std::find_if(divisions_.begin(), divisions_.end(), [&](const division& d) { return d.pc == pc; });
    if (known != divisions_.end())
        ++known->times;
    else
        divisions_.push_back({pc, current_, 1});
}

void worker::check_divisions() {
    for (const division& d : divisions_) {
        const std::uintptr_t return_address = d.pc + 1;
        report_hazard(hazard_kind::division, d.thread, return_address, [&] {
            return fmt::format("divides an integer by zero at {}", to_string(line_of(return_address)));
        });
        reported_[{hazard_kind::division, return_address}].times += d.times - 1;
    }
    divisions_.clear();
}

// Prints whole lines, because several blocks print at the same time. Returns the number of values in the format, as
// CUDA's printf.
int worker::print(const char* format, std::va_list& arguments) {
    communicates_ = true;
    int count = 0;
    on_large_stack([&] {
        std::va_list again;
        va_copy(again, arguments);
        const int length = std::vsnprintf(nullptr, 0, format, arguments);
        if (length > 0) {
            const std::size_t before = printed_.size();
            printed_.resize(before + static_cast<std::size_t>(length) + 1);
            std::vsnprintf(printed_.data() + before, static_cast<std::size_t>(length) + 1, format, again);
            printed_.pop_back();
            const std::size_t lines = printed_.rfind('\n') + 1;
            std::fwrite(printed_.data(), 1, lines, output_);
            printed_.erase(0, lines);
        }
        va_end(again);
        for (const char* at = format; *at != 0; ++at) {
            if (*at != '%') continue;
            if (*++at == 0) break;
            count += *at != '%';
        }
    });
    return count;
}

void worker::flush_printed() {
    if (printed_.empty()) return;
    if (output_ == stderr) printed_ += '\n';
    std::fwrite(printed_.data(), 1, printed_.size(), output_);
    printed_.clear();
}

std::string worker::describe(const pending_hazard& what) const {
    const std::string line = to_string(line_of(what.return_address));
    const auto access = [&](const std::string& how) {
        return fmt::format("makes {} {}-byte {} at {} {}", what.width == 8 ? "an" : "a", what.width, verb(what.op),
                           line, how);
    };
    std::string text;
    switch (what.kind) {
        case hazard_kind::misaligned:
            text = access(fmt::format("of an address that is not a multiple of {}", what.width));
            break;
        case hazard_kind::read_only:
        case hazard_kind::out_of_bounds:
            text = what.detail == nullptr
                       ? access(describe_stray(what))
                       : fmt::format("indexes an array {} with {} at {}, out of bounds", what.detail, what.index, line);
            break;
        case hazard_kind::unsupported_access:
            text = what.width == 0 ? fmt::format("accesses shared and global memory with one instruction at {}", line)
                                   : describe_copy(what.width, line);
            break;
        case hazard_kind::trap: text = fmt::format("executes __trap() or an illegal instruction at {}", line); break;
        case hazard_kind::assertion: text = fmt::format("fails an assertion at {}", line); break;
        case hazard_kind::unsupported_feature:
            text = fmt::format("uses {} at {}: the emulator does not support this", what.detail, line);
            break;
        case hazard_kind::division:
            text = fmt::format("divides an integer by zero, or the most negative integer by -1, at {}", line);
            break;
        case hazard_kind::endless_loop:
            text = what.held_accesses == 0 ? fmt::format(
                                                 "is still at {} after {} seconds in one block: the loop is endless, "
                                                 "or --timeout is too short",
                                                 line, block_seconds_)
                                           : fmt::format(
                                                 "is still at {} after {} accesses since the last barrier: the loop is "
                                                 "endless, or it makes more accesses than the emulator can hold",
                                                 line, what.held_accesses);
            break;
        case hazard_kind::divergent_barrier:
            text = what.detail == nullptr
                       ? fmt::format("reaches the warp-level barrier at {} with a mask that lacks its own lane", line)
                       : fmt::format(
                             "waits at {} for the other blocks of the grid, but the launch is not cooperative: use "
                             "cudaLaunchCooperativeKernel()",
                             line);
            break;
        default:
            text = fmt::format("overflows the emulator's stack of {} KiB a thread at {}: its local variables need more",
                               (stacks_.bytes() - kStackReserve) >> 10, line);
            if (keep_going_) text += "; --stack makes the stack larger";
            break;
    }
    return text;
}

void worker::raise(const pending_hazard& what) {
    check_unwritten();  // an unwritten value may have caused the hazard
    check_divisions();
    raise(what.kind, what.thread, describe(what));
}

}  // namespace cornerturn::emulator
