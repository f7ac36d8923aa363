// The findings of stored results, as a few sentences and one picture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/document.hpp"
#include "report/plots.hpp"

namespace cornerturn::report {

// At most three sentences. The first one can stand without the others.
std::vector<std::string> findings_of(const document& d);
// The first sentences of at most three documents, of different kinds if possible.
std::vector<std::string> findings_of(const std::vector<document>& documents);

// The median speed of the library and of its peers, by bench. Nothing if fewer than two benches have peers.
std::optional<drawing> headline(const std::vector<document>& documents);

}  // namespace cornerturn::report
