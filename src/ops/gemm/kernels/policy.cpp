#include "ops/gemm/kernels/policy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "cornerturn/error.hpp"

namespace cornerturn::products {
namespace {

// Fitted together with the costs of the kernels (tunings.hpp).
constexpr double kFirstUs = 4.08;  // until the first block computes, and after the end of the last
constexpr double kPackUs = 2.77, kPackedFloats = 344365;      // to begin to pack an operand; floats in a microsecond
constexpr double kGatherUs = 2.93, kGatheredFloats = 386030;  // of parts, which must also be written
constexpr double kAllocateUs = 3;                             // to get a workspace and give it back
constexpr double kLastWave = 0.654;  // the cost of a last wave that is not full, as a share of a full one
constexpr std::int64_t kFew = 4;     // columns or rows that have kernels of their own if k is long enough
constexpr std::int64_t kLongK = 64;
constexpr double kNever = 1e30;
constexpr int kSchedulers = 4;          // of a multiprocessor, which share its warps
constexpr int kCacheAlongK = 32 << 10;  // bytes that the L1 keeps for copies along k, beside two blocks or more
constexpr std::int64_t kMostParts = 512, kLeastSteps = 8;  // of a tile; in a part, of eight k each

// Parts that a multiprocessor gets, one after the other.
constexpr std::int64_t kRounds[] = {1, 2, 3, 4, 6, 8, 12, 24};

std::int64_t ratio_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t to_four(std::int64_t floats) { return ratio_up(floats, 4) * 4; }

std::int64_t steps_of(const gemm_work& w, const gemm_kernel& kernel) {
    return std::max<std::int64_t>(1, ratio_up(w.k, kernel.depth()));
}

operand_layout layout_of(const float* data, std::int64_t extent, std::int64_t k, bool along_k, std::int64_t ld,
                         std::int64_t count, std::int64_t stride) {
    const bool aligned = reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % 4 == 0 &&
                         (along_k ? k : extent) % 4 == 0 && (count == 1 || stride % 4 == 0);
    if (along_k) return aligned ? operand_layout::fours_along_k : operand_layout::along_k;
    return aligned ? operand_layout::vectors : operand_layout::words;
}

// The time of `blocks` blocks with `steps` steps each. `slower` is a factor on each step.
double blocks_us(const gemm_kernel& kernel, std::int64_t blocks, double steps, int resident, const gpu& on,
                 double slower, double block_us) {
    if (blocks == 0) return 0;
    const double waves = static_cast<double>(blocks) / (on.multiprocessors * resident);
    const std::int64_t at_a_time = waves <= 1 ? ratio_up(blocks, on.multiprocessors) : resident;
    // Each warp stays with one scheduler: three blocks of two warps take as long as four.
    const std::int64_t fill = std::max(1, kSchedulers * 32 / kernel.threads());
    const double alone = kernel.costs.alone_us,
                 all = static_cast<double>(ratio_up(at_a_time, fill) * fill) * kernel.costs.step_us;
    const double step = slower * std::sqrt(alone * alone + all * all);
    return (waves <= 1 ? 1 : waves + (std::ceil(waves) - waves) * kLastWave) *
           (steps * step + block_us + static_cast<double>(at_a_time) * kernel.costs.each_us);
}

// The fewest bytes that must be moved from and to memory.
double memory_bytes(const gemm_work& w) {
    const auto m = static_cast<double>(w.m), n = static_cast<double>(w.n), k = static_cast<double>(w.k);
    const auto count = static_cast<double>(w.count);
    return 4 * (m * k * static_cast<double>(packed_count(w.count, w.a_stride)) +
                n * k * static_cast<double>(packed_count(w.count, w.b_stride)) + m * n * count);
}

}  // namespace

int c_off(const float* c, std::int64_t ldc, std::int64_t c_stride) {
    return static_cast<int>((reinterpret_cast<std::uintptr_t>(c) / sizeof(float) | static_cast<std::uint64_t>(ldc) |
                             static_cast<std::uint64_t>(c_stride)) %
                            8);
}

bool stores_fours(const gemm_work& w) { return c_off(w.c, w.ldc, w.c_stride) % 4 == 0; }

operand_layouts layouts_of(const gemm_work& w) {
    return {layout_of(w.a, w.m, w.k, !w.a_transposed, w.lda, w.count, w.a_stride),
            layout_of(w.b, w.n, w.k, w.b_transposed, w.ldb, w.count, w.b_stride)};
}

int resident_on(const gemm_kernel& kernel, bool chunks, const operand_layouts& layouts, const gpu& on) {
    const int shared = kernel.shared_bytes(chunks) + (1 << 10);  // CUDA takes a kilobyte of each block
    const int all = std::min(resident_by_registers(kernel, layouts), on.shared_bytes / shared);
    return layouts.some_along_k() ? std::min(all, std::max(2, (on.shared_bytes - kCacheAlongK) / shared)) : all;
}

bool needs_chunks(const gemm_kernel& kernel, std::int64_t k, std::int64_t whole, int parts) {
    if (kernel.family != gemm_family::tiles) return false;
    const std::int64_t steps = ratio_up(k, kernel.depth());
    return (whole > 0 && steps > kernel.chunk) || (parts > 1 && ratio_up(steps, parts) > kernel.part_chunk);
}

std::int64_t tiles_of(const gemm_work& w, const gemm_kernel& kernel) {
    return ratio_up(w.m, kernel.rows) * ratio_up(w.n + kernel.left(c_off(w.c, w.ldc, w.c_stride)), kernel.cols) *
           w.count;
}

const gemm_kernel& gemm_tuning::row() const { return kGemmKernels[kernel]; }

gemm_work as_computed(const gemm_work& work) {
    gemm_work result = work;
    if (work.alpha == 0) result.k = 0;
    // alpha may be anything. With -0, beta C keeps its sign if it is 0.
    if (result.k == 0) result.alpha = work.beta == 0 ? 0.0f : -0.0f;
    const bool empty = work.m == 0 || work.n == 0 || work.count == 0;
    if (result.k > kMostK && !empty) throw unsupported("k is " + std::to_string(work.k) + ": it must be at most 2^33");
    return result;
}

gemm_work transposed(const gemm_work& work) {
    gemm_work result = work;
    std::swap(result.a, result.b);
    std::swap(result.m, result.n);
    std::swap(result.lda, result.ldb);
    std::swap(result.a_stride, result.b_stride);
    result.a_transposed = !work.b_transposed;
    result.b_transposed = !work.a_transposed;
    return result;
}

std::int64_t whole_tiles(const gemm_kernel& kernel, std::int64_t tiles, int parts, const gpu& on) {
    if (parts == 1) return tiles;
    if (kernel.family != gemm_family::tiles) return 0;
    // Whole tiles that leave room for parts of others take longer than predicted (docs/experiments/products.md, 121).
    // So if they do not fill all places, all tiles are split.
    const std::int64_t rounds = tiles / on.multiprocessors;
    return rounds >= resident_on(kernel, false, {}, on) ? rounds * on.multiprocessors : 0;
}

namespace {

bool one_launch(const gemm_work& w, const gemm_kernel& kernel, std::int64_t tiles) {
    return w.m <= kMostTilesAlong * kernel.rows && w.n <= kMostTilesAlong * kernel.cols && tiles <= kMostTiles;
}

// Whether the kernel takes an A that is stored in this way.
bool takes(const gemm_kernel& kernel, operand_layout a) {
    switch (kernel.family) {
        case gemm_family::tiles: return true;
        case gemm_family::dots: return lies_along_k(a);
        case gemm_family::columns: return !lies_along_k(a);
        case gemm_family::outer: return true;
    }
    return false;
}

// What each way of computing the product, or its transpose, takes.
class chooser {
public:
    chooser(const gemm_work& work, bool of_transposes, const gpu& on, bool workspace_given)
        : w_(of_transposes ? transposed(work) : work),
          on_(on),
          layouts_(layouts_of(w_)),
          transposed_(of_transposes),
          given_(workspace_given),
          odd_(of_transposes || !stores_fours(work)),
          bytes_(memory_bytes(w_)) {}

