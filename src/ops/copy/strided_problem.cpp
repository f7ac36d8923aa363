// Copies between tensors in host memory, and conversions, which are verified there.
#include "ops/copy/strided_problem.hpp"

#include <cstdlib>
#include <cstring>

namespace cornerturn {
namespace {

// The index of an element, from its position: takes the axes of the destination, the largest step first.
std::string index_at(const strided_shape& shape, std::int64_t position) {
    std::vector<std::size_t> order(shape.extents.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::abs(shape.destination_strides[a]) > std::abs(shape.destination_strides[b]);
    });
    std::vector<std::int64_t> index(order.size());
    std::int64_t rest = position - shape.destination_offset;
    for (std::size_t i : order) {
        const std::int64_t last = shape.extents[i] - 1, stride = std::abs(shape.destination_strides[i]);
        const std::int64_t digit = last == 0 ? 0 : std::min(last, rest / stride);
        rest -= digit * stride;
        index[i] = shape.destination_strides[i] < 0 ? last - digit : digit;
    }
    return fmt::format("({})", fmt::join(index, ", "));
}

struct host_memory {
    using buffer = guarded_buffer;

    void reserve(buffer& source, buffer& destination) {
        require_memory(source.untouched() + destination.untouched(), "the tensors");
    }
    void fill_guards(buffer& b) {
        b.fill_guards();
        b.touch();
    }
    void fill(buffer& b, const patterned_tensor& tensor) { cornerturn::fill(b.data(), tensor); }
    wrong_positions find_wrong(const buffer& b, const patterned_tensor& tensor) const {
        return cornerturn::find_wrong(b.data(), tensor);
    }
    std::vector<unsigned char> read(const buffer& b, std::int64_t at, std::int64_t bytes) const {
        return {b.data() + at, b.data() + at + bytes};
    }
    void write(buffer& b, const std::vector<float>& numbers) {
        if (!numbers.empty()) std::memcpy(b.data(), numbers.data(), numbers.size() * sizeof(float));
    }
    std::string check_guards(const buffer& b, const char* name) const { return b.check_guards(name); }
};

class host_tensors final : public strided_problem<host_memory> {
public:
    host_tensors(backend on, const std::vector<strided_shape>& shapes, std::uint64_t seed)
        : strided_problem(on, {}, shapes, seed) {}

    std::function<void()> bind_yardstick() const override { return {}; }
    std::vector<buffer> buffers() const override {
        std::vector<buffer> all = {
            {"source", source_.data(), source_.size(), source_.capacity(), false, true},
            {"destination", destination_.data(), destination_.size(), destination_.capacity(), true, false}};
        if (numbers_.capacity() > 0)
            all.push_back({"scales", numbers_.data(), numbers_.size(), numbers_.capacity(), false, true});
        return all;
    }

    // A tile is known by the first byte that it writes and by its number of elements. All elements are filled and
    // checked. The elements that were written must be as many as all tiles have.
    tile tile_of(const emulator::sampled_tile& t) const override {
        const auto at = static_cast<const unsigned char*>(t.operands[1]) - destination_.data();
        return {at, 0, t.rows * t.cols, t.depth};
    }
    void prepare_inputs() override { prepare(); }
    using strided_problem::prepare;
    void prepare(const std::vector<tile>&) override {}
    using strided_problem::check;
    verdict check(const std::vector<tile>& tiles) const override {
        std::int64_t wanted = 0;
        for (const tile& t : tiles) wanted += t.rows * t.cols;
        const strided_pattern pattern(shape(), seed_, finite_only_);
        verdict found;
        if (shape().elements() == 0) return found;
        const wrong_positions wrong = find_wrong(destination_.data(), pattern.of(side::destination),
                                                 pattern.before(side::destination), found.elements);
        found.fault = told(destination_, pattern, side::destination, wrong);
        if (found.passed() && found.elements != wanted)
            found.fault = fmt::format("{} of the {} elements of the blocks that ran were written (seed {})",
                                      found.elements, wanted, seed_);
        return with_the_rest(found);
    }
};

}  // namespace

