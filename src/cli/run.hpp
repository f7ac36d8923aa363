// Shared code of the commands that run kernels: profile, ladder and diff.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "lab/run.hpp"

namespace cornerturn::cli {

// The help of an argument that names an operation: "The operation: transpose, gemm."
std::string operation_help(bool is_sentence = true);

// Whether an option has this name.
bool has(const std::vector<option>& all, const std::string& name);
// Each option that any operation has, once, as the first such operation describes it. option::whose names the
// operations that have it.
std::vector<option> options_of_all(std::vector<option> (*of)(const operation&));

// The options for sizes and layout: of this operation, or of any. run_options() also has the other options of the three
// commands.
std::vector<option> work_options_of(const operation& op);
std::vector<option> work_options();
std::vector<option> run_options();

// Throws invalid_argument if an option belongs to another operation's work.
void check_work_options(const arguments& given, const operation& op);

// The device of --on. Default: the GPU if there is one, else the emulator.
std::string device_of(const invocation& invocation);
// The device of this kernel: host kernels run only on the host.
std::string device_for(const kernel& k, const invocation& invocation);
std::unique_ptr<lab::runner> make_runner(const std::string& device);

lab::run_request read_request(const invocation& invocation, const operation& op, const std::string& device);
// --timeout: how long one block may take in the emulator. Throws invalid_argument if it is not a number of seconds.
option timeout_option();
double read_timeout(const invocation& invocation);
// --placement: 0 to 64, by default 0. Throws invalid_argument if the device or the operation does not support it.
int read_placement(const invocation& invocation, const operation& op, bool on_gpu);

// The hardware counters to read.
struct wanted_counters {
    bool requested = false;
    std::string ncu;                         // the path of Nsight Compute's program
    std::vector<std::string> extra_metrics;  // in addition to the standard ones
};
// Checks the options before anything runs.
wanted_counters read_wanted(const invocation& invocation, const std::string& device);
// Reads the counters of all kernels that ran, in one run of ncu.
void add_hardware(const wanted_counters& wanted, const invocation& invocation, std::vector<lab::result*> results);

// Prints nothing under ncu, which needs only the launches.
void write_results(const invocation& invocation, const std::string& text);
void require_verified(const lab::result& r);

}  // namespace cornerturn::cli
