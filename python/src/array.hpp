// An array of any library, as a strided view of memory.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "dlpack.hpp"

namespace cornerturn::python {

namespace nb = nanobind;

inline constexpr int kMostAxes = 32;

// nb::cast, with a sentence where it fails: "<what> is <object>: it must be an integer of 64 bits".
std::int64_t integer(nb::handle object, const char* what);

// Whose array it is. New ones come from that library.
enum class library { numpy, torch, cupy, other };

struct array {
    array() = default;
    // Copies the first `rank` extents and strides alone.
    array(const array& a) : array(a, a.rank) {
        std::copy_n(a.extents, rank, extents);
        std::copy_n(a.strides, rank, strides);
    }
    // All but extents and strides.
    array(const array& a, int axes)
        : object(a.object),
          from(a.from),
          subclass(a.subclass),
          api(a.api),
          data(a.data),
          rank(axes),
          element_size(a.element_size),
          type(a.type),
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
    bool subclass = false;                      // of the library's own type
    const dlpack::exchange_api* api = nullptr;  // where its type has one

    std::uintptr_t data = 0;  // of element (0, 0, ...)
    int rank = 0;
    std::int64_t extents[kMostAxes], strides[kMostAxes];  // strides in bytes
    std::int64_t element_size = 0;
    dlpack::data_type type{dlpack::kOpaque, 0, 1};  // kOpaque: DLPack has no such type, or the library does not say
    bool read_only = false;
    bool copied = false;  // the view is of a copy: what is written to it is lost
    bool on_gpu = false;
    int device = 0;

    bool has_stream = false;  // __cuda_array_interface__ names it
    void* stream = nullptr;
    nb::object owner;  // what keeps the view alive: a capsule of DLPack's
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

// For messages: str(object), and a type's name with its module.
std::string text_of(const nb::object& object);
std::string name_of(nb::handle type);

// nb::raise_type_error's sibling.
[[noreturn]] [[gnu::format(printf, 1, 2)]] void raise_value_error(const char* format, ...);

// Raises ValueError.
void check_rank(int rank, const char* name);

// What the memory of a tensor does not show.
enum class special { none, recorded, dual, lazy };

// The library of the object, which must be an array that this package takes, without a look at its memory. Raises
// TypeError. `name` is the argument's.
array identify(nb::handle object, const char* name);

// A torch.Tensor of a subclass, which may be anything: not to be read.
bool is_subclass(const array& a);

// A torch.Tensor that is conjugated or negated where its elements are used. Ask it before read() exports by __dlpack__,
// which refuses such a view.
bool is_lazy(const array& a);

// Of an array that is read: whether it is such a view, one that autograd records, or one with a forward gradient.
special special_of(const array& a);

// Fills in all else. Where the array's library knows streams and `exchange` is set, the work in `stream` comes after
// what its producer has given its own; else both are the same one.
void read(array& a, const char* name, bool exchange, void* stream);

// What CUDA work on new arrays and views of the array's library is to be given.
void* current_stream(const array& a);

// A new, packed array of the library of x, with elements of the same type on the same device, and of these extents. It
// is read.
array new_array(const array& x, int rank, const std::int64_t* extents);

// Whether elements have the same type.
bool same_type(const array& a, const array& b);

nb::object tuple_of(int count, const std::int64_t* numbers);

// Of cornerturn._libraries, which is imported at the first need.
nb::object libraries(const char* name);

}  // namespace cornerturn::python
