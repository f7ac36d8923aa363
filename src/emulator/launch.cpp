// A launch: runs every block, or one block of each class with random witnesses, on all cores.
#include "emulator/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <exception>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "core/parallel.hpp"
#include "emulator/block_classes.hpp"
#include "emulator/cooperative.hpp"
#include "emulator/emulation.hpp"
#include "emulator/interrupts.hpp"
#include "emulator/worker.hpp"

namespace cornerturn::emulator {
namespace {

thread_local emulation* active_emulation = nullptr;
thread_local int preparations = 0;  // the preparation_scopes that exist

unsigned cores() { return std::max(1u, std::thread::hardware_concurrency()); }

// Keeps workers for later launches, because each has 17 MiB of stacks. It keeps at most one for each core: a
// cooperative launch has one for each block.
class worker_pool {
public:
    static worker_pool& instance() {
        static auto* const pool = new worker_pool;  // never destroyed: destructors of global objects launch kernels
        return *pool;
    }
    std::unique_ptr<worker> take() {
        std::lock_guard lock(mutex_);
        if (idle_.empty()) return std::make_unique<worker>();
        auto result = std::move(idle_.back());
        idle_.pop_back();
        return result;
    }
    void give_back(std::unique_ptr<worker> w) {
        std::lock_guard lock(mutex_);
        if (idle_.size() < cores()) idle_.push_back(std::move(w));
    }

private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<worker>> idle_;
};

std::string to_string(extent3 e) { return fmt::format("{} x {} x {}", e.x, e.y, e.z); }

// Checks CUDA's limits. On a GPU, a launch beyond them fails, too.
void check(const launch_config& config, std::size_t shared_bytes) {
    const extent3 b = config.block, g = config.grid;
    const std::uint64_t threads = std::uint64_t{b.x} * b.y * b.z;
    if (b.x > 1024 || b.y > 1024 || b.z > 64 || threads == 0 || threads > kMaxThreads) {
        throw invalid_argument("a block of " + to_string(b) + " threads: CUDA allows 1 to 1024, at most 64 along z");
    }
    if (g.x == 0 || g.y == 0 || g.z == 0 || g.x > 0x7fffffffu || g.y > 65535 || g.z > 65535) {
        throw invalid_argument("a grid of " + to_string(g) +
                               " blocks: CUDA allows 1 to 2147483647 along x, 1 to 65535 along y and z");
    }
    std::size_t shared = 0;
    for (const shared_variable& variable : shared_variables_of(config.kernel)) shared += variable.bytes;
    if (shared > kMaxStaticShared) {
        throw invalid_argument(
            fmt::format("{} bytes of static shared memory: CUDA allows at most {}", shared, kMaxStaticShared));
    }
    if (shared + config.dynamic_shared_bytes > shared_bytes) {
        throw invalid_argument(fmt::format("{} bytes of shared memory, {} of them dynamic: a block can have at most {}",
                                           shared + config.dynamic_shared_bytes, config.dynamic_shared_bytes,
                                           shared_bytes));
    }
}

// Adds the seconds of its lifetime to a sum.
class stopwatch {
public:
    explicit stopwatch(double& sum) : sum_(sum) {}
    ~stopwatch() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count(); }
    stopwatch(const stopwatch&) = delete;
    stopwatch& operator=(const stopwatch&) = delete;

private:
    double& sum_;
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace

// One launch in an emulation.
class launch_run {
public:
    launch_run(emulation& emulation, const launch_config& config, kernel_entry entry, const void* arguments)
        : emulation_(emulation), config_(config), entry_(entry), arguments_(arguments) {}

