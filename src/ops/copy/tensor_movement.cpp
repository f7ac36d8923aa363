#include "ops/copy/tensor_movement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/tensors.hpp"
#include "cornerturn/error.hpp"
#include "move/policy.hpp"
#include "ops/copy/sectors.hpp"
#include "ops/copy/strided_problem.hpp"

namespace cornerturn {
namespace {

using numbers = std::vector<std::int64_t>;
using nlohmann::ordered_json;

constexpr int kMostOffset = 1 << 20;

std::string list_text(const numbers& list) { return fmt::format("{}", fmt::join(list, ",")); }
std::string axes_text(std::int64_t count) { return fmt::format("{} {}", count, count == 1 ? "axis" : "axes"); }

// What the two options say, checked against each other.
struct named_permutation {
    numbers extents;
    std::vector<int> axes;

    named_permutation(const arguments& given, const numbers& standard, std::int64_t element_size) {
        extents = given.list(tensor_movement::kShape, standard);
        const std::string shape = given.text(tensor_movement::kShape, list_text(standard));
        if (extents.size() > kMostAxes)
            throw invalid_argument(fmt::format("{} is {}: it has {} axes: the limit is 32", tensor_movement::kShape,
                                               shape, extents.size()));
        std::int64_t bytes = element_size;
        for (std::int64_t n : extents) {
            if (n < 0)
                throw invalid_argument(
                    fmt::format("{} is {}: an extent must not be negative", tensor_movement::kShape, shape));
        }
        // Extents of 0 count as 1, so that strides fit too.
        for (std::int64_t n : extents) {
            if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(n, 1), &bytes) || bytes > kMostBytes)
                throw invalid_argument(
                    fmt::format("{} is {}: this is more than the address space of any machine, with elements of {} {}",
                                tensor_movement::kShape, shape, element_size, element_size == 1 ? "byte" : "bytes"));
        }
        // Reverse the axes, as numpy does. For the standard shape, use the most common permutation.
        numbers otherwise(extents.size());
        std::iota(otherwise.rbegin(), otherwise.rend(), 0);
        if (!given.has(tensor_movement::kShape)) otherwise = {0, 3, 1, 2};
        const std::string of = given.has(tensor_movement::kShape)
                                   ? fmt::format("{} is {}", tensor_movement::kShape, shape)
                                   : fmt::format("without {} the tensor is {}", tensor_movement::kShape, shape);
        read_axes(given.list(tensor_movement::kAxes, otherwise),
                  given.text(tensor_movement::kAxes, list_text(otherwise)), of);
    }

private:
    static constexpr std::int64_t kMostBytes = std::int64_t{1} << 46;

    // `of` names the shape to which they belong.
    void read_axes(const numbers& list, const std::string& word, const std::string& of) {
        const auto rank = static_cast<std::int64_t>(extents.size());
        if (list.size() != extents.size())
            throw invalid_argument(fmt::format("{} is {}: it must name each axis once, and {}, which has {}",
                                               tensor_movement::kAxes, word, of, axes_text(rank)));
        std::vector<bool> seen(extents.size());
        for (std::int64_t axis : list) {
            if (axis < -rank || axis >= rank)
                throw invalid_argument(fmt::format("{} is {}: axis {} must be from {} to {}: {}, which has {}",
                                                   tensor_movement::kAxes, word, axis, -rank, rank - 1, of,
                                                   axes_text(rank)));
            const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
            if (seen[at])
                throw invalid_argument(
                    fmt::format("{} is {}: axis {} appears twice", tensor_movement::kAxes, word, at));
            seen[at] = true;
            axes.push_back(static_cast<int>(at));
        }
    }
};

constexpr const char* kFactorNames[] = {"none", "one", "each"};

// What a conversion adds to the description of a cell or of a choice.
void describe_conversion(const strided_shape& shape, ordered_json& into) {
    const element_conversion& how = shape.conversion;
    if (!how.cast.converts()) return;
    into.update({{"source_type", name_of(how.cast.from)},
                 {"destination_type", name_of(how.cast.to)},
                 {"factors", kFactorNames[static_cast<int>(how.factors)]}});
    if (how.factors == factor_kind::each) into["axis"] = how.axis;
}

