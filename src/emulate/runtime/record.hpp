// The record of a program's kernels, for the report at its end and for listeners. Also the options of the run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "emulator/emulation.hpp"

namespace cornerturn::emulator {

// The options in the environment variable CORNERTURN_EMULATE:
// "report=PATH,lines,sample,timeout=300,workers=2,stack=65536".
struct run_options {
    std::string report;  // the file to which the record is written at the end, as JSON; "": none
    bool lines = false;
    bool sample = false;  // run some blocks of a launch, which stand for all
    unsigned workers = 0;
    double block_seconds = 300;
    std::size_t stack_bytes = 16 << 10;
    static const run_options& from_environment();
};

namespace record {

// The mangled name, and the path of the file that contains the kernel: two files may have kernels of the same name.
struct kernel_name {
    std::string symbol, path;
    bool operator==(const kernel_name&) const = default;
};

// Adds one launch of the kernel. `last`: the hazard that ended it, or null. Prints new hazards on standard error.
void add(const kernel_name& kernel, const emulator::report& report, const found_hazard* last);

// Adds the hazard. Returns whether it is new: no known hazard has its kind and its place in the code.
bool merge(std::vector<found_hazard>& known, const found_hazard& one);

// Is called after each launch from listen() to forget(). The calls do not overlap.
class listener {
public:
    virtual void launched(const kernel_name& kernel, const emulator::report& report, const found_hazard* last) = 0;
    virtual bool wants_lines() const = 0;

protected:
    ~listener() = default;
};
void listen(listener* one);
void forget(listener* one);

// Whether the options or a listener ask for counters of each source line.
bool wants_lines();

}  // namespace record
}  // namespace cornerturn::emulator