    void operator()() {
        const std::uint64_t blocks = std::uint64_t{config_.grid.x} * config_.grid.y * config_.grid.z;
        report& report = emulation_.report_;
        if (preparations == 0 && report.launches++ == 0) {
            report.grid = config_.grid;
            report.block = config_.block;
        }
        watching_ =
            emulation_.options_.watch && preparations == 0 && report.launches == 1;  // `preparations` is thread-local
        report.blocks += blocks;
        if (emulation_.options_.races != nullptr) emulation_.options_.races->begin_launch();
        if (config_.cooperative) {
            run_cooperative(blocks);
        } else if (emulation_.options_.every_block || preparations > 0) {
            run_all(blocks);
        } else if (config_.tiles != nullptr) {
            run_classes(blocks);
        } else if (emulation_.options_.guess_classes) {
            run_guessed_classes(blocks);
        } else {
            throw unsupported(
                fmt::format("{}: its launch has no tiling, so no block can represent others: run every block (--full)",
                            function_name(config_.kernel)));
        }
    }

private:
    using counts = std::vector<worker::site_counts>;

    static counts nonzero_in_order(counts sites) {
        std::erase_if(sites, [](const auto& site) { return site.counts == counters{}; });
        std::sort(sites.begin(), sites.end(),
                  [](const auto& a, const auto& b) { return a.return_address < b.return_address; });
        return sites;
    }

    // The number of OS threads for this number of blocks.
    std::uint64_t workers_for(std::uint64_t blocks) const {
        const std::uint64_t threads = std::uint64_t{config_.block.x} * config_.block.y * config_.block.z;
        std::uint64_t most = emulation_.options_.workers > 0 ? emulation_.options_.workers : cores();
        if (emulation_.options_.races != nullptr) most = std::min<std::uint64_t>(most, global_touch::kMaxWorkers);
        constexpr std::uint64_t kWorthAThread =
            1 << 14;  // emulated threads, which take about as long as an OS thread's start
        return std::clamp<std::uint64_t>(blocks * threads / kWorthAThread, 1, std::min(most, blocks));
    }

    // `is_concurrent`: other workers run blocks at the same time.
    std::unique_ptr<worker> begin_worker(bool is_concurrent) {
        std::unique_ptr<worker> self = worker_pool::instance().take();
        self->begin(config_, entry_, arguments_, emulation_, begun_++, is_concurrent);
        return self;
    }

    // Adds the worker's counters to the report, which `mutex` guards.
    void end_worker(std::unique_ptr<worker> self, std::mutex& mutex) {
        self->end();
        {
            std::lock_guard lock(mutex);
            add(nonzero_in_order(self->take_counts()), 1);
            emulation_.report_.accesses += self->accesses();
            communicates_ |= self->communicates();
            self->take_hazards(emulation_.report_.hazards);
        }
        worker_pool::instance().give_back(std::move(self));
    }

    // Calls body(worker, index, end) for parts of 0 <= index < count, on all cores. The body moves index to end; if it
    // throws, index is the block that failed. Throws the error of the lowest block.
    template <class Body>
    void for_each_block(std::uint64_t count, Body body) {
        const std::uint64_t workers = workers_for(count);
        const std::uint64_t chunk = std::clamp<std::uint64_t>(count / (workers * 16), 1, 4096);

        block_progress* const progress = emulation_.options_.progress;
        if (progress != nullptr) progress->of += count;
        std::atomic<std::uint64_t> next{0}, failed_at{count};
        std::mutex mutex;  // guards error, and the emulation's report
        std::exception_ptr error;
        const auto fail = [&](std::uint64_t at) {
            std::lock_guard lock(mutex);
            if (error && at >= failed_at) return;
            failed_at = at;
            error = std::current_exception();
        };
        const auto work = [&] {
            try {
                std::unique_ptr<worker> self = begin_worker(workers > 1);
                try {
                    const signal_scope kernels(*self, emulation_.options_.block_seconds);
                    for (std::uint64_t index; (index = next.fetch_add(chunk)) < failed_at;) {
                        try {
                            const std::uint64_t begin = index, end = std::min(begin + chunk, count);
                            body(*self, index, end);
                            if (progress != nullptr) progress->done += end - begin;
                        } catch (...) {
                            fail(index);
                        }
                    }
                } catch (...) {  // no timer was created
                    fail(0);
                }
                end_worker(std::move(self), mutex);
            } catch (...) {  // for example, no memory for a worker
                fail(0);
            }
        };
        {
            const auto others = start_threads(static_cast<std::int64_t>(workers) - 1, [&](std::int64_t) { work(); });
            work();
        }
        if (error) std::rethrow_exception(error);
        emulation_.report_.blocks_run += count;
    }

