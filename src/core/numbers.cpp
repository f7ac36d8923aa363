#include "core/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/sizes.hpp"

namespace cornerturn {

std::int64_t parse_size(const std::string& name, const std::string& text) {
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status == std::errc::result_out_of_range) {
        throw invalid_argument(fmt::format("{} is {}: it must be below 2^63", name, text));
    }
    if (status != std::errc{} || end != text.data() + text.size()) {
        throw invalid_argument(fmt::format("{} is '{}': it must be a whole number, 0 or more", name, text));
    }
    if (value < 0) throw invalid_argument(fmt::format("{} is {}: it must not be negative", name, text));
    return value;
}

std::int64_t parse_bytes(const std::string& name, const std::string& text) {
    constexpr std::int64_t k = 1000, Ki = 1024;
    constexpr std::pair<const char*, std::int64_t> kUnits[] = {{"", 1},
                                                               {"B", 1},
                                                               {"kB", k},
                                                               {"KB", k},
                                                               {"MB", k * k},
                                                               {"GB", k * k * k},
                                                               {"TB", k * k * k * k},
                                                               {"KiB", Ki},
                                                               {"MiB", Ki * Ki},
                                                               {"GiB", Ki * Ki * Ki},
                                                               {"TiB", Ki * Ki * Ki * Ki}};
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::string unit = text.substr(std::min(text.find_first_not_of(' ', digits), text.size()));
    for (const auto& [known, bytes] : kUnits) {
        if (digits > 0 && unit == known)
            return checked_multiply(parse_size(name, text.substr(0, digits)), bytes, name.c_str());
    }
    throw invalid_argument(
        fmt::format("{} is '{}': it must be a number of bytes, such as 65536, 500MB or 1GiB", name, text));
}

std::vector<double> parse_numbers(const std::string& name, const std::string& text) {
    std::vector<double> all;
    const char *at = text.data(), *const end = at + text.size();
    for (;; ++at) {
        const auto [stop, status] = std::from_chars(at, end, all.emplace_back());
        if (status != std::errc{} || !std::isfinite(all.back()) || (stop != end && *stop != ','))
            throw invalid_argument(
                fmt::format("{} is '{}': it must be a number, or several with commas between them", name, text));
        if ((at = stop) == end) return all;
    }
}

std::string bytes_text(double bytes) {
    if (bytes < 1000) return fmt::format("{:.0f} B", bytes);
    const char* unit = "";
    for (const char* larger : {"kB", "MB", "GB", "TB"}) {
        if (bytes < 1000) break;
        bytes /= 1000;
        unit = larger;
    }
    return bytes < 10 ? fmt::format("{:.1f} {}", bytes, unit) : fmt::format("{:.0f} {}", bytes, unit);
}

}  // namespace cornerturn
