#pragma once

constexpr int kFactor = 2;

void run_scale(int* values, int count);
void run_more(int* values);
