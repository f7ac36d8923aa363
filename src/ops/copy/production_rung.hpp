// What the production rungs of permute and of convert run: the library's engine, which is in src/move/.
#pragma once

#include "move/policy.hpp"
#include "ops/copy/tile_rung.hpp"
#if !defined(CORNERTURN_EMULATED)
#include "device/cuda_device.hpp"
#endif

namespace CORNERTURN_KERNELS {

inline void run_production(const strided_work& work) {
    decline_what_takes_long(work);
#if defined(CORNERTURN_EMULATED)
    moves::run_emulated(canonical(work), gpu{});  // the GPU for which the kernels were tuned
#else
    moves::run_on_gpu(canonical(work), device::gpu_of(device::current_device()));
#endif
}

}  // namespace CORNERTURN_KERNELS
