// Checks of the arguments that the module's functions share: axes, threads, places, gradients and streams.
#pragma once

#include <string>

#include "array.hpp"

namespace cornerturn::python {

std::string shape_text(int rank, const std::int64_t* extents);
std::string text_of_type(const array& a);

// 0: all cores. `a` is any of the arrays.
int threads_of(nb::handle threads, const array& a);

// The axes of numpy.transpose, as numbers from 0.
struct axes_list {
    int numbers[kMostAxes];

    static axes_list reversed(int rank);
    static axes_list in_order(int rank);
    // None: reversed.
    axes_list(nb::handle axes, int rank);

private:
    axes_list() = default;
};

nb::object tuple_of(const axes_list& axes, int rank);

// The rank of x, which has not been read.
int rank_of(nb::handle x);

void check_shape(const array& out, const array& result);
void check_same_place(const array& a, const char* a_name, const array& b, const char* b_name);
void check_same_type(const array& a, const char* a_name, const array& b, const char* b_name);

// For calls that record nothing. `name` is the name of the argument.
void check_plain(const array& a, const char* name);
void check_destination(const array& a, const char* name);
void check_source(const array& a, const char* name);

// ---- Streams ----

struct given_stream {
    bool given = false;
    void* handle = nullptr;
};

given_stream stream_of(nb::handle stream);

// Whether on_stream() must be called instead, which makes the given stream the library's current one.
bool is_for_library(const array& a, nb::handle stream);

// Reads the array whose library decides the stream, and returns that stream.
void* read_first(array& a, const char* name, given_stream stream);

// Reads another array, for work in this stream.
void read_second(array& a, const char* name, const array& first, void* stream);

// A function of cornerturn._core, as Python calls it.
nb::object core(const char* name);

}  // namespace cornerturn::python
