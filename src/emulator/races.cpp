#include "emulator/races.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <new>

#include "core/available_memory.hpp"

namespace cornerturn::emulator {
namespace {

constexpr unsigned kWidestLog2 = 4;  // an access of 16 bytes

}  // namespace

bool shadow_budget::fits(std::size_t more) const {
    return used_ + more <= static_cast<std::size_t>(available_memory()) / 2;
}

global_shadow::global_shadow(std::uintptr_t begin, std::size_t bytes, unsigned width, shadow_budget& budget)
    : begin_(begin), bytes_(bytes), budget_(budget) {
    made_.push_back(make(std::min(kWidestLog2, static_cast<unsigned>(std::countr_zero(width)))));
    current_ = made_.back().get();
}

global_shadow::~global_shadow() {
    for (const auto& each : made_) give_back(*each);
}

void global_shadow::give_back(const cells& one) {
    munmap(one.writes, one.bytes());
    budget_.subtract(one.bytes());
}

std::unique_ptr<global_shadow::cells> global_shadow::make(unsigned granule_log2) {
    auto made = std::make_unique<cells>();
    made->begin = begin_ >> kWidestLog2 << kWidestLog2;
    made->granule_log2 = granule_log2;
    made->count = ((begin_ + bytes_ - made->begin) >> granule_log2) + 1;
    if (!budget_.fits(made->bytes())) throw std::bad_alloc();
    void* const memory =
        mmap(nullptr, made->bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, made->bytes(), MADV_HUGEPAGE);
    made->writes = static_cast<std::uint64_t*>(memory);
    made->reads = made->writes + made->count;
    budget_.add(made->bytes());
    return made;
}

const global_shadow::cells* global_shadow::refine(unsigned width) {
    const std::lock_guard lock(refining_);
    const cells& coarse = *made_.back();
    const auto granule_log2 = static_cast<unsigned>(std::countr_zero(width));
    if (current_ == nullptr || granule_log2 >= coarse.granule_log2) return current_;
    try {
        made_.push_back(make(granule_log2));
    } catch (const std::bad_alloc&) {
        current_ = nullptr;
        return nullptr;
    }
    const cells& fine = *made_.back();
    const unsigned times_log2 = coarse.granule_log2 - granule_log2;
    const auto copy = [&](const std::uint64_t* from, std::uint64_t* to) {
        for (std::size_t i = 0; i < coarse.count; ++i) {
            if (from[i] == 0) continue;  // avoids the allocation of pages
            const std::size_t end = std::min((i + 1) << times_log2, fine.count);
            for (std::size_t k = i << times_log2; k < end; ++k) to[k] = from[i];
        }
    };
    copy(coarse.writes, fine.writes);
    copy(coarse.reads, fine.reads);
    current_.store(&fine, std::memory_order_release);
    return &fine;
}

void global_shadow::forget() {
    while (made_.size() > 1) {
        give_back(*made_.front());
        made_.erase(made_.begin());
    }
    madvise(made_.back()->writes, made_.back()->bytes(), MADV_DONTNEED);
}

race_search::race_search() = default;

race_search::~race_search() {
    for (auto& of_worker : history_) delete[] of_worker.load();
}

void race_search::begin_launch() {
    const std::lock_guard lock(mutex_);
    ++launches_;
    for (auto& [begin, shadow] : shadows_)
        for (auto& used : shadow->used_) used = false;
    base_ = highest_ + 1;
    if (base_ > global_touch::kMaxSerial / 2) {
        for (auto& [begin, shadow] : shadows_) shadow->forget();
        base_ = 1;
    }
    highest_ = base_;
    site_count_ = 0;
    fences_ = 0;
}

void race_search::begin_worker(unsigned worker) {
    if (history_[worker].load() == nullptr) history_[worker] = new interval[kIntervals];
}

void race_search::end_worker(std::uint64_t serial) {
    const std::lock_guard lock(mutex_);
    highest_ = std::max(highest_, serial);
}

global_shadow* race_search::cover(const char* name, std::uintptr_t begin, std::size_t bytes, unsigned width) {
    const std::lock_guard lock(mutex_);
    const auto found = shadows_.find(begin);
    if (found != shadows_.end() && found->second->bytes() == bytes) {
        found->second->last_launch_ = launches_;
        return found->second.get();
    }
    // Removes shadows of memory that was at these addresses before.
    for (auto old = shadows_.begin(); old != shadows_.end() && old->first < begin + bytes;) {
        if (old->first + old->second->bytes() <= begin) {
            ++old;
            continue;
        }
        old = shadows_.erase(old);
    }
    const auto make = [&]() -> std::unique_ptr<global_shadow> {
        try {
            return std::make_unique<global_shadow>(begin, bytes, width, budget_);
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    };
    std::unique_ptr<global_shadow> made = make();
    // Without memory for it: frees shadows that this launch does not use.
    for (auto old = shadows_.begin(); !made && old != shadows_.end();) {
        if (old->second->last_launch_ == launches_) {
            ++old;
            continue;
        }
        old = shadows_.erase(old);
        made = make();
    }
    if (!made) {
        if (!has_warned_)
            std::fprintf(
                stderr,
                "cornerturn: not enough memory to search '%s' (%zu bytes) for races; races in it, and perhaps in other "
                "large buffers, are not reported\n",
                name, bytes);
        has_warned_ = true;
        return nullptr;
    }
    made->last_launch_ = launches_;
    return (shadows_[begin] = std::move(made)).get();
}

unsigned race_search::number_of_site(std::uintptr_t return_address) {
    const std::lock_guard lock(mutex_);
    const auto end = sites_.begin() + site_count_;
    const auto found = std::find(sites_.begin(), end, return_address);
    if (found != end || site_count_ == sites_.size() - 1) return static_cast<unsigned>(found - sites_.begin());
    *end = return_address;
    return site_count_++;
}

void block_races::begin(race_search* search, unsigned worker) {
    search_ = search;
    if (search == nullptr) return;
    search->begin_worker(worker);
    worker_ = worker;
    serial_ = search->base() - 1;
    highest_ = serial_;
    base_bits_ = search->base() << global_touch::kSerial;
}

void block_races::end() {
    if (search_ != nullptr) search_->end_worker(std::max(highest_, serial_));
    search_ = nullptr;
}

void block_races::begin_block(std::uint64_t index) {
    if (search_ == nullptr) return;
    constexpr std::uint64_t kMostOfABlock = 1 << 16;
    // Serials restart. Touches of other blocks that then look like this block's are ignored.
    if (serial_ + kMostOfABlock >= global_touch::kMaxSerial) {
        highest_ = std::max(highest_, serial_);
        serial_ = search_->base() - 1;
    }
    block_ = index;
    acquired_ = 0;
    acquires_ = has_acquired_ = false;
    next_interval();
    first_bits_ = interval_bits_;
}

void block_races::next_interval() {
    if (search_ == nullptr) return;
    if (serial_ == global_touch::kMaxSerial) return end();  // too many barriers: the search ends
    ++serial_;
    interval_bits_ = serial_ << global_touch::kSerial | std::uint64_t{worker_} << global_touch::kWorker;
    race_search::interval& now = search_->interval_of(worker_, serial_);
    now.serial.store(serial_, std::memory_order_relaxed);
    now.block.store(block_, std::memory_order_relaxed);
    now.fence.store(0, std::memory_order_relaxed);
}

void block_races::note_fence() {
    acquired_ = search_->count_fence();
    acquires_ = false;
    has_acquired_ = true;
    race_search::interval& now = search_->interval_of(worker_, serial_);
    if (now.fence.load(std::memory_order_relaxed) == 0) now.fence.store(acquired_, std::memory_order_relaxed);
}

bool block_races::find_fence(global_touch earlier) const {
    std::uint64_t block = 0;
    for (std::uint64_t serial = earlier.serial(); serial <= global_touch::kMaxSerial; ++serial) {
        const race_search::interval& one = search_->interval_of(earlier.worker(), serial);
        const std::uint64_t whose = one.block.load(std::memory_order_relaxed);
        if (serial == earlier.serial()) {
            block = whose;
            if (one.serial.load(std::memory_order_relaxed) != serial) return true;  // too long ago to know
        } else if (one.serial.load(std::memory_order_relaxed) != serial || whose != block) {
            return false;
        }
        const std::uint64_t fence = one.fence.load(std::memory_order_relaxed);
        if (fence != 0) return fence <= acquired_;
    }
    return false;
}

bool block_races::find_block(global_touch of, std::uint64_t& index) const {
    const race_search::interval& one = search_->interval_of(of.worker(), of.serial());
    index = one.block.load(std::memory_order_relaxed);
    return one.serial.load(std::memory_order_relaxed) == of.serial();
}

}  // namespace cornerturn::emulator
