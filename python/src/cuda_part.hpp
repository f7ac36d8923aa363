// The functions of the module _cuda that the module _core calls, in the capsule `table`. Both are built together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cornerturn/convert.h"
#include "cornerturn/cornerturn.h"

namespace cornerturn::python {

inline constexpr const char* kTableName = "cornerturn._cuda.table";

// A device is a CUDA device number. The functions make it current while they run.
struct cuda_table {
    cornerturn_status (*copy)(int device, int rank, const std::int64_t* extents, const void* source,
                              const std::int64_t* source_strides, void* destination,
                              const std::int64_t* destination_strides, std::int64_t element_size, void* stream);
    // Axis k of both is the same. `how` is on the host. The numbers of scale and bias are in memory of the device.
    cornerturn_status (*convert)(int device, int rank, const std::int64_t* extents, const void* source,
                                 cornerturn_element source_type, const std::int64_t* source_strides, void* destination,
                                 cornerturn_element destination_type, const std::int64_t* destination_strides,
                                 const cornerturn_conversion* how, void* stream);
    cornerturn_status (*explain)(int device, int rank, const std::int64_t* extents, const void* source,
                                 const std::int64_t* source_strides, const void* destination,
                                 const std::int64_t* destination_strides, std::int64_t element_size, char* text,
                                 std::size_t text_size);
    // Times the kernels that can make the copy, and keeps the best choice. Overwrites the destination.
    cornerturn_status (*tune)(int device, int rank, const std::int64_t* extents, const void* source,
                              const std::int64_t* source_strides, void* destination,
                              const std::int64_t* destination_strides, std::int64_t element_size, void* stream);
    cornerturn_status (*save_choices)(const char* file);
    cornerturn_status (*load_choices)(const char* file, int* count);
    // Makes later work in `stream` wait for the work in `before`.
    cornerturn_status (*wait)(int device, void* stream, void* before);
    cornerturn_status (*device_of)(const void* address, int* device);
    cornerturn_status (*devices)(int* count);
    const char* (*last_error)();
    void *xla_permute, *xla_convert;  // handlers
};

}  // namespace cornerturn::python
