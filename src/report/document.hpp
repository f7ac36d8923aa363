// Stored results, read and checked: what `ladder`, `profile` and `bench` print as JSON.
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

// How it was made, as far as the file tells: empty is what it does not.
struct provenance {
    std::string date, commit, command, cuda, ncu;
};

// Readings by Nsight Compute's names.
using readings = std::map<std::string, double>;

// One kernel of a ladder.
struct rung {
    std::string kernel, skipped, fault;
    bool failed = false, sampled = false, checked = false;  // checked: the file tells
    std::optional<lab::timing> time, yardstick;             // none of what failed: it may have done less than it should
    std::string method;
    double rate = 0, yardstick_rate = 0, ratio = 0;
    double of_peak = 0, noted = 0;  // 0: not told
    bool ceiling = false;           // an upper bound on the others' speed, such as a copy
    readings emulated, hardware;
    std::string ncu;
    std::optional<double> conflicts[2];  // loads, stores

    bool ran() const { return skipped.empty(); }
    // The emulator's, or where there are none the hardware's.
    const readings& counted() const { return emulated.empty() ? hardware : emulated; }
};

struct ladder {
    const operation* does = nullptr;
    std::string dtype, yardstick;     // "f32", "memcpy"
    std::vector<std::int64_t> sizes;  // as its operation names them
    std::string layout;               // ", source-ld 1027" of what does not lie as it usually does
    int element_size = 0;
    std::vector<rung> rungs;

    bool timed() const;
    std::string name() const { return does->name(); }
    std::string work() const;                  // "4096 x 4096 f32"
    double steps() const;                      // elements moved, multiply-adds
    double bytes() const;                      // of all operands
    std::vector<std::string> methods() const;  // each once
};

// One contestant at one shape.
struct entry {
    std::string kernel, skipped, fault;
    std::optional<lab::timing> time;
    double rate = 0, ratio = 0;
    bool ceiling = false;               // as a rung's
    std::vector<double> compared = {};  // by its operation's comparisons; 0: not told

    bool timed() const { return time.has_value(); }
};

// One way of calling at one shape.
struct called {
    std::string way;
    entry yardstick, subject;  // with its ratio to that
};

struct cell {
    std::string group, shape, skipped, method;
    int element_size = 0;
    std::vector<std::int64_t> sizes;  // as its operation names them
    double bytes = 0;                 // read and written; 0: not told
    entry yardstick, subject;
    std::vector<std::pair<std::string, entry>> peers;
    std::vector<called> ways;
};

struct framework {
    std::string name, version, date, command;
};

struct bench {
    const operation* does = nullptr;
    std::string subject, yardstick;
    double peak = 0;  // of what its rate counts, a second and by the billion; 0: not told
    std::vector<framework> frameworks;
    std::vector<cell> cells;

    const operation_facts& facts() const { return does->facts(); }
    bool of_sizes() const { return facts().of_sizes(); }  // of elements
    std::string where(const cell& c) const;               // "8192 x 8192 of 4 bytes"
    std::vector<std::string> methods() const;             // each once
};

struct document {
    std::string file, stem;  // as given, and its name without folder and suffix
    provenance made;
    lab::device_info device;
    std::variant<ladder, bench> what;

    const ladder* as_ladder() const { return std::get_if<ladder>(&what); }
    const bench* as_bench() const { return std::get_if<bench>(&what); }
};

// Throws error that names the file, and the field at fault.
document read_document(const std::string& file, const std::string& text);

}  // namespace cornerturn::report
