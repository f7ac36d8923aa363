// Runs plans of copies between tensors in the emulator, and compares the results with the reference.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "cornerturn/error.hpp"
#include "emulator/emulation.hpp"
#include "move/policy.hpp"
#include "strided_plans.hpp"
#include "strided_problems.hpp"

namespace cornerturn::tests {

// Memory that begins at a multiple of 64 bytes. Nothing follows its last byte.
struct buffer {
    std::vector<unsigned char> room;
    std::int64_t bytes;

    buffer(std::int64_t size, std::mt19937_64& random) : room(static_cast<std::size_t>(size + 63)), bytes(size) {
        for (std::size_t i = 0; i < room.size(); i += 8) {
            const std::uint64_t word = random();
            std::memcpy(&room[i], &word, std::min<std::size_t>(8, room.size() - i));
        }
    }
    unsigned char* data() { return room.data() + (64 - reinterpret_cast<std::uintptr_t>(room.data()) % 64) % 64; }
};

// Makes copies of one problem in the emulator, and compares every byte of the destination with the reference.
class copier {
public:
    copier(const strided_problem& p, std::uint64_t seed)
        : p_(p),
          random_(seed),
          source_(p.source_bytes, random_),
          destination_(p.destination_bytes, random_),
          expected_(destination_.data(), destination_.data() + p.destination_bytes),
          before_(expected_) {
        p.reference(source_.data(), expected_.data());
    }
    strided_copy copy() { return p_.canonical(source_.data(), destination_.data()); }
    // Of the latest run.
    std::uint64_t store_requests() const { return store_requests_; }

    std::string run(const moves::plan& plan) {
        return run([&] { moves::run_emulated(plan); });
    }
    // Runs the plan that the library chooses.
    std::string run(const gpu& on) {
        return run([&] { moves::run_emulated(copy(), on); });
    }

private:
    std::string run(const std::function<void()>& launch) {
        std::copy(before_.begin(), before_.end(), destination_.data());
        emulator::emulation emulation({.workers = 1});
        // Nothing before the source's first byte or after its last one may be read.
        const strided_copy c = copy();
        const auto* const first = c.is_empty() ? source_.data() : reinterpret_cast<unsigned char*>(c.source_begin());
        const auto bytes =
            c.is_empty() ? static_cast<std::uintptr_t>(p_.source_bytes) : c.source_end() - c.source_begin();
        emulation.add_buffer("source", first, bytes, false);
        emulation.add_buffer("destination", destination_.data(), static_cast<std::size_t>(p_.destination_bytes), true);
        try {
            launch();
        } catch (const error& e) {
            return e.what();
        }
        store_requests_ = emulation.report().counts.global_requests[emulator::kStore];
        for (std::int64_t i = 0; i < p_.destination_bytes; ++i) {
            const unsigned found = destination_.data()[i], wanted = expected_[static_cast<std::size_t>(i)];
            if (found != wanted)
                return "byte " + std::to_string(i) + " of the destination is " + std::to_string(found) + ", not " +
                       std::to_string(wanted);
        }
        return {};
    }

    const strided_problem& p_;
    std::mt19937_64 random_;
    buffer source_, destination_;
    std::vector<unsigned char> expected_, before_;
    std::uint64_t store_requests_ = 0;
};

}  // namespace cornerturn::tests
