#include "ops/copy/movement.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "core/draw.hpp"
#include "core/numbers.hpp"
#include "core/sizes.hpp"
#include "cornerturn/error.hpp"
#include "ops/copy/movement_problem.hpp"
#include "ops/copy/sectors.hpp"

namespace cornerturn {

const char kernel_traits<matrix_work>::kType = 0;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

class host_movement final : public movement_problem<host_problem> {
public:
    using movement_problem::movement_problem;

    std::vector<buffer> buffers() const override {
        const auto of = [](const char* name, const guarded_buffer& b, bool writable, bool holds_input) {
            return buffer{name, b.data(), b.size(), b.capacity(), writable, holds_input};
        };
        return {of("source", memory_.source(), false, true),
                of("destination", memory_.destination(), true, memory_.shape().in_place)};
    }
    std::function<void()> bind_yardstick() const override { return {}; }

    tile tile_of(const emulator::sampled_tile& t) const override {
        return memory_.tile_at(t.operands[0], t.rows, t.cols);
    }
    void prepare() override { memory_.prepare(); }
    void prepare(const std::vector<tile>& tiles) override { memory_.prepare(tiles); }
    verdict check(nlohmann::ordered_json*) const override { return memory_.check(); }
    verdict check(const std::vector<tile>& tiles) const override { return memory_.check(tiles); }
};

}  // namespace

// ---- The operation --------------------------------------------------------------------------------------------------

operation_facts element_movement_facts(const char* name, std::vector<const char*> families) {
    return {.name = name,
            .families = std::move(families),
            .sizes = {},
            .layout = {},
            .sizes_legend = "",
            .step = "element",
            .operands = "",
            .rate = kBandwidth,
            .yardstick = "memcpy",
            .reads_once = true,
            .shares_memory = true,
            .element_sizes = {1, 2, 4, 8, 16}};
}

std::string element_movement::yardstick_text(backend on) const {
    const char* const copy = on == backend::cuda ? "memcpy" : "memcpy on all cores";
    return fmt::format("{} of half the bytes in the 32-byte sectors that must be read and written", copy);
}

double element_movement::operand_bytes(const std::vector<std::int64_t>& sizes, int element_size) const {
    return element_size * steps(sizes);
}

operation_facts movement_facts(const char* name, std::vector<const char*> families) {
    operation_facts all = element_movement_facts(name, std::move(families));
    all.sizes = {{"--rows", "N", "Rows of the source. Default: as many as columns, or 1024, or 4096 on a GPU."},
                 {"--cols", "N", "Columns of the source. Default: as many as rows."}};
    all.layout = {
        {"--source-ld", "N", "Leading dimension of the source, in elements. Default: its columns."},
        {"--destination-ld", "N", "Leading dimension of the destination, in elements. Default: its columns."},
        {"--source-offset", "N", "How many elements after a 256-byte boundary the source begins. Default: 0."},
        {"--destination-offset", "N",
         "How many elements after a 256-byte boundary the destination begins. Default: 0."}};
    all.operands = "the matrix";
    all.squares = movement::kSquares;
    return all;
}

workload_pointer movement::read(const arguments& given, std::int64_t standard) const {
    const char *const rows = facts().sizes[0].name, *const cols = facts().sizes[1].name;
    problem_shape shape{.arranged = arranged_,
                        .rows = given.size(rows, given.size(cols, standard)),
                        .seed = static_cast<std::uint64_t>(given.size("--seed", 1)),
                        .source_ld = given.size("--source-ld", 0),
                        .destination_ld = given.size("--destination-ld", 0),
                        .source_offset = given.size("--source-offset", 0),
                        .destination_offset = given.size("--destination-offset", 0)};
    shape.cols = given.size(cols, shape.rows);
    checked_multiply(shape.rows, shape.cols, fmt::format("{} x {}", rows, cols).c_str());
    const dtype type = find_dtype(given.text("--dtype", "f32"));
    shape.element_size = type.size;
    return std::make_shared<movement_work>(*this, type, shape);
}

std::unique_ptr<problem> movement::make(backend on, const std::vector<const workload*>& work,
                                        const std::vector<const kernel*>& kernels, bool with_yardstick) const {
    std::vector<problem_shape> shapes;
    for (const workload* w : work) {
        for (const kernel* k : kernels) shapes.push_back(dynamic_cast<const movement_work&>(*w).shape_for(*k));
    }
    if (on == backend::cuda) return make_cuda_movement(shapes, with_yardstick);
    return std::make_unique<host_movement>(on, shapes.front(), shapes);
}

bench_contestants movement::contestants(backend on) const {
    if (on == backend::emulator) return {};
    bench_contestants who{.subject = {}, .yardstick = {}, .peer_family = {}, .peers = {}};
    for (const kernel& k : kernels()) {
        if (k.op != this || is_ceiling(k) || !k.is_built_for(on)) continue;
        if (who.subject.empty() || k.id.ends_with("/production")) who.subject = k.id;
    }
    if (!who.subject.empty()) who.yardstick = on == backend::cuda ? "baseline/memcpy" : "host/copy@memcpy";
    return who;
}

