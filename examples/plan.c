/* In C: a plan that is checked once and executed for many addresses, and the message of an error. */
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "cornerturn/cornerturn.h"

enum { kRows = 48, kCols = 100, kSize = kRows * kCols, kFrames = 3 };
static double in[kFrames * kSize], out[kFrames * kSize];

/* Prints the error and returns true if the status is not CORNERTURN_OK. */
static int failed(cornerturn_status status, const char* what) {
    if (status == CORNERTURN_OK) return 0;
    fprintf(stderr, "%s: %s: %s\n", what, cornerturn_status_name(status), cornerturn_last_error());
    return 1;
}

int main(void) {
    cornerturn_cuda_plan* plan;
    double *from, *to;
    int i, frame, devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        puts("skipped: no GPU answers");
        return 77;
    }
    for (i = 0; i < kFrames * kSize; ++i) in[i] = i;
    if (cudaMalloc((void**)&from, sizeof in) != cudaSuccess || cudaMalloc((void**)&to, sizeof out) != cudaSuccess)
        return 1;
    if (cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice) != cudaSuccess) return 1;

    /* The source's leading dimension must not be below its number of columns. This call fails and prints why. */
    if (!failed(cornerturn_cuda_plan_create(&plan, kRows, kCols, kCols - 1, kRows, sizeof *in), "as expected"))
        return 1;

    if (failed(cornerturn_cuda_plan_create(&plan, kRows, kCols, kCols, kRows, sizeof *in), "plan")) return 1;
    for (frame = 0; frame < kFrames; ++frame) { /* on the default stream */
        const double* source = from + frame * kSize;
        if (failed(cornerturn_cuda_plan_execute(plan, source, to + frame * kSize, NULL), "execute")) return 1;
    }
    cornerturn_cuda_plan_destroy(plan);
    if (cudaMemcpy(out, to, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return 1; /* waits for the stream */

    for (i = 0; i < kFrames * kSize; ++i) {
        const int at = i % kSize;
        if (out[i - at + at % kCols * kRows + at / kCols] != in[i]) return 1;
    }
    puts("transposed");
    return 0;
}
