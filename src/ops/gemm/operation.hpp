// Multiplication work, as the lab passes it around.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <vector>

#include "device/operation.hpp"
#include "ops/gemm/problem.hpp"

namespace cornerturn {

class product_work final : public workload {
public:
    // Throws invalid_argument.
    explicit product_work(const gemm_shape& shape);

    const gemm_shape& shape() const { return shape_; }
    // In floats: the most that any of these kernels needs there.
    std::int64_t workspace(backend on, const std::vector<const kernel*>& kernels) const;

    std::vector<std::int64_t> sizes() const override { return {shape_.m, shape_.n, shape_.k}; }
    std::int64_t outputs() const override { return shape_.elements(); }
    std::int64_t steps() const override;
    std::int64_t bytes() const override;
    double amount(const kernel& k) const override;
    nlohmann::ordered_json layout() const override;
    std::vector<std::shared_ptr<const workload>> trials() const override;
    bool has_tiles() const override { return true; }
    unsigned witnesses() const override { return 4; }  // a block takes as long as thousands of blocks that move a tile
    std::int64_t gpu_bytes(const std::vector<const kernel*>& kernels, bool with_yardstick) const override;
    std::string text() const override;
    std::vector<std::string> shape_classes() const override;
    void describe(nlohmann::ordered_json& cell) const override;
    std::string why_not_run(const kernel& k) const override;
    std::shared_ptr<const workload> among(const std::vector<const kernel*>& kernels, std::uint64_t seed) const override;

private:
    gemm_shape shape_;
};

// A problem on a GPU, for the operation's make().
std::unique_ptr<problem> make_cuda_product(const gemm_shape& shape, std::int64_t workspace, bool with_yardstick);

}  // namespace cornerturn
