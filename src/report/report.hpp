// A page of stored results: measurements, how they were made, and changes between them.
#pragma once

#include <vector>

#include "report/document.hpp"
#include "report/page.hpp"

namespace cornerturn::report {

// `documents` must not be empty. Sections on several documents come first.
page make_page(const std::vector<document>& documents);

}  // namespace cornerturn::report
