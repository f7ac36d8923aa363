// What the lab, the reports and the program ask of an operation: how to read its arguments, how to make and verify its
// problems, what to measure it by, how to describe results. Each operation is one object in src/ops/ and comes with its
// kernels (device/registry.hpp). No other code knows which operations there are.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dtype.hpp"
#include "core/problem.hpp"
#include "device/registry.hpp"
#include "emulator/emulation.hpp"

namespace cornerturn {

// ---- Arguments ------------------------------------------------------------------------------------------------------

struct option {
    const char* name;   // "--rows"
    const char* value;  // what a value looks like: "N"; "" of a flag, and of what has no dashes
    const char* help;   // sentences, with what holds where the option is left out
    bool list = false;  // numbers with commas between them
    // Of a command for several operations: those whose option it is, "transpose and permute"; "" where all have it.
    const char* whose = "";

    bool is_flag() const { return name[0] == '-' && value[0] == 0; }
};

// Options as the user gave them, by name, and their values.
class arguments {
public:
    void give(const std::string& option, const std::string& text) { given_[option] = text; }  // for a flag, any text
    bool has(const std::string& option) const { return given_.contains(option); }
    const std::map<std::string, std::string>& all() const { return given_; }

    std::string text(const std::string& option, const std::string& otherwise) const;
    // These throw an invalid_argument that names the option.
    std::int64_t size(const std::string& option, std::int64_t otherwise) const;
    int whole(const std::string& option, int otherwise, int least, int most) const;
    float number(const std::string& option, float otherwise) const;
    // Numbers with commas between them, which may be negative. An empty text is an empty list.
    std::vector<std::int64_t> list(const std::string& option, const std::vector<std::int64_t>& otherwise) const;

private:
    std::map<std::string, std::string> given_;
};

// ---- Work -----------------------------------------------------------------------------------------------------------

class workload;

// The verifier: a workload's operands in memory, filled so that every mistake shows. On a GPU, all calls are ordered in
// device::current_stream(), and check() waits for it.
class problem {
public:
    virtual ~problem() = default;

    // Switches to other work in the same memory, for a kernel. Call prepare() next. If the capacity is too small
    // for the work, returns false and does nothing.
    virtual bool take(const workload& work, const kernel& k) = 0;
    virtual std::int64_t capacity() const = 0;  // bytes of memory

    virtual void prepare() = 0;
    virtual void prepare_outputs() { prepare(); }  // for another run on the same inputs
    // Checks every element that was written, and everything that must not change. If `more` is not null, adds further
    // members to it, a JSON object.
    virtual verdict check(nlohmann::ordered_json* more = nullptr) const = 0;

    // Runs the kernel on the latest work that was taken, with the kernel's build for this memory.
    virtual std::function<void()> bind(const kernel& k) const = 0;
    // What a ladder's kernels are timed beside, on a GPU. The problem must have been made with memory for it.
    virtual std::function<void()> bind_yardstick() const = 0;
    // Every way in which the library could do the latest work on this GPU. The one that it chooses comes first. Empty
    // if it has no choice.
    struct candidate {
        std::string name;
        std::function<void()> run;
        double predicted_s = 0;           // 0: nothing is predicted
        std::vector<double> counts = {};  // what that was predicted from
    };
    virtual std::vector<candidate> candidates() const { return {}; }
    // How the library does the latest work on this GPU. Empty if it has no choice.
    virtual std::string choice() const;

    // ---- In host memory
    struct buffer {
        const char* name;
        unsigned char* data;
        std::int64_t bytes, capacity;
        bool writable;
        bool holds_input;  // before the first launch; otherwise, to read what no thread has written is an error
    };
    virtual std::vector<buffer> buffers() const { return {}; }

    // ---- In the emulator, if workload::has_tiles(): some tiles of the output. Not called elsewhere.
    virtual tile tile_of(const emulator::sampled_tile&) const { no_tiles(); }
    virtual void prepare_inputs() {}  // before the first launch: all that does not come with a tile
    virtual void prepare(const std::vector<tile>&) { no_tiles(); }
    virtual verdict check(const std::vector<tile>&) const { no_tiles(); }

private:
    [[noreturn]] static void no_tiles();  // throws
};

// A task for an operation: its sizes, which have been checked, the type of its elements, and the seed of their values.
class workload {
public:
    workload(const operation& op, const dtype& type, std::uint64_t seed) : op_(&op), type_(type), seed_(seed) {}
    virtual ~workload() = default;

    const operation& op() const { return *op_; }
    const dtype& type() const { return type_; }
    std::uint64_t seed() const { return seed_; }

    // In the order of operation_facts::sizes. Lists follow each other, and all have the same length.
    virtual std::vector<std::int64_t> sizes() const = 0;
    virtual std::int64_t outputs() const = 0;  // elements that are written and checked
    virtual std::int64_t steps() const = 0;    // elements moved, or multiply-adds: the time depends on these
    virtual std::int64_t bytes() const = 0;    // that must be read and written
    // What the operation's rate counts, if this kernel does the work.
    virtual double amount(const kernel& k) const = 0;
    // Whether the emulator may run one block of each class, and check the tiles that it wrote.
    virtual bool has_tiles() const { return false; }
    // How many more blocks the emulator then runs, to show that they count like their class.
    virtual unsigned witnesses() const { return emulator::options{}.witnesses; }