// ", u8 to f16, a scale and a bias for each index of axis 1"
std::string conversion_text(const element_conversion& how) {
    if (!how.cast.converts()) return {};
    std::string text = fmt::format(", {} to {}", name_of(how.cast.from), name_of(how.cast.to));
    if (how.factors == factor_kind::one) text += ", scaled";
    if (how.factors == factor_kind::each) text += fmt::format(", scaled along axis {}", how.axis);
    return text;
}

// Nothing is read. The two addresses are far apart.
strided_copy anywhere(const strided_shape& shape) {
    return shape.copy(reinterpret_cast<const void*>(std::uintptr_t{1} << 40),
                      reinterpret_cast<void*>(std::uintptr_t{1} << 50),
                      reinterpret_cast<const float*>(std::uintptr_t{1} << 30));
}

ordered_json asked(const named_permutation& named, const strided_shape& shape) {
    ordered_json json = {{"shape", named.extents}, {"axes", named.axes}, {"element_size", shape.element_size}};
    describe_conversion(shape, json);
    json.update({{"source_offset", shape.source_offset}, {"destination_offset", shape.destination_offset}});
    return json;
}

explanation explained(const char* name, const named_permutation& named, const strided_shape& shape, const gpu& on) {
    const strided_copy c = anywhere(shape);
    const moves::explanation_of_parts chosen = moves::explain_parts(c, on);
    const std::string choice = fmt::format("{}/production: {}", name, chosen.text);
    std::string text = choice;
    ordered_json others = ordered_json::array();
    if (chosen.parts == 1) {
        constexpr std::size_t kShown = 5;
        const std::vector<moves::candidate> all = moves::candidates(c, on);
        for (std::size_t i = 1; i < all.size(); ++i) {
            const std::string other = moves::explain(all[i], c, on);
            if (i <= kShown) text += fmt::format("{}  {}", i == 1 ? "\nother ways, from fast to slow:\n" : "\n", other);
            others.push_back({{"choice", other}, {"predicted_us", all[i].cost}});
        }
        if (all.size() > 1 + kShown) text += fmt::format("\n  and {} more", all.size() - 1 - kShown);
    }
    ordered_json json = asked(named, shape);
    json.update({{"on", "cuda"},
                 {"compute_capability", on.capability},
                 {"multiprocessors", on.multiprocessors},
                 {"shared_memory", on.shared_bytes_of_block},
                 {"l2", on.l2_bytes},
                 {"choice", choice},
                 {"parts", chosen.parts},
                 {"others", others},
                 {"predicted_us", chosen.cost}});
    return {text, json};
}

std::int64_t rank_of(const arguments& given, const numbers& standard) {
    return static_cast<std::int64_t>(given.list(tensor_movement::kShape, standard).size());
}

}  // namespace

// ---- The operation --------------------------------------------------------------------------------------------------

operation_facts tensor_movement::tensor_movement_facts(const char* name, std::vector<const char*> families) {
    operation_facts all = element_movement_facts(name, std::move(families));
    all.sizes = {{.name = kShape,
                  .value = "4,56,56,64",
                  .help = "Extents of the source. Default: 4,56,56,64, or 64,56,56,64 on a GPU.",
                  .list = true},
                 {.name = kAxes,
                  .value = "0,2,3,1",
                  .help = "For each axis of the destination the number of the source's axis, as in numpy.transpose. "
                          "Default: 0,3,1,2; all axes reversed if there is a --shape.",
                  .list = true}};
    all.layout = {
        {"--source-offset", "N", "How many elements after a 256-byte boundary the source begins. Default: 0."},
        {"--destination-offset", "N",
         "How many elements after a 256-byte boundary the destination begins. Default: 0."}};
    all.operands = "the tensor";
    return all;
}

workload_pointer tensor_movement::read(const arguments& given, std::int64_t standard) const {
    // About as many elements as a matrix of the standard size.
    const numbers shape = {std::max<std::int64_t>(1, standard / 256 * (standard / 1024)), 56, 56, 64};
    const element_facts its = elements_of(given, rank_of(given, shape));
    named_permutation named(given, shape, std::max<std::int64_t>(its.type.size, its.destination_bytes));
    return std::make_shared<tensor_work>(*this, its.type, named.extents, named.axes,
                                         static_cast<std::uint64_t>(given.size("--seed", 1)), false,
                                         given.whole("--source-offset", 0, 0, kMostOffset),
                                         given.whole("--destination-offset", 0, 0, kMostOffset), its.how);
}

