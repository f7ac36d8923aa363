// What a program's kernels did, for whoever asks when it ends; and how it is to be run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emulator/emulation.hpp"

namespace cornerturn::emulator {

// From the environment variable CORNERTURN_EMULATE: "report=PATH,lines,sample,timeout=300,workers=2,stack=65536".
struct run_options {
    std::string report;  // where the record goes at the end, as JSON; "": nowhere
    bool lines = false;
    bool sample = false;  // some blocks of a launch for all
    unsigned workers = 0;
    double block_seconds = 300;
    std::size_t stack_bytes = 16 << 10;
    static const run_options& given();
};

namespace record {

// Mangled, and the path of the file that has it: two files may have kernels of one name.
struct kernel_name {
    std::string symbol, path;
    bool operator==(const kernel_name&) const = default;
};

// One launch of the kernel. `last`: what ended it, or null. Hazards are told on standard error when they are new.
void add(const kernel_name& kernel, const emulator::report& report, const found_hazard* last);

// Adds the hazard to those that are known, and says whether it is new: of another kind, or at another place in the
// code.
bool merge(std::vector<found_hazard>& known, const found_hazard& one);

// One that hears of each launch, one at a time, from listen() to forget().
class listener {
public:
    virtual void launched(const kernel_name& kernel, const emulator::report& report, const found_hazard* last) = 0;
    virtual bool wants_lines() const = 0;

protected:
    ~listener() = default;
};
void listen(listener* one);
void forget(listener* one);

// Whether anybody wants counters of each source line.
bool wants_lines();

}  // namespace record
}  // namespace cornerturn::emulator
