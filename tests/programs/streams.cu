// Streams and events: order, times, callbacks, priorities, invalid handles.
#include <cuda_runtime.h>

#include "expect.h"

__global__ void step(int* value, int factor, int summand) { *value = *value * factor + summand; }

static void CUDART_CB count_up(void* data) { ++*static_cast<int*>(data); }
static void CUDART_CB status_seen(cudaStream_t, cudaError_t status, void* data) {
    *static_cast<int*>(data) = status == cudaSuccess ? 1 : -1;
}

static void order() {
    cudaStream_t first, second;
    cudaEvent_t done;
    EXPECT_SUCCESS(cudaStreamCreate(&first));
    EXPECT_SUCCESS(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    EXPECT_SUCCESS(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    int *value = nullptr, host = 1;
    EXPECT_SUCCESS(cudaMalloc(&value, sizeof(int)));
    EXPECT_SUCCESS(cudaMemcpyAsync(value, &host, sizeof host, cudaMemcpyHostToDevice, first));
    step<<<1, 1, 0, first>>>(value, 3, 1);
    EXPECT_SUCCESS(cudaEventRecord(done, first));
    EXPECT_SUCCESS(cudaStreamWaitEvent(second, done, 0));
    step<<<1, 1, 0, second>>>(value, 10, 2);
    EXPECT_SUCCESS(cudaMemcpyAsync(&host, value, sizeof host, cudaMemcpyDeviceToHost, second));
    EXPECT_SUCCESS(cudaStreamSynchronize(second));
    EXPECT(host == 42);
    EXPECT_SUCCESS(cudaStreamQuery(second));
    EXPECT_SUCCESS(cudaEventQuery(done));

    int calls = 0, seen = 0;
    EXPECT_SUCCESS(cudaLaunchHostFunc(first, count_up, &calls));
    EXPECT_SUCCESS(cudaStreamAddCallback(first, status_seen, &seen, 0));
    EXPECT_SUCCESS(cudaStreamSynchronize(first));
    EXPECT(calls == 1 && seen == 1);

    unsigned flags = 0;
    EXPECT_SUCCESS(cudaStreamGetFlags(second, &flags));
    EXPECT(flags == cudaStreamNonBlocking);
    EXPECT_SUCCESS(cudaFree(value));
    EXPECT_SUCCESS(cudaEventDestroy(done));
    EXPECT_SUCCESS(cudaStreamDestroy(first));
    EXPECT_SUCCESS(cudaStreamDestroy(second));
}

static void times() {
    cudaEvent_t start, end;
    EXPECT_SUCCESS(cudaEventCreate(&start));
    EXPECT_SUCCESS(cudaEventCreate(&end));
    float ms = -1;
    EXPECT_STATUS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, end));
    int* value = nullptr;
    EXPECT_SUCCESS(cudaMalloc(&value, sizeof(int)));
    EXPECT_SUCCESS(cudaMemset(value, 0, sizeof(int)));
    EXPECT_SUCCESS(cudaEventRecord(start));
    for (int i = 0; i < 10; ++i) step<<<1, 1>>>(value, 1, 1);
    EXPECT_SUCCESS(cudaEventRecord(end));
    EXPECT_SUCCESS(cudaEventSynchronize(end));
    EXPECT_SUCCESS(cudaEventElapsedTime(&ms, start, end));
    EXPECT(ms > 0 && ms < 60000);
    EXPECT_STATUS(cudaErrorInvalidValue, cudaEventElapsedTime(nullptr, start, end));

    cudaEvent_t untimed;
    EXPECT_SUCCESS(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    EXPECT_SUCCESS(cudaEventRecord(untimed));
    EXPECT_SUCCESS(cudaDeviceSynchronize());
    EXPECT_STATUS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, start, untimed));
    EXPECT_SUCCESS(cudaFree(value));
    EXPECT_SUCCESS(cudaEventDestroy(start));
    EXPECT_SUCCESS(cudaEventDestroy(end));
    EXPECT_SUCCESS(cudaEventDestroy(untimed));
}

static void priorities() {
    int least = -1, greatest = 1, priority = 1;
    EXPECT_SUCCESS(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(greatest <= least);
    cudaStream_t stream;
    EXPECT_SUCCESS(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    EXPECT_SUCCESS(cudaStreamGetPriority(stream, &priority));
    EXPECT(priority == greatest);
    EXPECT_SUCCESS(cudaStreamDestroy(stream));
}

int main() {
    order();
    times();
    priorities();
    EXPECT_SUCCESS(cudaStreamSynchronize(nullptr));
    EXPECT_SUCCESS(cudaStreamSynchronize(cudaStreamLegacy));
    EXPECT_SUCCESS(cudaStreamSynchronize(cudaStreamPerThread));
    cudaStream_t stream;
    cudaEvent_t event;
    EXPECT_STATUS(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&stream, 99));
    EXPECT_STATUS(cudaErrorInvalidValue, cudaEventCreateWithFlags(&event, 99));
    EXPECT_STATUS(cudaErrorInvalidResourceHandle, cudaEventRecord(nullptr));
    EXPECT_STATUS(cudaErrorInvalidResourceHandle, cudaStreamDestroy(nullptr));
    return finish();
}
