// Marks functions that host and device code share.
#pragma once

#if defined(__CUDACC__)
#define CORNERTURN_HOST_DEVICE __host__ __device__
#else
#define CORNERTURN_HOST_DEVICE
#endif