std::unique_ptr<problem> tensor_movement::make(backend on, const std::vector<const workload*>& work,
                                               const std::vector<const kernel*>& kernels, bool with_yardstick) const {
    std::vector<strided_shape> shapes;
    for (const workload* w : work) {
        for (const kernel* k : kernels) shapes.push_back(dynamic_cast<const tensor_work&>(*w).shape_for(*k));
    }
    const std::uint64_t seed = work.front()->seed();
    if (on == backend::cuda) return make_cuda_tensors(shapes, seed, with_yardstick);
    return make_host_tensors(on, shapes, seed);
}

std::vector<option> tensor_movement::explain_options() const {
    std::vector<option> all = {
        {"--on", "cuda|host", "Where it runs. Default: cuda."},
        {.name = kShape, .value = "32,56,56,64", .help = "Extents of the source. Default: 32,56,56,64.", .list = true},
        facts().sizes[1],
        {"--dtype", "u8|u16|f32|f64|c128...", "Type of the elements. Default: f32."}};
    for (const auto& more : {element_options(), facts().layout}) all.insert(all.end(), more.begin(), more.end());
    const std::vector<option> of_gpu = {
        {"--compute-capability", "N", "Compute capability of the GPU: 90 means 9.0. Default: 90."},
        {"--multiprocessors", "N", "Multiprocessors of the GPU. Default: 132."},
        {"--shared-memory", "BYTES", "Shared memory that a block can have. Default: 232448."},
        {"--l2", "BYTES", "Size of the L2 cache. Default: 52428800."}};
    all.insert(all.end(), of_gpu.begin(), of_gpu.end());
    return all;
}

explanation tensor_movement::explain(const arguments& given) const {
    const std::string where = given.text("--on", "cuda");
    if (where != "cuda" && where != "host")
        throw invalid_argument(fmt::format("--on is '{}': it must be cuda or host", where));
    const numbers standard = {32, 56, 56, 64};
    const element_facts its = elements_of(given, rank_of(given, standard));
    const named_permutation named(given, standard, std::max<std::int64_t>(its.type.size, its.destination_bytes));
    strided_shape shape = permuted_shape(named.extents, named.axes, its.destination_bytes);
    shape.conversion = its.how;
    shape.source_offset = given.whole("--source-offset", 0, 0, kMostOffset);
    shape.destination_offset = given.whole("--destination-offset", 0, 0, kMostOffset);
    if (where == "host") {
        const std::string text = fmt::format("host/{}: {}", name(), host_choice(anywhere(shape)));
        ordered_json json = asked(named, shape);
        json.update({{"on", "host"}, {"choice", text}});
        return {text, json};
    }
    gpu on;
    on.capability = given.whole("--compute-capability", on.capability, 0, 9999);
    on.multiprocessors = given.whole("--multiprocessors", on.multiprocessors, 1, 1 << 16);
    on.shared_bytes_of_block = given.whole("--shared-memory", on.shared_bytes_of_block, 16 << 10, 1 << 20);
    if (given.has("--shared-memory")) on.shared_bytes = on.shared_bytes_of_block + 1024;
    on.l2_bytes = given.size("--l2", on.l2_bytes);
    return explained(facts().name, named, shape, on);
}

// Sizes are the source's extents, then as many axes.
std::string tensor_movement::text_of(const numbers& sizes) const {
    const auto rank = static_cast<std::ptrdiff_t>(sizes.size() / 2);
    return permutation_text({sizes.begin(), sizes.begin() + rank}, {sizes.begin() + rank, sizes.end()});
}

double tensor_movement::steps(const numbers& sizes) const {
    double all = 1;
    for (std::size_t i = 0; i < sizes.size() / 2; ++i) all *= static_cast<double>(sizes[i]);
    return all;
}

