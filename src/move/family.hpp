// A kernel family says whether it can move a copy and what that would cost, and fills its kernel's arguments. A new one
// is a row of the table in policy.cpp.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "move/cost.hpp"
#include "move/matrices.hpp"
#include "move/policy.hpp"
#include "move/tile_cut.hpp"

namespace cornerturn::moves {

// A copy that is not empty, and what several families want to know of it.
struct problem {
    const strided_copy& copy;
    const gpu& on;
    copy_of_units units;
    double touched;                       // bytes of the pieces of 64 bytes that hold the source
    std::optional<matrices> as_matrices;  // if it is a transpose
    bool is_aligned;                      // whether the addresses are multiples of the units

    problem(const strided_copy& c, const gpu& g)
        : copy(c),
          on(g),
          units(c),
          touched(fetched_bytes(c, kMostBytesOfWindow)),
          as_matrices(matrices_in(c)),
          is_aligned(c.source % static_cast<unsigned>(c.source_unit()) == 0 &&
                     c.destination % static_cast<unsigned>(c.unit()) == 0) {}
};

// The candidates of a copy.
class offers {
public:
    void add(const candidate& one) { all_.at(static_cast<std::size_t>(count_++)) = one; }
    candidate* begin() { return all_.data(); }
    candidate* end() { return all_.data() + count_; }

private:
    static constexpr std::size_t kMost = 96;  // more than a copy can have
    std::array<candidate, kMost> all_;
    int count_ = 0;
};

struct family {
    kernel_family by;
    const char* name;
    // Adds the ways in which it can move the copy.
    void (*offer)(const problem& p, offers& to);
    // Fills in what the kernel needs.
    void (*fill)(const problem& p, const candidate& c, plan& made);
    // In words, without the cost.
    std::string (*text)(const problem& p, const candidate& c);
    // What its cost is predicted from, all of it.
    counts (*count)(const problem& p, const candidate& c);
    // The cost with all that takes long to count. Null if the cost of an offer is final.
    double (*final_cost)(const problem& p, const candidate& c) = nullptr;
    bool converts = false;  // whether it can convert elements on their way
};

// The families of transposes of matrices: policy_matrices.cpp.
void offer_matrices(kernel_family by, const problem& p, offers& to);
void fill_matrices(const problem& p, const candidate& c, plan& made);
std::string text_of_matrices(const problem& p, const candidate& c);
counts counts_of_matrices(const problem& p, const candidate& c);

}  // namespace cornerturn::moves
