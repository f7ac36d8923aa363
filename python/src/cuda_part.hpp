// What the module _core calls of the module _cuda, by a table in its capsule `table`. The two are built together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cornerturn/cornerturn.h"

namespace cornerturn::python {

inline constexpr const char* kTableName = "cornerturn._cuda.table";

// A device is CUDA's number of it. Functions make it the current one meanwhile.
struct cuda_table {
    cornerturn_status (*copy)(int device, int rank, const std::int64_t* extents, const void* source,
                              const std::int64_t* source_strides, void* destination,
                              const std::int64_t* destination_strides, std::int64_t element_size, void* stream);
    cornerturn_status (*explain)(int device, int rank, const std::int64_t* extents, const void* source,
                                 const std::int64_t* source_strides, const void* destination,
                                 const std::int64_t* destination_strides, std::int64_t element_size, char* text,
                                 std::size_t text_size);
    // What `stream` gets from now on comes after what `before` has got.
    cornerturn_status (*wait)(int device, void* stream, void* before);
    cornerturn_status (*device_of)(const void* address, int* device);
    cornerturn_status (*devices)(int* count);
    const char* (*last_error)();
    void* xla_handler;
};

}  // namespace cornerturn::python
