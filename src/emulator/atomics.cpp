// Atomic operations. Blocks run on several cores at the same time, so these use the processor's atomic instructions, or
// loops around its compare-and-exchange.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <thread>
#include <type_traits>

#include "emulator/worker.hpp"

namespace cornerturn::emulator {
namespace {

// Conversions between the 16-bit formats and float. They round to nearest, ties to even.
float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
std::uint16_t to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (value != value) return 0x7fff;
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
float from_f16(std::uint16_t bits) {
    const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
    if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
}
std::uint16_t to_f16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0x7fff;
    if (magnitude >= 0x477ff000u) return sign | 0x7c00;
    if (magnitude < 0x38800000u) {  // subnormal: the addition rounds to units of 2^-24
        const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
        return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
    }
    return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfff + (magnitude >> 13 & 1)) >> 13));
}

// Applies `change` to the value and returns the old value.
template <class T, class Change>
T exchange_by(T* address, Change change) {
    T old = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(address, &old, change(old), false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
    return old;
}

template <class T>
T apply(atomic_kind kind, T* address, T value, T expected) {
    using signed_t = std::make_signed_t<T>;
    const auto sum = [value](auto from, auto to) {
        return [=](T old) { return static_cast<T>(to(from(old) + from(value))); };
    };
    switch (kind) {
        case atomic_kind::add: return __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
        case atomic_kind::exchange: return __atomic_exchange_n(address, value, __ATOMIC_ACQ_REL);
        case atomic_kind::bit_and: return __atomic_fetch_and(address, value, __ATOMIC_ACQ_REL);
        case atomic_kind::bit_or: return __atomic_fetch_or(address, value, __ATOMIC_ACQ_REL);
        case atomic_kind::bit_xor: return __atomic_fetch_xor(address, value, __ATOMIC_ACQ_REL);
        case atomic_kind::compare: return exchange_by(address, [=](T old) { return old == expected ? value : old; });
        case atomic_kind::least: return exchange_by(address, [=](T old) { return std::min(old, value); });
        case atomic_kind::most: return exchange_by(address, [=](T old) { return std::max(old, value); });
        case atomic_kind::least_signed:
            return exchange_by(address, [=](T old) {
                return static_cast<signed_t>(old) < static_cast<signed_t>(value) ? old : value;
            });
        case atomic_kind::most_signed:
            return exchange_by(address, [=](T old) {
                return static_cast<signed_t>(old) > static_cast<signed_t>(value) ? old : value;
            });
        case atomic_kind::increment:
            return exchange_by(address, [=](T old) { return static_cast<T>(old >= value ? 0 : old + 1); });
        case atomic_kind::decrement:
            return exchange_by(address,
                               [=](T old) { return old == 0 || old > value ? value : static_cast<T>(old - 1); });
        default: break;
    }
    if constexpr (sizeof(T) == 2) {
        if (kind == atomic_kind::add_f16) return exchange_by(address, sum(from_f16, to_f16));
        return exchange_by(address, sum(from_bf16, to_bf16));
    } else if constexpr (sizeof(T) == 4) {
        if (kind == atomic_kind::add_f32) {
            return exchange_by(address, sum([](T bits) { return std::bit_cast<float>(bits); },
                                            [](float f) { return std::bit_cast<T>(f); }));
        }
        const auto from = kind == atomic_kind::add_f16x2 ? from_f16 : from_bf16;
        const auto to = kind == atomic_kind::add_f16x2 ? to_f16 : to_bf16;
        return exchange_by(address, [=](T old) {
            const auto half = [&](int shift) {
                return T{to(from(static_cast<std::uint16_t>(old >> shift)) +
                            from(static_cast<std::uint16_t>(value >> shift)))}
                       << shift;
            };
            return half(0) | half(16);
        });
    } else if constexpr (sizeof(T) == 8) {
        return exchange_by(address, sum([](T bits) { return std::bit_cast<double>(bits); },
                                        [](double d) { return std::bit_cast<T>(d); }));
    } else {
        return 0;
    }
}

}  // namespace