// ---- Its work -------------------------------------------------------------------------------------------------------

movement_work::movement_work(const movement& does, const dtype& type, const problem_shape& shape, bool in_bench)
    : workload(does, type, shape.seed), shape_(shape), in_bench_(in_bench) {
    shape_.checked();  // fields left at 0 stay 0: leading dimensions of a copy differ from those of a transpose
}

movement::arranged_function arranged_by(const kernel& k) {
    return k.traits<matrix_work>().copies ? copied : dynamic_cast<const movement&>(*k.op).arranged();
}

problem_shape movement_work::copy_shape() const {
    return problem_shape{
        .arranged = copied, .rows = 1, .cols = sector_bytes() / 2 / 16, .element_size = 16, .seed = seed()}
        .checked();
}

// Rows of the destination, from a packed source. Behind that source comes all else that the work reads.
problem_shape movement_work::ordered_shape() const {
    const problem_shape s = shape_.checked();
    const std::int64_t size = s.element_size;
    problem_shape ordered{.arranged = copied,
                          .rows = s.count * s.destination_rows(),
                          .cols = s.destination_cols(),
                          .element_size = s.element_size,
                          .seed = s.seed,
                          .destination_ld = s.destination_ld,
                          .destination_offset = s.destination_offset,
                          .reads_stride = true};
    ordered.source_stride = std::max(s.elements(), (source_sectors() * kSectorBytes + size - 1) / size);
    return ordered.checked();
}

problem_shape movement_work::shape_for(const kernel& k) const {
    const kernel_traits<matrix_work> traits = k.traits<matrix_work>();
    if (traits.ordered && in_bench_) return ordered_shape();
    if (traits.copies && in_bench_) return copy_shape();
    problem_shape shape = shape_;
    if (traits.copies) {
        const std::int64_t gap = shape.destination_ld == 0 ? 0 : shape.destination_ld - shape.destination_cols();
        shape.arranged = copied;
        shape.in_place = false;
        shape.destination_ld = shape.destination_cols() + gap;
    }
    shape.finite_only = shape.finite_only || traits.arithmetic;
    return shape.checked();
}

// Assumes that buffers begin on a sector.
std::int64_t movement_work::source_sectors() const {
    const problem_shape s = shape_.checked();
    const std::int64_t size = s.element_size;
    return touched_sectors(s.source_offset * size, s.count * s.rows, s.cols * size, s.source_ld * size);
}

std::int64_t movement_work::sector_bytes() const {
    const problem_shape s = shape_.checked();
    const std::int64_t size = s.element_size;
    return kSectorBytes *
           (source_sectors() + touched_sectors(s.destination_offset * size, s.count * s.destination_rows(),
                                               s.destination_cols() * size, s.destination_ld * size));
}

double movement_work::amount(const kernel& k) const {
    const kernel_traits<matrix_work> traits = k.traits<matrix_work>();
    const bool sectors = in_bench_ && traits.copies && !traits.ordered;
    return static_cast<double>(sectors ? sector_bytes() : moved_bytes());
}

// Bytes of both sides, each with the capacity for any of the shapes.
std::int64_t movement_work::side_bytes(const std::vector<problem_shape>& shapes) const {
    std::int64_t most = 0;
    for (const problem_shape& s : shapes)
        most = std::max({most, s.capacity(side::source), s.capacity(side::destination)});
    return 2 * most;
}

std::int64_t movement_work::gpu_bytes(const std::vector<const kernel*>& kernels, bool with_yardstick) const {
    if (with_yardstick) return 3 * (shape_.elements() * shape_.element_size + 4 * kMiB);
    std::vector<problem_shape> shapes = {shape_.checked(), copy_shape()};
    for (const kernel* k : kernels) shapes.push_back(shape_for(*k));
    return side_bytes(shapes) + 16 * kMiB;
}

std::int64_t movement_work::aside_bytes() const {
    return in_bench_ ? side_bytes({shape_.checked(), copy_shape()}) : moved_bytes();
}

std::string movement_work::text() const {
    const problem_shape& s = shape_;
    std::string out = fmt::format("{} x {}", s.rows, s.cols);
    if (s.count > 1) out = fmt::format("{} of {}", s.count, out);
    const std::int64_t cols = s.destination_cols();
    const std::int64_t gap = std::max<std::int64_t>(0, s.source_ld - s.cols);
    const std::int64_t gap_behind = std::max<std::int64_t>(0, s.destination_ld - cols);
    const auto add = [&](const char* what, std::int64_t source, std::int64_t destination) {
        if (source == destination && source > 0) out += fmt::format(", {}{}", what, source);
        if (source != destination) out += fmt::format(", {}{} and {}", what, source, destination);
    };
    add("ld + ", gap, gap_behind);
    if (s.in_place) out += ", in place";
    add("offset ", s.source_offset, s.destination_offset);
    return out;
}

