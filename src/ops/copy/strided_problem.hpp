// The verifier of copies between tensors and of conversions, in any memory.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/matrix_work.hpp"
#include "core/patterned_tensor.hpp"
#include "cornerturn/error.hpp"
#include "ops/copy/tensor_movement.hpp"

namespace cornerturn {

// What both buffers must hold, before and after a copy.
struct strided_pattern {
    patterned_tensor source, destination;  // as it must be afterwards

    // `finite_only`: no NaN, infinity or denormal.
    strided_pattern(const strided_shape& shape, std::uint64_t seed, bool finite_only = false);

    const patterned_tensor& of(side which) const { return which == side::source ? source : destination; }
    patterned_tensor before(side which) const;
};

// Says what is wrong on that side. The element at `position` holds the bytes at `found`.
std::string describe_wrong_element(const strided_shape& shape, const strided_pattern& pattern, side which,
                                   std::int64_t position, const unsigned char* found);
std::string describe_wrong_gap(const strided_shape& shape, const strided_pattern& pattern, side which,
                               std::int64_t byte);

matrix_work matrix_of(const strided_shape& shape, const void* source, void* destination);

// Memory has a type `buffer`, which begins at a multiple of 256 bytes. It fills and checks buffers.
template <class Memory>
class strided_problem : public problem {
public:
    // There is room for any of the shapes. The first one is prepared first.
    strided_problem(backend on, Memory memory, const std::vector<strided_shape>& shapes, std::uint64_t seed)
        : memory_(std::move(memory)),
          on_(on),
          source_(most(shapes, &strided_shape::source_bytes)),
          destination_(most(shapes, &strided_shape::destination_bytes)),
          numbers_(most(shapes, &strided_shape::factors) * kBytesOfFactor),
          seed_(seed) {
        use(shapes.front());
    }

    bool take(const workload& work, const kernel& k) override {
        const auto* const copy = dynamic_cast<const tensor_work*>(&work);
        if (copy == nullptr) return false;
        const strided_shape shape = copy->shape_for(k);
        if (shape.source_bytes() > source_.capacity() || shape.destination_bytes() > destination_.capacity() ||
            shape.factors() * kBytesOfFactor > numbers_.capacity())
            return false;
        seed_ = work.seed();
        finite_only_ = copy->finite_only_for(k);
        use(shape);
        return true;
    }
    std::int64_t capacity() const override { return source_.capacity() + destination_.capacity(); }

    void prepare() override {
        memory_.reserve(source_, destination_);
        fill(source_, side::source);
        fill_numbers();
        prepare_outputs();
    }
    void prepare_outputs() override { fill(destination_, side::destination); }

    verdict check(nlohmann::ordered_json*) const override {
        return with_the_rest({.elements = shape_.elements(), .fault = wrong_in(destination_, side::destination)});
    }

    std::function<void()> bind(const kernel& k) const override {
        if (k.takes_work<matrix_work>())
            return [run = k.built_for<matrix_work>(on_)->run,
                    work = matrix_of(shape_, source_.data(), destination_.data())] { run(work); };
        return [run = k.built_for<strided_work>(on_)->run,
                work = shape_.work(source_.data(), destination_.data(), numbers())] { run(work); };
    }

protected:
    // The verdict, with the checks of all that must not change.
    verdict with_the_rest(verdict found) const {
        if (found.passed()) found.fault = wrong_in(source_, side::source);
        if (found.passed()) found.fault = memory_.check_guards(destination_, "destination");
        if (found.passed()) found.fault = memory_.check_guards(source_, "source");
        if (found.passed()) found.fault = memory_.check_guards(numbers_, "scales");
        return found;
    }
    // Empty if nothing is wrong.
    std::string told(const typename Memory::buffer& buffer, const strided_pattern& pattern, side which,
                     const wrong_positions& wrong) const {
        const patterned_tensor& tensor = pattern.of(which);
        if (wrong.element != kNothingNoted) {
            const auto position = static_cast<std::int64_t>(wrong.element);
            const std::vector<unsigned char> found =
                memory_.read(buffer, position * tensor.element_size, tensor.element_size);
            return describe_wrong_element(shape_, pattern, which, position, found.data());
        }
        if (wrong.gap == kNothingNoted) return {};
        return describe_wrong_gap(shape_, pattern, which, static_cast<std::int64_t>(wrong.gap));
    }

    const strided_shape& shape() const { return shape_; }
    const float* numbers() const { return reinterpret_cast<const float*>(numbers_.data()); }
    Memory memory_;
    backend on_;
    typename Memory::buffer source_, destination_, numbers_;  // the scales, and after them the biases
    std::uint64_t seed_;
    bool finite_only_ = false;

private:
    static constexpr std::int64_t kBytesOfFactor = 2 * sizeof(float);

    static std::int64_t most(const std::vector<strided_shape>& shapes, std::int64_t (strided_shape::*bytes)() const) {
        std::int64_t all = 0;
        for (const strided_shape& s : shapes) all = std::max(all, (s.*bytes)());
        return all;
    }
    void use(const strided_shape& shape) {
        shape_ = shape;
        source_.use(shape.source_bytes());
        destination_.use(shape.destination_bytes());
        numbers_.use(shape.factors() * kBytesOfFactor);
    }
    void fill_numbers() {
        const std::int64_t count = shape_.factors();
        std::vector<float> all;
        for (std::int64_t i = 0; i < count; ++i) all.push_back(pattern_scale(i, seed_));
        for (std::int64_t i = 0; i < count; ++i) all.push_back(pattern_bias(i, seed_));
        memory_.fill_guards(numbers_);
        memory_.write(numbers_, all);
    }
    void fill(typename Memory::buffer& buffer, side which) {
        memory_.fill_guards(buffer);
        memory_.fill(buffer, strided_pattern(shape_, seed_, finite_only_).before(which));
    }
    // Empty, or what is wrong with elements and gaps.
    std::string wrong_in(const typename Memory::buffer& buffer, side which) const {
        const strided_pattern pattern(shape_, seed_, finite_only_);
        if (pattern.of(which).empty()) return {};
        return told(buffer, pattern, which, memory_.find_wrong(buffer, pattern.of(which)));
    }

    strided_shape shape_;
};

// Problems in host memory and on a GPU, for tensor_movement::make().
std::unique_ptr<problem> make_host_tensors(backend on, const std::vector<strided_shape>& shapes, std::uint64_t seed);
std::unique_ptr<problem> make_cuda_tensors(const std::vector<strided_shape>& shapes, std::uint64_t seed,
                                           bool with_yardstick);

}  // namespace cornerturn