// A cell of a file, or of a stored result of a bench.
workload_pointer tensor_movement::cell_work(const ordered_json& described) const {
    constexpr std::uint64_t kSeed = 1;
    const auto numbers_of = [&](const char* key) { return described.at(key).get<numbers>(); };
    if (described.contains("axes")) {
        const numbers extents = numbers_of("source_extents");
        auto axes = described.at("axes").get<std::vector<int>>();
        permuted_tensor({0, extents, detail::packed_strides(extents)}, axes);  // checks them
        for (int& axis : axes) axis += axis < 0 ? static_cast<int>(axes.size()) : 0;
        const element_facts its = elements_of(described, static_cast<std::int64_t>(extents.size()));
        return std::make_shared<tensor_work>(*this, its.type, extents, axes, kSeed, true, 0, 0, its.how);
    }
    strided_shape shape;
    shape.extents = numbers_of("extents");
    const element_facts its = elements_of(described, static_cast<std::int64_t>(shape.extents.size()));
    shape.element_size = its.destination_bytes;
    shape.conversion = its.how;
    shape.source_strides = numbers_of("source_strides");
    shape.destination_strides = numbers_of("destination_strides");
    shape.source_offset = described.value("source_offset", std::int64_t{0});
    shape.destination_offset = described.value("destination_offset", std::int64_t{0});
    shape.kind = described.value("group", "file");
    if (std::min(shape.source_offset, shape.destination_offset) < 0)
        throw invalid_argument("an offset is negative: it must be 0 or more elements");
    return std::make_shared<tensor_work>(*this, its.type, shape, kSeed, true);
}

std::vector<bench_cell> tensor_movement::bench_cells(const ordered_json& described) const {
    std::vector<bench_cell> cells;
    const auto refuse = [&](const std::exception& wrong) {
        throw invalid_argument(
            fmt::format("--cells: cell {} is no work of {}: {}", cells.size(), name(), wrong.what()));
    };
    for (const ordered_json& one : described) {
        try {
            cells.push_back({one.value("group", "file"), cell_work(one)});
        } catch (const nlohmann::json::exception& wrong) {
            refuse(wrong);
        } catch (const invalid_argument& wrong) {
            refuse(wrong);
        }
    }
    return cells;
}

std::string permutation_text(const numbers& extents, const numbers& axes) {
    return fmt::format("{}, axes {}", extents.empty() ? "one element" : sizes_text(extents), fmt::join(axes, ","));
}

// ---- Its work -------------------------------------------------------------------------------------------------------

tensor_work::tensor_work(const operation& op, const dtype& type, numbers source_extents, std::vector<int> axes,
                         std::uint64_t seed, bool in_bench, std::int64_t source_offset, std::int64_t destination_offset,
                         const element_conversion& how)
    : workload(op, type, seed),
      shape_(permuted_shape(source_extents, axes, how.cast.converts() ? size_of(how.cast.to) : type.size)),
      source_extents_(std::move(source_extents)),
      axes_(std::move(axes)),
      is_permutation_(true),
      in_bench_(in_bench) {
    shape_.source_offset = source_offset;
    shape_.destination_offset = destination_offset;
    shape_.conversion = how;
}

tensor_work::tensor_work(const operation& op, const dtype& type, const strided_shape& shape, std::uint64_t seed,
                         bool in_bench)
    : workload(op, type, seed), shape_(shape), is_permutation_(false), in_bench_(in_bench) {
    const strided_pattern pattern(shape, seed);  // this checks the shape
    std::int64_t span = pattern.destination.run;
    for (int i = 0; i < pattern.destination.rank; ++i) {
        const strided_axis& a = pattern.destination.axes[i];
        if (a.destination < span)
            throw invalid_argument("axes of the destination interleave, and gaps cannot be told from elements: " +
                                   shape.text());
        span += (a.extent - 1) * a.destination;
    }
}

strided_shape tensor_work::plain_copy() const {
    strided_shape copy;
    copy.source_strides = copy.destination_strides = {1};
    if (in_bench_) {
        copy.element_size = 16;
        copy.extents = {sector_bytes() / 2 / 16};
    } else if (shape_.conversion.cast.converts()) {
        copy.element_size = 1;
        copy.extents = {bytes() / 2};
    } else {
        copy.element_size = shape_.element_size;
        copy.extents = {shape_.elements()};
        copy.source_offset = shape_.source_offset;
        copy.destination_offset = shape_.destination_offset;
    }
    return copy;
}

