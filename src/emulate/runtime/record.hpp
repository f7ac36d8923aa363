// What a program's kernels did, for whoever asks when it ends; and how it is to be run.
#pragma once

#include <cstddef>
#include <string>

#include "emulator/emulation.hpp"

namespace cornerturn::emulator {

// From the environment variable CORNERTURN_EMULATE: "report=PATH,lines,timeout=300,workers=2,stack=65536".
struct run_options {
    std::string report;  // where the record goes at the end, as JSON; "": nowhere
    bool lines = false;
    unsigned workers = 0;
    double block_seconds = 300;
    std::size_t stack_bytes = 16 << 10;
    static const run_options& given();
};

namespace record {

// One launch of the kernel, whose mangled name is `symbol`. `last`: what ended it, or null. Hazards are told on
// standard error when they are new.
void add(const std::string& kernel, const std::string& symbol, const emulator::report& report,
         const found_hazard* last);

}  // namespace record
}  // namespace cornerturn::emulator