    // Bytes of GPU memory for its problem, with or without what the yardstick needs.
    virtual std::int64_t gpu_bytes(const std::vector<const kernel*>& kernels, bool with_yardstick) const = 0;
    // How its operands are laid out, and all else that differs from the usual. Members are named as in
    // operation_facts::layout: {"lda": 70}.
    virtual nlohmann::ordered_json layout() const = 0;
    // The options that give this work: "--rows 5 --cols 7 --source-ld 9 --dtype f32 --seed 3". If there are none, the
    // work in words.
    virtual std::string options() const;
    // Other work, drawn from the seed. A kernel must do it correctly before this work counts as verified. Nothing in it
    // is laid out as usual. Much of it is small.
    virtual std::vector<std::shared_ptr<const workload>> trials() const = 0;

    // Only if operation_facts::shares_memory: --placement N allocates N times this many bytes first.
    virtual std::int64_t aside_bytes() const { return 0; }

    // ---- In a bench
    virtual std::string text() const = 0;  // "8192 x 8192, ld + 1"
    // The classes of shapes that it belongs to, of those of its operation. Random cells are also reported by class.
    virtual std::vector<std::string> shape_classes() const { return {}; }
    // Adds members to the cell: its sizes; "element_size" if there are several; and "bytes" read and written, if the
    // data can stay in a host's caches.
    virtual void describe(nlohmann::ordered_json& cell) const = 0;
    virtual std::string why_not_run(const kernel& k) const = 0;  // empty, or why the kernel does not take it
    // Whether it writes whole 32-byte sectors, except for the first and the last of all.
    virtual bool writes_whole_sectors() const { return true; }
    // The same work, from another seed, in a form that all these kernels take.
    virtual std::shared_ptr<const workload> among(const std::vector<const kernel*>& kernels,
                                                  std::uint64_t seed) const = 0;

private:
    const operation* op_;
    dtype type_;
    std::uint64_t seed_;
};

using workload_pointer = std::shared_ptr<const workload>;

// ---- The operation --------------------------------------------------------------------------------------------------

// What a rate counts: bytes, or arithmetic operations. A device has an upper limit of either in a second.
struct rate_unit {
    const char *name, *json;           // "GB/s", "bandwidth_gbps"
    const char* arithmetic = nullptr;  // "FP32"; null if it counts bytes
};
inline constexpr const char* kFp32 = "FP32";
inline constexpr rate_unit kBandwidth{"GB/s", "bandwidth_gbps"}, kFp32Rate{"GFLOP/s", "gflops", kFp32};

// What a bench reports of a kernel besides its time: a number in an object of its JSON, divided by the yardstick's.
struct bench_comparison {
    const char *heading, *object, *member;
};

struct operation_facts {
    const char* name;                   // "gemm": the name of its ladder and its bench
    std::vector<const char*> families;  // of the kernels of its ladder: the first part of their ids
    const char* works = "";             // what it makes: "products"; its name where it does not say
    std::vector<option> sizes;          // "--rows", ...; keys in JSON are the same, without the dashes
    std::vector<option> layout;         // "--source-ld", ...: all else that describes its work
    const char* sizes_legend;           // after the sizes: " (m x n x k)", or ""
    const char* step;                   // "element", "multiply-add"
    int operations_a_step = 0;          // that its rate counts
    const char* operands;               // "the matrix", "A, B and C"
    rate_unit rate;
    const char* yardstick;              // "memcpy"
    const char* published_source = "";  // where the published rates of its kernels come from
    // Each element is read once and written once. More sectors than these need are waste.
    bool reads_once = false;
    // All kernels of a ladder or a bench are timed in the same memory. --placement takes other memory.
    bool shares_memory = false;

    // ---- Of its bench
    std::vector<int> element_sizes;                 // in bytes; if there is only one, a bench has no --sizes
    const char* shape_heading = "shape";            // "m x n x k"
    const char* bench_yardstick = "copy";           // in the heading of its rate
    const char* squares = nullptr;                  // its group of square matrices, from small to large; or null
    std::vector<double> must_reach = {0.90, 0.98};  // of the yardstick's speed
    std::vector<bench_comparison> comparisons = {};
    // If it has bench_ways(): the name of the usual way, such as "workspace given".
    const char* usual_way = "";

