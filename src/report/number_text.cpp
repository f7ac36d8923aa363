#include "report/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/table.hpp"

namespace cornerturn::report {

std::string grouped(double value) { return lab::grouped(static_cast<std::uint64_t>(std::llround(value))); }

std::string plural(std::size_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string ratio_text(double ratio) {
    return ratio < 0.005 ? fmt::format("{:.1g}", ratio) : fmt::format("{:.2f}", ratio);
}

namespace {
std::string three_digits(double value) {
    return value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}
}  // namespace

std::string with_short_numbers(const std::string& text) {
    constexpr std::size_t kMostDigits = 4;
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find_first_not_of("0123456789.", at), text.size());
        const std::string number = text.substr(at, end - at);
        const std::size_t dot = number.find('.');
        const bool is_long = dot != std::string::npos && dot > 0 && dot == number.rfind('.') &&
                             number.size() - dot - 1 > kMostDigits && number.size() < 40;
        out += is_long ? three_digits(std::stod(number)) : number;
        at = end;
        if (number.empty()) out += text[at++];
    }
    return out;
}

}  // namespace cornerturn::report
