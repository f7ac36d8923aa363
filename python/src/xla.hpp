// The part of XLA's interface for foreign functions that the handlers use: https://openxla.org/xla/custom_call. Each
// struct begins with its size, and later versions add members only at its end. Versions 0.3 and 0.4 were compared.
// tests/python/test_jax.py compares these structs with the header of the installed JAX.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cornerturn::python::xla {

inline constexpr int kMajor = 0, kMinor = 1;   // the version that the handlers need
inline constexpr int kMetadata = 1;            // an extension's type
inline constexpr int kExecute = 3;             // a stage
inline constexpr int kArray = 1, kScalar = 3;  // types of attributes
inline constexpr int kInvalidArgument = 3, kResourceExhausted = 8, kInternal = 13;  // codes of errors
inline constexpr int kCommandBufferCompatible = 1;                                  // a trait

struct extension {
    std::size_t size;
    int type;
    extension* next;
};

struct api_version {
    std::size_t size;
    extension* extensions;
    int major, minor;
};

struct metadata {
    std::size_t size;
    xla::api_version api_version;
    std::uint32_t traits;
};

struct metadata_extension {
    extension base;
    xla::metadata* metadata;
};

struct error;  // XLA's own

struct error_arguments {
    std::size_t size;
    extension* extensions;
    const char* message;
    int code;
};

struct stream_arguments {
    std::size_t size;
    extension* extensions;
    void* context;
    void* stream;  // out
};

struct api {
    std::size_t size;
    extension* extensions;
    xla::api_version api_version;
    const void* internal;
    error* (*create_error)(error_arguments*);
    void (*message_of)(void*);
    void (*destroy)(void*);
    error* (*register_handler)(void*);
    error* (*get_stream)(stream_arguments*);
};

struct buffer {
    std::size_t size;
    extension* extensions;
    int type;
    void* data;
    std::int64_t rank;
    std::int64_t* extents;
};

struct name {
    const char* data;
    std::size_t size;
};

struct scalar {
    int type;
    void* value;
};

struct array {
    int type;
    std::size_t size;
    void* data;
};

struct buffers {  // arguments, or results
    std::size_t size;
    extension* extensions;
    std::int64_t count;
    int* types;
    void** each;
};

struct attributes {
    std::size_t size;
    extension* extensions;
    std::int64_t count;
    int* types;
    name** names;
    void** each;
};

struct call_frame {
    std::size_t size;
    extension* extensions;
    const xla::api* api;
    void* context;
    int stage;
    buffers arguments, results;
    xla::attributes attributes;
};

}  // namespace cornerturn::python::xla
