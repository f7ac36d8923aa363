// The part of DLPack's binary interface, version 1.3, that this package uses:
// https://dmlc.github.io/dlpack/latest/c_api.html
#pragma once

#include <cstdint>

namespace cornerturn::python::dlpack {

inline constexpr std::int32_t kHost = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13;  // kinds of devices
inline constexpr std::uint8_t kInt = 0, kUInt = 1, kFloat = 2, kOpaque = 3, kBfloat = 4, kComplex = 5, kBool = 6,
                              kE4m3fn = 10, kE5m2 = 12;
inline constexpr std::uint64_t kReadOnly = 1, kCopied = 2;  // in versioned_tensor::flags

struct version {
    std::uint32_t major, minor;
};

struct device {
    std::int32_t kind, id;
};

struct data_type {
    std::uint8_t code, bits;
    std::uint16_t lanes;
};

struct tensor {
    void* data;
    dlpack::device device;
    std::int32_t rank;
    data_type type;
    std::int64_t* extents;
    std::int64_t* strides;  // in elements; null: row-major and packed
    std::uint64_t byte_offset;
};

struct unversioned_tensor {  // in a capsule named "dltensor"
    dlpack::tensor tensor;
    void* context;
    void (*deleter)(unversioned_tensor*);
};

struct versioned_tensor {  // in a capsule named "dltensor_versioned"
    dlpack::version version;
    void* context;
    void (*deleter)(versioned_tensor*);
    std::uint64_t flags;
    dlpack::tensor tensor;
};

// What an array type offers to C code, in its capsule __dlpack_c_exchange_api__. Functions return 0, or -1 with a
// Python error set. None of them synchronises streams.
struct exchange_api {
    dlpack::version version;
    const exchange_api* previous;  // of an older major version
    int (*allocate)(tensor* like, versioned_tensor** out, void* error_context,
                    void (*set_error)(void*, const char* kind, const char* message));
    int (*owned_tensor_of)(void* object, versioned_tensor** out);
    int (*object_of)(versioned_tensor* tensor, void** out);
    int (*tensor_of)(void* object, tensor* out);  // borrowed; may be null
    int (*current_work_stream)(std::int32_t kind, std::int32_t id, void** out);
};

}  // namespace cornerturn::python::dlpack
