// The header of numpy's .npy format, versions 1 to 3: NEP 1, and numpy.lib.format, which describes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cornerturn::files {

struct npy_header {
    int major = 1;                    // version of the format, whose minor one is always 0
    std::string descr;                // the elements' type, as the file has it
    std::int64_t element_size = 0;    // bytes
    bool fortran_order = false;       // the first index varies fastest
    std::vector<std::int64_t> shape;  // as numpy shows it
    std::int64_t data_offset = 0;     // where the elements begin in the file

    // Throws error where the product does not fit 64 bits.
    std::int64_t elements() const;
    std::int64_t data_bytes() const;
};

// What tells how long a header is, and the longest one that is read: numpy's are a few hundred bytes.
inline constexpr std::int64_t kNpyPrefixBytes = 12;
inline constexpr std::int64_t kMostNpyHeaderBytes = 1 << 20;

// How many bytes lie before the data, by the first kNpyPrefixBytes of a file, or all it has. Throws error that says
// what is wrong with them.
std::int64_t npy_header_bytes(std::string_view beginning);

// Reads as many bytes as npy_header_bytes() said. Throws error that says what is wrong, or why elements cannot be moved
// as bytes.
npy_header parse_npy(std::string_view header);

// A header of that type and version (or the next one, where it has grown too long); its length is a multiple of 64
// bytes.
std::string make_npy(const npy_header& like, const std::vector<std::int64_t>& shape, bool fortran_order);

}  // namespace cornerturn::files
