// Streams that are captured into graphs: work on them is not done, but becomes a node.
#include <cuda_runtime.h>

#include <vector>

#include "expect.h"

__global__ void add(int* to, const int* from, int count, int more) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] += from[i] + more;
}

static int called = 0;
static void count_call(void*) { ++called; }

constexpr int kCount = 512, kBytes = kCount * sizeof(int);

// Two streams, which an event forks and another joins.
static void check_fork_and_join() {
    cudaStream_t first, second;
    cudaEvent_t forked, joined;
    EXPECT_SUCCESS(cudaStreamCreate(&first));
    EXPECT_SUCCESS(cudaStreamCreate(&second));
    EXPECT_SUCCESS(cudaEventCreate(&forked));
    EXPECT_SUCCESS(cudaEventCreate(&joined));
    int *a, *b;
    EXPECT_SUCCESS(cudaMalloc(&a, kBytes));
    EXPECT_SUCCESS(cudaMalloc(&b, kBytes));
    std::vector<int> in(kCount, 5), out(kCount);

    EXPECT_SUCCESS(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    EXPECT_SUCCESS(cudaEventRecord(forked, first));
    EXPECT_SUCCESS(cudaStreamWaitEvent(second, forked, 0));
    EXPECT_SUCCESS(cudaMemcpyAsync(a, in.data(), kBytes, cudaMemcpyHostToDevice, first));
    EXPECT_SUCCESS(cudaMemsetAsync(b, 0, kBytes, second));
    EXPECT_SUCCESS(cudaEventRecord(joined, second));
    EXPECT_SUCCESS(cudaStreamWaitEvent(first, joined, 0));
    add<<<2, 256, 0, first>>>(b, a, kCount, 1);
    EXPECT_SUCCESS(cudaGetLastError());
    int more = 10, count = kCount;
    void* arguments[] = {&b, &a, &count, &more};
    EXPECT_SUCCESS(cudaLaunchKernel(add, dim3(2), dim3(256), arguments, 0, first));
    EXPECT_SUCCESS(cudaMemcpy2DAsync(out.data(), 4, b, 4, 4, kCount, cudaMemcpyDeviceToHost, first));
    EXPECT_SUCCESS(cudaLaunchHostFunc(first, count_call, nullptr));
    cudaStreamCaptureStatus status;
    EXPECT_SUCCESS(cudaStreamIsCapturing(second, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    cudaGraph_t graph;
    EXPECT_SUCCESS(cudaStreamEndCapture(first, &graph));
    EXPECT_SUCCESS(cudaStreamIsCapturing(second, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);
    EXPECT(out[0] == 0 && called == 0);

    size_t nodes = 0, edges = 0;
    EXPECT_SUCCESS(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT_SUCCESS(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    EXPECT(nodes == 6 && edges == 5);
    cudaGraphExec_t ready;
    EXPECT_SUCCESS(cudaGraphInstantiateWithFlags(&ready, graph, 0));
    EXPECT_SUCCESS(cudaGraphDestroy(graph));
    for (int i = 1; i <= 3; ++i) {
        in.assign(kCount, i);
        EXPECT_SUCCESS(cudaGraphLaunch(ready, first));
        EXPECT_SUCCESS(cudaStreamSynchronize(first));
        EXPECT(out[0] == 2 * i + 11 && out[kCount - 1] == 2 * i + 11 && called == i);
    }

    // A launch of a graph cannot be captured.
    EXPECT_SUCCESS(cudaStreamBeginCapture(second, cudaStreamCaptureModeRelaxed));
    EXPECT_STATUS(cudaErrorStreamCaptureUnsupported, cudaGraphLaunch(ready, second));
    EXPECT_STATUS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(second, &graph));
    EXPECT_SUCCESS(cudaStreamSynchronize(first));
    EXPECT(called == 3);
    EXPECT_SUCCESS(cudaGraphExecDestroy(ready));
}

// Memory that is allocated and freed in the order of the captured stream.
static void check_memory() {
    cudaStream_t stream;
    EXPECT_SUCCESS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    std::vector<int> out(kCount);
    EXPECT_SUCCESS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    int* values;
    EXPECT_SUCCESS(cudaMallocAsync(&values, kBytes, stream));
    EXPECT_SUCCESS(cudaMemsetAsync(values, 0, kBytes, stream));
    add<<<1, kCount, 0, stream>>>(values, values, kCount, 3);
    EXPECT_SUCCESS(cudaMemcpyAsync(out.data(), values, kBytes, cudaMemcpyDeviceToHost, stream));
    EXPECT_SUCCESS(cudaFreeAsync(values, stream));
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    EXPECT_SUCCESS(cudaStreamEndCapture(stream, &graph));
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready, graph, 0));
    for (int i = 0; i < 2; ++i) {
        out[7] = 0;
        EXPECT_SUCCESS(cudaGraphLaunch(ready, stream));
        EXPECT_SUCCESS(cudaStreamSynchronize(stream));
        EXPECT(out[7] == 3);
    }
    EXPECT_SUCCESS(cudaGraphExecDestroy(ready));
    EXPECT_SUCCESS(cudaGraphDestroy(graph));
    EXPECT_SUCCESS(cudaStreamDestroy(stream));
}

// What a captured stream does not allow spoils the capture.
static void check_errors() {
    cudaStream_t first, second;
    cudaEvent_t event;
    EXPECT_SUCCESS(cudaStreamCreate(&first));
    EXPECT_SUCCESS(cudaStreamCreate(&second));
    EXPECT_SUCCESS(cudaEventCreate(&event));
    cudaGraph_t graph = nullptr;
    int* values;
    EXPECT_SUCCESS(cudaMalloc(&values, kBytes));
    EXPECT_STATUS(cudaErrorStreamCaptureUnsupported, cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
    EXPECT_STATUS(cudaErrorIllegalState, cudaStreamEndCapture(first, &graph));

    const auto spoilt = [&](cudaError_t error, auto call) {
        EXPECT_SUCCESS(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
        EXPECT_STATUS(error, call());
        EXPECT_STATUS(cudaErrorStreamCaptureInvalidated, cudaMemsetAsync(values, 0, kBytes, first));
        EXPECT_STATUS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(first, &graph));
        EXPECT(graph == nullptr);
    };
    spoilt(cudaErrorStreamCaptureUnsupported, [&] { return cudaStreamSynchronize(first); });
    spoilt(cudaErrorStreamCaptureUnsupported, [] { return cudaDeviceSynchronize(); });
    spoilt(cudaErrorStreamCaptureUnsupported, [] {
        void* none;
        return cudaMalloc(&none, 16);
    });
    spoilt(cudaErrorStreamCaptureUnsupported, [] {
        void* none;
        size_t pitch;
        return cudaMallocPitch(&none, &pitch, 100, 10);
    });
    spoilt(cudaErrorStreamCaptureUnsupported, [] {
        cudaPitchedPtr none;
        return cudaMalloc3D(&none, make_cudaExtent(10, 2, 2));
    });
    spoilt(cudaErrorStreamCaptureUnsupported, [] {
        void* none;
        return cudaMallocManaged(&none, 16);
    });
    spoilt(cudaErrorStreamCaptureUnsupported, [] {
        void* none;
        return cudaMallocHost(&none, 16);
    });
    spoilt(cudaErrorStreamCaptureImplicit, [&] { return cudaMemset(values, 0, 4); });
    spoilt(cudaErrorStreamCaptureImplicit, [] {
        void* none;
        return cudaMallocAsync(&none, 16, nullptr);
    });
    spoilt(cudaErrorStreamCaptureImplicit, [&] {
        add<<<1, 1>>>(values, values, 1, 1);
        return cudaPeekAtLastError();
    });
    EXPECT_SUCCESS(cudaEventRecord(event, second));
    spoilt(cudaErrorStreamCaptureIsolation, [&] { return cudaStreamWaitEvent(first, event, 0); });

    spoilt(cudaErrorCapturedEvent, [&] {
        EXPECT_SUCCESS(cudaEventRecord(event, first));
        return cudaEventSynchronize(event);
    });

    // Work that nobody joins.
    EXPECT_SUCCESS(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    EXPECT_SUCCESS(cudaEventRecord(event, first));
    EXPECT_SUCCESS(cudaStreamWaitEvent(second, event, 0));
    EXPECT_SUCCESS(cudaMemsetAsync(values, 0, kBytes, second));
    EXPECT_STATUS(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(first, &graph));
    EXPECT_SUCCESS(cudaStreamSynchronize(second));
}

// To ask in the legacy stream about a capture that it would wait for is an error, but spoils nothing.
static void check_questions() {
    cudaStream_t blocking, other;
    EXPECT_SUCCESS(cudaStreamCreate(&blocking));
    EXPECT_SUCCESS(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    cudaGraph_t graph;
    cudaStreamCaptureStatus status;
    EXPECT_SUCCESS(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal));
    EXPECT_STATUS(cudaErrorStreamCaptureImplicit, cudaStreamIsCapturing(nullptr, &status));
    EXPECT_STATUS(cudaErrorStreamCaptureImplicit, cudaStreamGetCaptureInfo(cudaStreamLegacy, &status));
    EXPECT_SUCCESS(cudaStreamIsCapturing(other, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);
    EXPECT_SUCCESS(cudaStreamEndCapture(blocking, &graph));
    EXPECT_SUCCESS(cudaGraphDestroy(graph));

    EXPECT_SUCCESS(cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal));
    EXPECT_SUCCESS(cudaStreamIsCapturing(nullptr, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);
    EXPECT_SUCCESS(cudaStreamEndCapture(other, &graph));
    EXPECT_SUCCESS(cudaGraphDestroy(graph));
    EXPECT_SUCCESS(cudaStreamDestroy(blocking));
    EXPECT_SUCCESS(cudaStreamDestroy(other));
}

// A stream that joined a capture may go before the capture ends, if its work has been waited for.
static void check_destroyed_streams() {
    cudaStream_t first, second, third;
    cudaEvent_t forked, joined;
    EXPECT_SUCCESS(cudaStreamCreate(&first));
    EXPECT_SUCCESS(cudaEventCreate(&forked));
    EXPECT_SUCCESS(cudaEventCreate(&joined));
    int* values;
    EXPECT_SUCCESS(cudaMalloc(&values, kBytes));
    for (const bool joins : {true, false}) {
        EXPECT_SUCCESS(cudaStreamCreate(&second));
        EXPECT_SUCCESS(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
        EXPECT_SUCCESS(cudaEventRecord(forked, first));
        EXPECT_SUCCESS(cudaStreamWaitEvent(second, forked, 0));
        EXPECT_SUCCESS(cudaMemsetAsync(values, 0, kBytes, second));
        if (joins) {
            EXPECT_SUCCESS(cudaEventRecord(joined, second));
            EXPECT_SUCCESS(cudaStreamWaitEvent(first, joined, 0));
        }
        EXPECT_SUCCESS(cudaStreamDestroy(second));
        EXPECT_SUCCESS(cudaMemsetAsync(values, 1, kBytes, first));
        EXPECT_SUCCESS(cudaStreamCreate(&third));  // perhaps where the other one was
        cudaStreamCaptureStatus status;
        EXPECT_SUCCESS(cudaStreamIsCapturing(third, &status));
        EXPECT(status == cudaStreamCaptureStatusNone);
        cudaGraph_t graph = nullptr;
        EXPECT_STATUS(joins ? cudaSuccess : cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(first, &graph));
        size_t nodes = 0;
        if (joins) EXPECT_SUCCESS(cudaGraphGetNodes(graph, nullptr, &nodes));
        EXPECT(nodes == (joins ? 2 : 0));
        if (joins) EXPECT_SUCCESS(cudaGraphDestroy(graph));
        EXPECT_SUCCESS(cudaStreamDestroy(third));
    }
    EXPECT_SUCCESS(cudaFree(values));
}

// Events of those outside the graph are nodes of it.
static void check_external_events() {
    cudaStream_t stream;
    cudaEvent_t recorded, awaited;
    EXPECT_SUCCESS(cudaStreamCreate(&stream));
    EXPECT_SUCCESS(cudaEventCreate(&recorded));
    EXPECT_SUCCESS(cudaEventCreate(&awaited));
    EXPECT_STATUS(cudaErrorIllegalState, cudaEventRecordWithFlags(recorded, stream, cudaEventRecordExternal));
    EXPECT_STATUS(cudaErrorIllegalState, cudaStreamWaitEvent(stream, awaited, cudaEventWaitExternal));
    EXPECT_SUCCESS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_SUCCESS(cudaStreamWaitEvent(stream, awaited, cudaEventWaitExternal));
    EXPECT_SUCCESS(cudaLaunchHostFunc(stream, count_call, nullptr));
    EXPECT_SUCCESS(cudaEventRecordWithFlags(recorded, stream, cudaEventRecordExternal));
    cudaGraph_t graph;
    EXPECT_SUCCESS(cudaStreamEndCapture(stream, &graph));
    cudaGraphNode_t nodes[4] = {};
    size_t count = 4, edges = 0;
    EXPECT_SUCCESS(cudaGraphGetNodes(graph, nodes, &count));
    EXPECT_SUCCESS(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    EXPECT(count == 3 && edges == 2);
    int waits = 0, records = 0;
    for (size_t i = 0; i < count; ++i) {
        cudaGraphNodeType type;
        EXPECT_SUCCESS(cudaGraphNodeGetType(nodes[i], &type));
        waits += type == cudaGraphNodeTypeWaitEvent;
        records += type == cudaGraphNodeTypeEventRecord;
    }
    EXPECT(waits == 1 && records == 1);

    // Each launch of the graph records the event.
    cudaGraphExec_t ready;
    cudaEvent_t last;
    float ms = -1;
    EXPECT_SUCCESS(cudaEventCreate(&last));
    EXPECT_SUCCESS(cudaGraphInstantiate(&ready, graph, 0));
    EXPECT_SUCCESS(cudaGraphLaunch(ready, stream));
    EXPECT_SUCCESS(cudaEventRecord(last, stream));
    EXPECT_SUCCESS(cudaStreamSynchronize(stream));
    EXPECT_SUCCESS(cudaEventQuery(recorded));
    EXPECT_SUCCESS(cudaEventElapsedTime(&ms, recorded, last));
    EXPECT(ms >= 0);
    EXPECT_SUCCESS(cudaGraphExecDestroy(ready));
    EXPECT_SUCCESS(cudaGraphDestroy(graph));
}

// A capture into a graph that has nodes, behind one of them; and how far a capture has come.
static void check_capture_to_graph() {
    cudaStream_t stream;
    EXPECT_SUCCESS(cudaStreamCreate(&stream));
    cudaGraph_t graph, same;
    cudaGraphNode_t first, last;
    EXPECT_SUCCESS(cudaGraphCreate(&graph, 0));
    EXPECT_SUCCESS(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
    EXPECT_SUCCESS(cudaStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1, cudaStreamCaptureModeGlobal));
    int* values;
    EXPECT_SUCCESS(cudaLaunchHostFunc(stream, count_call, nullptr));
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t* behind = nullptr;
    size_t count = 0;
    EXPECT_SUCCESS(cudaStreamGetCaptureInfo(stream, &status, nullptr, &same, &behind, nullptr, &count));
    EXPECT(status == cudaStreamCaptureStatusActive && same == graph && count == 1);
    EXPECT_SUCCESS(cudaGraphAddEmptyNode(&last, graph, behind, count));
    EXPECT_SUCCESS(cudaStreamUpdateCaptureDependencies(stream, &last, nullptr, 1, cudaStreamSetCaptureDependencies));
    EXPECT_SUCCESS(cudaLaunchHostFunc(stream, count_call, nullptr));
    EXPECT_SUCCESS(cudaStreamEndCapture(stream, nullptr));
    size_t edges = 0;
    EXPECT_SUCCESS(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    EXPECT(edges == 3);
    EXPECT_SUCCESS(cudaGraphDestroy(graph));
    EXPECT_SUCCESS(cudaMalloc(&values, 4));
}

int main() {
    check_fork_and_join();
    check_memory();
    check_errors();
    check_questions();
    check_destroyed_streams();
    check_external_events();
    check_capture_to_graph();
    return finish();
}
