// The verifier's own kernels, behind calls that a host compiler understands.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace cornerturn::device {

// A matrix in its buffer, and the pattern that it is filled with (core/pattern.hpp). Elements and leading dimension as
// in matrix_work. The gaps behind its rows hold guard bytes.
struct patterned_matrix {
    unsigned char* base;
    std::int64_t rows, cols, ld;
    int element_size;
    std::int64_t source_cols;
    std::uint64_t seed;
    bool transposed;
    bool numbers;
};

// Where a check found the lowest wrong place, as an index into the matrix with its gaps; kNothingWrong if nowhere.
struct wrong_places {
    unsigned long long element, gap;
};
inline constexpr unsigned long long kNothingWrong = ~0ull;

// All run on the stream and return at once. `opposite` fills in what must not come instead of what must.
void fill_matrix(const patterned_matrix& m, bool opposite, cudaStream_t stream);
void check_matrix(const patterned_matrix& m, wrong_places* on_device, cudaStream_t stream);
void fill_guard(unsigned char* bytes, std::int64_t count, cudaStream_t stream);

}  // namespace cornerturn::device
