// Reads and checks stored results: the JSON of `ladder`, `profile` and `bench`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "device/operation.hpp"
#include "lab/result.hpp"

namespace cornerturn::report {

// How the results were made. A member is empty if the file does not have it.
struct provenance {
    std::string date, commit, command, cuda, ncu;
};

// Counters by Nsight Compute's names.
using counter_values = std::map<std::string, double>;

// One kernel of a ladder.
struct rung {
    std::string kernel, skipped, fault;
    bool failed = false, sampled = false, checked = false;  // checked: the file says whether the result was right
    std::optional<lab::timing> time, yardstick;             // none if it failed: it may have skipped part of the work
    std::string method;
    double rate = 0, yardstick_rate = 0, ratio = 0;
    double of_peak = 0, noted = 0;  // 0: not in the file
    bool ceiling = false;           // an upper bound on the others' speed, such as a copy
    counter_values emulated, hardware;
    std::string ncu;
    std::optional<double> conflicts[2];  // loads, stores

    bool ran() const { return skipped.empty(); }
    // The emulator's counters, or the hardware's if there are none.
    const counter_values& counted() const { return emulated.empty() ? hardware : emulated; }
};

struct ladder {
    const operation* op = nullptr;
    std::string dtype, yardstick;     // "f32", "memcpy"
    std::vector<std::int64_t> sizes;  // in the order of operation_facts::sizes
    std::string layout;               // ", source-ld 1027"; empty for the default layout
    int element_size = 0;
    std::vector<rung> rungs;

    bool timed() const;
    std::string name() const { return op->name(); }
    std::string work() const;                  // "4096 x 4096 f32"
    double steps() const;                      // elements moved, or multiply-adds
    double bytes() const;                      // of all operands
    std::vector<std::string> methods() const;  // each once
};

// One contestant at one shape.
struct entry {
    std::string kernel, skipped, fault;
    std::optional<lab::timing> time;
    double rate = 0, ratio = 0;
    bool ceiling = false;               // as in rung
    std::vector<double> compared = {};  // in the order of its operation's comparisons; 0: not in the file

    bool timed() const { return time.has_value(); }
};

// One way of calling, at one shape.
struct timed_call {
    std::string name;          // "one call"
    entry yardstick, subject;  // the subject has its ratio to the yardstick
};

struct cell {
    std::string group, shape, skipped, method;
    int element_size = 0;
    std::vector<std::int64_t> sizes;  // in the order of operation_facts::sizes
    double bytes = 0;                 // read and written; 0: not in the file
    entry yardstick, subject;
    std::vector<std::pair<std::string, entry>> peers;
    std::vector<timed_call> calls;
};

struct framework {
    std::string name, version, date, command;
};

struct bench {
    const operation* op = nullptr;
    std::string subject, yardstick;
    double peak = 0;  // the device's upper limit of the rate, in the rate's unit; 0: not in the file
    std::vector<framework> frameworks;
    std::vector<cell> cells;

    const operation_facts& facts() const { return op->facts(); }
    bool of_sizes() const { return facts().of_sizes(); }  // whether it has several element sizes
    std::string where(const cell& c) const;               // "8192 x 8192 of 4 bytes"
    std::vector<std::string> methods() const;             // each once
};

struct document {
    std::string file, stem;  // the path as given, and the file's name without folder and suffix
    provenance made;
    lab::device_info device;
    std::variant<ladder, bench> results;

    const ladder* as_ladder() const { return std::get_if<ladder>(&results); }
    const bench* as_bench() const { return std::get_if<bench>(&results); }
};

// Throws an error that names the file and the field at fault.
document read_document(const std::string& file, const std::string& text);

}  // namespace cornerturn::report
