// Numbers as people read them.
#pragma once

#include <string>

namespace cornerturn::report {

// "12,345": a rate or a count.
std::string grouped(double value);
// "1 byte", "3 kernels"
std::string plural(std::size_t count, const char* noun);
// Two digits behind the point. What is nearly nothing keeps one digit that is not 0.
std::string ratio_text(double ratio);
// A text in which numbers with more than four digits behind the point, such as a command's, have three digits in all.
std::string with_short_numbers(const std::string& text);

}  // namespace cornerturn::report
