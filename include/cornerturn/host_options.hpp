// What all calls on host memory take.
#pragma once

namespace cornerturn {

struct host_options {
    int threads = 0;  // at most so many, the caller's among them; 0: as many as there are cores to run on
};

}  // namespace cornerturn
