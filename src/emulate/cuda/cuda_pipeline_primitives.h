// Asynchronous copies from global to shared memory, for one thread: __pipeline_memcpy_async and its two companions.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "cornerturn_cuda/async_copy.h"

CT_INLINE void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes, size_t zeros = 0) {
    if (zeros == 0) {
        ct_copy_async(shared, global, static_cast<unsigned>(bytes));
    } else {
        ct_copy_async_filled(shared, global, static_cast<unsigned>(bytes), static_cast<unsigned>(zeros));
    }
}

CT_INLINE void __pipeline_commit() { ct_end_of_copies(); }

// Waits for all batches of copies except the last `later`.
CT_INLINE void __pipeline_wait_prior(size_t later) { ct_wait_for_copies(static_cast<unsigned>(later)); }
