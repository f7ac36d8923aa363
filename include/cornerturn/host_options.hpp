/// @file
/// The options of all calls on host memory.
#pragma once

namespace cornerturn {

/// Options of a call on host memory.
struct host_options {
    /// The most threads to use, the calling thread among them. 0: as many as the caller's oneTBB arena has; outside an
    /// arena, as many as there are cores. A negative number is an error.
    int threads = 0;
};

}  // namespace cornerturn