    // Calls f(tuning) with the best number of parts for each kernel and packing that takes the work. If `all`, also
    // with some other numbers of parts. Leaves out tunings that take at least `most()` us.
    template <class F, class Most>
    void for_each(bool may_split, bool all, Most most, F f) const {
        for (int row = 0; row < kGemmKernelCount; ++row) {
            const gemm_kernel& kernel = kGemmKernels[row];
            if (transposed_ && kernel.rows == kernel.cols) continue;  // the same either way
            const int resident = resident_on(kernel, false, {}, on_);
            if (resident == 0) continue;
            // Large tiles are no better than small ones if too few fit to hide each other's latency.
            if (kernel.rows * kernel.cols > 64 * 64 && resident < kernel.resident) continue;
            // Tiles would be mostly padding.
            if (kernel.family == gemm_family::tiles && std::min(w_.m, w_.n) <= kFew && w_.k >= kLongK) continue;
            // These kernels read A once, for a limited number of columns.
            const bool narrow = kernel.family == gemm_family::dots || kernel.family == gemm_family::columns;
            if (narrow && w_.n > kernel.cols) continue;
            // This kernel keeps its small k in registers, and writes the rows of C whole.
            const bool outer = kernel.family == gemm_family::outer;
            if (outer && (transposed_ || !kernel.takes(w_.k))) continue;
            const std::int64_t tiles = tiles_of(w_, kernel);
            for (bool a : {false, true}) {
                for (bool b : {false, true}) {
                    if (outer && (a || b)) continue;
                    if ((a && !can_pack(layouts_.a, w_.m)) || (b && !can_pack(layouts_.b, w_.n))) continue;
                    const operand_layouts layouts = layouts_.packed(a, b);
                    if (!takes(kernel, layouts.a)) continue;
                    double before = kFirstUs + bytes_ / (1e6 * kernel.costs.memory_tb_s);
                    if (a) before += pack_us(w_.m, w_.a_stride);
                    if (b) before += pack_us(w_.n, w_.b_stride);
                    if (!given_ && (a || b)) before += kAllocateUs;
                    if (before >= most()) continue;
                    const double slower =
                        slower_by(kernel.costs.of_a, layouts.a) * slower_by(kernel.costs.of_b, layouts.b);
                    split({.kernel = row, .transposed = transposed_, .pack_a = a, .pack_b = b, .parts = 1, .us = 0},
                          tiles, before, slower, layouts, may_split, all, f);
                }
            }
        }
    }

private:
    // An operand narrower than a vector would be mostly padding.
    bool can_pack(operand_layout layout, std::int64_t extent) const {
        return layout != operand_layout::vectors && w_.k > 0 && extent >= 4;
    }
    double pack_us(std::int64_t extent, std::int64_t stride) const {
        return kPackUs + static_cast<double>(to_four(extent)) * static_cast<double>(w_.k) *
                             static_cast<double>(packed_count(w_.count, stride)) / kPackedFloats;
    }
    static double slower_by(const double (&factors)[3], operand_layout layout) {
        return layout == operand_layout::vectors ? 1 : factors[static_cast<int>(layout) - 1];
    }

