// What holds for any bytes that are taken for a .npy file: they are refused in a sentence, or their header can be
// written again.
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

// True where it is a header. Throws logic_error where something does not hold.
inline bool check_npy(std::string_view bytes) {
    files::npy_header h;
    try {
        const std::int64_t length = files::npy_header_bytes(bytes.substr(0, files::kNpyPrefixBytes));
        require(length >= 10 && length <= files::kMostNpyHeaderBytes, "a header's length is within its bounds");
        h = files::parse_npy(bytes);
        require(h.data_offset == length, "the elements follow the header");
    } catch (const error& refused) {
        const std::string_view what = refused.what();
        require(what.starts_with("not a .npy file that can be read: "), "a refusal says of what");
        for (const char c : what) require(c >= ' ' && c <= '~', "a refusal is fit for a terminal");
        return false;
    }
    require(h.element_size > 0 && h.data_bytes() == h.elements() * h.element_size, "elements have a size");
    for (const bool fortran : {false, true}) {
        const std::vector<std::int64_t> shape(h.shape.rbegin(), h.shape.rend());
        const std::string written = files::make_npy(h, shape, fortran);
        require(written.size() % 64 == 0 && written.back() == '\n', "a header is aligned");
        const files::npy_header again = files::parse_npy(written);
        require(again.descr == h.descr && again.element_size == h.element_size, "the type is kept");
        require(again.shape == shape && again.fortran_order == fortran, "shape and order are what was asked for");
        require(again.data_offset == static_cast<std::int64_t>(written.size()), "the header ends where it says");
    }
    return true;
}

}  // namespace cornerturn::tests
