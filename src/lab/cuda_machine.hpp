// The GPU that the lab runs on: its name and its limits.
#pragma once

#include <cstdint>
#include <string>

#include "device/registry.hpp"
#include "lab/result.hpp"

namespace cornerturn::lab {

// The current device.
class cuda_machine {
public:
    // Throws unsupported, with the reason, if there is no usable GPU.
    cuda_machine();

    const device_info& info() const { return info_; }

    // Why the kernel cannot run here; empty if it can.
    std::string why_not_run(const kernel& k) const;

    // Operations a second that all cores can do at their highest clock, in the arithmetic that the rate counts. A
    // multiply-add is two. 0 if the rate counts bytes, or if this is not known.
    double peak_flops(const rate_unit& rate) const;

    // A sentence about the missing memory; empty if there is enough.
    std::string memory_shortage(std::int64_t bytes) const;

private:
    device_info info_;
    int capability_ = 0;  // 90 for 9.0
    double fp32_flops_ = 0;
};

}  // namespace cornerturn::lab
