// The GPU that the lab runs on: what it is called, and what it cannot do.
#pragma once

#include <cstdint>
#include <string>

#include "device/registry.hpp"
#include "lab/result.hpp"

namespace cornerturn::lab {

// The current device.
class cuda_machine {
public:
    // Throws unsupported, saying what was found instead, where no GPU answers.
    cuda_machine();

    const device_info& info() const { return info_; }

    // Why the kernel cannot run here; empty where it can.
    std::string cannot_run(const kernel& k) const;

    // Operations of the arithmetic that the rate counts, two for a multiply-add, that all cores can do a second at
    // their highest clock. 0 where it counts bytes, or where this is not known.
    double peak_flops(const rate_unit& rate) const;

    // Empty, or a sentence on the memory that lacks.
    std::string lacks_memory(std::int64_t bytes) const;

private:
    device_info info_;
    int capability_ = 0;  // 90 for 9.0
    double fp32_flops_ = 0;
};

}  // namespace cornerturn::lab
