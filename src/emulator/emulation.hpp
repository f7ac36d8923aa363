// Runs kernels without a GPU: the memory that they may access, the part of a launch that runs, and the counters.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cornerturn/error.hpp"
#include "emulator/counters.hpp"
#include "emulator/launch.hpp"
#include "emulator/written.hpp"

namespace cornerturn::emulator {

class race_search;

// A rule of the machine that a kernel broke.
enum class hazard_kind {
    race,                 // two threads access the same bytes, one of them writes, and nothing orders them
    uninitialised_read,   // a read of shared memory that its block has not written, or of an unwritten output element
    divergent_barrier,    // a barrier that not all of its threads reach
    out_of_bounds,        // an access outside every buffer, or outside the kernel's own shared and local arrays
    misaligned,           // an address that is not a multiple of the access's width
    read_only,            // a write to a buffer that the kernel may only read
    stack_overflow,       // local variables larger than the emulated thread's stack
    unsupported_access,   // an access that needs several machine instructions, such as a copy of 12 bytes
    division,             // of an integer by zero; or of the most negative integer by -1, which is valid on a GPU
    unsupported_feature,  // a feature of CUDA that the emulator does not support
    assertion,            // assert()
    trap,                 // __trap(), or an illegal instruction
    endless_loop          // a block that takes longer than the options allow, or fills the memory with its accesses
};

class hazard : public error {
public:
    hazard(hazard_kind kind, const std::string& message) : error(message), kind_(kind) {}
    hazard_kind kind() const { return kind_; }

private:
    hazard_kind kind_;
};

// One tile of a block that runs in place of its class, or as a witness: its operands' addresses and its valid extent in
// elements.
struct sampled_tile {
    const void* operands[kMaxOperands];
    std::int64_t rows, cols, depth;
};

struct line_counters {
    std::string file;
    int line = 0;
    std::string path;  // of the file, as compiled
    counters counts;
};

// The accesses of one warp of a launch's first tile at one site in the code: each lane's offset, and the cost.
struct watched_access {
    std::string file;
    int line = 0;
    std::string memory;  // the buffer or the shared array
    bool shared = false;
    direction op = kLoad;
    std::size_t times = 1;     // more than 1: later accesses of a long loop at this site are only counted
    unsigned width = 0;        // bytes
    std::uint32_t active = 0;  // lanes
    // The offset of each active lane in bytes: from the buffer's first byte, or within the block's shared memory.
    std::array<std::int64_t, kWarpSize> offsets{};
    lane_groups groups{};                           // shared memory serves them one after the other
    unsigned sectors = 0;                           // of global memory
    unsigned wavefronts = 0, least_wavefronts = 0;  // of shared memory
};

// A hazard after which the kernel went on.
struct found_hazard {
    hazard_kind kind;
    std::string message;  // of its first occurrence
    std::uint64_t times = 1;
    std::uintptr_t return_address = 0;  // of the access, or of the barrier
};

struct report {
    std::uint64_t launches = 0;
    extent3 grid{0, 0, 0}, block{0, 0, 0};  // of the first launch
    counters counts;
    std::vector<line_counters> lines;     // sorted by file and line; filled if options::lines is set
    std::uint64_t blocks = 0;             // blocks of all launches
    std::uint64_t blocks_run = 0;         // blocks that ran: fewer if one block represented its class
    std::uint64_t classes = 0;            // classes of blocks, in that case
    std::uint64_t accesses = 0;           // memory accesses of single lanes, in the blocks that ran
    double seconds = 0;                   // time that the launches took
    std::vector<found_hazard> hazards;    // filled if options::keep_going is set
    std::vector<watched_access> watched;  // in the order of execution; filled if options::watch is set
};

inline constexpr std::size_t kMaxShared = 227 << 10;        // the most shared memory of a block on Hopper
inline constexpr std::size_t kKernelStackBytes = 14 << 10;  // a thread's stack for local variables

// Global or constant memory that a kernel may access.
struct found_memory {
    std::string name;
    std::uintptr_t begin;
    std::size_t bytes;
    bool constant = false;
    bool changes_hands = false;  // within a launch, such as memory that kernels allocate: not searched for races
};

// The progress of launches, for another thread to read.
struct block_progress {
    std::atomic<std::uint64_t> done{0}, of{0};