    void run_all(std::uint64_t blocks) {
        for_each_block(blocks, [&](worker& w, std::uint64_t& i, std::uint64_t end) {
            if (i == 0) i += watch(w, 0);
            w.run_blocks(i, end);
        });
    }

    void run_cooperative(std::uint64_t blocks) {
        std::mutex mutex;
        const std::uint64_t workers = workers_for(blocks);
        run_together(
            blocks, workers, emulation_.options_.block_seconds, [&] { return begin_worker(workers > 1); },
            [&](std::unique_ptr<worker> self) { end_worker(std::move(self), mutex); });
        emulation_.report_.blocks_run += blocks;
    }

    // If this launch is watched, runs the block and keeps its accesses. Returns how many blocks it ran.
    unsigned watch(worker& w, std::uint64_t block) {
        report& report = emulation_.report_;
        if (!watching_) return 0;
        report.watched = w.watch_block(block);
        return 1;
    }

    // Runs one block of each class and some random witnesses. The block's counters then count for its whole class.
    void run_classes(std::uint64_t blocks) {
        const tiling& tiles = *config_.tiles;
        const std::int64_t rows = tiles_along(tiles.rows, tiles.tile_rows),
                           cols = tiles_along(tiles.cols, tiles.tile_cols), matrices = matrices_of(tiles);
        if (static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) *
                static_cast<std::uint64_t>(matrices) !=
            blocks) {
            throw invalid_argument(
                fmt::format("{}: a grid of {} blocks, but a tiling with {} matrices of {} x {} tiles",
                            function_name(config_.kernel), to_string(config_.grid), matrices, rows, cols));
        }
        const std::map<class_key, block_class> classes = classes_of(tiles);
        struct sample {
            tile_index tile;
            extent3 block;
            const class_key* key;
            std::uint64_t stands_for;  // 0: a witness
        };
        std::vector<sample> samples;
        const auto take = [&](tile_index tile, const class_key* key, std::uint64_t stands_for) {
            if (tiles.tile_of == nullptr) {
                const auto number = static_cast<unsigned>(tile.col + cols * (tile.row + rows * tile.outer));
                samples.push_back({tile, extent3{number, 0, 0}, key, stands_for});
                return;
            }
            const extent3 block = tiles.block_of(tile, config_.grid);
            const tile_index back = tiles.tile_of(block, config_.grid);
            if (back.row != tile.row || back.col != tile.col || back.outer != tile.outer) {
                throw invalid_argument(fmt::format("{}: block_of is not the inverse of tile_of at tile ({}, {})",
                                                   function_name(config_.kernel), tile.row, tile.col));
            }
            samples.push_back({tile, block, key, stands_for});
        };
        // No block runs twice: it may change its input.
        const auto taken = [&](tile_index tile) {
            return std::find_if(samples.begin(), samples.end(), [&](const sample& s) {
                return s.tile.row == tile.row && s.tile.col == tile.col && s.tile.outer == tile.outer;
            });
        };
        for (const auto& [key, found] : classes) take(found.representative, &key, found.count);
        std::mt19937_64 random(emulation_.options_.seed);
        for (unsigned i = 0; i < emulation_.options_.witnesses; ++i) {
            const tile_index tile{std::uniform_int_distribution<std::int64_t>(0, rows - 1)(random),
                                  std::uniform_int_distribution<std::int64_t>(0, cols - 1)(random),
                                  std::uniform_int_distribution<std::int64_t>(0, matrices - 1)(random)};
            if (taken(tile) == samples.end()) take(tile, key_of(classes, tile), 0);
        }
        if (emulation_.options_.watch) {  // the first tile's block runs last
            if (const auto first = taken({0, 0}); first != samples.end())
                std::rotate(first, first + 1, samples.end());
            else
                take({0, 0}, key_of(classes, {0, 0}), 0);
        }
        if (emulation_.on_sample_) {
            std::vector<sampled_tile> touched;
            for (const sample& s : samples) touched.push_back(footprint(s.tile));
            emulation_.on_sample_(touched);
        }
        std::vector<counts> counted(samples.size());
        for_each_block(samples.size(), [&](worker& w, std::uint64_t& i, std::uint64_t end) {
            for (; i < end; ++i) {
                std::uint64_t block = index_of(samples[i].block, config_.grid);
                if (i + 1 < samples.size() || watch(w, block) == 0) w.run_blocks(block, block + 1);
                counted[i] = nonzero_in_order(w.take_counts());
            }
        });
        std::map<const class_key*, std::size_t> representative;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            if (samples[i].stands_for == 0) continue;
            representative[samples[i].key] = i;
            add(counted[i], samples[i].stands_for);
        }
        for (std::size_t i = 0; i < samples.size(); ++i) {
            if (samples[i].stands_for == 0 && counted[i] != counted[representative.at(samples[i].key)]) {
                const extent3 a = samples[i].block, b = samples[representative.at(samples[i].key)].block;
                throw unsupported(fmt::format(
                    "{}: the counters of block ({}, {}) differ from those of block ({}, {}) of the same class: "
                    "run every block (--full)",
                    function_name(config_.kernel), a.x, a.y, b.x, b.y));
            }
        }
        emulation_.report_.classes += classes.size();
    }