void worker::atomic(atomic_kind kind, void* address, unsigned bytes, std::uint64_t value, std::uint64_t expected,
                    std::uintptr_t return_address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    // A reduction, until atomic_old() asks for the old value. Shared memory has one instruction for both.
    note_acquire();
    access(at, bytes, kReduction, return_address);
    last_atomic_ = &find_site(return_address, bytes, kReduction);
    last_atomic_->atomic = kind;
    const auto run = [&]<class T>(T) {
        return static_cast<std::uint64_t>(
            apply<T>(kind, static_cast<T*>(address), static_cast<T>(value), static_cast<T>(expected)));
    };
    old_value_ = bytes == 1   ? run(std::uint8_t{})
                 : bytes == 2 ? run(std::uint16_t{})
                 : bytes == 4 ? run(std::uint32_t{})
                              : run(std::uint64_t{});
    if (is_concurrent_) note_value(at, old_value_, return_address);
}

void worker::note_seen(std::uintptr_t address, unsigned width, std::uintptr_t return_address) {
    if (region_at(address) == nullptr || width > sizeof(std::uint64_t)) return;
    std::uint64_t value = 0;
    std::memcpy(&value, reinterpret_cast<const void*>(address), width);
    note_value(address, value, return_address);
}

// Slows down a thread that reads the same value again and again and accesses nothing else. It may wait long for another
// block, and each read adds an entry to the trace.
void worker::note_value(std::uintptr_t address, std::uint64_t value, std::uintptr_t return_address) {
    constexpr unsigned kReadsAtOnce = 1 << 10, kLongestSleep = 1000;  // reads; microseconds between two
    if (!calls_at_basic_blocks_) return;                              // its position in the trace is unknown
    const unsigned times = spins_.see(running.cursor, address, value);
    if (times < kReadsAtOnce) return;
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(times - kReadsAtOnce, kLongestSleep)));
    if (time_over_) raise_from_fiber({hazard_kind::endless_loop, current_, 0, 0, kLoad, return_address});
}

void worker::atomic_add_floats(float* address, unsigned count, std::array<std::uint64_t, 2> values,
                               std::uintptr_t return_address) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto bytes = static_cast<unsigned>(count * sizeof(float));
    note_acquire();
    access(at, bytes, kReduction, return_address);
    if (is_in(region::shared, at)) refuse("an atomicAdd of float2 or float4 in shared memory", return_address);
    last_atomic_ = &find_site(return_address, bytes, kReduction);
    last_atomic_->atomic = atomic_kind::add_f32;
    old_floats_ = {};
    for (unsigned i = 0; i < count; ++i) {
        const auto value = static_cast<std::uint32_t>(values[i / 2] >> i % 2 * 32);
        const auto word = reinterpret_cast<std::uint32_t*>(address + i);
        old_floats_[i / 2] |= std::uint64_t{apply<std::uint32_t>(atomic_kind::add_f32, word, value, 0)} << i % 2 * 32;
    }
}

// Atomics take part in no race. But what they read from shared memory must have been written.
void worker::note_atomic(const warp_instruction& instruction) {
    if (instruction.memory->shadow == nullptr) return;
    const unsigned width = instruction.site->width;
    // atomicExch() without use of its old value: the only reduction that may initialise memory.
    const bool only_writes = instruction.site->op == kReduction && instruction.site->atomic == atomic_kind::exchange;
    for (std::uint32_t rest = instruction.active; rest != 0; rest &= rest - 1) {
        const std::uintptr_t address = instruction.addresses[std::countr_zero(rest)];
        shadow_memory& shadow = shadow_of(address);
        const unsigned cells = shadow.cells_of(width);
        const auto thread = first_ + static_cast<unsigned>(std::countr_zero(rest));
        shadow_cell* const first = &shadow.cells()[address];
        for (unsigned i = 0; i < cells; ++i) {
            if (first[i].write.bits >= first_interval_.bits) continue;
            if (only_writes) {
                first[i].write.bits = interval_.bits | instruction.site->touch_bits | touches_[thread].bits;
                continue;
            }
            unwritten_.push_back({thread, instruction.site->index, instruction.memory, address});
        }
    }
}

}  // namespace cornerturn::emulator
