// What the file of a rung that permutes axes needs besides its kernel: its variants.
#pragma once

#include "device/rung.hpp"
#include "ops/permute/operation.hpp"
#include "ops/permute/work.hpp"

namespace CORNERTURN_KERNELS {

// Calls Rung::run<T>(work) with the storage type of work.element_size.
template <class Rung>
void run_any_element_size(const strided_work& work) {
    switch (work.element_size) {
        case 1: return Rung::template run<element1>(work);
        case 2: return Rung::template run<element2>(work);
        case 4: return Rung::template run<element4>(work);
        case 8: return Rung::template run<element8>(work);
        case 16: return Rung::template run<element16>(work);
        default: decline_element_size(work.element_size);
    }
}

}  // namespace CORNERTURN_KERNELS
