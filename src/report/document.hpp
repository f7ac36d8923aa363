// Stored results, read and checked: what `ladder`, `profile` and `bench` print as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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
    readings emulated, hardware;
    std::string ncu;
    std::optional<double> conflicts[2];  // loads, stores

    bool ran() const { return skipped.empty(); }
    bool copies(const std::string& family) const { return !kernel.starts_with(family + "/"); }
    // The emulator's, or where there are none the hardware's.
    const readings& counted() const { return emulated.empty() ? hardware : emulated; }
};

struct ladder {
    std::string family, dtype, yardstick, rate;  // "transpose", "f32", "memcpy", "GB/s"
    std::int64_t rows = 0, cols = 0;             // of a product m and n
    std::optional<std::int64_t> k;
    int element_size = 0;
    std::vector<rung> rungs;

    bool timed() const;
    std::string work() const;                  // "4096 x 4096 f32"
    double elements() const;                   // moved, or multiply-adds
    double bytes() const;                      // of the matrix, or of A, B and C
    std::vector<std::string> methods() const;  // each once
};

// One contestant at one shape.
struct entry {
    std::string kernel, skipped, fault;
    std::optional<lab::timing> time;
    double rate = 0, ratio = 0;
    double error = 0;  // of a product, Frobenius

    bool timed() const { return time.has_value(); }
};

struct cell {
    std::string group, shape, skipped, method;
    int element_size = 4;
    std::int64_t rows = 0, cols = 0, k = 0, count = 1;  // of a product m, n and k
    double bytes = 0;                                   // read and written, of a transpose
    entry yardstick, subject;
    std::vector<std::pair<std::string, entry>> peers;

    double intensity() const;  // of a product: operations a byte, where each of A, B and C moves once
};

struct framework {
    std::string name, version, date, command;
};

struct bench {
    std::string family, subject, yardstick;
    double peak_gflops = 0;
    std::vector<framework> frameworks;
    std::vector<cell> cells;

    std::vector<std::string> methods() const;  // each once
};

struct document {
    std::string file, stem;  // as given, and its name without folder and suffix
    provenance made;
    lab::device_info device;
    std::variant<ladder, bench> what;

    const ladder* as_ladder() const { return std::get_if<ladder>(&what); }
    const bench* as_bench(const char* family) const;
};

// Throws error that names the file, and the field at fault.
document read_document(const std::string& file, const std::string& text);

}  // namespace cornerturn::report