strided_shape tensor_work::shape_for(const kernel& k) const {
    return k.traits<matrix_work>().copies ? plain_copy() : shape_;
}

namespace {

std::int64_t sectors_of(const strided_shape& s, const numbers& strides, std::int64_t offset, std::int64_t size) {
    std::vector<byte_axis> axes;
    for (std::size_t i = 0; i < strides.size(); ++i) axes.push_back({s.extents[i], strides[i] * size});
    return touched_sectors(offset * size, size, axes);
}

}  // namespace

std::int64_t tensor_work::sector_bytes() const {
    return kSectorBytes *
           (sectors_of(shape_, shape_.source_strides, shape_.source_offset, shape_.source_size()) +
            sectors_of(shape_, shape_.destination_strides, shape_.destination_offset, shape_.element_size));
}

bool tensor_work::writes_whole_sectors() const {
    if (shape_.elements() == 0) return true;
    const std::int64_t begin = shape_.destination_offset * shape_.element_size, end = shape_.destination_bytes();
    const std::int64_t around = begin % kSectorBytes + (kSectorBytes - end % kSectorBytes) % kSectorBytes;
    return kSectorBytes *
               sectors_of(shape_, shape_.destination_strides, shape_.destination_offset, shape_.element_size) ==
           shape_.elements() * shape_.element_size + around;
}

double tensor_work::amount(const kernel& k) const {
    return static_cast<double>(in_bench_ && k.traits<matrix_work>().copies ? sector_bytes() : bytes());
}

numbers tensor_work::sizes() const {
    numbers all = source_extents_;
    all.insert(all.end(), axes_.begin(), axes_.end());
    return all;
}

std::int64_t tensor_work::gpu_bytes(const std::vector<const kernel*>&, bool with_yardstick) const {
    constexpr std::int64_t kBeside = 16 << 20;
    const strided_shape copy = plain_copy();
    return std::max(shape_.source_bytes(), copy.source_bytes()) +
           std::max(shape_.destination_bytes(), copy.destination_bytes()) + (with_yardstick ? bytes() / 2 : 0) +
           shape_.factors() * 2 * static_cast<std::int64_t>(sizeof(float)) + kBeside;
}

std::string tensor_work::text() const {
    return (is_permutation_ ? permutation_text(source_extents_, {axes_.begin(), axes_.end()}) : shape_.text()) +
           conversion_text(shape_.conversion);
}

// The pair of types of a conversion.
std::vector<std::string> tensor_work::shape_classes() const {
    const element_cast& cast = shape_.conversion.cast;
    if (!cast.converts()) return {};
    return {fmt::format("{} to {}", name_of(cast.from), name_of(cast.to))};
}

void tensor_work::describe(nlohmann::ordered_json& cell) const {
    // "shape" is its text.
    if (is_permutation_)
        cell.update({{"source_extents", source_extents_}, {"axes", axes_}});
    else
        cell.update({{"extents", shape_.extents},
                     {"source_strides", shape_.source_strides},
                     {"destination_strides", shape_.destination_strides}});
    describe_conversion(shape_, cell);
    cell.update({{"element_size", shape_.element_size},
                 {"source_offset", shape_.source_offset},
                 {"destination_offset", shape_.destination_offset},
                 {"bytes", bytes()},
                 {"sector_bytes", sector_bytes()}});
}

nlohmann::ordered_json tensor_work::layout() const {
    ordered_json its = ordered_json::object();
    const element_conversion& how = shape_.conversion;
    if (how.cast.converts()) its["to"] = name_of(how.cast.to);
    if (how.factors != factor_kind::none) its["factors"] = kFactorNames[static_cast<int>(how.factors)];
    if (how.factors == factor_kind::each) its["axis"] = how.axis;
    if (shape_.source_offset != 0) its["source_offset"] = shape_.source_offset;
    if (shape_.destination_offset != 0) its["destination_offset"] = shape_.destination_offset;
    return its;
}

