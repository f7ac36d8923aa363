// The verifier for host memory: matrices to move, a source whose elements differ, and a destination that shows every
// mistake. src/device/cuda_problem.hpp is the verifier for the GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/matrix_work.hpp"
#include "core/patterned_batch.hpp"

namespace cornerturn {

inline constexpr int kMostElementBytes = 4096;

enum class side { source, destination };

// The source is rows x cols elements; `arranged` gives the destination's shape. Offsets move the matrix off its
// buffer's 256-byte boundary. A leading dimension of 0 stands for the smallest possible one. A stride of 0 stands for
// packed matrices: rows x leading dimension. In place, source and destination are the same square matrices.
struct problem_shape {
    arrangement (*arranged)(std::int64_t rows, std::int64_t cols) = transposed;
    std::int64_t rows = 0, cols = 0;
    int element_size = 4;
    std::uint64_t seed = 1;
    std::int64_t source_ld = 0, destination_ld = 0;
    std::int64_t source_offset = 0, destination_offset = 0;
    std::int64_t count = 1, source_stride = 0, destination_stride = 0;
    bool in_place = false;
    bool reads_stride = false;  // a kernel may read a whole stride from the last matrix of the source
    bool finite_only = false;   // no NaN, infinity or denormal, for kernels that do arithmetic on the elements

    // Fills in leading dimensions and strides that are 0. Throws invalid_argument if a size is negative, if a leading
    // dimension is too small, if matrices of a batch overlap, or if a product does not fit in 64 bits.
    problem_shape checked() const;

    std::int64_t destination_rows() const { return arranged(rows, cols).rows; }
    std::int64_t destination_cols() const { return arranged(rows, cols).cols; }
    std::int64_t elements() const { return rows * cols * count; }

    // The matrices on that side. In place, both sides have the same matrices.
    batch_layout layout(side which) const;
    // The expected content of that side's buffer before and after a run. In place, all matrices are in the
    // destination's buffer, and the source's buffer is empty.
    patterned_batch before(side which) const;
    patterned_batch after(side which) const;
    std::int64_t capacity(side which) const;  // bytes that this side's buffer needs
    matrix_work work(unsigned char* source, unsigned char* destination) const;
};

// The result of a check.
struct verdict {
    std::int64_t elements = 0;  // the number of checked elements
    std::string fault;          // a sentence about the first error; empty if there is none
    bool passed() const { return fault.empty(); }
};

// A part of the source, and the elements of the destination that come from it.
struct tile {
    std::int64_t row, col, rows, cols;
    std::int64_t matrix = 0;
    auto operator<=>(const tile&) const = default;
};

// A checked problem, and the bytes that each side's buffer needs to hold it or any of `others`.
struct problem_capacities {
    problem_shape shape;
    std::int64_t source = 0, destination = 0;

    problem_capacities(const problem_shape& shape, const std::vector<problem_shape>& others);
};

// Memory with guard bytes on both sides, aligned to 256 bytes like that of cudaMalloc. Pages take memory only once they
// are touched.
class guarded_buffer {
public:
    // At first, the whole capacity is in use. Throws error if the system cannot reserve the address space.
    explicit guarded_buffer(std::int64_t capacity);
    ~guarded_buffer();
    guarded_buffer(const guarded_buffer&) = delete;
    guarded_buffer& operator=(const guarded_buffer&) = delete;

    unsigned char* data() const { return data_; }
    std::int64_t capacity() const { return capacity_; }
    std::int64_t size() const { return bytes_; }
    void use(std::int64_t bytes);  // at most capacity(); afterwards, call fill_guards()
    // Bytes in use that will take new memory when they are filled, because touch() was not called for them.
    std::int64_t untouched() const { return std::max<std::int64_t>(0, bytes_ - touched_); }
    void touch() { touched_ = std::max(touched_, bytes_); }
    void fill_guards();
    // A sentence about the first byte that changed; empty if there is none.
    std::string check_guards(const char* name) const;

private:
    std::int64_t capacity_, bytes_, touched_ = 0;
    unsigned char *mapping_, *data_;
    bool guards_filled_ = false;  // once is enough, because no correct kernel changes them
};

// Throws error, which names `what`, if the system cannot provide `needed` bytes without swapping.
void require_memory(std::int64_t needed, const std::string& what);

// A problem's source and destination: in host memory or a GPU's.
template <class Buffer>
class problem_memory {
public:
    // The buffers also have the capacity for each of `others`.
    explicit problem_memory(const problem_shape& shape, const std::vector<problem_shape>& others = {})
        : problem_memory(problem_capacities(shape, others)) {}

    // Reuses the memory for other work, which the caller must prepare. Returns false, and changes nothing, if a
    // capacity is too small.
    bool reshape(const problem_shape& shape) {
        const problem_capacities next(shape, {});
        if (next.source > source_.capacity() || next.destination > destination_.capacity()) return false;
        use(next.shape);
        return true;
    }

    const problem_shape& shape() const { return shape_; }
    matrix_work work() const { return shape_.work(source_.data(), destination_.data()); }
    const Buffer& source() const { return source_; }
    const Buffer& destination() const { return destination_; }

protected:
    const Buffer& buffer(side which) const { return which == side::source ? source_ : destination_; }

    problem_shape shape_;
    Buffer source_, destination_;

private:
    explicit problem_memory(const problem_capacities& capacities)
        : source_(capacities.source), destination_(capacities.destination) {
        use(capacities.shape);
    }
    void use(const problem_shape& checked) {
        shape_ = checked;
        source_.use(checked.capacity(side::source));
        destination_.use(checked.capacity(side::destination));
    }
};

class host_problem : public problem_memory<guarded_buffer> {
public:
    using problem_memory::problem_memory;

    // Before a run: fills everything, or only the elements of the tiles (not in place).
    void prepare();
    void prepare(const std::vector<tile>& tiles);

    // After a run: checks every element, gap and guard byte, or only the elements of the tiles and the guard bytes.
    verdict check() const;
    verdict check(const std::vector<tile>& tiles) const;

    // The tile that begins at this address of the source.
    tile tile_at(const void* source_address, std::int64_t rows, std::int64_t cols) const;
};

// Describes a wrong element, whose bytes `found` points to: "destination (row 3, column 5) holds 0x...; it must hold
// 0x..., the source's (row 5, column 3) (seed 1)".
std::string describe_wrong_element(const problem_shape& shape, side which, coordinates at, const void* found);
// Describes an overwritten byte of a gap, counted from the first element.
std::string describe_wrong_gap(const problem_shape& shape, side which, std::int64_t byte);

// "holds 0x..., as before the run; it must hold 0x...". It shows at most 16 bytes of an element.
std::string wrong_bytes_text(const unsigned char* found, const std::vector<unsigned char>& wanted,
                             const std::vector<unsigned char>& before);

const char* name_of(side which);

}  // namespace cornerturn
