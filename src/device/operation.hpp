// What the lab, the reports and the program ask of an operation: how its arguments are read, how its problems are made
// and verified, what it is measured by, how results are described. Each operation is one object in src/ops/, and comes
// with its kernels (device/registry.hpp); nobody else knows which there are.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/dtype.hpp"
#include "core/problem.hpp"
#include "device/registry.hpp"
#include "emulator/emulation.hpp"

namespace cornerturn {

// ---- Arguments ------------------------------------------------------------------------------------------------------

struct option {
    const char *name, *help;  // "--rows"
    bool flag = false;
    bool list = false;  // numbers with commas between them
};

// Options as somebody gave them, and what their words mean.
class arguments {
public:
    void give(const std::string& option, const std::string& word) { given_[option] = word; }  // a flag: any word
    bool has(const std::string& option) const { return given_.contains(option); }
    const std::map<std::string, std::string>& given() const { return given_; }

    std::string word(const std::string& option, const std::string& otherwise) const;
    // Throw invalid_argument that names the option.
    std::int64_t size(const std::string& option, std::int64_t otherwise) const;
    int whole(const std::string& option, int otherwise, int least, int most) const;
    float number(const std::string& option, float otherwise) const;
    // Of numbers with commas between them, which may be negative; an empty word has none.
    std::vector<std::int64_t> list(const std::string& option, const std::vector<std::int64_t>& otherwise) const;

private:
    std::map<std::string, std::string> given_;
};

// ---- Work -----------------------------------------------------------------------------------------------------------

class workload;

// A workload's operands in memory, filled so that every mistake shows: the verifier. On a GPU all is ordered in
// device::current_stream(), and check() waits for it.
class problem {
public:
    virtual ~problem() = default;

    // Takes on other work in the same memory, for a kernel; prepare() comes next. False, and nothing done, where it has
    // no room for it.
    virtual bool take(const workload& work, const kernel& k) = 0;
    virtual std::int64_t room() const = 0;  // bytes of memory

    virtual void prepare() = 0;
    virtual void prepare_outputs() { prepare(); }  // for another run on the same inputs
    // Every element that was written, and all that nobody may change. `more`, if not null, gets what else is to be
    // told: members of a JSON object.
    virtual verdict check(nlohmann::ordered_json* more = nullptr) const = 0;

    // Runs the kernel on the work that was last taken, by the build of it that is for this memory.
    virtual std::function<void()> bind(const kernel& k) const = 0;
    // What the kernels of a ladder are timed beside, on a GPU. The problem was made with memory for it.
    virtual std::function<void()> bind_yardstick() const = 0;
    // Every way in which the library could do the work that was last taken, on this GPU, the one that it chooses first.
    // Empty where it has no choice.
    struct candidate {
        std::string name;
        std::function<void()> run;
    };
    virtual std::vector<candidate> candidates() const { return {}; }
    // How the library does the work that was last taken, on this GPU. Empty where it has no choice.
    virtual std::string choice() const;

    // ---- In host memory
    struct buffer {
        const char* name;
        unsigned char* data;
        std::int64_t bytes, room;
        bool writable;
        bool holds_input;  // before the first launch: else to read what no thread has written is a fault
    };
    virtual std::vector<buffer> buffers() const { return {}; }

    // ---- In the emulator, where workload::has_tiles(): some tiles of what is written. Nobody calls them elsewhere.
    virtual tile tile_of(const emulator::sampled_tile&) const { no_tiles(); }
    virtual void prepare_inputs() {}  // before the first launch: what no tile brings with it
    virtual void prepare(const std::vector<tile>&) { no_tiles(); }
    virtual verdict check(const std::vector<tile>&) const { no_tiles(); }

private:
    [[noreturn]] static void no_tiles();  // throws
};

// Something for an operation to do: its sizes, checked, the type of its elements, and where they come from.
class workload {
public:
    workload(const operation& does, const dtype& type, std::uint64_t seed) : does_(&does), type_(type), seed_(seed) {}
    virtual ~workload() = default;

    const operation& does() const { return *does_; }
    const dtype& type() const { return type_; }
    std::uint64_t seed() const { return seed_; }

    // As operation_facts::sizes names them; lists, all equally long, stand behind each other.
    virtual std::vector<std::int64_t> sizes() const = 0;
    virtual std::int64_t outputs() const = 0;  // elements that are written, and checked
    virtual std::int64_t steps() const = 0;    // elements moved, multiply-adds: what takes the time
    virtual std::int64_t bytes() const = 0;    // that must be read and written
    // What the operation's rate counts, where that kernel does the work.
    virtual double amount(const kernel& k) const = 0;
    // Whether the emulator may run one block of each class, and check the tiles that it wrote.
    virtual bool has_tiles() const { return false; }
    // How many more blocks it runs then, to show that they count as their class does.
    virtual unsigned witnesses() const { return emulator::options{}.witnesses; }

