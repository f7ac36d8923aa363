// One 16-bit float format, half or bfloat16: cuda_fp16.h and cuda_bf16.h each define these macros and include this
// file.
//
//   CT_SMALL, CT_RAW            the class of a number, and of its bits
//   CT_PAIR, CT_PAIR_RAW        the class of two numbers in 4 bytes, and of their bits
//   CT_FORMAT                   its format in exact.h
//   CT_NAME(a, b), CT_NAME_TWICE(a, b, c)   a function's name, with the format's name between a, b and c
//   CT_NO_CONVERSIONS, CT_NO_OPERATORS, CT_NO_PAIR_OPERATORS   defined if the program disables them
//
// These are macros, because CUDA has plain functions in the global namespace. A program may name them as ::hexp, pass
// them as pointers, and call them with arguments that are converted. Templates would not allow that.

// Each file needs the files before it.
// clang-format off
#include "small_float_types.h"
#include "small_float_conversions.h"
#include "small_float_functions.h"
// clang-format on
#ifndef CT_NO_OPERATORS
#include "small_float_operators.h"
#endif
#ifndef CT_NO_PAIR_OPERATORS
#include "small_float_pair_operators.h"
#endif

#undef CT_SMALL
#undef CT_RAW
#undef CT_PAIR
#undef CT_PAIR_RAW
#undef CT_FORMAT
#undef CT_NAME
#undef CT_NAME_TWICE
#undef CT_NO_CONVERSIONS
#undef CT_NO_OPERATORS
#undef CT_NO_PAIR_OPERATORS