    template <class F>
    void split(gemm_tuning tuned, std::int64_t tiles, double before, double slower, const operand_layouts& layouts,
               bool may_split, bool all, F f) const {
        const gemm_kernel& kernel = tuned.row();
        const gemm_costs& costs = kernel.costs;
        const std::int64_t steps = steps_of(w_, kernel);
        const double stored_us = costs.block_us * (odd_ ? costs.odd : 1);
        const int of_whole = resident_on(kernel, needs_chunks(kernel, w_.k, tiles, 1), layouts, on_);
        tuned.us = of_whole == 0 ? kNever
                                 : before + blocks_us(kernel, tiles, static_cast<double>(steps), of_whole, on_, slower,
                                                      stored_us);
        gemm_tuning best = tuned;
        const std::int64_t left = tiles - whole_tiles(kernel, tiles, 2, on_);
        const std::int64_t most = std::min(kMostParts, steps * kernel.depth() / (8 * kLeastSteps));
        if (may_split && left > 0 && most > 1 && one_launch(w_, kernel, tiles)) {
            const double more = before + kGatherUs + (given_ || tuned.pack_a || tuned.pack_b ? 0 : kAllocateUs);
            // `odd` concerns only C: parts are aligned in the workspace.
            const double block_us = tiles > left ? stored_us : costs.block_us;
            std::int64_t tried = 1;
            // Try as many parts as fill whole rounds of all multiprocessors. Fewer would not be faster.
            for (std::int64_t round : kRounds) {
                const std::int64_t parts = std::min({round * on_.multiprocessors / left, most, steps});
                if (parts <= tried) continue;
                tried = parts;
                const int resident = resident_on(
                    kernel, needs_chunks(kernel, w_.k, tiles - left, static_cast<int>(parts)), layouts, on_);
                if (resident == 0) continue;
                if (all && best.us < kNever) f(best);
                gemm_tuning split = tuned;
                split.parts = static_cast<int>(parts);
                split.us =
                    more +
                    blocks_us(kernel, tiles - left, static_cast<double>(steps), resident, on_, slower, block_us) +
                    blocks_us(kernel, left * parts, static_cast<double>(steps) / static_cast<double>(parts), resident,
                              on_, slower, block_us) +
                    static_cast<double>(left * parts) * kernel.rows * kernel.cols / kGatheredFloats;
                if (all || split.us < best.us) best = split;
            }
        }
        if (best.us < kNever) f(best);
    }

