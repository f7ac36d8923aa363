// What the file of a permutation rung needs besides its kernel.
#pragma once

#include "ops/copy/tile_rung.hpp"
#include "ops/permute/strided_work.hpp"

namespace CORNERTURN_KERNELS {

inline constexpr unsigned kPowersOfTwo = 1 | 2 | 4 | 8 | 16;

// Calls Rung::run<T>(work) with the storage type of `bytes` bytes.
template <class Rung, class Work>
void run_with_type(int bytes, const Work& work) {
    switch (bytes) {
#ifndef CORNERTURN_ONLY_ELEMENT4
        case 1: return Rung::template run<element1>(work);
        case 2: return Rung::template run<element2>(work);
#endif
        case 4: return Rung::template run<element4>(work);
        case 8: return Rung::template run<element8>(work);
        case 16: return Rung::template run<element16>(work);
        default: decline_element_size(bytes);
    }
}

}  // namespace CORNERTURN_KERNELS