    // Bytes of a GPU's memory for its problem, with or without what the yardstick needs.
    virtual std::int64_t gpu_bytes(const std::vector<const kernel*>& kernels, bool with_yardstick) const = 0;
    // How its operands lie and what else is not as it usually is: members named as operation_facts::layout, {"lda":
    // 70}.
    virtual nlohmann::ordered_json layout() const = 0;
    // The options that give this work, "--rows 5 --cols 7 --source-ld 9 --dtype f32 --seed 3"; or where none do, the
    // work in words.
    virtual std::string options() const;
    // Other work that a kernel must do right before this work counts as verified: nothing in it lies as it usually
    // does. Much of it is small. Drawn from the seed.
    virtual std::vector<std::shared_ptr<const workload>> trials() const = 0;

    // Where operation_facts::shares_memory: --placement N allocates N times as many bytes first.
    virtual std::int64_t aside_bytes() const { return 0; }

    // ---- In a bench
    virtual std::string text() const = 0;  // "8192 x 8192, ld + 1"
    // Those of its operation's classes of shapes that it belongs to: random cells are told by class, too.
    virtual std::vector<std::string> shape_classes() const { return {}; }
    // Adds its members: its sizes, "element_size" where there are several, and "bytes" of what is read and written
    // where it can stay in a host's caches.
    virtual void describe(nlohmann::ordered_json& cell) const = 0;
    virtual std::string cannot_run(const kernel& k) const = 0;  // empty, or why the kernel does not take it
    // Whether every 32-byte sector that it writes is written whole, but for the first and the last of all.
    virtual bool writes_whole_sectors() const { return true; }
    // The same work as all of these kernels can do it, from another seed.
    virtual std::shared_ptr<const workload> among(const std::vector<const kernel*>& kernels,
                                                  std::uint64_t seed) const = 0;

private:
    const operation* does_;
    dtype type_;
    std::uint64_t seed_;
};

using workload_pointer = std::shared_ptr<const workload>;

// ---- The operation --------------------------------------------------------------------------------------------------

// What a rate counts: bytes, or operations of some arithmetic, of which a device does so many a second at most.
struct rate_unit {
    const char *name, *json;           // "GB/s", "bandwidth_gbps"
    const char* arithmetic = nullptr;  // "FP32"; null where it counts bytes
};
inline constexpr const char* kFp32 = "FP32";
inline constexpr rate_unit kBandwidth{"GB/s", "bandwidth_gbps"}, kFp32Rate{"GFLOP/s", "gflops", kFp32};

// What a bench tells of a kernel besides its time, divided by the yardstick's: a number in an object of its JSON.
struct bench_comparison {
    const char *heading, *object, *member;
};

struct operation_facts {
    const char* name;                   // "gemm": of its ladder and its bench
    std::vector<const char*> families;  // of the kernels of its ladder: what their ids begin with
    std::vector<option> sizes;          // "--rows", ...; JSON's keys are called so, without the dashes
    std::vector<option> layout;         // "--source-ld", ...: what else describes its work
    const char* sizes_legend;           // behind the sizes: " (m x n x k)", or ""
    const char* step;                   // "element", "multiply-add"
    int operations_a_step = 0;          // of the arithmetic that its rate counts
    const char* operands;               // "the matrix", "A, B and C"
    rate_unit rate;
    const char* yardstick;          // "memcpy"
    const char* noted_source = "";  // where the notes' rates are from
    // Each element is read once and written once: more sectors than hold them are a waste.
    bool reads_once = false;
    // All kernels of a ladder or a bench are timed in the same memory; --placement takes other memory.
    bool shares_memory = false;

    // ---- Of its bench
    std::vector<int> element_sizes;                 // in bytes; one: a bench has no --sizes
    const char* shape_heading = "shape";            // "m x n x k"
    const char* bench_yardstick = "copy";           // in the heading of its rate
    const char* squares = nullptr;                  // its group of square matrices, from small to large; or null
    std::vector<double> must_reach = {0.90, 0.98};  // of the yardstick's speed
    std::vector<bench_comparison> comparisons = {};
    // Where it has bench_ways(): what they are told apart from, "workspace given".
    const char* usual_way = "";