    gemm_work w_;
    const gpu& on_;
    operand_layouts layouts_;
    bool transposed_, given_, odd_;
    double bytes_;
};

// The best tuning that is allowed. Its `us` is kNever if none is.
template <class Allowed>
gemm_tuning best_of(const gemm_work& work, const gpu& on, bool workspace_given, bool may_split, Allowed allowed) {
    gemm_tuning best = choose_without_workspace();
    best.us = kNever;
    for (bool of_transposes : {false, true}) {
        chooser(work, of_transposes, on, workspace_given)
            .for_each(
                may_split, false, [&] { return best.us; },
                [&](const gemm_tuning& tuned) {
                    if (tuned.us < best.us && allowed(tuned)) best = tuned;
                });
    }
    return best;
}

// All that a choice depends on.
struct choice_key {
    std::int64_t m, n, k, count;
    operand_layouts layouts, of_transposes;
    bool one_a, one_b, given;
    int off;
    gpu on;

    friend bool operator==(const choice_key&, const choice_key&) = default;
};

gemm_workspace workspace_of(const gemm_work& w, const gemm_tuning& tuned, const gpu& on) {
    gemm_workspace result;
    const auto take = [&](std::int64_t floats) {
        const std::int64_t begin = result.floats;
        result.floats += to_four(floats);
        return begin;
    };
    if (tuned.pack_a) {
        result.a_ld = to_four(w.m);
        result.a = take(packed_count(w.count, w.a_stride) * w.k * result.a_ld);
    }
    if (tuned.pack_b) {
        result.b_ld = to_four(w.n);
        result.b = take(packed_count(w.count, w.b_stride) * w.k * result.b_ld);
    }
    const gemm_kernel& kernel = tuned.row();
    const std::int64_t tiles = tiles_of(w, kernel), parts = parts_of(w, tuned);
    const std::int64_t left = tiles - whole_tiles(kernel, tiles, static_cast<int>(parts), on);
    result.partial = take(left * parts * kernel.rows * kernel.cols);
    return result;
}

}  // namespace

// A choice takes some microseconds, so each thread remembers its latest ones.
gemm_tuning choose(const gemm_work& work, const gpu& on, bool workspace_given) {
    struct known_choice {
        choice_key key;
        gemm_tuning tuned;
    };
    constexpr std::uint64_t kKnown = 64;
    thread_local std::array<known_choice, kKnown> known{};
    const choice_key key{work.m,
                         work.n,
                         work.k,
                         work.count,
                         layouts_of(work),
                         layouts_of(transposed(work)),
                         work.a_stride == 0,
                         work.b_stride == 0,
                         workspace_given,
                         c_off(work.c, work.ldc, work.c_stride),
                         on};
    const auto how = static_cast<std::int64_t>(key.layouts.a) | static_cast<std::int64_t>(key.layouts.b) << 2 |
                     static_cast<std::int64_t>(key.off) << 8 | static_cast<std::int64_t>(key.given) << 5 |
                     static_cast<std::int64_t>(key.one_a) << 6 | static_cast<std::int64_t>(key.one_b) << 7;
    std::uint64_t hash = 0;
    for (std::int64_t part : {work.m, work.n, work.k, work.count, how})
        hash = (hash + static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15u;
    known_choice& found = known[hash >> 58];
    static_assert(kKnown == 64);
    if (!(found.key == key))
        found = {key, best_of(work, on, workspace_given, true, [](const gemm_tuning&) { return true; })};
    return found.tuned;
}

std::vector<gemm_tuning> candidates(const gemm_work& work, const gpu& on) {
    std::vector<gemm_tuning> all;
    for (bool of_transposes : {false, true}) {
        chooser(work, of_transposes, on, true)
            .for_each(
                true, true, [] { return kNever; }, [&](const gemm_tuning& t) { all.push_back(t); });
    }
    return all;
}

gemm_tuning choose_without_workspace() {
    return {.kernel = kAnyOperands, .transposed = false, .pack_a = false, .pack_b = false, .parts = 1, .us = 0};
}

int parts_of(const gemm_work& w, const gemm_tuning& tuned) {
    if (!one_launch(w, tuned.row(), tiles_of(w, tuned.row()))) return 1;
    return static_cast<int>(std::min<std::int64_t>(tuned.parts, steps_of(w, tuned.row())));  // each part has a step
}

std::int64_t most_workspace(const gemm_work& work, const gpu& on) {
    constexpr std::uintptr_t kAligned = 1 << 8, kUnaligned = kAligned + sizeof(float);
    std::int64_t most = 0;
    for (std::uintptr_t a : {kAligned, kUnaligned}) {
        for (std::uintptr_t b : {kAligned, kUnaligned}) {
            for (std::uintptr_t c : {kAligned, kUnaligned}) {
                gemm_work there = work;
                there.a = reinterpret_cast<const float*>(a);
                there.b = reinterpret_cast<const float*>(b);
                there.c = reinterpret_cast<float*>(c);
                most = std::max(most, prepare(there, on, true).space.floats);
            }
        }
    }
    return most;
}

prepared_product prepare(const gemm_work& work, const gpu& on, bool workspace_given) {
    return prepare(work, choose(work, on, workspace_given), on);
}

prepared_product prepare(const gemm_work& work, const gemm_tuning& tuned, const gpu& on) {
    const gemm_work w = tuned.transposed ? transposed(work) : work;
    return {w, layouts_of(w), tuned, workspace_of(w, tuned, on)};
}

std::string name_of(const gemm_tuning& tuned) {
    std::string text = tuned.row().name;
    if (tuned.transposed) text += ", of the transpose";
    if (tuned.pack_a) text += ", A packed";
    if (tuned.pack_b) text += ", B packed";
    if (tuned.parts > 1) text += ", " + std::to_string(tuned.parts) + " parts";
    return text;
}

namespace {

std::string microseconds(double us) { return std::to_string(std::llround(us)) + " us"; }

std::string operand_text(const char* name, const gemm_kernel& kernel, operand_layout layout, bool packed) {
    const bool along_k = lies_along_k(layout);
    const bool fours =
        layout == operand_layout::vectors || (layout == operand_layout::fours_along_k && kernel.takes_fours_along_k());
    std::string text = name;
    text += along_k ? " along k" : layout == operand_layout::words ? " unaligned" : " aligned";
    if (packed) return text + (along_k ? ", transposed first" : ", copied first");
    if (kernel.family != gemm_family::tiles) return text;
    return text + (fours ? ", 16 bytes at a time" : ", a float at a time");
}

}  // namespace

std::string explain(const gemm_work& work, const gpu& on, bool workspace_given) {
    using std::to_string;
    if (work.m == 0 || work.n == 0 || work.count == 0) return "nothing: C is empty";
    const prepared_product prepared = prepare(work, on, workspace_given);
    const gemm_tuning& tuned = prepared.tuned;
    const gemm_kernel& kernel = tuned.row();
    const std::int64_t tiles = tiles_of(prepared.work, kernel), whole = whole_tiles(kernel, tiles, tuned.parts, on);
    std::string text = std::string(kernel.name) + ": tiles of " + to_string(kernel.rows) + " x " +
                       to_string(kernel.cols) + (tuned.transposed ? " of C's transpose" : "") + " by " +
                       to_string(kernel.threads()) + " threads, " + to_string(kernel.depth()) + " of k at a time, " +
                       "up to " +
                       to_string(resident_on(kernel, needs_chunks(kernel, work.k, whole, tuned.parts),
                                             prepared.layouts.packed(tuned.pack_a, tuned.pack_b), on)) +
                       " blocks a multiprocessor; " +
                       operand_text(tuned.transposed ? "B" : "A", kernel, prepared.layouts.a, tuned.pack_a) + "; " +
                       operand_text(tuned.transposed ? "A" : "B", kernel, prepared.layouts.b, tuned.pack_b) + "; ";
    if (tuned.parts == 1)
        text += to_string(tiles) + (tiles == 1 ? " tile" : " tiles");
    else
        text += to_string(whole) + " whole tiles and " + to_string(tiles - whole) + " in " + to_string(tuned.parts) +
                " parts along k, for " + to_string(on.multiprocessors) + " multiprocessors";
    const std::int64_t bytes = prepared.space.floats * static_cast<std::int64_t>(sizeof(float));
    text += "; workspace " + to_string(bytes) + " bytes; estimated at " + microseconds(tuned.us);
    // Explain the choice by what its nearest alternatives would take.
    const auto otherwise = [&](const std::string& how, bool may_split, auto allowed) {
        const gemm_tuning other = best_of(work, on, workspace_given, may_split, allowed);
        if (other.us < kNever) text += ", " + how + " " + microseconds(other.us);
    };
    const gemm_tuning next =
        best_of(work, on, workspace_given, true, [&](const gemm_tuning& t) { return t.kernel != tuned.kernel; });
    if (next.us < kNever) text += std::string(", as ") + next.row().name + " " + microseconds(next.us);
    const auto packs = [](const gemm_tuning& t) { return t.pack_a || t.pack_b; };
    otherwise(packs(tuned) ? "with the operands used directly" : "with copies of the operands", true,
              [&](const gemm_tuning& t) { return packs(t) != packs(tuned); });
    if (tuned.parts > 1) otherwise("in one part", false, [](const gemm_tuning&) { return true; });
    return text;
}

}  // namespace cornerturn::products