// There are no options for strides.
std::string tensor_work::options() const {
    return is_permutation_ ? workload::options() : fmt::format("{} of {} bytes, seed {}", text(), type().size, seed());
}

namespace {

// Row-major, with gaps of up to 7 elements after each axis.
numbers strides_with_gaps(random_bits& random, const numbers& extents) {
    numbers strides(extents.size());
    std::int64_t stride = 1;
    for (std::size_t i = extents.size(); i-- > 0;) {
        strides[i] = stride;
        stride = stride * std::max<std::int64_t>(extents[i], 1) + draw_up_to(random, 7);
    }
    return strides;
}

// The same axes for a small tensor, with gaps on both sides and off its boundaries.
strided_shape small_permutation(random_bits& random, numbers extents, const std::vector<int>& axes,
                                std::int64_t element_size) {
    constexpr std::int64_t kStep = 8, kMostElements = 1 << 15;
    for (std::int64_t& n : extents) n = small_like(n, kStep);
    // With many axes, even small extents give many elements.
    std::int64_t elements = 1;
    for (std::int64_t& n : extents) {
        n = std::min(n, std::max<std::int64_t>(1, kMostElements / std::max<std::int64_t>(elements, 1)));
        elements *= n;
    }
    strided_shape s = permuted_shape(extents, axes, element_size);
    const numbers source = strides_with_gaps(random, extents);
    for (std::size_t i = 0; i < axes.size(); ++i) s.source_strides[i] = source[static_cast<std::size_t>(axes[i])];
    s.destination_strides = strides_with_gaps(random, s.extents);
    s.source_offset = 1 + draw_up_to(random, 4);
    s.destination_offset = 1 + draw_up_to(random, 4);
    return s;
}

}  // namespace

// The same permutation of a small tensor; and copies drawn as for a bench, which may have gaps, reversed axes and
// repeated axes.
std::vector<workload_pointer> tensor_work::trials() const {
    constexpr std::int64_t kLeastBytes = 1 << 16, kMostBytes = 1 << 17, kLeastElements = 1 << 12,
                           kMostElements = 1 << 18;
    constexpr std::size_t kDraws = 3;
    random_bits random(seed());
    std::vector<strided_shape> shapes;
    if (is_permutation_) {
        shapes.push_back(small_permutation(random, source_extents_, axes_, shape_.element_size));
        shapes.back().conversion = shape_.conversion;
    }
    while (shapes.size() < kDraws + is_permutation_) {
        element_conversion how = shape_.conversion;
        how.factors = static_cast<factor_kind>(shapes.size() % 3);
        how.cast.scaled = how.factors != factor_kind::none;
        strided_shape drawn = how.cast.converts() ? draw_conversion(random, kLeastBytes, kMostBytes, how)
                                                  : draw_permutation(random, kLeastBytes, kMostBytes);
        // Extents that were rounded to powers of two may have made it many times larger or smaller.
        if (drawn.elements() < kLeastElements || drawn.elements() > kMostElements) continue;
        drawn.element_size = shape_.element_size;
        shapes.push_back(std::move(drawn));
    }
    std::vector<workload_pointer> all;
    for (const strided_shape& s : shapes)
        all.push_back(std::make_shared<tensor_work>(op(), type(), s, random() >> 1, false));
    return all;
}

std::string tensor_work::why_not_run(const kernel& k) const {
    if (k.traits<matrix_work>().copies || k.takes(static_cast<int>(shape_.element_size))) return {};
    return fmt::format("does not take {}-byte elements", shape_.element_size);
}

std::shared_ptr<const workload> tensor_work::among(const std::vector<const kernel*>& kernels,
                                                   std::uint64_t seed) const {
    const auto work = is_permutation_ ? std::make_shared<tensor_work>(op(), type(), source_extents_, axes_, seed,
                                                                      in_bench_, shape_.source_offset,
                                                                      shape_.destination_offset, shape_.conversion)
                                      : std::make_shared<tensor_work>(op(), type(), shape_, seed, in_bench_);
    for (const kernel* k : kernels) work->finite_only_ = work->finite_only_ || finite_only_for(*k);
    return work;
}

}  // namespace cornerturn
