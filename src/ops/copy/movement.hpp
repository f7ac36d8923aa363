// What operations share that move each element of a matrix or tensor to another place.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "device/operation.hpp"
#include "ops/copy/kernel_traits.hpp"
#include "ops/copy/strided_shape.hpp"

namespace cornerturn {

// Shapes of a bench, for elements of one size.
struct shape_group {
    const char* name;
    std::vector<problem_shape> (*shapes)(std::int64_t element_size);
};

// Facts of such an operation whose ladder has kernels of these families. Its sizes and operands are left out.
operation_facts element_movement_facts(const char* name, std::vector<const char*> families);
// The same, with the sizes and operands of a matrix.
operation_facts movement_facts(const char* name, std::vector<const char*> families);

// The range of bytes for all elements together.
const drawn_bytes& bytes_of(draw_size size);

class element_movement : public operation {
public:
    using operation::operation;

    // Accepts copies too, of any operation.
    bool accepts(const kernel& k) const override { return k.op == this || is_ceiling(k); }
    bool is_ceiling(const kernel& k) const override { return k.traits<matrix_work>().copies; }

    std::string yardstick_text(backend on) const override;
    double operand_bytes(const std::vector<std::int64_t>& sizes, int element_size) const override;
};

// Moves one matrix to another. Each of these operations says which element goes where.
class movement : public element_movement {
public:
    static constexpr const char *kSquares = "squares", *kCaches = "caches";  // groups of its bench

    using arranged_function = arrangement (*)(std::int64_t rows, std::int64_t cols);

    // The source is rows x cols. arranged(rows, cols) says which of its elements becomes element (row, col) of the
    // destination.
    movement(operation_facts facts, arranged_function arranged)
        : element_movement(std::move(facts)), arranged_(arranged) {}

    arranged_function arranged() const { return arranged_; }

    workload_pointer read(const arguments& given, std::int64_t standard) const override;
    std::unique_ptr<problem> make(backend on, const std::vector<const workload*>& work,
                                  const std::vector<const kernel*>& kernels, bool with_yardstick) const override;

    std::vector<std::string> bench_groups() const override;
    std::vector<bench_cell> bench_grid(const std::vector<int>& element_sizes,
                                       const std::vector<std::string>& groups) const override;
    bool is_usual_group(const std::string& group) const override { return group != kCaches; }
    std::vector<bench_cell> bench_draws(int count, std::uint64_t seed, draw_size size) const override;
    // memcpy, and what the library runs, "NAME/production". Without that: the first of its kernels built for `on`.
    bench_contestants contestants(backend on) const override;
    // Every way in which the library does the work there, as in problem::candidates().
    virtual std::vector<problem::candidate> candidates(backend, const matrix_work&) const { return {}; }
    std::string bench_row(const std::string& group, const std::string& text,
                          const std::vector<std::int64_t>& sizes) const override;

protected:
    virtual std::vector<shape_group> shape_groups() const;

private:
    arranged_function arranged_;
};

// Matrices to move.
class movement_work final : public workload {
public:
    // The shape is arranged as by the operation's kernels. In a bench, a copy does not move the matrix. It moves as
    // many bytes as are in the sectors that must be touched. Throws invalid_argument.
    movement_work(const movement& does, const dtype& type, const problem_shape& shape, bool in_bench = false);

    // What this kernel moves: the operation's arrangement, or a copy.
    problem_shape shape_for(const kernel& k) const;

    // Bytes of the 32-byte sectors that must be read, plus those that must be written. No kernel can move less.
    std::int64_t sector_bytes() const;
    std::int64_t moved_bytes() const { return 2 * shape_.elements() * shape_.element_size; }

    std::vector<std::int64_t> sizes() const override { return {shape_.rows, shape_.cols}; }
    std::int64_t outputs() const override { return shape_.elements(); }
    std::int64_t steps() const override { return shape_.elements(); }
    nlohmann::ordered_json layout() const override;
    std::vector<std::shared_ptr<const workload>> trials() const override;
    bool has_tiles() const override { return shape_.arranged == copied || shape_.arranged == transposed; }
    std::int64_t bytes() const override { return moved_bytes(); }
    double amount(const kernel& k) const override;
    std::int64_t gpu_bytes(const std::vector<const kernel*>& kernels, bool with_yardstick) const override;
    std::int64_t aside_bytes() const override;
    std::string text() const override;
    void describe(nlohmann::ordered_json& cell) const override;
    std::string why_not_run(const kernel& k) const override;
    bool writes_whole_sectors() const override;
    std::shared_ptr<const workload> among(const std::vector<const kernel*>& kernels, std::uint64_t seed) const override;

private:
    problem_shape copy_shape() const;
    problem_shape ordered_shape() const;
    std::int64_t source_sectors() const;
    std::int64_t side_bytes(const std::vector<problem_shape>& shapes) const;

    problem_shape shape_;
    bool in_bench_;
};

// Which element goes where, for a kernel of any operation that moves elements.
movement::arranged_function arranged_by(const kernel& k);

// A problem on a GPU, for movement::make().
std::unique_ptr<problem> make_cuda_movement(const std::vector<problem_shape>& shapes, bool with_yardstick);

}  // namespace cornerturn
