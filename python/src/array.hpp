// An array of any library, as a strided view of memory.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "dlpack.hpp"
#include "finalizing.hpp"

namespace cornerturn::python {

namespace nb = nanobind;

inline constexpr int kMostAxes = 32;

// nb::cast with a message if it fails: "<what> is <object>: it must be an integer of 64 bits".
std::int64_t integer(nb::handle object, const char* what);

// The library that an array belongs to. New arrays come from the same library.
enum class library { numpy, torch, cupy, other };

struct array {
    array() = default;
    // Copies only the first `rank` extents and strides.
    array(const array& a) : array(a, a.rank) {
        std::copy_n(a.extents, rank, extents);
        std::copy_n(a.strides, rank, strides);
    }
    // Copies everything except extents and strides.
    array(const array& a, int axes)
        : object(a.object),
          from(a.from),
          subclass(a.subclass),
          api(a.api),
          data(a.data),
          rank(axes),
          element_size(a.element_size),
          type(a.type),
          pieces(a.pieces),
          read_only(a.read_only),
          copied(a.copied),
          on_gpu(a.on_gpu),
          device(a.device),
          has_stream(a.has_stream),
          stream(a.stream),
          owner(a.owner),
          made(a.made) {}
    array& operator=(const array&) = delete;

    nb::handle object;
    library from = library::other;
    bool subclass = false;                      // a subclass of the library's own type
    const dlpack::exchange_api* api = nullptr;  // if its type has one

    std::uintptr_t data = 0;  // of element (0, 0, ...)
    int rank = 0;
    std::int64_t extents[kMostAxes], strides[kMostAxes];  // strides in bytes
    std::int64_t element_size = 0;
    dlpack::data_type type{dlpack::kOpaque, 0, 1};  // kOpaque: DLPack has no such type, or the library does not say
    nb::object pieces;  // of _libraries.pieces_of(): the bytes of each element that belong to it; null: all
    bool read_only = false;
    bool copied = false;  // the view is of a copy: a write to it is lost
    bool on_gpu = false;
    int device = 0;

    bool has_stream = false;  // __cuda_array_interface__ names it
    void* stream = nullptr;
    nb::object owner;  // a DLPack capsule that keeps the view alive
    nb::object made;   // by new_array()

    bool is_empty() const {
        for (int i = 0; i < rank; ++i)
            if (extents[i] == 0) return true;
        return false;
    }
    std::int64_t bytes() const {
        std::int64_t all = element_size;
        for (int i = 0; i < rank; ++i) all *= extents[i];
        return all;
    }
    bool is_packed() const {
        if (is_empty()) return true;
        std::int64_t next = element_size;
        for (int i = rank - 1; i >= 0; --i) {
            if (extents[i] != 1 && strides[i] != next) return false;
            next *= extents[i];
        }
        return true;
    }
};

// For messages: str(object), and the name of a type with its module.
std::string text_of(const nb::object& object);
std::string name_of(nb::handle type);

// As nb::raise_type_error.
[[noreturn]] [[gnu::format(printf, 1, 2)]] void raise_value_error(const char* format, ...);

// Raises ValueError.
void check_rank(int rank, const char* name);

// Properties of a tensor that its memory does not show.
enum class special { none, recorded, dual, lazy };

// Finds the library of the object, without reading its memory. Raises TypeError if this package does not take such an
// object. `name` is the name of the argument.
array identify(nb::handle object, const char* name);

// Whether it is a subclass of torch.Tensor. Do not read such a tensor: it may be anything.
bool is_subclass(const array& a);

// Whether it is a torch.Tensor with lazy conjugation or negation. Call this before read() exports by __dlpack__, which
// refuses such a view.
bool is_lazy(const array& a);

// For an array that has been read: whether it is such a view, is recorded by autograd, or has a forward gradient.
special special_of(const array& a);

// Fills in everything else. If the array's library has streams and `exchange` is set, work in `stream` comes after the
// work in the producer's stream. Otherwise both are the same stream.
void read(array& a, const char* name, bool exchange, void* stream);

// The stream for CUDA work on new arrays and views of the array's library.
void* current_stream(const array& a);

// An element type of a new array, and the dtype of the array's library.
struct element_dtype {
    nb::object dtype;
    dlpack::data_type type;
    std::int64_t size;
};

// A new, packed array of the library of x, with these extents, on the same device. Its elements have the type of x's,
// or the given type. It has been read. Bytes between the fields of its elements are 0.
array new_array(const array& x, int rank, const std::int64_t* extents, const element_dtype* elements = nullptr);

// `pieces` is what _libraries.pieces_of() returned for the array's dtype.
void set_pieces(array& a, const nb::object& pieces);

// Whether the elements of both have the same type.
bool same_type(const array& a, const array& b);

nb::object tuple_of(int count, const std::int64_t* numbers);

// Attributes. To read one may run the user's Python code, so these are guarded. Like nanobind's, the first and the last
// take any error for a missing attribute.
bool has_attribute(nb::handle object, const char* name);
nb::object attribute(nb::handle object, const char* name);
nb::object attribute_or_none(nb::handle object, const char* name);

// A function in Python. Calls with positional arguments are guarded: no object on the way is destroyed without the GIL.
struct python_function {
    nb::object object;

    template <class... Arguments>
    nb::object operator()(const Arguments&... arguments) const {
        const nb::tuple all = nb::make_tuple(arguments...);
        PyObject* const result = guarded<&PyObject_CallObject>::call(object.ptr(), all.ptr());
        if (result == nullptr) throw nb::python_error();
        return nb::steal(result);
    }
};

// A function of cornerturn._libraries, which is imported at the first call.
python_function libraries(const char* name);

}  // namespace cornerturn::python