    // A block's position along each axis (first, last or between), and whether its first two indices are equal.
    using grid_position = std::array<std::uint8_t, 4>;
    grid_position position_of(std::uint64_t index) const {
        const extent3 at = block_at(index, config_.grid), grid = config_.grid;
        const auto along = [](unsigned i, unsigned count) { return std::uint8_t(i == 0 ? 0 : i + 1 == count ? 2 : 1); };
        return {along(at.x, grid.x), along(at.y, grid.y), along(at.z, grid.z), std::uint8_t(at.x == at.y)};
    }

    // As run_classes(), for a launch without a tiling.
    void run_guessed_classes(std::uint64_t blocks) {
        constexpr std::uint64_t kOneWitnessIn = 64, kFewestWitnesses = 32;
        const std::uint64_t witnesses = std::max(blocks / kOneWitnessIn, kFewestWitnesses);
        if (blocks < 4 * witnesses) return run_all(blocks);
        // By position: the first block, and the number of blocks.
        std::map<grid_position, std::pair<std::uint64_t, std::uint64_t>> classes;
        for (std::uint64_t i = 0; i < blocks; ++i) ++classes.try_emplace(position_of(i), i, 0).first->second.second;
        std::vector<std::uint64_t> chosen;
        for (const auto& [position, found] : classes) chosen.push_back(found.first);
        std::mt19937_64 random(emulation_.options_.seed);
        for (std::uint64_t i = 0; i < witnesses; ++i) chosen.push_back(random() % blocks);
        std::sort(chosen.begin(), chosen.end());
        chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());

