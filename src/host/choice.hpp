// Transposes and other copies in host memory, and the choice among the methods: the cheapest by prediction.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/matrix_work.hpp"
#include "core/strided.hpp"

namespace cornerturn::host {

class team;

// Do work that was checked and is not empty. A copy must not be one to itself.
void run(const matrix_work& work, const team& threads);
void run(const strided_copy& copy, const team& threads);

// One line: which method it would take on all cores, what that does, and the other methods, the next best first.
std::string explain(const matrix_work& work);
std::string explain(const strided_copy& copy);

// Every way to do the work, the one that is chosen first.
struct named_way {
    std::string name;
    std::function<void(const matrix_work&)> run;  // this work, or the same elsewhere, as aligned
    std::vector<double> numbers;                  // the method, and what its cost is predicted from
};
std::vector<named_way> ways_of(const matrix_work& work, const team& threads);

}  // namespace cornerturn::host