void movement_work::describe(nlohmann::ordered_json& cell) const {
    const problem_shape s = shape_.checked();
    const std::vector<option>& sizes = op().facts().sizes;
    cell.update({{key_of(sizes[0]), s.rows},
                 {key_of(sizes[1]), s.cols},
                 {"element_size", s.element_size},
                 {"source_ld", s.source_ld},
                 {"destination_ld", s.destination_ld},
                 {"source_offset", s.source_offset},
                 {"destination_offset", s.destination_offset},
                 {"count", s.count},
                 {"bytes", moved_bytes()},
                 {"sector_bytes", sector_bytes()}});
    if (s.in_place) cell["in_place"] = true;
}

nlohmann::ordered_json movement_work::layout() const {
    const problem_shape s = shape_.checked();
    nlohmann::ordered_json its = nlohmann::ordered_json::object();
    const auto add = [&](const char* name, std::int64_t value, std::int64_t usual) {
        if (value != usual) its[name] = value;
    };
    add("source_ld", s.source_ld, s.cols);
    add("destination_ld", s.destination_ld, s.destination_cols());
    add("source_offset", s.source_offset, 0);
    add("destination_offset", s.destination_offset, 0);
    add("count", s.count, 1);
    if (s.in_place) its["in_place"] = true;
    return its;
}

// Two trials have sizes like the work's; two have any sizes, with enough elements for all special values. One of each
// pair is aligned at least as well as a packed matrix; the other has odd gaps and offsets. Kernels may take different
// paths for these.
std::vector<workload_pointer> movement_work::trials() const {
    constexpr std::int64_t kStep = 128, kLeastElements = 1 << 12, kMostElements = 1 << 15, kMostSide = 300,
                           kVector = 16, kTile = 32;
    random_bits random(seed());
    std::vector<workload_pointer> all;
    for (const bool like : {true, false}) {
        for (const bool aligned : {true, false}) {
            problem_shape s{.arranged = shape_.arranged,
                            .rows = small_like(shape_.rows, kStep),
                            .cols = small_like(shape_.cols, kStep),
                            .element_size = shape_.element_size,
                            .seed = random() >> 1,
                            .in_place = shape_.in_place};
            const auto is_plain = [&] {  // square, or made of whole tiles
                return (s.rows == s.cols && !s.in_place) || s.rows % kTile == 0 || s.cols % kTile == 0;
            };
            if (!like) {
                do {
                    s.rows = draw_log_uniform(random, 1, kMostSide);
                    s.cols = s.in_place ? s.rows : draw_log_uniform(random, 1, kMostSide);
                } while (s.rows * s.cols < kLeastElements || s.rows * s.cols > kMostElements ||
                         (!aligned && is_plain()));
            }
            s.count = std::clamp<std::int64_t>(kMostElements / std::max<std::int64_t>(1, s.rows * s.cols), 1,
                                               std::max<std::int64_t>(1, shape_.count));
            const auto gap = [&] { return aligned ? kVector * (1 + draw_up_to(random, 2)) : draw_up_to(random, 7); };
            const auto offset = [&] { return aligned ? kVector * draw_up_to(random, 2) : 1 + draw_up_to(random, 4); };
            s.source_ld = s.cols + gap();
            s.destination_ld = s.in_place ? s.source_ld : s.destination_cols() + gap();
            s.source_offset = offset();
            s.destination_offset = s.in_place ? s.source_offset : offset();
            all.push_back(std::make_shared<movement_work>(dynamic_cast<const movement&>(op()), type(), s));
        }
    }
    return all;
}

std::string movement_work::why_not_run(const kernel& k) const {
    const kernel_traits<matrix_work> traits = k.traits<matrix_work>();
    if (traits.copies) return {};
    if (!k.takes(shape_.element_size)) return fmt::format("does not take {}-byte elements", shape_.element_size);
    if (shape_.count > 1 && !traits.batches) return "takes one matrix, not a batch";
    if (shape_.in_place && !traits.in_place) return "takes a source and a destination";
    return {};
}

bool movement_work::writes_whole_sectors() const {
    const problem_shape s = shape_.checked();
    const std::int64_t size = s.element_size;
    return fill_whole_sectors(s.destination_offset * size, s.count * s.destination_rows(), s.destination_cols() * size,
                              s.destination_ld * size);
}

std::shared_ptr<const workload> movement_work::among(const std::vector<const kernel*>& kernels,
                                                     std::uint64_t seed) const {
    problem_shape shape = shape_;
    shape.seed = seed;
    for (const kernel* k : kernels) shape.finite_only = shape.finite_only || k->traits<matrix_work>().arithmetic;
    return std::make_shared<movement_work>(dynamic_cast<const movement&>(op()), type(), shape, in_bench_);
}

void decline_gaps(const matrix_work& work) {
    const bool whole = work.rows <= 1 || (work.source_ld == work.cols && work.destination_ld == work.cols);
    if (!whole || work.count != 1) decline("it copies one matrix without gaps after its rows");
}

}  // namespace cornerturn
