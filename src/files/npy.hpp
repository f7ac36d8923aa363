// The header of numpy's .npy format, versions 1.0, 2.0 and 3.0 (NEP 1 and numpy.lib.format describe it).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cornerturn/element.hpp"

namespace cornerturn::files {

struct npy_header {
    int major = 1;                    // major version; the minor version is always 0
    std::string descr;                // the dtype, as written in the file
    std::int64_t element_size = 0;    // bytes
    element_type type{};              // 0 if conversions know no such type, or if the dtype does not tell
    bool big_endian = false;          // not for fields of a structure
    bool fortran_order = false;       // the first index varies fastest
    std::vector<std::int64_t> shape;  // as in numpy
    std::int64_t data_offset = 0;     // of the first element in the file

    // Throws error if the product does not fit in 64 bits.
    std::int64_t elements() const;
    std::int64_t data_bytes() const;
};

// The bytes that contain the header's length, and the longest header that is accepted. numpy's headers have a few
// hundred bytes.
inline constexpr std::int64_t kNpyPrefixBytes = 12;
inline constexpr std::int64_t kMostNpyHeaderBytes = 1 << 20;

// The bytes before the data. `beginning` holds the first kNpyPrefixBytes of the file, or all bytes of a shorter file.
// Throws error if they are not the beginning of a .npy file.
std::int64_t npy_header_bytes(std::string_view beginning);

// Parses the first npy_header_bytes() of a file. Throws error if the header is invalid, or if elements of its dtype
// cannot be moved as bytes.
npy_header parse_npy(std::string_view header);

// The dtype of a file whose elements have this type, little-endian. bf16 and fp8 have the dtypes "<V2" and "<V1": numpy
// has no other names for them, and ml_dtypes writes these for bf16 and e4m3fn. (For e5m2 it writes "<f1", which
// numpy.load() refuses.)
std::string npy_descr(element_type type);

// A header with the dtype and version of `like`. If it is too long for version 1.0, it has version 2.0. Its length is a
// multiple of 64 bytes.
std::string make_npy(const npy_header& like, const std::vector<std::int64_t>& shape, bool fortran_order);

}  // namespace cornerturn::files
