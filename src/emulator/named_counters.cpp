#include "emulator/named_counters.hpp"

#include <functional>

#include "emulator/names.hpp"

namespace cornerturn::emulator {
namespace {

template <auto kMember>
double value(const kernel_counters& of) {
    return static_cast<double>(std::invoke(kMember, of));
}

constexpr std::int64_t access_counters::*kSums[] = {
    &access_counters::load_requests,           &access_counters::load_sectors,
    &access_counters::store_requests,          &access_counters::store_sectors,
    &access_counters::reduction_requests,      &access_counters::reduction_sectors,
    &access_counters::atomic_requests,         &access_counters::atomic_sectors,
    &access_counters::shared_load_requests,    &access_counters::shared_load_wavefronts,
    &access_counters::shared_load_conflicts,   &access_counters::shared_store_requests,
    &access_counters::shared_store_wavefronts, &access_counters::shared_store_conflicts,
    &access_counters::shared_atomic_requests,  &access_counters::shared_atomic_wavefronts,
    &access_counters::shared_atomic_conflicts, &access_counters::shared_conflicts,
};
static_assert(sizeof kSums / sizeof *kSums * sizeof(std::int64_t) == sizeof(access_counters), "one is missing");

}  // namespace

const std::vector<named_counter>& named_counters() {
    using c = kernel_counters;
    static const auto& all = *new std::vector<named_counter>{
        {"load.requests", value<&c::load_requests>},
        {"load.sectors", value<&c::load_sectors>},
        {"load.sectors_per_request", value<&c::load_sectors_per_request>},
        {"store.requests", value<&c::store_requests>},
        {"store.sectors", value<&c::store_sectors>},
        {"store.sectors_per_request", value<&c::store_sectors_per_request>},
        {"reduction.requests", value<&c::reduction_requests>},
        {"reduction.sectors", value<&c::reduction_sectors>},
        {"reduction.sectors_per_request", value<&c::reduction_sectors_per_request>},
        {"atomic.requests", value<&c::atomic_requests>},
        {"atomic.sectors", value<&c::atomic_sectors>},
        {"atomic.sectors_per_request", value<&c::atomic_sectors_per_request>},
        {"shared.load.requests", value<&c::shared_load_requests>},
        {"shared.load.wavefronts", value<&c::shared_load_wavefronts>},
        {"shared.load.wavefronts_per_request", value<&c::shared_load_wavefronts_per_request>},
        {"shared.load.conflicts", value<&c::shared_load_conflicts>},
        {"shared.store.requests", value<&c::shared_store_requests>},
        {"shared.store.wavefronts", value<&c::shared_store_wavefronts>},
        {"shared.store.wavefronts_per_request", value<&c::shared_store_wavefronts_per_request>},
        {"shared.store.conflicts", value<&c::shared_store_conflicts>},
        {"shared.atomic.requests", value<&c::shared_atomic_requests>},
        {"shared.atomic.wavefronts", value<&c::shared_atomic_wavefronts>},
        {"shared.atomic.wavefronts_per_request", value<&c::shared_atomic_wavefronts_per_request>},
        {"shared.atomic.conflicts", value<&c::shared_atomic_conflicts>},
        {"shared.conflicts", value<&c::shared_conflicts>},
        {"hazards", value<&c::hazards>},
        {"launches", value<&c::launches>},
    };
    return all;
}

access_counters counted(const counters& counts) {
    const auto of = [](const counters::by_direction& all, direction op) {
        return static_cast<std::int64_t>(all[static_cast<std::size_t>(op)]);
    };
    access_counters made;
    made.load_requests = of(counts.global_requests, kLoad);
    made.load_sectors = of(counts.global_sectors, kLoad);
    made.store_requests = of(counts.global_requests, kStore);
    made.store_sectors = of(counts.global_sectors, kStore);
    made.reduction_requests = of(counts.global_requests, kReduction);
    made.reduction_sectors = of(counts.global_sectors, kReduction);
    made.atomic_requests = of(counts.global_requests, kAtomic);
    made.atomic_sectors = of(counts.global_sectors, kAtomic);
    made.shared_load_requests = of(counts.shared_requests, kLoad);
    made.shared_load_wavefronts = of(counts.shared_wavefronts, kLoad);
    made.shared_load_conflicts = of(counts.shared_conflicts, kLoad);
    made.shared_store_requests = of(counts.shared_requests, kStore);
    made.shared_store_wavefronts = of(counts.shared_wavefronts, kStore);
    made.shared_store_conflicts = of(counts.shared_conflicts, kStore);
    made.shared_atomic_requests = of(counts.shared_requests, kAtomic);
    made.shared_atomic_wavefronts = of(counts.shared_wavefronts, kAtomic);
    made.shared_atomic_conflicts = of(counts.shared_conflicts, kAtomic);
    for (const std::uint64_t of_one : counts.shared_conflicts)
        made.shared_conflicts += static_cast<std::int64_t>(of_one);
    return made;
}

access_counters& access_counters::operator+=(const access_counters& other) {
    for (const auto member : kSums) this->*member += other.*member;
    return *this;
}

kernel_counters& kernel_counters::operator+=(const kernel_counters& other) {
    access_counters::operator+=(other);
    launches += other.launches;
    hazards += other.hazards;
    return *this;
}

bool is_named(const std::string& kernel, const std::string& symbol, const std::string& name) {
    return name == "*" || name == kernel || may_mean(name, symbol);
}

std::string never_ran(const std::string& name, const std::vector<std::string>& kernels) {
    std::string all;
    for (const std::string& kernel : kernels) all += (all.empty() ? "" : ", ") + kernel;
    return name + " never ran; " + (all.empty() ? "no kernel ran" : "the kernels that ran are " + all);
}

}  // namespace cornerturn::emulator
