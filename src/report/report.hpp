// Stored results as a page: what was measured, how, and what changed.
#pragma once

#include <vector>

#include "report/document.hpp"
#include "report/page.hpp"

namespace cornerturn::report {

// `documents` must not be empty. What several of them say together stands first.
page make_page(const std::vector<document>& documents);

}  // namespace cornerturn::report