    void restart() { done = of = 0; }
};

struct options {
    bool every_block = true;  // false: one block of each class, and random witnesses
    // Classes are guessed for launches without a tiling: a block's class is whether it is the first or the last along
    // each axis, and whether it lies on the diagonal. If a witness has other counters than its class, or if blocks may
    // observe one another, every block runs after all.
    bool guess_classes = false;
    bool lines = false;                     // keep counters for each source line
    unsigned workers = 0;                   // OS threads; 0: one for each core
    std::uint64_t seed = 1;                 // of the random choice of witnesses
    unsigned witnesses = 16;                // random blocks of a launch; their counters must equal those of their class
    bool watch = false;                     // keep the accesses of warp 0 of the first launch's first tile
    std::size_t shared_bytes = kMaxShared;  // the most of a block; less for a smaller GPU
    double block_seconds = 0;               // time limit of a block; 0: none
    // Races, reads of unwritten memory, divergent barriers and divisions by zero are kept in the report, and the kernel
    // goes on as on the GPU. An access that needs several instructions on the GPU is split into them.
    bool keep_going = false;
    bool prints_to_output = false;                // kernels print to standard output, not to standard error
    std::size_t stack_bytes = kKernelStackBytes;  // of a thread's local variables
    // The calling OS thread's memory for a block's dynamic shared memory: kMaxShared bytes. Null: the emulator's own.
    void* (*dynamic_shared)() = nullptr;
    // Returns the memory at an address outside all buffers, when a kernel accesses it.
    std::optional<found_memory> (*find_memory)(std::uintptr_t address) = nullptr;
    // Global memory is searched for races, too. One search serves many emulations, but not at the same time. Null: no
    // search.
    race_search* races = nullptr;
    // Describes an address, for a message, if it is not near any memory that the kernel has accessed.
    std::string (*describe_stray)(std::uintptr_t address) = nullptr;
    // Receives the number of blocks when a launch begins, and the number of finished blocks now and then. Null: not
    // needed.
    block_progress* progress = nullptr;
};

// While an emulation is alive, launches made by the thread that created it run in it and add to its report. A thread
// can have one at a time. Not copyable.
class emulation {
public:
    explicit emulation(const options& options = {});
    ~emulation();
    emulation(const emulation&) = delete;
    emulation& operator=(const emulation&) = delete;

    // Makes [data, data + bytes) global memory that kernels may read, and write if `writable`. `name` is used in
    // errors.
    void add_buffer(std::string name, const void* data, std::size_t bytes, bool writable);
    // Adds writable global memory that has no value before the first launch: a read of an unwritten element is a
    // hazard. An element counts as written once any byte of it is.
    void add_output(std::string name, const void* data, std::size_t bytes, int element_bytes);

    // `callback` is called before a launch that runs one block of each class, with the tiles that the launch will
    // access.
    void on_sample(std::function<void(std::span<const sampled_tile>)> callback);

    const emulator::report& report() const { return report_; }

private:
    friend void launch(const launch_config&, kernel_entry, const void*);

    struct buffer {
        std::string name;
        std::uintptr_t begin;
        std::size_t bytes;
        bool writable;
        std::unique_ptr<written_elements> written;  // null if the whole buffer has a value
    };

    friend class worker;
    friend class launch_run;

    emulator::options options_;
    std::vector<buffer> buffers_;
    std::function<void(std::span<const sampled_tile>)> on_sample_;
    emulator::report report_;
};

}  // namespace cornerturn::emulator
