// Numbers as people read them.
#pragma once

#include <string>

namespace cornerturn::report {

// "12,345": a rate or a count.
std::string grouped(double value);
// "1 byte", "3 kernels"
std::string plural(std::size_t count, const char* noun);
// Two decimals. A ratio below 0.005 has one significant digit.
std::string ratio_text(double ratio);
// The text with shorter numbers: those with more than four decimals get three significant digits.
std::string with_short_numbers(const std::string& text);

}  // namespace cornerturn::report
