// The two things that the host transpose does in vectors, chosen for the processor at run time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cornerturn::host {

using byte = unsigned char;
inline constexpr int kLineBytes = 64;

// to[col * to_pitch + row * size] = from[row * from_pitch + col * size] for all rows and cols, each element `size`
// bytes. Writes nothing else, and reads nothing but the rows and, where they are packed, what follows them among them.
using turn_function = void (*)(const byte* from, std::ptrdiff_t from_pitch, byte* to, std::ptrdiff_t to_pitch,
                               std::int64_t rows, std::int64_t cols, std::int64_t size);

// Copies whole lines past the caches. `from` and `to` are aligned to a line. End with end_stream().
using stream_function = void (*)(const byte* from, byte* to, std::int64_t lines);

struct kernels {
    turn_function turn;
    stream_function stream;
    const char* target;  // the instructions that they use, in Highway's words
};

// For elements of so many bytes.
kernels kernels_for(std::int64_t size);

// What was streamed is there for other threads.
void end_stream();

}  // namespace cornerturn::host