    bool of_sizes() const { return element_sizes.size() > 1; }
};

// Who is measured in a bench, unless somebody says otherwise.
struct bench_contestants {
    std::string subject, yardstick;  // ids
    std::string peer_family, peers;  // "baseline/", "memcpy,copy"; empty: there are none
    // Ids of copies that write the destination's addresses in ascending order. Where sectors are written in part, the
    // fastest of them is what a random cell is compared with.
    std::vector<std::string> ordered = {};
};

// A way of calling that a bench measures, too: by the wall clock, from a stream where all is done until so many calls
// in a row are. Both kernels are the calls that users write, and take no memory of the problem's but its operands.
struct bench_way {
    const char* name;                // "one call"
    std::string subject, yardstick;  // ids
    int in_a_row = 1;
};

// Of the elements of a cell drawn at random: for a GPU's memory, for its L2 cache in part or wholly, for host memory.
enum class draw_size { large, small, host };

struct bench_cell {
    std::string group;
    workload_pointer work;
};

struct explanation {
    std::string text;
    nlohmann::ordered_json json;
};

class operation {
public:
    explicit operation(operation_facts facts) : facts_(std::move(facts)) {}
    virtual ~operation() = default;
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;

    const operation_facts& facts() const { return facts_; }
    std::string name() const { return facts_.name; }

    // The work that the options of facts().sizes and facts().layout, --dtype and --seed describe; a size that is left
    // out is as another one, or `standard`. Throws invalid_argument.
    virtual workload_pointer read(const arguments& given, std::int64_t standard) const = 0;

    // A problem of the first work, for these kernels; with memory for the yardstick of a ladder. Where
    // facts().shares_memory it has room for all of the work, else that is one. Throws error where there is no memory.
    virtual std::unique_ptr<problem> make(backend on, const std::vector<const workload*>& work,
                                          const std::vector<const kernel*>& kernels, bool with_yardstick) const = 0;

    // Whether a kernel can run on its work: its own can.
    virtual bool accepts(const kernel& k) const { return k.does == this; }
    // Whether a kernel that it accepts is no peer of those that do the work, but an upper bound on their speed.
    virtual bool is_ceiling(const kernel&) const { return false; }

    // ---- Which kernel would be chosen, and why
    virtual std::vector<option> explain_options() const { return {}; }
    // Throws invalid_argument where there is no choice.
    virtual explanation explain(const arguments& given) const;

    // ---- Its bench
    virtual std::vector<std::string> bench_groups() const { return {}; }
    virtual std::vector<bench_cell> bench_grid(const std::vector<int>& element_sizes,
                                               const std::vector<std::string>& groups) const;
    // Whether a group is measured where none are named: one that is made for the caches is not.
    virtual bool is_usual_group(const std::string&) const { return true; }
    // So many cells drawn at random, whose groups are the kinds of a draw. Throws invalid_argument where it has none.
    virtual std::vector<bench_cell> bench_draws(int count, std::uint64_t seed, draw_size size) const;
    // Nobody where it is not measured there.
    virtual bench_contestants contestants(backend) const { return {}; }
    virtual std::vector<bench_way> bench_ways(backend) const { return {}; }
    // What a stored cell is called where those of all element sizes stand in one row: cells of one name are one row.
    virtual std::string bench_row(const std::string& group, const std::string& text,
                                  const std::vector<std::int64_t>& sizes) const;
    // What its ratios are to, in words.
    virtual std::string yardstick_text(backend on) const = 0;

    // ---- Of stored results, where sizes are all that is known
    virtual std::string text_of(const std::vector<std::int64_t>& sizes) const;  // "4096 x 4096"
    virtual double steps(const std::vector<std::int64_t>& sizes) const;
    virtual double operand_bytes(const std::vector<std::int64_t>& sizes, int element_size) const = 0;  // of all
    double operations_per_byte(const std::vector<std::int64_t>& sizes, int element_size) const;

private:
    operation_facts facts_;
};

// Those that have kernels in this program, in the kernels' order. Throws invalid_argument that names them all.
std::vector<const operation*> operations();
std::string operation_names();  // "transpose, gemm"
const operation& find_operation(const std::string& name);
// That of the kernel of this id; or where this program has no such kernel, that of all of its family; null where there
// are none, or where they are of several.
const operation* operation_of_kernel(const std::string& id);

// Runs a kernel as a step of another one's: in the emulator all of its blocks, and the other one's grid is told.
void run_as_step(const std::function<void()>& work);

// JSON's key for an option: "source_ld" of --source-ld. And back.
std::string key_of(const option& size);
std::string option_of_key(const std::string& key);
// ", source-ld 1027, source-offset 3" of a workload's layout().
std::string layout_text(const nlohmann::ordered_json& layout);
// Members of a JSON object, one for each of the operation's sizes: numbers, or lists of them.
nlohmann::ordered_json sizes_json(const operation& does, const std::vector<std::int64_t>& sizes);
// "4096 x 4096"
std::string sizes_text(const std::vector<std::int64_t>& sizes);
// "--m, --n and --k"
std::string options_text(const std::vector<option>& options);

}  // namespace cornerturn
