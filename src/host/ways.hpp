// The ways in which a transpose in host memory is done. paths.cpp says which is for what.
#pragma once

#include "host/job.hpp"

namespace cornerturn::host {

void run_direct(const job& j);
void run_image(const job& j);
void run_lines(const job& j);
void run_strips(const job& j);
void run_in_place(const job& j);

}  // namespace cornerturn::host