    bool of_sizes() const { return element_sizes.size() > 1; }
};

// The kernels that a bench measures by default.
struct bench_contestants {
    std::string subject, yardstick;  // ids
    std::string peer_family, peers;  // "baseline/", "memcpy,copy"; empty if there are none
    // Ids of copies that write the destination's addresses in ascending order. If a random cell writes sectors in part,
    // it is compared with the fastest of these.
    std::vector<std::string> ordered_copies = {};
};

// A way of calling: the call that a user writes, and how many of them follow each other. A bench also measures these,
// by the wall clock: from an idle stream until all calls are done. Of the problem's memory, both kernels use only the
// operands.
struct bench_way {
    const char* name;                // "one call"
    std::string subject, yardstick;  // ids
    int in_a_row = 1;
};

// How large a cell drawn at random is: for a GPU's memory, for all or part of its L2 cache, or for host memory.
enum class draw_size { large, small, host };

struct bench_cell {
    std::string group;
    workload_pointer work;
};

struct explanation;  // device/explanation.hpp

class operation {
public:
    explicit operation(operation_facts facts) : facts_(std::move(facts)) {}
    virtual ~operation() = default;
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;

    const operation_facts& facts() const { return facts_; }
    std::string name() const { return facts_.name; }

    // The work that the options of facts().sizes and facts().layout, --dtype and --seed describe. A missing size is
    // like another size that was given, or `standard`. Throws invalid_argument.
    virtual workload_pointer read(const arguments& given, std::int64_t standard) const = 0;

    // A problem of the first work, for these kernels, with memory for a ladder's yardstick. If facts().shares_memory it
    // has room for all of the work; otherwise there is only one. Throws error if memory is short.
    virtual std::unique_ptr<problem> make(backend on, const std::vector<const workload*>& work,
                                          const std::vector<const kernel*>& kernels, bool with_yardstick) const = 0;

    // Whether a kernel can run on its work. Its own kernels can.
    virtual bool accepts(const kernel& k) const { return k.op == this; }
    // Whether a kernel that it accepts does other work, and is an upper bound on the speed of its kernels.
    virtual bool is_ceiling(const kernel&) const { return false; }

    // ---- Which kernel would be chosen, and why
    virtual std::vector<option> explain_options() const { return {}; }
    // Throws invalid_argument if there is no choice.
    virtual explanation explain(const arguments& given) const;

    // ---- Its bench
    virtual std::vector<std::string> bench_groups() const { return {}; }
    virtual std::vector<bench_cell> bench_grid(const std::vector<int>& element_sizes,
                                               const std::vector<std::string>& groups) const;
    // Whether a group is measured if the user names none. The group for the caches is not.
    virtual bool is_usual_group(const std::string&) const { return true; }
    // `count` cells drawn at random. Their groups are the kinds of a draw. Throws invalid_argument if there are none.
    virtual std::vector<bench_cell> bench_draws(int count, std::uint64_t seed, draw_size size) const;
    // Cells from a file: an array of objects, each with the members that describe() adds to a cell, and its "group".
    // Throws invalid_argument if they are not right, or if there are none.
    virtual std::vector<bench_cell> bench_cells(const nlohmann::ordered_json& described) const;
    // Empty if it is not measured there.
    virtual bench_contestants contestants(backend) const { return {}; }
    virtual std::vector<bench_way> bench_ways(backend) const { return {}; }
    // The name of a stored cell in a table that has one row for all element sizes. Cells of the same name share a row.
    virtual std::string bench_row(const std::string& group, const std::string& text,
                                  const std::vector<std::int64_t>& sizes) const;
    // What its ratios compare with, in words.
    virtual std::string yardstick_text(backend on) const = 0;

    // ---- For stored results, of which only the sizes are known
    virtual std::string text_of(const std::vector<std::int64_t>& sizes) const;  // "4096 x 4096"
    virtual double steps(const std::vector<std::int64_t>& sizes) const;
    virtual double operand_bytes(const std::vector<std::int64_t>& sizes, int element_size) const = 0;  // of all
    double operations_per_byte(const std::vector<std::int64_t>& sizes, int element_size) const;

private:
    operation_facts facts_;
};

// The operations that have kernels in this program, in the kernels' order.
std::vector<const operation*> operations();
std::string operation_names();  // "transpose, gemm"
const operation& find_operation(std::string_view name);
// The operation of the kernel with this id. If this program has no such kernel, the operation of its whole family. Null
// if the family has no kernels, or belongs to several operations.
const operation* operation_of_kernel(const std::string& id);

// Runs a kernel that prepares another one. The emulator runs all of its blocks, and reports the other one's grid.
void run_as_preparation(const std::function<void()>& work);

// JSON's key for an option: "source_ld" for --source-ld; and the reverse.
std::string key_of(const option& size);
std::string option_of_key(const std::string& key);
// ", source-ld 1027, source-offset 3", from a workload's layout().
std::string layout_text(const nlohmann::ordered_json& layout);
// Members of a JSON object, one for each of the operation's sizes: numbers or lists of numbers.
nlohmann::ordered_json sizes_json(const operation& op, const std::vector<std::int64_t>& sizes);
// "4096 x 4096"
std::string sizes_text(const std::vector<std::int64_t>& sizes);
// "--m, --n and --k"
std::string options_text(const std::vector<option>& options);

}  // namespace cornerturn
