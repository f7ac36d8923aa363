// Shared by the programs about arithmetic: the report of the first wrong value, and random numbers.
#pragma once

#include "program.hpp"

[[noreturn]] inline void wrong(const char* what, unsigned long long input, double got, double expected) {
    std::printf("%s of 0x%llx: %.17g, expected %.17g\n", what, input, got, expected);
    std::exit(1);
}

// The same numbers everywhere (splitmix64).
struct numbers {
    unsigned long long state = 1;
    unsigned long long next() {
        unsigned long long z = state += 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
};
