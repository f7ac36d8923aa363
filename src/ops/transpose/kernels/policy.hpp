// Which kernel transposes which matrix. The tuning is data.
#pragma once

#include <string>
#include <vector>

#include "core/gpu.hpp"
#include "core/matrix_work.hpp"
#include "core/strided.hpp"

namespace cornerturn::strided {
struct plan;
}

namespace cornerturn::transposes {

// The ways to transpose a matrix.
enum class kernel_family {
    nothing,          // an empty matrix
    direct,           // a small matrix, through registers alone
    vector,           // tiles, 16-byte accesses on both sides
    vector_apart,     // the same, with blocks at two positions in each row at a time
    vector_stacked,   // the same for a batch as one tall matrix
    ragged,           // tiles, any alignment
    tall,             // a few columns: the source is read in order
    wide,             // a few rows: the destination is written in order
    strided,          // as a copy between tensors, which has its own choice (ops/copy/kernels/policy.hpp)
    small,            // a batch of small packed matrices
    units,            // elements of any size, in units
    blocks,           // elements of 128 bytes and more, copied one by one
    vector_in_place,  // swaps pairs of tiles, 16-byte accesses
    units_in_place,   // the same, for any element and alignment
    blocks_in_place,  // swaps large elements one by one
};
const char* name(kernel_family p);

// The tuning of one kernel: tunings.hpp has all of them. A unit is what the kernel moves at once: an element or a part.
struct tuning {
    kernel_family by;
    int unit;                  // bytes
    int tile_rows, tile_cols;  // of the source, in elements; 0: chosen at the launch
    int threads;               // 0: chosen at the launch

    friend bool operator==(const tuning&, const tuning&) = default;
};

// The largest power of two, at most 16, that divides the element's size and both addresses. It can be moved at once.
int unit_of(const matrix_work& work);

// Depends only on the GPU, the sizes and the addresses' alignment.
tuning choose(const matrix_work& work, const gpu& on);
// Other tunings that can do the work, perhaps more slowly: for the bench's regret. Empty for work in place.
std::vector<tuning> alternatives(const matrix_work& work, const gpu& on);
// Every tuning that can be chosen: those of tunings.hpp.
std::vector<tuning> all_tunings();
// The tuning's row in its path's table in tunings.hpp. Throws std::logic_error if the tuning is not a row.
int row_of(const tuning& t);
// "vector 128 x 128, 1-byte units, 256 threads"
std::string name(const tuning& t);
// Calls run() for each launch if the choice is kernel_family::strided.
void run_strided(const matrix_work& work, const gpu& on, void (*run)(const strided::plan&));
std::string explain(const matrix_work& work, const gpu& on);
std::string explain_for(const matrix_work& work, int capability);  // 90 for 9.0: see gpu_of_capability()

}  // namespace cornerturn::transposes