strided_pattern::strided_pattern(const strided_shape& shape, std::uint64_t seed, bool finite_only) {
    source.element_size = static_cast<int>(shape.source_size());
    destination.element_size = static_cast<int>(shape.element_size);
    source.conversion = destination.conversion = shape.conversion;
    source.is_source = true;
    source.seed = destination.seed = seed;
    source.finite_only = destination.finite_only = finite_only;
    if (shape.elements() == 0) return;
    constexpr std::uintptr_t kSource = std::uintptr_t{1} << 40, kDestination = std::uintptr_t{1} << 50;
    const strided_copy c = shape.copy(reinterpret_cast<const void*>(kSource), reinterpret_cast<void*>(kDestination));
    const std::int64_t from_size = shape.source_size(), size = shape.element_size;
    source.offset = shape.source_offset;
    source.run = shape.source_bytes() / from_size - shape.source_offset;
    destination.offset = shape.destination_offset;
    destination.run = c.run / size;
    destination.first = static_cast<std::int64_t>(c.source - kSource) / from_size - shape.source_offset;
    destination.factor = c.by.first;
    destination.rank = c.rank;
    for (int i = 0; i < c.rank; ++i) {
        const strided_axis& a = c.axes[static_cast<std::size_t>(i)];
        destination.axes[i] = {a.extent, a.source / from_size, a.destination / size, a.factor};
    }
}

patterned_tensor strided_pattern::before(side which) const {
    patterned_tensor tensor = of(which);
    tensor.poison = which == side::destination;
    return tensor;
}

std::string describe_wrong_element(const strided_shape& shape, const strided_pattern& pattern, side which,
                                   std::int64_t position, const unsigned char* found) {
    const patterned_tensor& after = pattern.of(which);
    const patterned_tensor::stretch here = after.at(position);
    const std::int64_t index = here.index;
    if (which == side::source)
        return fmt::format("the source was changed at its element {} (counted from the lowest address)", index);
    const auto element_of = [&](const patterned_tensor& tensor) {
        std::vector<unsigned char> bytes(static_cast<std::size_t>(tensor.element_size));
        with_tensor_elements(
            tensor, [&](auto elements) { elements.put(bytes.data(), static_cast<std::uint64_t>(index), here.factor); });
        return bytes;
    };
    return fmt::format("destination {} {}, the source's element {} (counted from the lowest address) (seed {})",
                       index_at(shape, position),
                       wrong_bytes_text(found, element_of(after), element_of(pattern.before(which))), index,
                       after.seed);
}

std::string describe_wrong_gap(const strided_shape& shape, const strided_pattern& pattern, side which,
                               std::int64_t byte) {
    const patterned_tensor& tensor = pattern.of(which);
    const std::int64_t position = byte / tensor.element_size;
    if (position < tensor.offset)
        return fmt::format("the guard byte {} bytes before the first element of the {} was overwritten",
                           tensor.offset * tensor.element_size - byte, name_of(which));
    return fmt::format("the gap after {} of the {} was overwritten, {} bytes from the first element (seed {})",
                       index_at(shape, position), name_of(which), byte - tensor.offset * tensor.element_size,
                       tensor.seed);
}

matrix_work matrix_of(const strided_shape& shape, const void* source, void* destination) {
    return {.source = static_cast<const unsigned char*>(source) + shape.source_offset * shape.element_size,
            .destination = static_cast<unsigned char*>(destination) + shape.destination_offset * shape.element_size,
            .rows = 1,
            .cols = shape.elements(),
            .source_ld = shape.elements(),
            .destination_ld = shape.elements(),
            .element_size = static_cast<int>(shape.element_size)};
}

std::unique_ptr<problem> make_host_tensors(backend on, const std::vector<strided_shape>& shapes, std::uint64_t seed) {
    return std::make_unique<host_tensors>(on, shapes, seed);
}

}  // namespace cornerturn
