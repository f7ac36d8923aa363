// What the commands that run kernels share: profile, ladder and diff.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "lab/run.hpp"

namespace cornerturn::cli {

// The help of an argument that names an operation: "The operation: transpose, gemm."
std::string operation_help(bool is_sentence = true);

// Whether one of them is called so.
bool has(const std::vector<option>& all, const std::string& name);
// Each option of any operation once, as the first one has it that has it; option::whose tells which have it.
std::vector<option> options_of_all(std::vector<option> (*of)(const operation&));

// What describes the work of this operation, sizes and layout; of any; and with these what all three commands take
// besides.
std::vector<option> work_options_of(const operation& does);
std::vector<option> work_options();
std::vector<option> run_options();

// Throws invalid_argument where an option of another operation's work is given.
void check_work_options(const arguments& given, const operation& does);

// Where kernels run when nobody says: the GPU if there is one.
std::string device_of(const invocation& asked);
// Where this one runs: those of the host nowhere else.
std::string device_for(const kernel& k, const invocation& asked);
std::unique_ptr<lab::runner> make_runner(const std::string& device);

lab::request read_request(const invocation& asked, const operation& does, const std::string& device);
// --timeout: how long one block may take in the emulator. Throws invalid_argument where it is no number of seconds.
option timeout_option();
double read_timeout(const invocation& asked);
// --placement: 0 to 64, and 0 where it is not given. Throws invalid_argument where nothing can be laid aside.
int read_placement(const invocation& asked, const operation& does, bool on_gpu);

// Which counters of the hardware are wanted, beside what is always read; nothing where none are.
struct wanted_counters {
    bool any = false;
    std::string ncu;
    std::vector<std::string> more;
};
// Finds what is wrong with the options before anything runs.
wanted_counters read_wanted(const invocation& asked, const std::string& device);
// Reads the counters of what has run, all in one run of ncu.
void add_hardware(const wanted_counters& wanted, const invocation& asked, std::vector<lab::result*> results);

// Under ncu launches are all that is wanted.
void write_results(const invocation& asked, const std::string& text);
void require_verified(const lab::result& r);

}  // namespace cornerturn::cli
