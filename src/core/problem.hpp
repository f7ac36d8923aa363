// Matrices to move, with a source that tells every element apart and a destination that shows every mistake: the
// verifier, on host memory. src/device/cuda_problem.hpp is its twin on the GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/patterned_batch.hpp"
#include "core/work.hpp"

namespace cornerturn {

inline constexpr int kMostElementBytes = 4096;

enum class side { source, destination };

// rows x cols of the source, in elements; the destination's follows from how it is arranged. Offsets move the matrix
// off its buffer's 256-byte boundary. A leading dimension of 0 means as small as can be, a stride of 0 that the
// matrices of a batch are packed: rows x leading dimension. In place, source and destination are the same square
// matrices.
struct problem_shape {
    arrangement (*arranged)(std::int64_t rows, std::int64_t cols) = transposed;
    std::int64_t rows = 0, cols = 0;
    int element_size = 4;
    std::uint64_t seed = 1;
    std::int64_t source_ld = 0, destination_ld = 0;
    std::int64_t source_offset = 0, destination_offset = 0;
    std::int64_t count = 1, source_stride = 0, destination_stride = 0;
    bool in_place = false;
    bool reads_stride = false;  // the source may be read up to a stride behind the last matrix
    bool numbers = false;       // no NaN, infinity or denormal: for what does arithmetic on the elements

    // Fills in leading dimensions and strides left 0. Throws invalid_argument where a size is negative, a leading
    // dimension too small, matrices of a batch overlap, or a product does not fit 64 bits.
    problem_shape checked() const;

    std::int64_t destination_rows() const { return arranged(rows, cols).rows; }
    std::int64_t destination_cols() const { return arranged(rows, cols).cols; }
    std::int64_t elements() const { return rows * cols * count; }

    // The matrices on that side; in place they are the same on both.
    batch_layout layout(side which) const;
    // What the buffer on that side must hold before a run, and after it. In place all is in the destination's, and the
    // source's is empty.
    patterned_batch before(side which) const;
    patterned_batch after(side which) const;
    std::int64_t room(side which) const;  // bytes of that side's buffer
    // The work on these buffers.
    matrix_work work(unsigned char* source, unsigned char* destination) const;
};

// What a check found.
struct verdict {
    std::int64_t elements = 0;  // checked
    std::string fault;          // empty: all right; else what is wrong and where first
    bool passed() const { return fault.empty(); }
};

// A part of the source, and of the destination what comes from it.
struct tile {
    std::int64_t row, col, rows, cols;
    std::int64_t matrix = 0;
    auto operator<=>(const tile&) const = default;
};

// A checked problem, and the bytes that each side's memory needs for it and for others, one after the other.
struct problem_rooms {
    problem_shape shape;
    std::int64_t source = 0, destination = 0;

    problem_rooms(const problem_shape& shape, const std::vector<problem_shape>& others);
};

// Memory from the system with guards on both sides, aligned to 256 bytes as cudaMalloc's is. Pages count only once
// they are touched.
class guarded_buffer {
public:
    // All of its room is in use at first. Throws error where the system has no such address space.
    explicit guarded_buffer(std::int64_t room);
    ~guarded_buffer();
    guarded_buffer(const guarded_buffer&) = delete;
    guarded_buffer& operator=(const guarded_buffer&) = delete;

    unsigned char* data() const { return data_; }
    std::int64_t room() const { return room_; }
    std::int64_t size() const { return bytes_; }
    void use(std::int64_t bytes);  // at most its room; its guards are to be filled anew
    // Bytes in use that will take memory of the system's when they are filled: those that touch() was not called for.
    std::int64_t untouched() const { return std::max<std::int64_t>(0, bytes_ - touched_); }
    void touch() { touched_ = std::max(touched_, bytes_); }
    void fill_guards();
    // Empty, or a sentence on the first byte that changed.
    std::string check_guards(const char* name) const;

private:
    std::int64_t room_, bytes_, touched_ = 0;
    unsigned char *mapping_, *data_;
    bool guards_filled_ = false;  // once is enough: a kernel that changes them is wrong
};

// Throws error that names `what` where the system cannot give so many bytes without swapping.
void require_memory(std::int64_t needed, const std::string& what);

// A problem's source and destination: in host memory or a GPU's.
template <class Buffer>
class problem_memory {
public:
    // With room for others' matrices, too.
    explicit problem_memory(const problem_shape& shape, const std::vector<problem_shape>& others = {})
        : problem_memory(problem_rooms(shape, others)) {}

    // For other work in the same memory, to be prepared: false, and nothing done, where there is no room for it.
    bool reshape(const problem_shape& shape) {
        const problem_rooms next(shape, {});
        if (next.source > source_.room() || next.destination > destination_.room()) return false;
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
    explicit problem_memory(const problem_rooms& rooms) : source_(rooms.source), destination_(rooms.destination) {
        use(rooms.shape);
    }
    void use(const problem_shape& checked) {
        shape_ = checked;
        source_.use(checked.room(side::source));
        destination_.use(checked.room(side::destination));
    }
};

class host_problem : public problem_memory<guarded_buffer> {
public:
    using problem_memory::problem_memory;

    // Before a run: everything, or only what the tiles touch (not in place).
    void prepare();
    void prepare(const std::vector<tile>& tiles);

    // After a run: every element, gap and guard byte; or those of the tiles and the guards.
    verdict check() const;
    verdict check(const std::vector<tile>& tiles) const;

    // The tile that begins at this address of the source.
    tile tile_at(const void* source_address, std::int64_t rows, std::int64_t cols) const;
};

// What is wrong with an element that holds what `found` points to: "destination (row 3, column 5) holds 0x...; it must
// hold 0x..., the source's (row 5, column 3) (seed 1)".
std::string describe_wrong_element(const problem_shape& shape, side which, coordinates at, const void* found);
// The same for a byte of a gap, counted from the first element.
std::string describe_wrong_gap(const problem_shape& shape, side which, std::int64_t byte);

// "holds 0x..., as before the run; it must hold 0x...", of an element's bytes, or 16 of them.
std::string wrong_bytes_text(const unsigned char* found, const std::vector<unsigned char>& wanted,
                             const std::vector<unsigned char>& before);

const char* name_of(side which);

}  // namespace cornerturn
