// What operations share that move the elements of a tensor to another order of axes, or convert them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <vector>

#include "device/explanation.hpp"
#include "ops/copy/movement.hpp"
#include "ops/copy/strided_shape.hpp"
#include "ops/copy/strided_work.hpp"

namespace cornerturn {

// "32 x 256 x 56 x 56, axes 0,2,3,1"
std::string permutation_text(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& axes);

// Such an operation says which types its elements have, and what it is compared with.
class tensor_movement : public element_movement {
public:
    static constexpr const char *kShape = "--shape", *kAxes = "--axes";

    using element_movement::element_movement;

    workload_pointer read(const arguments& given, std::int64_t standard) const override;
    std::unique_ptr<problem> make(backend on, const std::vector<const workload*>& work,
                                  const std::vector<const kernel*>& kernels, bool with_yardstick) const override;

    std::vector<option> explain_options() const override;
    explanation explain(const arguments& given) const override;

    std::string text_of(const std::vector<std::int64_t>& sizes) const override;
    double steps(const std::vector<std::int64_t>& sizes) const override;

    std::vector<bench_cell> bench_cells(const nlohmann::ordered_json& described) const override;

protected:
    // The sizes and the layout that all of these operations have.
    static operation_facts tensor_movement_facts(const char* name, std::vector<const char*> families);

    struct element_facts {
        dtype type;                      // of the source
        std::int64_t destination_bytes;  // of an element
        element_conversion how = {};
    };
    // The types that these arguments, or the description of a cell, give to a tensor of `rank` axes.
    virtual element_facts elements_of(const arguments& given, std::int64_t rank) const = 0;
    virtual element_facts elements_of(const nlohmann::ordered_json& described, std::int64_t rank) const = 0;
    // Options that elements_of() reads, besides --dtype, when a choice is explained.
    virtual std::vector<option> element_options() const { return {}; }
    // What the library would run in host memory, in a line.
    virtual std::string host_choice(const strided_copy& c) const = 0;

private:
    workload_pointer cell_work(const nlohmann::ordered_json& described) const;
};

// A tensor without gaps whose axes are permuted, or any other copy between tensors or conversion of one.
class tensor_work final : public workload {
public:
    // Axes are as in numpy.transpose, and offsets as in strided_shape. Throws invalid_argument.
    tensor_work(const operation& op, const dtype& type, std::vector<std::int64_t> source_extents, std::vector<int> axes,
                std::uint64_t seed, bool in_bench = false, std::int64_t source_offset = 0,
                std::int64_t destination_offset = 0, const element_conversion& how = {});
    // Throws invalid_argument if two axes of the destination interleave: the verifier cannot find gaps then.
    tensor_work(const operation& op, const dtype& type, const strided_shape& shape, std::uint64_t seed,
                bool in_bench = true);

    const strided_shape& shape() const { return shape_; }
    // The work of this kernel: the shape's copy, or a plain copy. In a bench the plain copy has half the bytes of all
    // touched sectors. Otherwise, beside a conversion, it has half the bytes of both sides.
    strided_shape shape_for(const kernel& k) const;
    bool finite_only_for(const kernel& k) const { return finite_only_ || k.traits<strided_work>().arithmetic; }
    // Bytes of the 32-byte sectors that must be read, plus those that must be written.
    std::int64_t sector_bytes() const;

    std::vector<std::int64_t> sizes() const override;  // the source's extents, and the axes
    std::int64_t outputs() const override { return shape_.elements(); }
    std::int64_t steps() const override { return shape_.elements(); }
    nlohmann::ordered_json layout() const override;
    std::string options() const override;
    std::vector<std::shared_ptr<const workload>> trials() const override;
    bool has_tiles() const override { return true; }
    std::int64_t bytes() const override { return shape_.moved_bytes(); }
    double amount(const kernel& k) const override;
    std::int64_t gpu_bytes(const std::vector<const kernel*>& kernels, bool with_yardstick) const override;
    std::int64_t aside_bytes() const override { return shape_.source_bytes() + shape_.destination_bytes(); }
    std::string text() const override;
    std::vector<std::string> shape_classes() const override;
    void describe(nlohmann::ordered_json& cell) const override;
    std::string why_not_run(const kernel& k) const override;
    bool writes_whole_sectors() const override;
    std::shared_ptr<const workload> among(const std::vector<const kernel*>& kernels, std::uint64_t seed) const override;

private:
    strided_shape plain_copy() const;

    strided_shape shape_;
    std::vector<std::int64_t> source_extents_;
    std::vector<int> axes_;
    bool is_permutation_, in_bench_;
    bool finite_only_ = false;  // no NaN, infinity or denormal
};

}  // namespace cornerturn
