// Running kernels without a GPU: what memory they may touch, how much of a launch runs, and what was counted.
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
    race,                 // two threads, one of them writing, on the same bytes with nothing that orders them
    uninitialised_read,   // shared memory that no thread of the block has written, or an output that no thread has
    divergent_barrier,    // a barrier that not all of its threads reach
    out_of_bounds,        // an access outside every buffer, or outside the kernel's own shared and local arrays
    misaligned,           // an address that is not a multiple of the access's width
    read_only,            // a write to a buffer that the kernel may only read
    stack_overflow,       // local variables larger than the emulated thread's stack
    unsupported_access,   // one that no single machine instruction makes, such as a copy of 12 bytes
    division,             // an integer by zero; or the most negative one by -1, which a GPU divides
    unsupported_feature,  // of CUDA, that the emulator lacks
    assertion,            // assert()
    trap,                 // __trap(), or an instruction that there is not
    endless_loop          // a block that takes longer than the options allow, or fills the memory with its accesses
};

class hazard : public error {
public:
    hazard(hazard_kind kind, const std::string& message) : error(message), kind_(kind) {}
    hazard_kind kind() const { return kind_; }

private:
    hazard_kind kind_;
};

// One tile that was simulated: its operands' addresses and its valid extent in elements.
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

// What one warp of a launch's first tile did at one site in the code: each lane's access, and what they cost together.
struct watched_access {
    std::string file;
    int line = 0;
    std::string memory;  // the buffer or the shared array
    bool shared = false;
    direction op = kLoad;
    std::size_t times = 1;     // more: of a long loop the later ones at this site are only counted
    unsigned width = 0;        // bytes
    std::uint32_t active = 0;  // lanes
    // Of each active lane, in bytes: from the buffer's first byte, or within a block's shared memory.
    std::array<std::int64_t, kWarpSize> offsets{};
    lane_groups groups{};                           // that shared memory serves one after the other
    unsigned sectors = 0;                           // of global memory
    unsigned wavefronts = 0, least_wavefronts = 0;  // of shared memory
};

// A hazard that the kernel went on from.
struct found_hazard {
    hazard_kind kind;
    std::string message;  // of the first
    std::uint64_t times = 1;
    std::uintptr_t where = 0;  // the return address of the access, or of the barrier
};

struct report {
    std::uint64_t launches = 0;
    extent3 grid{0, 0, 0}, block{0, 0, 0};  // of the first launch
    counters counts;
    std::vector<line_counters> lines;     // by file and line; filled where options::lines is set
    std::uint64_t blocks = 0;             // in the launches
    std::uint64_t blocks_run = 0;         // simulated; fewer where classes stood for the rest
    std::uint64_t classes = 0;            // of blocks, where they did
    std::uint64_t accesses = 0;           // memory accesses simulated, a lane at a time
    double seconds = 0;                   // that the launches took here
    std::vector<found_hazard> hazards;    // where options::keep_going is set
    std::vector<watched_access> watched;  // in the order of execution; filled where options::watch is set
};

inline constexpr std::size_t kMaxShared = 227 << 10;        // bytes that a block can have on Hopper
inline constexpr std::size_t kKernelStackBytes = 14 << 10;  // that a thread has for its local variables

// Global memory, or constant memory, of a kernel's.
struct found_memory {
    std::string name;
    std::uintptr_t begin;
    std::size_t bytes;
    bool constant = false;
    bool changes_hands = false;  // within a launch, as what kernels allocate: races in it are not searched
};

// How far launches are, for whoever watches from another thread.
struct block_progress {
    std::atomic<std::uint64_t> done{0}, of{0};

    void restart() { done = of = 0; }
};

struct options {
    bool every_block = true;  // false: one block of each class, and random witnesses
    // Of launches that name no tiles, too: what blocks do is guessed to depend on whether they are the first or the
    // last along each axis, or lie on the diagonal. Where witnesses count differently, or blocks may see what others
    // do, every block runs after all.
    bool guess_classes = false;
    bool lines = false;                     // keep counters for each source line
    unsigned workers = 0;                   // threads; 0: one a core
    std::uint64_t seed = 1;                 // draws the witnesses
    unsigned witnesses = 16;                // random blocks a launch that must count as their class does
    bool watch = false;                     // keep the accesses of warp 0 of the first launch's first tile
    std::size_t shared_bytes = kMaxShared;  // that a block can have: fewer, for a GPU that has less
    double block_seconds = 0;               // that a block may take; 0: as long as it likes
    // Races, reads of what nobody has written, divergent barriers and divisions by zero are kept in the report, and the
    // kernel goes on as on the GPU. What the GPU has no single instruction for is taken apart.
    bool keep_going = false;
    bool prints_to_output = false;                // what kernels print goes to standard output, not error
    std::size_t stack_bytes = kKernelStackBytes;  // of a thread's local variables
    // The calling OS thread's memory for a block's dynamic shared memory, kMaxShared bytes; null: of the emulator's
    // own.
    void* (*dynamic_shared)() = nullptr;
    // Asked for memory that no buffer holds, when a kernel comes to it.
    std::optional<found_memory> (*find_memory)(std::uintptr_t address) = nullptr;
    // Races in global memory are searched, too. One search serves many emulations, but not at the same time. Null:
    // none.
    race_search* races = nullptr;
    // Asked for words about an address that is not near any memory that the kernel has touched.
    std::string (*describe_stray)(std::uintptr_t address) = nullptr;
    // Gets the blocks of each launch when it begins, and those that are done, some at a time. Null: nobody watches.
    block_progress* progress = nullptr;
};

// While an emulation is alive, launches made by the thread that created it run in it and add to its report.
// Not copyable; one a thread at a time.
class emulation {
public:
    explicit emulation(const options& options = {});
    ~emulation();
    emulation(const emulation&) = delete;
    emulation& operator=(const emulation&) = delete;

    // Makes [data, data + bytes) global memory that kernels may read, and write if `writable`. `name` is used in
    // errors.
    void add_buffer(std::string name, const void* data, std::size_t bytes, bool writable);
    // The same of memory that kernels may write, and that holds nothing before the first launch: to read what no thread
    // has written is a hazard. It is known by elements, of which each counts as written once any byte of it is.
    void add_output(std::string name, const void* data, std::size_t bytes, int element_bytes);

    // Called before a launch that runs only classes, with the tiles that it will touch.
    void on_sample(std::function<void(std::span<const sampled_tile>)> callback);

    const emulator::report& report() const { return report_; }

private:
    friend void launch(const launch_config&, kernel_entry, const void*);

    struct buffer {
        std::string name;
        std::uintptr_t begin;
        std::size_t bytes;
        bool writable;
        std::unique_ptr<written_elements> written;  // null where all of it holds something
    };

    friend class worker;
    friend class launch_run;

    emulator::options options_;
    std::vector<buffer> buffers_;
    std::function<void(std::span<const sampled_tile>)> on_sample_;
    emulator::report report_;
};

}  // namespace cornerturn::emulator