        std::vector<counts> counted(chosen.size());
        const auto run = [&](std::size_t first, std::size_t count) {
            for_each_block(count, [&](worker& w, std::uint64_t& i, std::uint64_t end) {
                for (; i < end; ++i) {
                    std::uint64_t block = chosen[first + i];
                    w.run_blocks(block, block + 1);
                    counted[first + i] = nonzero_in_order(w.take_counts());
                }
            });
        };
        // The grid's first block runs alone. If others may wait for what it does, the blocks have to run in order.
        run(0, 1);
        if (communicates_)
            chosen.resize(1);
        else
            run(1, chosen.size() - 1);
        std::map<grid_position, const counts*> of_class;
        bool alike = !communicates_;
        for (std::size_t i = 0; i < chosen.size(); ++i)
            alike &= *of_class.try_emplace(position_of(chosen[i]), &counted[i]).first->second == counted[i];
        if (alike) {
            for (const auto& [position, found] : classes) add(*of_class.at(position), found.second);
            emulation_.report_.classes += classes.size();
            return;
        }
        for (std::size_t i = 0; i < chosen.size(); ++i) add(counted[i], 1);
        std::vector<std::uint64_t> rest;
        for (std::uint64_t i = 0; i < blocks; ++i)
            if (!std::binary_search(chosen.begin(), chosen.end(), i)) rest.push_back(i);
        for_each_block(rest.size(), [&](worker& w, std::uint64_t& i, std::uint64_t end) {
            for (; i < end; ++i) {
                std::uint64_t block = rest[i];
                w.run_blocks(block, block + 1);
            }
        });
    }

    const class_key* key_of(const std::map<class_key, block_class>& classes, tile_index tile) const {
        const tiling& tiles = *config_.tiles;
        const sampled_tile at = footprint(tile);
        class_key key;
        for (int i = 0; i < tiles.operand_count; ++i)
            key.shift[i] = reinterpret_cast<std::uintptr_t>(at.operands[i]) % kSectorBytes;
        key.rows = at.rows;
        key.cols = at.cols;
        return &classes.find(key)->first;
    }

    sampled_tile footprint(tile_index tile) const {
        const tiling& tiles = *config_.tiles;
        sampled_tile result{};
        for (int i = 0; i < tiles.operand_count; ++i) {
            const operand& o = tiles.operands[i];
            std::int64_t offset = tile.row * o.row_pitch + tile.col * o.col_pitch, rest = tile.outer;
            for (int axis = 0; axis < tiles.outer_count; ++axis) {
                const outer_axis& a = tiles.outer[axis];
                offset += rest % a.extent * a.pitches[i];
                rest /= a.extent;
            }
            result.operands[i] = static_cast<const char*>(o.base) + offset;
        }
        result.depth = tiles.depth;
        result.rows = std::min(tiles.tile_rows, tiles.rows - tile.row * tiles.tile_rows);
        result.cols = std::min(tiles.tile_cols, tiles.cols - tile.col * tiles.tile_cols);
        return result;
    }

    void add(const counts& sites, std::uint64_t times) {
        report& report = emulation_.report_;
        for (const auto& site : sites) {
            report.counts.add(site.counts, times);
            if (!emulation_.options_.lines) continue;
            const source_line line = line_of(site.return_address);
            const auto less = [](const line_counters& a, const line_counters& b) {
                return std::tie(a.file, a.line) < std::tie(b.file, b.line);
            };
            const line_counters wanted{line.file, line.line, line.path, {}};
            auto found = std::lower_bound(report.lines.begin(), report.lines.end(), wanted, less);
            if (found == report.lines.end() || less(wanted, *found)) found = report.lines.insert(found, wanted);
            found->counts.add(site.counts, times);
        }
    }

    emulation& emulation_;
    const launch_config& config_;
    kernel_entry entry_;
    const void* arguments_;
    bool watching_ = false;
    bool communicates_ = false;       // blocks may observe one another
    std::atomic<unsigned> begun_{0};  // workers
};

void launch(const launch_config& config, kernel_entry entry, const void* arguments) {
    if (active_emulation == nullptr)
        throw invalid_argument("a kernel was launched on the emulator, but no emulation is active on this thread");
    check(config, active_emulation->options_.shared_bytes);
    const stopwatch measured(active_emulation->report_.seconds);
    launch_run(*active_emulation, config, entry, arguments)();
}

preparation_scope::preparation_scope() { ++preparations; }
preparation_scope::~preparation_scope() { --preparations; }

emulation::emulation(const options& options) : options_(options) {
    if (active_emulation != nullptr) throw invalid_argument("this thread already has an emulation");
    active_emulation = this;
}

emulation::~emulation() { active_emulation = nullptr; }

void emulation::add_buffer(std::string name, const void* data, std::size_t bytes, bool writable) {
    buffers_.push_back({std::move(name), reinterpret_cast<std::uintptr_t>(data), bytes, writable, nullptr});
}

void emulation::add_output(std::string name, const void* data, std::size_t bytes, int element_bytes) {
    add_buffer(std::move(name), data, bytes, true);
    buffer& added = buffers_.back();
    const auto alignment = static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(element_bytes)));
    added.written = std::make_unique<written_elements>(added.begin, bytes, alignment);
}

void emulation::on_sample(std::function<void(std::span<const sampled_tile>)> callback) {
    on_sample_ = std::move(callback);
}

}  // namespace cornerturn::emulator
