// Permutations of axes and other copies between tensors, as the lab knows them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <vector>

#include "device/operation.hpp"
#include "ops/copy/kernel_traits.hpp"
#include "ops/copy/strided_shape.hpp"
#include "ops/permute/strided_work.hpp"

namespace cornerturn {

// A tensor without gaps whose axes are permuted, or any other copy between tensors.
class permutation_work final : public workload {
public:
    // Axes are as in numpy.transpose, and offsets as in strided_shape. Throws invalid_argument.
    permutation_work(const dtype& type, std::vector<std::int64_t> source_extents, std::vector<int> axes,
                     std::uint64_t seed, bool in_bench = false, std::int64_t source_offset = 0,
                     std::int64_t destination_offset = 0);
    // Throws invalid_argument if two axes of the destination interleave: the verifier cannot find gaps then.
    permutation_work(const dtype& type, const strided_shape& shape, std::uint64_t seed, bool in_bench = true);

    const strided_shape& shape() const { return shape_; }
    // The work of this kernel: the shape's copy, or a plain copy. In a bench the plain copy has half the bytes of all
    // touched sectors.
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
    std::int64_t bytes() const override { return 2 * shape_.elements() * shape_.element_size; }
    double amount(const kernel& k) const override;
    std::int64_t gpu_bytes(const std::vector<const kernel*>& kernels, bool with_yardstick) const override;
    std::int64_t aside_bytes() const override { return shape_.source_bytes() + shape_.destination_bytes(); }
    std::string text() const override;
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
