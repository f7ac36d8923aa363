// A property of all bytes that are read as a .npy file: they are refused with a printable message, or their header can
// be written again.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "cornerturn/error.hpp"
#include "files/npy.hpp"

namespace cornerturn::tests {

inline void require(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
}

// Returns whether the bytes are a header. Throws logic_error if the property does not hold.
inline bool check_npy(std::string_view bytes) {
    files::npy_header h;
    try {
        const std::int64_t length = files::npy_header_bytes(bytes.substr(0, files::kNpyPrefixBytes));
        require(length >= 10 && length <= files::kMostNpyHeaderBytes, "a header's length is within its bounds");
        h = files::parse_npy(bytes);
        require(h.data_offset == length, "the elements follow the header");
    } catch (const error& refused) {
        const std::string_view message = refused.what();
        require(!message.empty(), "a refusal has a message");
        for (const char c : message) require(c >= ' ' && c <= '~', "a message is printable");
        return false;
    }
    require(h.element_size > 0 && h.data_bytes() == h.elements() * h.element_size, "elements have a size");
    for (const bool fortran : {false, true}) {
        const std::vector<std::int64_t> shape(h.shape.rbegin(), h.shape.rend());
        const std::string written = files::make_npy(h, shape, fortran);
        require(written.size() % 64 == 0 && written.back() == '\n', "a header is aligned");
        const files::npy_header again = files::parse_npy(written);
        require(again.descr == h.descr && again.element_size == h.element_size, "the type is kept");
        require(again.shape == shape && again.fortran_order == fortran, "shape and order are the requested ones");
        require(again.data_offset == static_cast<std::int64_t>(written.size()), "the header has the length it states");
    }
    return true;
}

}  // namespace cornerturn::tests
