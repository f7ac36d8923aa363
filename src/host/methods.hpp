// The methods of transposes and other copies in host memory. choice.cpp chooses among them.
#pragma once

#include <string>

#include "core/strided.hpp"
#include "host/job.hpp"

namespace cornerturn::host {

void run_direct(const job& j);
void run_image(const job& j);
void run_lines(const job& j);
void run_strips(const job& j);
void run_in_place(const job& j);

void run_few(const strided_copy& c);
// `large`: neither side fits the caches.
void run_runs(const strided_copy& c, bool large, const team& threads);
void run_tiles(const strided_copy& c, bool large, const team& threads);
// Describes the tiles into which the copy would be cut.
std::string explain_tiles(const strided_copy& c, bool large);

}  // namespace cornerturn::host
